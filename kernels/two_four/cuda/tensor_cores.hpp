// SPDX-License-Identifier: Apache-2.0
/// @file tensor_cores.hpp
/// The product of a 2:4 sparse and a dense matrix on sparse tensor cores.
///
/// The copy engine fills a ring of stages in shared memory, each of them 64 rows of the dense matrix, and
/// what the sparse one keeps of as many columns. Groups of four warps multiply them there. The metadata is
/// copied as the format stores it; the instructions take it nearly so (WgmmaSparse::metadata).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../../core/value.hpp"
#include "../../cuda/cluster.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/warp.hpp"
#include "../../cuda/wgmma.hpp"
#include "../../cuda/wgmma_traits.hpp"

namespace sporos::gpu {

/// How a block computes a tile of the result.
/// @tparam BlockN     columns of a tile: 64, 128 or 256
/// @tparam BIsByRows  whether the dense matrix is stored by rows
template <class T, int BlockN, bool BIsByRows>
struct TwoFourConfig {
  using value_type = T;
  static constexpr bool b_is_by_rows = BIsByRows;
  static constexpr int warpgroups = 2;  ///< that multiply; one more copies
  static constexpr int block_m = warpgroups * WgmmaSparse::m, block_n = BlockN;
  static constexpr int stage_k = 64;
  static constexpr int threads = (warpgroups + 1) * WgmmaSparse::threads;

  static constexpr int a_bytes = block_m * stage_k;  ///< half of the elements, 2 bytes each
  static constexpr int b_bytes = block_n * stage_k * 2;
  /// The metadata of two stages, since the copy engine copies no less: it comes with stages of even number.
  static constexpr int metadata_bytes = block_m * 16;
  static constexpr int stage_bytes = a_bytes + b_bytes + metadata_bytes;
  /// The dense matrix is copied in boxes of lines of 64 elements.
  static constexpr int lines_of_box = BIsByRows ? stage_k : block_n;
  static constexpr int boxes = BIsByRows ? block_n / 64 : 1;

  /// What a group stores goes through this much shared memory, so many columns of the tile at a time: from
  /// the threads that have computed it to neighbouring ones.
  static constexpr int columns_at_a_time = 64, parts = block_n / columns_at_a_time;
  static constexpr int sums_of_part = columns_at_a_time / 2;            ///< that a thread has
  static constexpr int staged_bytes_of_group = 2 * 64 * (64 * 2 + 16);  ///< at least 64 * (64 * 4 + 16)
  static constexpr int staged_bytes = warpgroups * staged_bytes_of_group;

  static constexpr int most_shared_bytes = 227 * 1024;  ///< one block has a multiprocessor to itself
  static constexpr int stages =
      std::min(8, (most_shared_bytes - Swizzle128::alignment - staged_bytes) / (stage_bytes + 16));
  /// What a group has summed, where several blocks add theirs up: in the place of the stages.
  static constexpr int sums_bytes_of_group = WgmmaSparse::m * block_n * 4;
  static constexpr int shared_bytes = Swizzle128::alignment + stages * (stage_bytes + 16) + staged_bytes;
  static_assert(stage_bytes % Swizzle128::alignment == 0);
  static_assert(warpgroups * sums_bytes_of_group <= stages * stage_bytes);
};

/// D = A B, A sparse.
template <class Out>
struct TwoFourProduct {
  std::int64_t m = 0, n = 0, k = 0;
  Out* d = nullptr;          ///< [m, n], or [n, m] where it is stored by columns
  bool accumulates = false;  ///< D += A B
};

/// The operands as the copy engine is told of them.
struct TwoFourMaps {
  CUtensorMap a;         ///< [m, k / 2], what each row keeps: boxes of block_m x 32
  CUtensorMap b;         ///< [k, n] by rows or by columns: boxes of lines_of_box x 64
  CUtensorMap metadata;  ///< [m, k / 16] of 16 bits, k a multiple of 128: boxes of block_m x 8
};

namespace detail {

/// Two floats as neighbouring 16-bit floats, the first in the lower half.
template <class Out>
__device__ __forceinline__ std::uint32_t narrowed(float first, float second) {
  std::uint32_t out;
  if constexpr (std::is_same_v<Out, half>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}

/// Adds what the result holds to the sums of a tile.
template <bool DIsByRows, class Out, int Count>
__device__ __forceinline__ void add_result(const TwoFourProduct<Out>& product, std::int64_t row,
                                           std::int64_t column, int thread, float (&sums)[Count]) {
#pragma unroll
  for (int r = 0; r < Count; ++r) {
    const auto place = WgmmaSparse::of_d(thread, r);
    const std::int64_t i = row + place.row, j = column + place.column;
    if (i < product.m && j < product.n)
      sums[r] += static_cast<float>(product.d[DIsByRows ? i * product.n + j : j * product.m + i]);
  }
}

/// Which of the blocks of a cluster adds up and stores a part of the columns of a tile.
__device__ __forceinline__ int block_of_part(int part, int blocks) { return part % blocks; }

/// Stores the 64 rows of a tile that a group of threads has computed. Each thread holds small pieces of many
/// lines of the result; they are put together in shared memory, so that lines are stored 16 bytes a thread.
/// @param staged       Config::staged_bytes_of_group bytes
/// @param row, column  where the 64 rows begin in the result
/// @param rank         of this block among those of the cluster, which stores the parts that are its own
template <class Config, bool DIsByRows, class Out, int Count, class Sync>
__device__ __forceinline__ void store_tile(const TwoFourProduct<Out>& product, char* staged, std::int64_t row,
                                           std::int64_t column, int thread, int rank, int blocks,
                                           const float (&sums)[Count], const Sync& sync) {
  constexpr int columns = Config::columns_at_a_time;
  constexpr int length = DIsByRows ? columns : WgmmaSparse::m, lines = DIsByRows ? WgmmaSparse::m : columns;
  constexpr int in_piece = 16 / static_cast<int>(sizeof(Out)), pitch = length + in_piece;  // elements
  static_assert(lines * pitch * static_cast<int>(sizeof(Out)) <= Config::staged_bytes_of_group);
  const std::int64_t line_length = DIsByRows ? product.n : product.m;
  const std::int64_t lines_of_all = DIsByRows ? product.m : product.n;
  const bool is_aligned =
      line_length % in_piece == 0 && reinterpret_cast<std::uintptr_t>(product.d) % 16 == 0;
  // Where the first of this thread's pieces goes. Of 16-bit elements, four matrices of 8 x 8 are stored
  // together: two one below the other, and the next two columns of them.
  const auto first = WgmmaSparse::of_d(thread, 0);
  const int matrix = lane_id() / 8, line_of_matrix = lane_id() % 8;
  const int first_row =
      sizeof(Out) == 2 ? thread / 32 * 16 + matrix % 2 * 8 + (DIsByRows ? line_of_matrix : 0) : first.row;
  const int first_column =
      sizeof(Out) == 2 ? matrix / 2 * 8 + (DIsByRows ? 0 : line_of_matrix) : first.column;
  const int at_first = DIsByRows ? first_row * pitch + first_column : first_column * pitch + first_row;
  // Two parts fit where elements have 16 bits: while one is read, the next one is written.
  constexpr bool alternates =
      lines * pitch * static_cast<int>(sizeof(Out)) * 2 <= Config::staged_bytes_of_group;
#pragma unroll
  for (int part = 0; part < Config::parts; ++part) {
    if (block_of_part(part, blocks) != rank) continue;
    Out* const of_part =
        reinterpret_cast<Out*>(staged) + (alternates ? part / blocks % 2 * (lines * pitch) : 0);
    if (!alternates || part < blocks) sync();
#pragma unroll
    for (int r = 0; r < columns / 2; r += 8) {  // 16 columns
      const float* const from = sums + part * Config::sums_of_part + r;
      if constexpr (sizeof(Out) == 2) {
        std::uint32_t pairs[4];
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) pairs[pair] = narrowed<Out>(from[pair * 2], from[pair * 2 + 1]);
        ptx::store_matrices<DIsByRows>(
            ptx::shared_address(of_part + at_first + r * 2 * (DIsByRows ? 1 : pitch)), pairs);
      } else {
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          const auto place = WgmmaSparse::of_d(0, r + e);
          of_part[at_first + (DIsByRows ? place.row * pitch + place.column
                                        : place.column * pitch + place.row)] = static_cast<Out>(from[e]);
        }
      }
    }
    sync();
    const std::int64_t first_line = DIsByRows ? row : column + part * columns;
    const std::int64_t first_place = DIsByRows ? column + part * columns : row;
    constexpr int pieces = length / in_piece;  // of a line
#pragma unroll 4
    for (int piece = thread; piece < lines * pieces; piece += WgmmaSparse::threads) {
      const std::int64_t line = first_line + piece / pieces, place = first_place + piece % pieces * in_piece;
      if (line >= lines_of_all || place >= line_length) continue;
      const Out* const staged_piece = of_part + piece / pieces * pitch + piece % pieces * in_piece;
      Out* const to = product.d + line * line_length + place;
      if (is_aligned)
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(staged_piece);
      else
        for (int e = 0; e < in_piece && place + e < line_length; ++e) to[e] = staged_piece[e];
    }
  }
}

/// Adds up what all blocks of a cluster have summed, each the parts that are its own: what the others need
/// goes to shared memory, where they read it. The order is that of the blocks, beginning with the own one.
/// @param exchanged  Config::sums_bytes_of_group bytes in shared memory, at the same place in each block
template <class Config, int Count, class Sync>
__device__ __forceinline__ void add_sums_of_cluster(float4* exchanged, int thread, int rank, int blocks,
                                                    float (&sums)[Count], const Sync& sync) {
  constexpr int fours = Config::sums_of_part / 4;
  float4* const of_thread = exchanged + thread;
#pragma unroll
  for (int part = 0; part < Config::parts; ++part)
    if (block_of_part(part, blocks) != rank)
#pragma unroll
      for (int four = 0; four < fours; ++four) {
        const float* const from = sums + part * Config::sums_of_part + four * 4;
        of_thread[(part * fours + four) * WgmmaSparse::threads] =
            make_float4(from[0], from[1], from[2], from[3]);
      }
  sync();
#pragma unroll
  for (int part = 0; part < Config::parts; ++part)
    if (block_of_part(part, blocks) == rank)
      for (int other = 1; other < blocks; ++other) {
        const int block = rank + other < blocks ? rank + other : rank + other - blocks;
#pragma unroll
        for (int four = 0; four < fours; ++four) {
          const float4 from = ptx::load_shared_of(
              static_cast<std::uint32_t>(block),
              ptx::shared_address(of_thread + (part * fours + four) * WgmmaSparse::threads));
          float* const to = sums + part * Config::sums_of_part + four * 4;
          to[0] += from.x;
          to[1] += from.y;
          to[2] += from.z;
          to[3] += from.w;
        }
      }
}

template <class Config, bool DIsByRows, class Out>
__global__ __launch_bounds__(Config::threads,
                             1) void two_four_kernel(const __grid_constant__ TwoFourProduct<Out> product,
                                                     const __grid_constant__ TwoFourMaps maps) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = typename Config::value_type;
  constexpr int multiplying = Config::warpgroups * WgmmaSparse::threads;
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
    if (product.accumulates) add_result<DIsByRows>(product, row, column, thread, sums);
    store_tile<Config, DIsByRows>(product, staged, row, column, thread, rank, blocks, sums, sync);
    if (blocks > 1) ptx::wait_for_cluster();  // no block goes on, or ends, while others read its sums
  }
#endif
}

}  // namespace detail

/// D = A B or D += A B, in the order of the stream of `space`.
/// @param clusters           that run at the same time
/// @param blocks_of_cluster  that share a tile: at most as many as it has parts, and half as many as stages
template <class Config, bool DIsByRows, class Out>
void two_four_product(const Kokkos::Cuda& space, const TwoFourProduct<Out>& product, const TwoFourMaps& maps,
                      int clusters, int blocks_of_cluster) {
  const std::int64_t tiles = ceil_div(product.m, Config::block_m) * ceil_div(product.n, Config::block_n);
  launch_clusters(space, "sporos::two_four_product", &detail::two_four_kernel<Config, DIsByRows, Out>,
                  (tiles < clusters ? tiles : clusters) * blocks_of_cluster, blocks_of_cluster,
                  Config::threads, Config::shared_bytes, product, maps);
}

}  // namespace sporos::gpu
