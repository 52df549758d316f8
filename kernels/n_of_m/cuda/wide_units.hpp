// SPDX-License-Identifier: Apache-2.0
/// @file wide_units.hpp
/// The product of a dense and an N:M sparse matrix on tensor cores, for units with a multiple of 128 columns.
///
/// A tile of the result has columns of one unit only, which keep the same rows of B. So only the rows of A
/// (stored k-major) that they need are copied to shared memory, contiguously, and the rest is a dense product
/// with N/M of the work. Its tiles are transposed: 128 columns of the result by up to 256 rows.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/wgmma_tile.hpp"
#include "../view.hpp"
#include "packed.hpp"

namespace sporos::gpu {

/// An N:M matrix cut into groups of 128 columns, each within one unit:
///
///     for each group:
///         values  [kept rows][128]
///         rows    [kept rows] of 32 bits: which row of the matrix it is; -1 where all values are zero
struct NmGroups {
  static constexpr int columns = 128;
  static constexpr int stage_rows = 64;

  std::int64_t groups = 0;
  std::int64_t kept = 0;  ///< rows that a group keeps, padded to whole stages

  template <class T>
  static NmGroups of(const NmView<T>& b) {
    return {ceil_div(b.columns, columns),
            ceil_div(ceil_div(b.rows, b.window) * b.kept, stage_rows) * stage_rows};
  }
  KOKKOS_INLINE_FUNCTION std::int64_t rows_at() const { return groups * kept * columns * 2; }
  std::int64_t bytes() const { return rows_at() + groups * kept * 4; }
};

/// How a block computes a tile of the result's transpose.
template <class T, int BlockN>
struct NmGroupConfig
    : WgmmaTile<BlockN, (NmGroups::columns + BlockN) * NmGroups::stage_rows * 2, BlockN == 256 ? 1 : 2> {
  using value_type = T;
  static constexpr int stage_rows = NmGroups::stage_rows;
  using Values = OperandLayout<Role::values, Operand::a, T, false, NmGroups::columns, stage_rows>;
  using Dense = OperandLayout<Role::dense, Operand::b, T, true, BlockN, stage_rows>;
  static_assert(NmGroupConfig::stage_bytes == Values::bytes + Dense::bytes);
  static constexpr int pieces_of_row = BlockN / Dense::aligned_columns;  ///< of 16 bytes
  /// Registers per thread that copies, and per thread that multiplies: together no more than the block starts
  /// with.
  static constexpr int registers_to_copy = BlockN == 256 ? 72 : 48,
                       registers_to_multiply = BlockN == 256 ? 216 : 208;
};

namespace detail {

/// Packs one kept row of a group with one warp, four columns per lane.
template <class T>
__global__ __launch_bounds__(128) void pack_groups_kernel(NmView<T> b, NmGroups packing, char* packed) {
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * 4 + threadIdx.x / warp_size;
  if (line >= packing.groups * packing.kept) return;
  const std::int64_t group = line / packing.kept, at = line % packing.kept;
  const std::int64_t column = group * NmGroups::columns + lane_id() * 4;
  const std::int64_t window = at / b.kept;
  alignas(8) T values[4] = {};
  std::int64_t row = b.rows;
  if (window * b.window < b.rows) {
    const std::int64_t unit = group * NmGroups::columns / b.unit;
    const std::int64_t q = b.position(window, unit) + at % b.kept;
    row = window * b.window + __ldg(b.indices + q);
    for (int e = 0; e < 4; ++e)
      if (row < b.rows && column + e < b.columns)
        values[e] = load(b.values + q * b.unit + (column + e - unit * b.unit));
  }
  bool is_zero = true;
  for (const T& value : values) is_zero = is_zero && static_cast<float>(value) == 0;
  *reinterpret_cast<uint2*>(packed + (line * NmGroups::columns + lane_id() * 4) * 2) =
      *reinterpret_cast<const uint2*>(values);
  const bool is_empty = __all_sync(~0u, is_zero);
  if (lane_id() == 0)
    reinterpret_cast<int*>(packed + packing.rows_at())[line] = is_empty ? -1 : static_cast<int>(row);
}

/// Computes D = f(B^T A^T).
/// @tparam DIsByRows  whether D is stored by rows, so that its transpose, the product of A and B, is by
/// columns
/// @param a       A, k-major
/// @param stride  elements from one row of `a` to the next
template <class Config, bool DIsByRows, class Product>
__global__ __launch_bounds__(Config::threads,
                             1) void nm_group_kernel(const __grid_constant__ Product product,
                                                     const __grid_constant__ CUtensorMap values,
                                                     const int* rows, const typename Config::value_type* a,
                                                     std::int64_t stride) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = typename Config::value_type;
  constexpr int multiplying = Config::multiplying;
  extern __shared__ char memory[];
  const std::uint32_t stage_0 = (ptx::shared_address(memory) + Swizzle128::alignment - 1) /
                                Swizzle128::alignment * Swizzle128::alignment;
  const std::uint32_t full_0 = stage_0 + Config::stages * Config::stage_bytes,
                      empty_0 = full_0 + Config::stages * 8;
  const int group = static_cast<int>(threadIdx.x) / Wgmma::threads;
  const int thread = static_cast<int>(threadIdx.x) % Wgmma::threads;
  const int row_tiles = static_cast<int>(ceil_div(product.m, Config::block_m));
  const int tiles = row_tiles * static_cast<int>(ceil_div(product.n, Config::block_n));
  const int rank = ptx::rank_in_cluster(), blocks = ptx::blocks_of_cluster();
  const int first_tile = static_cast<int>(blockIdx.x) / blocks,
            tiles_at_a_time = static_cast<int>(gridDim.x) / blocks;
  const int stages = static_cast<int>(product.k / Config::stage_rows);
  const int begin = stages * rank / blocks, end = stages * (rank + 1) / blocks;

  if (threadIdx.x == 0) {
    ptx::prefetch(&values);
    for (int stage = 0; stage < Config::stages; ++stage) {
      ptx::barrier_init(full_0 + stage * 8, Config::copying + 1);
      ptx::barrier_init(empty_0 + stage * 8, multiplying);
    }
    ptx::fence_barrier_init();
  }
  if (blocks > 1) {
    ptx::arrive_in_cluster();
    ptx::wait_for_cluster();
  } else {
    __syncthreads();
  }

  // After each tile the blocks of a cluster wait for each other twice: until all have put their sums into
  // shared memory, and until all have read them.
  int stage = 0;
  if (group >= Config::warpgroups) {  // a copying group
    ptx::give_registers_back<Config::registers_to_copy>();
    ptx::wait_for_kernel_before();  // nothing else in this kernel reads what that one writes
    constexpr int rows_at_a_time = Config::copying / Config::pieces_of_row;
    const int copier = static_cast<int>(threadIdx.x) - multiplying;
    const int piece = copier % Config::pieces_of_row, line_0 = copier / Config::pieces_of_row;
    const std::uint32_t of_piece =
        Config::Values::bytes + static_cast<std::uint32_t>(piece / 8 * Config::Dense::box_bytes);
    std::uint32_t parity = 1;
    for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
      const std::int64_t line = std::int64_t{tile % row_tiles} * product.k;  // of the packed matrix
      const std::int64_t column = std::int64_t{tile / row_tiles} * Config::block_n + piece * 8;
      const T* const of_column = a + column;
      const bool is_inside = column < stride;
      // The rows of a stage, two per lane, are loaded two stages ahead.
      struct Rows {
        int of_lane[2];
      };
      const auto load_rows = [&](int s) {
        Rows out{{-1, -1}};
        if (s < end)
          for (int half_of_rows = 0; half_of_rows < 2; ++half_of_rows)
            out.of_lane[half_of_rows] =
                __ldg(rows + line + s * Config::stage_rows + half_of_rows * warp_size + lane_id());
        return out;
      };
      Rows now = load_rows(begin), next = load_rows(begin + 1);
      for (int s = begin; s < end; ++s) {
        const Rows after = load_rows(s + 2);
        const std::uint32_t at = stage_0 + stage * Config::stage_bytes, full = full_0 + stage * 8;
        ptx::wait(empty_0 + stage * 8, parity);
        if (copier == 0) {
          ptx::arrive_expecting(full, Config::Values::bytes);
#pragma unroll
          for (int box = 0; box < Config::Values::boxes; ++box)
            ptx::copy_box(at + box * Config::Values::box_bytes, &values, Config::Values::column(box, 0, 0),
                          static_cast<int>(line) + s * Config::stage_rows, full);
        }
#pragma unroll
        for (int part = 0; part < 2; ++part)
#pragma unroll
          for (int i = 0; i < warp_size / rows_at_a_time; ++i) {
            const int to = line_0 + i * rows_at_a_time;
            const int row = __shfl_sync(~0u, now.of_lane[part], to);
            const bool copies = is_inside && row >= 0;
            ptx::copy_piece(
                at + of_piece + (part * warp_size + to) * Swizzle128::row_bytes + ((piece ^ to) % 8) * 16,
                copies ? of_column + row * stride : a, copies ? 16 : 0);
          }
        ptx::arrive_with_pieces(full);
        now = next;
        next = after;
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

  ptx::take_registers<Config::registers_to_multiply>();
  const auto sync = [&] { ptx::sync_threads(group + 2, Wgmma::threads); };
  char* const stages_begin = memory + (stage_0 - ptx::shared_address(memory));
  char* const staged =
      stages_begin + Config::stages * (Config::stage_bytes + 16) + group * Config::staged_bytes_of_group;
  float4* const exchanged = reinterpret_cast<float4*>(stages_begin + group * Config::sums_bytes_of_group);
  std::uint32_t parity = 0;
  for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
    float sums[Config::block_n / 2];
#pragma unroll
    for (float& sum : sums) sum = 0;
    int before = -1;
#pragma unroll 1
    for (int s = begin; s < end; ++s) {
      const std::uint32_t at = stage_0 + stage * Config::stage_bytes;
      const std::uint64_t of_values = Config::Values::describe(at, group),
                          of_dense = Config::Dense::describe(at + Config::Values::bytes);
      ptx::wait(full_0 + stage * 8, parity);
      ptx::fence_copies();  // the pieces are not copied by the copy engine
      ptx::wgmma_fence();
#pragma unroll
      for (int step = 0; step < Config::stage_rows / Wgmma::k; ++step)
        ptx::wgmma<T, Config::block_n, Config::Values::is_transposed, Config::Dense::is_transposed>(
            sums, of_values + Config::Values::step(step), of_dense + Config::Dense::step(step));
      ptx::wgmma_commit();
      ptx::wgmma_wait<1>();
      if (before >= 0) ptx::arrive(empty_0 + before * 8);
      before = stage;
      if (++stage == Config::stages) {
        stage = 0;
        parity ^= 1;
      }
    }
    ptx::wgmma_wait<0>();
    ptx::arrive(empty_0 + before * 8);

    const std::int64_t row = std::int64_t{tile % row_tiles} * Config::block_m + group * Wgmma::m;
    const std::int64_t column = std::int64_t{tile / row_tiles} * Config::block_n;
    if (blocks > 1) {
      ptx::sync_threads(1, multiplying);  // the contents of the stages are no longer needed
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

/// Packs a matrix whose units are multiples of 128 columns: packed [packing.bytes()].
template <class T>
void pack_groups(const Kokkos::Cuda& space, const NmView<T>& b, const NmGroups& packing, char* packed) {
  launch(space, "sporos::pack_groups", &detail::pack_groups_kernel<T>,
         ceil_div(packing.groups * packing.kept, 4), 128, 0, b, packing, packed);
}

/// D = f(B^T A^T) or D += f(B^T A^T), in the order of the stream of `space`.
/// @param product  its k is that of the packed matrix
/// @param a        A, k-major: rows `stride` elements apart, a multiple of 8; aligned to 16 bytes
/// @param begins   `early` if it follows `copy_k_major`
template <class Config, bool DIsByRows, class Product>
void nm_group_product(const Kokkos::Cuda& space, const Product& product, const NmGroups& packing,
                      const char* packed, const typename Config::value_type* a, std::int64_t stride,
                      const TileChoice& tiles, Begins begins) {
  const CUtensorMap values = operand_map<typename Config::Values>(packed, packing.groups * packing.kept,
                                                                  NmGroups::columns, NmGroups::columns);
  const std::int64_t count = ceil_div(product.m, Config::block_m) * ceil_div(product.n, Config::block_n);
  launch_clusters(begins, space, "sporos::nm_group_product",
                  &detail::nm_group_kernel<Config, DIsByRows, Product>,
                  (count < tiles.clusters ? count : tiles.clusters) * tiles.shared, tiles.shared,
                  Config::threads, Config::shared_bytes, product, values,
                  reinterpret_cast<const int*>(packed + packing.rows_at()), a, stride);
}

}  // namespace sporos::gpu
