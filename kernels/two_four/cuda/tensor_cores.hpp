// SPDX-License-Identifier: Apache-2.0
/// @file tensor_cores.hpp
/// The product of a 2:4 sparse and a dense matrix on sparse tensor cores.
///
/// The copy engine fills rings of slots in shared memory with parts of the operands, and groups of four warps
/// multiply them there. The metadata is copied as the format stores it, which is almost as the instructions
/// need it (WgmmaSparse::metadata). Blocks of a cluster share either a tile or the columns of their tiles:
/// tiles.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/ring.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/wgmma_tile.hpp"
#include "operands.hpp"
#include "tiles.hpp"

namespace sporos::gpu {

/// How a block computes a tile of the result.
///
/// The operands pass through three rings of slots in shared memory: one of the sparse matrix, 128 columns of
/// it at a time, one of the dense matrix, 64 rows at a time, and one of the metadata. The copy engine is slow
/// with short lines: the elements that the sparse matrix keeps of 128 columns make a line of 128 bytes, and
/// the metadata is copied for several such stages at a time.
/// @tparam BlockN     columns of a tile: 64, 128, 192 or 256
/// @tparam BIsByRows  whether the dense matrix is stored by rows
/// @tparam Groups     number of groups of four warps that multiply, each 64 rows: 2 or 3
template <class T, int BlockN, bool BIsByRows, int Groups = 2>
struct TwoFourConfig : WgmmaTile<BlockN, Groups * Wgmma::m * 64 + BlockN * 64 * 2, 1, Groups> {
  using Tile = WgmmaTile<BlockN, Groups * Wgmma::m * 64 + BlockN * 64 * 2, 1, Groups>;
  using value_type = T;
  /// Registers per thread that multiplies, and per thread that copies: together no more than the block starts
  /// with.
  static constexpr int registers = Groups == 2 ? 232 : 160, registers_to_copy = Groups == 2 ? 40 : 32;

  static constexpr int stage_k = 128, half_k = 64;
  static constexpr int metadata_stages = Groups == 2 && BlockN == 256 ? 2 : 4, metadata_slots = 2;
  using Values = OperandLayout<Role::values, Operand::a, T, true, Tile::block_m, stage_k, WgmmaSparse>;
  using Metadata = OperandLayout<Role::metadata, Operand::a, T, true, Tile::block_m,
                                 metadata_stages * stage_k, WgmmaSparse>;
  using Dense = OperandLayout<Role::dense, Operand::b, T, BIsByRows, BlockN, half_k, WgmmaSparse>;
  static constexpr int a_bytes = Values::bytes, b_bytes = Dense::bytes, metadata_bytes = Metadata::bytes;

  /// Slots for the sparse matrix if there are `b_slots` for the dense one, each of half a stage.
  static constexpr int a_slots_for(int b_slots) { return b_slots / 2 + 1; }
  static constexpr int bytes_for(int b_slots) {
    const int barriers = 2 * (a_slots_for(b_slots) + b_slots + metadata_slots);
    return Swizzle128::alignment + a_slots_for(b_slots) * a_bytes + b_slots * b_bytes +
           metadata_slots * metadata_bytes + barriers * 8 + Tile::staged_bytes;
  }
  static constexpr int b_slots = [] {
    int slots = 8;
    while (bytes_for(slots) > Tile::most_shared_bytes) --slots;
    return slots;
  }();
  static constexpr int a_slots = a_slots_for(b_slots);
  static constexpr int shared_bytes = bytes_for(b_slots);
  static constexpr bool can_be_shared =
      Groups * Tile::sums_bytes_of_group <= a_slots * a_bytes + b_slots * b_bytes;
  static_assert(b_slots >= 4);
};

/// The operands as described to the copy engine.
struct TwoFourMaps {
  CUtensorMap a;         ///< [m, k / 2], the elements each row keeps
  CUtensorMap b;         ///< [k, n] by rows or by columns; a block may copy some lines of each box
  CUtensorMap metadata;  ///< [m, k / 16] of 16 bits
};

namespace detail {

template <class Config, bool DIsByRows, class Product>
__global__ __launch_bounds__(Config::threads,
                             1) void two_four_kernel(const __grid_constant__ Product product,
                                                     const __grid_constant__ TwoFourMaps maps,
                                                     const __grid_constant__ TileOrder order,
                                                     ClusterShares shares) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = typename Config::value_type;
  constexpr int multiplying = Config::multiplying;
  extern __shared__ char memory[];
  const std::uint32_t slots_0 = (ptx::shared_address(memory) + Swizzle128::alignment - 1) /
                                Swizzle128::alignment * Swizzle128::alignment;
  using RingOfA = Ring<Config::a_slots, Config::a_bytes>;
  using RingOfB = Ring<Config::b_slots, Config::b_bytes>;
  const std::uint32_t b_0 = slots_0 + Config::a_slots * Config::a_bytes,
                      metadata_0 = b_0 + Config::b_slots * Config::b_bytes,
                      barriers_0 = metadata_0 + Config::metadata_slots * Config::metadata_bytes;
  RingOfA ring_a(slots_0, barriers_0);
  RingOfB ring_b(b_0, barriers_0 + RingOfA::barrier_bytes);
  Ring<Config::metadata_slots, Config::metadata_bytes> ring_metadata(
      metadata_0, barriers_0 + RingOfA::barrier_bytes + RingOfB::barrier_bytes);
  const int group = static_cast<int>(threadIdx.x) / WgmmaSparse::threads;
  const int thread = static_cast<int>(threadIdx.x) % WgmmaSparse::threads;
  const int rank_in_cluster = ptx::rank_in_cluster(), blocks_of_cluster = ptx::blocks_of_cluster();
  const int tiles = order.size();
  const int first_tile = static_cast<int>(blockIdx.x) / blocks_of_cluster,
            tiles_at_a_time = static_cast<int>(gridDim.x) / blocks_of_cluster;
  // Blocks that share a tile divide its stages. Blocks that share columns compute different tiles, which are
  // one entry of `order` together.
  const bool shares_columns = shares == ClusterShares::columns;
  const int rank = shares_columns ? 0 : rank_in_cluster, blocks = shares_columns ? 1 : blocks_of_cluster;
  const int readers = shares_columns ? blocks_of_cluster : 1;  // readers of what this block copies of B
  const auto row_of = [&](const TileOrder::Tile& tile) {
    return (shares_columns ? tile.row * blocks_of_cluster + rank_in_cluster : tile.row) * Config::block_m;
  };
  const int stages = static_cast<int>(ceil_div(product.k, Config::stage_k));
  const int begin = stages * rank / blocks, end = stages * (rank + 1) / blocks;
  const auto begins_metadata = [&](int s) { return s == begin || s % Config::metadata_stages == 0; };
  const auto ends_metadata = [&](int s) { return s + 1 == end || (s + 1) % Config::metadata_stages == 0; };

  if (group == Config::warpgroups && thread == 0) {
    for (const CUtensorMap* map : {&maps.a, &maps.metadata, &maps.b}) ptx::prefetch(map);
    constexpr int arrivals = multiplying / warp_size;  // one thread of each warp arrives
    ring_a.init(arrivals);
    ring_b.init(arrivals * readers);
    ring_metadata.init(arrivals);
    ptx::fence_barrier_init();
  }
  if (blocks_of_cluster > 1) {
    ptx::arrive_in_cluster();
    ptx::wait_for_cluster();
  } else if (group == Config::warpgroups) {
    ptx::arrive_for_threads(1, Config::threads);
  } else {
    ptx::sync_threads(1, Config::threads);
  }

  // After each tile, the blocks of a cluster that share it wait for each other twice, with all threads that
  // are still running: until all have put their sums into shared memory, and until all have read them.
  if (group == Config::warpgroups) {  // the copying group; one thread copies
    ptx::give_registers_back<Config::registers_to_copy>();
    if (thread != 0) return;
    const int lines = Config::Dense::box_lines / readers;
    const int first_line = shares_columns ? rank_in_cluster * lines : 0;
    const auto copy_b = [&](int k, int column) {
      ring_b.begin_filling();
#pragma unroll
      for (int box = 0; box < Config::Dense::boxes; ++box) {
        const std::uint32_t to =
            ring_b.slot() + (box * Config::Dense::box_lines + first_line) * Config::Dense::Swizzle::row_bytes;
        const int of_column = Config::Dense::column(box, column, k),
                  of_row = Config::Dense::row(column, k) + first_line;
        if (shares_columns)
          ptx::copy_box_to(static_cast<std::uint16_t>((1 << readers) - 1), to, &maps.b, of_column, of_row,
                           ring_b.full());
        else
          ptx::copy_box(to, &maps.b, of_column, of_row, ring_b.full());
      }
      ring_b.advance();
    };
    for (int at_tile = first_tile; at_tile < tiles; at_tile += tiles_at_a_time) {
      const auto tile = order[at_tile];
      const int row = row_of(tile), column = tile.column * Config::block_n;
      for (int s = begin; s < end; ++s) {
        if (begins_metadata(s)) {
          ring_metadata.begin_filling();
          copy_operand<typename Config::Metadata>(ring_metadata.slot(), &maps.metadata, row,
                                                  s / Config::metadata_stages * Config::Metadata::depth,
                                                  ring_metadata.full());
          ring_metadata.advance();
        }
        ring_a.begin_filling();
        copy_operand<typename Config::Values>(ring_a.slot(), &maps.a, row, s * Config::Values::depth,
                                              ring_a.full());
        ring_a.advance();
        copy_b(s * Config::stage_k, column);
        copy_b(s * Config::stage_k + Config::half_k, column);
      }
      if (blocks > 1) {
        for (int wait = 0; wait < 2; ++wait) {
          ptx::arrive_in_cluster();
          ptx::wait_for_cluster();
        }
        ptx::fence_copies();
      }
    }
    if (shares_columns) {  // the other blocks still arrive at the barriers here
      ptx::arrive_in_cluster();
      ptx::wait_for_cluster();
    }
    return;
  }

  ptx::take_registers<Config::registers>();
  const auto sync = [&] { ptx::sync_threads(group + 2, WgmmaSparse::threads); };
  char* const slots_begin = memory + (slots_0 - ptx::shared_address(memory));
  char* const staged =
      memory + Config::shared_bytes - Config::staged_bytes + group * Config::staged_bytes_of_group;
  const int row_of_metadata = group * WgmmaSparse::m + WgmmaSparse::row_of_metadata(thread);
  // One thread of each warp announces that what the warp has read may be overwritten.
  const auto release = [&](std::uint32_t barrier) {
    __syncwarp();
    if (lane_id() == 0) ptx::arrive(barrier);
  };
  const auto release_b = [&](std::uint32_t barrier) {
    if (!shares_columns) return release(barrier);
    __syncwarp();
    if (lane_id() < readers) ptx::arrive_at(static_cast<std::uint32_t>(lane_id()), barrier);
  };
  for (int at_tile = first_tile; at_tile < tiles; at_tile += tiles_at_a_time) {
    float sums[Config::block_n / 2];
#pragma unroll
    for (float& sum : sums) sum = 0;
    std::uint32_t rows[2][4];  // the metadata of a stage, for this thread's two rows
    std::uint32_t metadata[2][2] = {};
    std::uint32_t used_a = 0, used_b = 0;  // the barriers of slots that are read until the next wait
    // Multiplies half of a stage. The registers of its metadata must not be written while the instructions
    // run.
    const auto multiply = [&]<int Half>(std::integral_constant<int, Half>) {
      const std::uint64_t a = Config::Values::describe(ring_a.slot(), group),
                          b = Config::Dense::describe(ring_b.slot());
      ring_b.wait_until_full();
#pragma unroll
      for (int step = 0; step < 2; ++step)
        metadata[Half][step] =
            WgmmaSparse::metadata(thread, rows[0][Half * 2 + step], rows[1][Half * 2 + step]);
      ptx::wgmma_fence();
#pragma unroll
      for (int step = 0; step < 2; ++step)
        ptx::wgmma_sparse<T, Config::block_n, Config::Dense::is_transposed>(
            sums, a + Config::Values::step(Half * 2 + step), b + Config::Dense::step(step),
            metadata[Half][step]);
      ptx::wgmma_commit();
      ptx::wgmma_wait<1>();
      ptx::keep(metadata[1 - Half][0], metadata[1 - Half][1]);
      if (used_b != 0) release_b(used_b);
      if (Half == 0 && used_a != 0) release(used_a);
      used_b = ring_b.empty();
      ring_b.advance();
    };
#pragma unroll 1
    for (int s = begin; s < end; ++s) {
      if (begins_metadata(s)) ring_metadata.wait_until_full();
#pragma unroll
      for (int row = 0; row < 2; ++row)
        ptx::load_shared(ring_metadata.slot() + static_cast<std::uint32_t>(Config::Metadata::Swizzle::place(
                                                    row_of_metadata + row * 8, s % Config::metadata_stages)),
                         rows[row]);
      if (ends_metadata(s)) {
        release(once_loaded(ring_metadata.empty(), rows[0][0] | rows[1][0]));
        ring_metadata.advance();
      }
      ring_a.wait_until_full();
      multiply(std::integral_constant<int, 0>{});
      multiply(std::integral_constant<int, 1>{});
      used_a = ring_a.empty();
      ring_a.advance();
    }
    ptx::wgmma_wait<0>();
    ptx::keep(metadata[0][0], metadata[0][1]);
    ptx::keep(metadata[1][0], metadata[1][1]);
    release_b(used_b);
    release(used_a);

    const auto tile = order[at_tile];
    const std::int64_t row = std::int64_t{row_of(tile)} + group * WgmmaSparse::m;
    const std::int64_t column = std::int64_t{tile.column} * Config::block_n;
    if constexpr (Config::can_be_shared) {
      if (blocks > 1) {
        float4* const exchanged =
            reinterpret_cast<float4*>(slots_begin + group * Config::sums_bytes_of_group);
        ptx::sync_threads(1, multiplying);  // the contents of the slots are no longer needed
        const auto all_have_summed = [] {
          ptx::arrive_in_cluster();
          ptx::wait_for_cluster();
        };
        add_sums_of_cluster<Config>(exchanged, thread, rank, blocks, sums, all_have_summed);
        ptx::arrive_in_cluster();
      }
    }
    if (Product::epilogue_is_identity && product.accumulates)
      add_result<DIsByRows>(product, row, column, thread, sums);
    store_tile<Config, DIsByRows>(product, staged, row, column, thread, rank, blocks, sums, sync);
    if (blocks > 1) ptx::wait_for_cluster();  // no block goes on, or ends, while others read its sums
  }
  if (shares_columns) {
    ptx::arrive_in_cluster();
    ptx::wait_for_cluster();
  }
#endif
}

}  // namespace detail

/// D = f(A B) or D += f(A B), in the order of the stream of `space`.
/// @param choice  its tile must be that of Config; a tile is shared by at most as many blocks as it
///                has parts, and by at most as many as it has stages
template <class Config, bool DIsByRows, class Product>
void two_four_product(const Kokkos::Cuda& space, const Product& product,
                      const TwoFourOperands<typename Config::value_type>& of, const TwoFourChoice& choice) {
  const int readers = choice.shares == ClusterShares::columns ? choice.blocks : 1;
  const TwoFourMaps maps{
      operand_map<typename Config::Values>(of.values, product.m, of.padded_k / 2, of.padded_k / 2),
      operand_map<typename Config::Dense>(of.b, of.rows_of_b, of.columns_of_b, of.stride_of_b, readers),
      operand_map<typename Config::Metadata>(of.metadata, product.m, of.padded_k / 16, of.padded_k / 16)};
  const TileOrder order = choice.order(product.m, product.n);
  launch_clusters(space, "sporos::two_four_product", &detail::two_four_kernel<Config, DIsByRows, Product>,
                  std::int64_t{std::min(order.size(), choice.clusters)} * choice.blocks, choice.blocks,
                  Config::threads, Config::shared_bytes, product, maps, order, choice.shares);
}

}  // namespace sporos::gpu
