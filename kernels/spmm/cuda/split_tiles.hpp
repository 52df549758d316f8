// SPDX-License-Identifier: Apache-2.0
/// @file split_tiles.hpp
/// The product of a sparse matrix of floats and a dense one on tensor cores, in tf32: each float is the sum
/// of two numbers of 11 bits, and three products of these are added up, all except that of the low parts.
///
/// The sparse matrix is packed as tiles (split_tile_values.hpp), which the copy engine fetches together with
/// 32 rows of the dense one. Matrix instructions read lines of 8 neighbouring k from shared memory. Tiles
/// have such lines; the dense matrix does not, so it is the operand in registers, where its floats are split:
/// four warps compute 64 columns of C, for all rows of a tile, transposed.
///
/// Tensor cores truncate what they add. So the sums of a stage, of 32 k, start at zero and are added as
/// floats to earlier ones: at most three parts in 2^20 of |a b| are lost, where a float rounds off one in
/// 2^24, not counting what adding the sums of stages loses.
///
/// A zero times an infinity is NaN. So results that are not finite are computed again, from the nonzeros of
/// their row alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/cluster.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/wgmma.hpp"
#include "../../cuda/wgmma_tile.hpp"
#include "split_tile_values.hpp"
#include "tiles.hpp"

namespace sporos::gpu {

/// How a block computes a tile of C.
/// @tparam Rows    rows of a tile of A, and of C: 32 or 64
/// @tparam Groups  groups of four warps, of 64 columns each: 1, 2 or 4
template <int Rows, int Groups>
struct SplitTilesConfig {
  static constexpr int rows = Rows, groups = Groups, columns = Groups * WgmmaTf32::m;
  static constexpr int threads = Groups * WgmmaTf32::threads;
  /// Blocks per multiprocessor: its registers allow 168 per thread for 12 warps, and 128 for 16.
  static constexpr int blocks = Groups == 4 ? 1 : Groups == 2 ? 2 : 3;
  /// Steps per half of a stage: one half is split while the other is multiplied.
  static constexpr int steps = SplitTiles::columns / WgmmaTf32::k / 2;

  static constexpr int sparse_bytes = SplitTiles::bytes_of(Rows), plane_bytes = sparse_bytes / 2;
  static constexpr int box_columns = 32, boxes_of_group = WgmmaTf32::m / box_columns;
  static constexpr int box_bytes = SplitTiles::columns * Swizzle128::row_bytes;
  static constexpr int stage_bytes = sparse_bytes + Groups * boxes_of_group * box_bytes;
  static constexpr int shared_bytes_at_most = 227 * 1024 / blocks - 1024;
  static constexpr int stages =
      std::min(6, (shared_bytes_at_most - Swizzle128::alignment) / (stage_bytes + 16));
  static constexpr int shared_bytes = Swizzle128::alignment + stages * (stage_bytes + 16);
  static constexpr int most_blocks = 8;  ///< the most blocks that can share a tile of C

  /// A block's sums, by rows, replace the stages. This is the number of floats from one row to the next,
  /// chosen so that the lanes of a warp, which have 8 columns of 4 rows, write to different banks.
  static constexpr int pitch = columns + 4;
  static_assert(Rows * pitch * 4 <= stages * stage_bytes && stages >= 3);
  static_assert(Rows % most_blocks == 0);
};

/// D = f(A B) for A packed as tiles of split floats.
/// @tparam A  the type of A, a CsrView
template <class E, class A>
struct SplitTilesProduct : TiledProduct<float, E> {
  SplitTiles tiles;
  A a;
  const float* b = nullptr;  ///< [k, n]
  std::int64_t stride = 0;   ///< elements from one row of B to the next
  bool has_packs = false;    ///< whether four neighbouring elements of D can be written at once
};

namespace detail {

/// The stages of a block: where they are in shared memory, and which of A's tiles they hold.
template <class Config>
struct SplitStages {
  std::uint32_t first, full, empty;  ///< the stages, and their barriers
  int begin, count;                  ///< range of A's tiles

  __device__ __forceinline__ std::uint32_t at(int number) const {
    return first + number % Config::stages * Config::stage_bytes;
  }
  __device__ __forceinline__ void wait_for(int number) const {
    ptx::wait(full + number % Config::stages * 8, parity(number));
  }
  /// Says that this thread has read a stage.
  __device__ __forceinline__ void release(int number) const {
    ptx::arrive(empty + number % Config::stages * 8);
  }
  /// Waits until all threads have read it.
  __device__ __forceinline__ void wait_until_empty(int number) const {
    ptx::wait(empty + number % Config::stages * 8, parity(number));
  }

 private:
  __device__ static std::uint32_t parity(int number) {
    return static_cast<std::uint32_t>(number / Config::stages % 2);
  }
};

/// Copies a group's part of a stage: two boxes of B and, for the first group, the tile of A.
template <class Config>
struct CopySplitStage {
  const char* values;  ///< of A's tiles, from this block's first on
  const int* columns;  ///< column tiles of these tiles
  const CUtensorMap* dense;
  int group, first_column;

  /// The first row of B that a stage needs.
  __device__ __forceinline__ int row_of(int number) const {
    return __ldg(columns + number) * SplitTiles::columns;
  }
  __device__ __forceinline__ void operator()(const SplitStages<Config>& stages, int number, int row) const {
    const std::uint32_t at = stages.at(number), full = stages.full + number % Config::stages * 8;
    if (group == 0) {
      ptx::arrive_expecting(full, Config::stage_bytes);
      ptx::copy_bytes(at, values + std::int64_t{number} * Config::sparse_bytes, Config::sparse_bytes, full);
    }
#pragma unroll
    for (int b = 0; b < Config::boxes_of_group; ++b) {
      const int box = group * Config::boxes_of_group + b;
      ptx::copy_box(at + Config::sparse_bytes + box * Config::box_bytes, dense,
                    first_column + box * Config::box_columns, row, full);
    }
  }
};

/// Adds the products of all stages to `sums`: 64 columns of C by all rows of the tile.
/// @param thread  index among the four warps of this group
template <class Config>
__device__ __forceinline__ void multiply_split_tiles(const SplitStages<Config>& stages,
                                                     const CopySplitStage<Config>& copy, int thread,
                                                     float (&sums)[Config::rows / 2]) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  // Where this thread's elements of a step's first 8 rows of B are: two columns of an even row and of the odd
  // row after it. SplitTiles::place puts the matching columns of A four apart, as the instruction takes them.
  std::uint32_t place[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const auto of_a = WgmmaTf32::of_a(thread, r);
    const auto column = static_cast<unsigned>(copy.group * WgmmaTf32::m + of_a.row),
               row_of_b = static_cast<unsigned>(of_a.column % 4 * 2 + of_a.column / 4);
    place[r] =
        Config::sparse_bytes + column / Config::box_columns * Config::box_bytes +
        (Swizzle128::row_offset(row_of_b) ^ column % Config::box_columns / 4 * Swizzle128::piece_bytes) +
        column % 4 * 4;
  }
  constexpr int bytes_of_step = WgmmaTf32::k * Swizzle128::row_bytes;  // of B
  const auto load = [&](std::uint32_t at, int half, float(&values)[Config::steps][4]) {
#pragma unroll
    for (int step = 0; step < Config::steps; ++step)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        values[step][r] =
            ptx::load_shared_float(at + place[r] + (half * Config::steps + step) * bytes_of_step);
  };
  float of_stage[Config::rows / 2];
#pragma unroll
  for (int r = 0; r < Config::rows / 2; ++r) sums[r] = of_stage[r] = 0;
  std::uint32_t high[2][Config::steps][4], low[2][Config::steps][4];
  const auto multiply = [&](std::uint32_t at, auto half, const float(&values)[Config::steps][4]) {
#pragma unroll
    for (int step = 0; step < Config::steps; ++step)
#pragma unroll
      for (int r = 0; r < 4; ++r) cut_in_tf32(values[step][r], high[half][step][r], low[half][step][r]);
    const std::uint64_t of_high = SharedMatrix::describe(at, SharedMatrix::Lines::of_128_bytes),
                        of_low = of_high + SharedMatrix::offset(Config::plane_bytes);
    const auto offset = [&](int step) {
      return SharedMatrix::offset((half * Config::steps + step) * WgmmaTf32::k * 4);
    };
    ptx::wgmma_fence();
    // The smallest products first.
#pragma unroll
    for (int step = 0; step < Config::steps; ++step) {
      ptx::wgmma_tf32<Config::rows>(of_stage, low[half][step], of_high + offset(step), half + step > 0);
      ptx::wgmma_tf32<Config::rows>(of_stage, high[half][step], of_low + offset(step), true);
    }
#pragma unroll
    for (int step = 0; step < Config::steps; ++step)
      ptx::wgmma_tf32<Config::rows>(of_stage, high[half][step], of_high + offset(step), true);
    ptx::wgmma_commit();
  };

  int row = 0;  // first row of the next copy; loaded before it is needed
  if (thread == 0 && Config::stages < stages.count) row = copy.row_of(Config::stages);
  float next[Config::steps][4];  // elements of the first half of a stage
  if (stages.count > 0) {
    stages.wait_for(0);
    load(stages.at(0), 0, next);
  }
#pragma unroll 1
  for (int number = 0; number < stages.count; ++number) {
    const std::uint32_t at = stages.at(number);
    multiply(at, std::integral_constant<int, 0>{}, next);
    // While this stage is multiplied, the one before, which all threads have read by now, is filled again.
    const int filled = number - 1 + Config::stages;
    if (number > 0 && filled < stages.count && thread == 0) {
      stages.wait_until_empty(number - 1);
      copy(stages, filled, row);
      if (filled + 1 < stages.count) row = copy.row_of(filled + 1);
    }
    __syncwarp();
    float values[Config::steps][4];
    load(at, 1, values);
    multiply(at, std::integral_constant<int, 1>{}, values);
    if (number + 1 < stages.count) {
      stages.wait_for(number + 1);
      load(stages.at(number + 1), 0, next);
    }
    ptx::wgmma_wait<0>();
#pragma unroll
    for (int step = 0; step < Config::steps; ++step)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        ptx::keep(high[0][step][r], low[0][step][r]);
        ptx::keep(high[1][step][r], low[1][step][r]);
      }
    stages.release(number);
#pragma unroll
    for (int r = 0; r < Config::rows / 2; ++r) sums[r] += of_stage[r];
  }
#endif
}

/// Stores D(row, column ... column + 3), computed from their sums.
template <class Product>
__device__ __forceinline__ void store_four_sums(const Product& product, std::int64_t row, std::int64_t column,
                                                const float4& sums) {
  float values[4] = {sums.x, sums.y, sums.z, sums.w};
  float* const to = product.d + row * product.n + column;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    if (column + e >= product.n) break;
    if (!(::fabsf(values[e]) <= 3.4028234e38f)) values[e] = sum_of_nonzeros<float>(product, row, column + e);
    values[e] = product.epilogue(values[e], row, column + e);
    if (product.accumulates) values[e] += to[e];
    if (!product.has_packs) to[e] = values[e];
  }
  if (product.has_packs)
    *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
}

/// Each cluster computes a tile of C; its blocks share the stages, and each then stores some rows of the
/// tile.
template <class Config, class Product>
__global__ __launch_bounds__(Config::threads, Config::blocks) void spmm_split_tiles_kernel(
    const __grid_constant__ Product product, const __grid_constant__ CUtensorMap dense) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ char memory[];
  const std::uint32_t stage_0 = (ptx::shared_address(memory) + Swizzle128::alignment - 1) /
                                Swizzle128::alignment * Swizzle128::alignment;
  const std::uint32_t full_0 = stage_0 + Config::stages * Config::stage_bytes,
                      empty_0 = full_0 + Config::stages * 8;
  const int group = static_cast<int>(threadIdx.x) / WgmmaTf32::threads;
  const int thread = static_cast<int>(threadIdx.x) % WgmmaTf32::threads;
  const int rank = ptx::rank_in_cluster(), blocks = ptx::blocks_of_cluster();
  const auto tile = static_cast<std::int64_t>(blockIdx.x) / blocks,
             of_columns = ceil_div(product.n, Config::columns);
  const std::int64_t row_tile = tile / of_columns, first_row = row_tile * Config::rows;
  const int first_column = static_cast<int>(tile % of_columns) * Config::columns;
  const int first = product.tiles.begin_of(row_tile), kept = product.tiles.begin_of(row_tile + 1) - first;
  const int begin = kept * rank / blocks, end = kept * (rank + 1) / blocks;
  const SplitStages<Config> stages{stage_0, full_0, empty_0, first + begin, end - begin};

  if (threadIdx.x == 0) {
    ptx::prefetch(&dense);
    for (int stage = 0; stage < Config::stages; ++stage) {
      ptx::barrier_init(full_0 + stage * 8, 1);
      ptx::barrier_init(empty_0 + stage * 8, Config::threads);
    }
    ptx::fence_barrier_init();
  }
  __syncthreads();
  const CopySplitStage<Config> copy{product.tiles.values + std::int64_t{stages.begin} * Config::sparse_bytes,
                                    product.tiles.at_column + stages.begin, &dense, group, first_column};
  if (thread == 0)
    for (int number = 0; number < stages.count && number < Config::stages; ++number)
      copy(stages, number, copy.row_of(number));
  __syncwarp();

  float sums[Config::rows / 2];
  multiply_split_tiles(stages, copy, thread, sums);
  __syncthreads();  // the contents of the stages are no longer needed
  auto* const staged = reinterpret_cast<float*>(memory + (stage_0 - ptx::shared_address(memory)));
#pragma unroll
  for (int r = 0; r < Config::rows / 2; ++r) {
    const auto place = WgmmaTf32::of_d(thread, r);
    staged[place.column * Config::pitch + group * WgmmaTf32::m + place.row] = sums[r];
  }
  if (blocks > 1) {
    ptx::arrive_in_cluster();
    ptx::wait_for_cluster();
  } else {
    __syncthreads();
  }

  constexpr int fours = Config::columns / 4;  // per row
  const int end_of_own = Config::rows * (rank + 1) / blocks * fours;
  for (int at = Config::rows * rank / blocks * fours + static_cast<int>(threadIdx.x); at < end_of_own;
       at += Config::threads) {
    const int r = at / fours, column = at % fours * 4;
    if (first_row + r >= product.m || first_column + column >= product.n) continue;
    const int of_staged = r * Config::pitch + column;
    float4 of_blocks[Config::most_blocks], sum{};
#pragma unroll
    for (int block = 0; block < Config::most_blocks; ++block)
      if (block < blocks)
        of_blocks[block] =
            block == rank ? *reinterpret_cast<const float4*>(staged + of_staged)
                          : ptx::load_shared_of(static_cast<std::uint32_t>(block), stage_0 + of_staged * 4);
#pragma unroll
    for (int block = 0; block < Config::most_blocks; ++block)
      if (block < blocks) {
        sum.x += of_blocks[block].x;
        sum.y += of_blocks[block].y;
        sum.z += of_blocks[block].z;
        sum.w += of_blocks[block].w;
      }
    store_four_sums(product, first_row + r, std::int64_t{first_column} + column, sum);
  }
  if (blocks > 1) {  // no block ends while others read its sums
    ptx::arrive_in_cluster();
    ptx::wait_for_cluster();
  }
#endif
}

}  // namespace detail

/// D = f(A B) or D += f(A B), in the order of the stream of `space`.
/// @param dense   B, described by swizzled_tensor_map
/// @param blocks  number of blocks that share a tile of C: 1, 2, 4 or 8
template <class Config, class Product>
void spmm_split_tiles(const Kokkos::Cuda& space, const Product& product, const CUtensorMap& dense,
                      int blocks) {
  launch_clusters(space, "sporos::spmm_split_tiles", &detail::spmm_split_tiles_kernel<Config, Product>,
                  product.tiles.row_tiles * ceil_div(product.n, Config::columns) * blocks, blocks,
                  Config::threads, Config::shared_bytes, product, dense);
}

}  // namespace sporos::gpu
