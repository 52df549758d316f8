// SPDX-License-Identifier: Apache-2.0
/// @file tensor_cores.hpp
/// The product of a 2:4 sparse and a dense matrix on sparse tensor cores.
///
/// The copy engine fills a ring of stages in shared memory, each of them 64 rows of the dense matrix, and
/// what the sparse one keeps of as many columns. Groups of four warps multiply them there. The metadata is
/// copied as the format stores it; the instructions take it nearly so (WgmmaSparse::metadata).
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/wgmma_tile.hpp"

namespace sporos::gpu {

/// How a block computes a tile of the result.
/// @tparam BlockN     columns of a tile: 64, 128 or 256
/// @tparam BIsByRows  whether the dense matrix is stored by rows
template <class T, int BlockN, bool BIsByRows>
struct TwoFourConfig : WgmmaTile<BlockN, 2 * Wgmma::m * 64 + BlockN * 64 * 2 + 2 * Wgmma::m * 16> {
  using value_type = T;
  static constexpr bool b_is_by_rows = BIsByRows;
  static constexpr int stage_k = 64;

  static constexpr int a_bytes = 2 * Wgmma::m * stage_k;  ///< half of the elements, 2 bytes each
  static constexpr int b_bytes = BlockN * stage_k * 2;
  /// The metadata of two stages, since the copy engine copies no less: it comes with stages of even number.
  static constexpr int metadata_bytes = 2 * Wgmma::m * 16;
  static_assert(a_bytes + b_bytes + metadata_bytes == TwoFourConfig::stage_bytes);
  /// The dense matrix is copied in boxes of lines of 64 elements.
  static constexpr int lines_of_box = BIsByRows ? stage_k : BlockN;
  static constexpr int boxes = BIsByRows ? BlockN / 64 : 1;
};

/// The operands as the copy engine is told of them.
struct TwoFourMaps {
  CUtensorMap a;         ///< [m, k / 2], what each row keeps: boxes of block_m x 32
  CUtensorMap b;         ///< [k, n] by rows or by columns: boxes of lines_of_box x 64
  CUtensorMap metadata;  ///< [m, k / 16] of 16 bits, k a multiple of 128: boxes of block_m x 8
};

namespace detail {

template <class Config, bool DIsByRows, class Product>
__global__ __launch_bounds__(Config::threads,
                             1) void two_four_kernel(const __grid_constant__ Product product,
                                                     const __grid_constant__ TwoFourMaps maps) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = typename Config::value_type;
  constexpr int multiplying = Config::multiplying;
  extern __shared__ char memory[];
  const std::uint32_t stage_0 = (ptx::shared_address(memory) + Swizzle128::alignment - 1) /
                                Swizzle128::alignment * Swizzle128::alignment;
  const std::uint32_t full_0 = stage_0 + Config::stages * Config::stage_bytes,
                      empty_0 = full_0 + Config::stages * 8;
  const int group = static_cast<int>(threadIdx.x) / WgmmaSparse::threads;
  const int thread = static_cast<int>(threadIdx.x) % WgmmaSparse::threads;
  const int row_tiles = static_cast<int>(ceil_div(product.m, Config::block_m));
  const int tiles = row_tiles * static_cast<int>(ceil_div(product.n, Config::block_n));
  const int rank = ptx::rank_in_cluster(), blocks = ptx::blocks_of_cluster();
  const int first_tile = static_cast<int>(blockIdx.x) / blocks,
            tiles_at_a_time = static_cast<int>(gridDim.x) / blocks;
  // The stages of this block: an even number, for the metadata of two comes together.
  const int stages = static_cast<int>(ceil_div(product.k, Config::stage_k)), pairs = (stages + 1) / 2;
  const int begin = pairs * rank / blocks * 2, end = ::min(pairs * (rank + 1) / blocks * 2, stages);

  if (group == Config::warpgroups && thread == 0) {
    for (const CUtensorMap* map : {&maps.a, &maps.metadata, &maps.b}) ptx::prefetch(map);
    for (int stage = 0; stage < Config::stages; ++stage) {
      ptx::barrier_init(full_0 + stage * 8, 1);
      ptx::barrier_init(empty_0 + stage * 8, multiplying);
    }
    ptx::fence_barrier_init();
  }
  if (blocks > 1) {
    ptx::arrive_in_cluster();
    ptx::wait_for_cluster();
  } else if (group == Config::warpgroups) {
    ptx::arrive_for_threads(1, Config::threads);
  } else {
    ptx::sync_threads(1, Config::threads);
  }

  // After each tile the blocks of a cluster wait twice for each other, with all threads that have not ended:
  // until all have their sums in shared memory, and until all have read them.
  int stage = 0;
  if (group == Config::warpgroups) {  // the copying group: one thread
    ptx::give_registers_back<24>();
    if (thread != 0) return;
    std::uint32_t parity = 1;
    for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
      const int row = tile % row_tiles * Config::block_m, column = tile / row_tiles * Config::block_n;
      for (int s = begin; s < end; ++s) {
        const std::uint32_t at = stage_0 + stage * Config::stage_bytes, full = full_0 + stage * 8;
        const int k = s * Config::stage_k;
        ptx::wait(empty_0 + stage * 8, parity);
        ptx::arrive_expecting(full, Config::stage_bytes - (s % 2 == 0 ? 0 : Config::metadata_bytes));
        ptx::copy_box(at, &maps.a, k / 2, row, full);
#pragma unroll
        for (int box = 0; box < Config::boxes; ++box)
          ptx::copy_box(at + Config::a_bytes + box * (Config::stage_k * Swizzle128::row_bytes), &maps.b,
                        Config::b_is_by_rows ? column + box * 64 : k, Config::b_is_by_rows ? k : column,
                        full);
        if (s % 2 == 0)
          ptx::copy_box(at + Config::a_bytes + Config::b_bytes, &maps.metadata, s / 2 * 8, row, full);
        if (++stage == Config::stages) {
          stage = 0;
          parity ^= 1;
        }
      }
      if (blocks > 1) {
        for (int wait = 0; wait < 2; ++wait) {
          ptx::arrive_in_cluster();
          ptx::wait_for_cluster();
        }
        ptx::fence_copies();
      }
    }
    return;
  }

  ptx::take_registers<240>();
  const auto sync = [&] { ptx::sync_threads(group + 2, WgmmaSparse::threads); };
  char* const stages_begin = memory + (stage_0 - ptx::shared_address(memory));
  char* const staged =
      stages_begin + Config::stages * (Config::stage_bytes + 16) + group * Config::staged_bytes_of_group;
  float4* const exchanged = reinterpret_cast<float4*>(stages_begin + group * Config::sums_bytes_of_group);
  const std::uint32_t metadata_at =
      Config::a_bytes + Config::b_bytes +
      static_cast<std::uint32_t>(group * WgmmaSparse::m + WgmmaSparse::row_of_metadata(thread)) * 16;
  const auto release = [&](int emptied) { ptx::arrive(empty_0 + emptied * 8); };
  std::uint32_t parity = 0;
  for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
    float sums[Config::block_n / 2];
#pragma unroll
    for (float& sum : sums) sum = 0;
    std::uint32_t rows[2][4];  // the metadata of two stages, of this thread's two rows
    std::uint32_t metadata[2][2] = {};
    int before = -1;
    // Multiplies a stage. The registers of its metadata are not written while the instructions run.
    const auto multiply = [&]<bool IsOdd>(std::bool_constant<IsOdd>) {
      const std::uint32_t at = stage_0 + stage * Config::stage_bytes;
      const std::uint64_t a =
          SharedMatrix::describe(at + group * (WgmmaSparse::m * 64), SharedMatrix::Lines::of_64_bytes);
      const std::uint64_t b =
          SharedMatrix::describe(at + Config::a_bytes, SharedMatrix::Lines::of_128_bytes,
                                 Config::b_is_by_rows ? Config::stage_k * Swizzle128::row_bytes : 0);
      ptx::wait(full_0 + stage * 8, parity);
      if (!IsOdd) {
        ptx::load_shared(at + metadata_at, rows[0]);
        ptx::load_shared(at + metadata_at + 8 * 16, rows[1]);
      }
#pragma unroll
      for (int step = 0; step < 2; ++step)
        metadata[IsOdd][step] =
            WgmmaSparse::metadata(thread, rows[0][IsOdd * 2 + step], rows[1][IsOdd * 2 + step]);
      ptx::wgmma_fence();
#pragma unroll
      for (int step = 0; step < 2; ++step)
        ptx::wgmma_sparse<T, Config::block_n, Config::b_is_by_rows>(
            sums, a + SharedMatrix::offset(step * 32),
            b + SharedMatrix::offset(step * (Config::b_is_by_rows ? 32 * Swizzle128::row_bytes : 64)),
            metadata[IsOdd][step]);
      ptx::wgmma_commit();
      ptx::wgmma_wait<1>();
      ptx::keep(metadata[!IsOdd][0], metadata[!IsOdd][1]);
      if (before >= 0) release(before);
      before = stage;
      if (++stage == Config::stages) {
        stage = 0;
        parity ^= 1;
      }
    };
#pragma unroll 1
    for (int s = begin; s < end; s += 2) {
      multiply(std::false_type{});
      if (s + 1 < end) multiply(std::true_type{});
    }
    ptx::wgmma_wait<0>();
    ptx::keep(metadata[0][0], metadata[0][1]);
    ptx::keep(metadata[1][0], metadata[1][1]);
    release(before);

    const std::int64_t row = std::int64_t{tile % row_tiles} * Config::block_m + group * WgmmaSparse::m;
    const std::int64_t column = std::int64_t{tile / row_tiles} * Config::block_n;
    if (blocks > 1) {
      ptx::sync_threads(1, multiplying);  // nothing in the stages is needed any more
      const auto all_have_summed = [] {
        ptx::arrive_in_cluster();
        ptx::wait_for_cluster();
      };
      add_sums_of_cluster<Config>(exchanged, thread, rank, blocks, sums, all_have_summed);
      ptx::arrive_in_cluster();
    }
    if (Product::epilogue_is_identity && product.accumulates)
      add_result<DIsByRows>(product, row, column, thread, sums);
    store_tile<Config, DIsByRows>(product, staged, row, column, thread, rank, blocks, sums, sync);
    if (blocks > 1) ptx::wait_for_cluster();  // no block goes on, or ends, while others read its sums
  }
#endif
}

}  // namespace detail

/// D = f(A B) or D += f(A B), in the order of the stream of `space`.
/// @param clusters           that run at the same time
/// @param blocks_of_cluster  that share a tile: at most as many as it has parts, and half as many as stages
template <class Config, bool DIsByRows, class Product>
void two_four_product(const Kokkos::Cuda& space, const Product& product, const TwoFourMaps& maps,
                      int clusters, int blocks_of_cluster) {
  const std::int64_t tiles = ceil_div(product.m, Config::block_m) * ceil_div(product.n, Config::block_n);
  launch_clusters(space, "sporos::two_four_product", &detail::two_four_kernel<Config, DIsByRows, Product>,
                  (tiles < clusters ? tiles : clusters) * blocks_of_cluster, blocks_of_cluster,
                  Config::threads, Config::shared_bytes, product, maps);
}

}  // namespace sporos::gpu
