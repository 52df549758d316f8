// SPDX-License-Identifier: Apache-2.0
/// @file tensor_cores.hpp
/// The product of a dense and an N:M sparse matrix on tensor cores.
///
/// A multiprocessor loads whole rows of the dense factor, stored k-major, and gathers: the address of each
/// row goes to the matrix load instruction, one for each of 16 kept rows, so that gathering costs nothing but
/// bank conflicts, and packing leaves few of them (packed.hpp). Each warp computes 32 columns of the result,
/// which share their pattern where units have a multiple of 32 columns.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/warp.hpp"
#include "packed.hpp"
#include "store.hpp"

namespace sporos::gpu {

/// How a block computes a tile of the result.
/// @tparam StageRows  dense rows that a stage holds
/// @tparam Steps      times 16 rows that a group of columns keeps of them
template <class T, int BlockM, int BlockN, int StageRows, int Steps, int Stages>
struct NmTensorCoreConfig {
  using value_type = T;
  static constexpr int block_m = BlockM, block_n = BlockN, stage_rows = StageRows, steps = Steps;
  static constexpr int stages = Stages;
  static constexpr int planes = planes_of<T>;
  static constexpr NmPacking packing{StageRows, Steps, planes};

  static constexpr int most_shared_bytes = 227 * 1024;  ///< one block has a multiprocessor to itself
  /// Tiles of 16 rows of A that are loaded before they are multiplied.
  static constexpr int ahead = planes == 2 ? 1 : 4;

  static constexpr int warps = BlockN / ColumnsOfWarp::columns;  ///< that multiply; one more copies
  static constexpr int threads = (warps + 1) * warp_size;
  static constexpr int slabs_of_plane = BlockM / 64;  ///< of 64 rows of A, 128 bytes of each k
  static constexpr int slabs = slabs_of_plane * planes;
  /// Bytes of a slab: the rows of a stage, and rows of zeros behind them.
  static constexpr int slab_bytes = StageRows * Swizzle128::row_bytes + Swizzle128::alignment;
  static constexpr int copied_bytes = slabs * StageRows * Swizzle128::row_bytes + warps * packing.bytes();
  static constexpr int sparse_at = slabs * slab_bytes;
  static constexpr int stage_bytes = (sparse_at + warps * packing.bytes() + Swizzle128::alignment - 1) /
                                     Swizzle128::alignment * Swizzle128::alignment;
  static constexpr int shared_bytes = Swizzle128::alignment + Stages * stage_bytes + Stages * 16;

  static_assert(BlockM % 64 == 0 && BlockN % ColumnsOfWarp::columns == 0,
                "a tile has a multiple of 64 rows and of 32 columns");
  static_assert(StageRows % 8 == 0 && StageRows <= 256, "the copy engine copies at most 256 rows at a time");
  static_assert(shared_bytes <= most_shared_bytes,
                "the stages do not fit in the shared memory of a multiprocessor");
};

/// C = f(A B).
/// @tparam E  the epilogue f: kernels/epilogue/epilogue.hpp
template <class Out, class E>
struct NmProduct {
  static constexpr bool epilogue_is_identity = E::is_identity;
  std::int64_t m = 0, n = 0, k = 0;
  const char* packed = nullptr;  ///< B: packed.hpp
  /// Where floats are split: the exponents of A's rows and of B's columns, and whether that loses too much,
  /// so that nothing is computed.
  const int* row_exponents = nullptr;
  const int* column_exponents = nullptr;
  const int* too_wide = nullptr;
  Out* c = nullptr;          ///< [m, n]
  bool accumulates = false;  ///< C += f(A B)
  E epilogue;
};

namespace detail {

/// d += a b for a tile of 16 x 8, number j of four; split floats in three products, the smallest first, whose
/// sum is added in float.
template <class T, int Planes>
__device__ __forceinline__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[Planes][4],
                                             const std::uint32_t (&b)[Planes][2][4], int j) {
  if constexpr (is_split<T>) {
    float sum[4];
    ptx::mma_m16n8k16_of_zero<half>(sum, a[1], b[0][j / 2][j % 2 * 2], b[0][j / 2][j % 2 * 2 + 1]);
    ptx::mma_m16n8k16<half>(sum, a[0], b[1][j / 2][j % 2 * 2], b[1][j / 2][j % 2 * 2 + 1]);
    ptx::mma_m16n8k16<half>(sum, a[0], b[0][j / 2][j % 2 * 2], b[0][j / 2][j % 2 * 2 + 1]);
#pragma unroll
    for (int e = 0; e < 4; ++e) d[e] += sum[e];
  } else {
    ptx::mma_m16n8k16<T>(d, a[0], b[0][j / 2][j % 2 * 2], b[0][j / 2][j % 2 * 2 + 1]);
  }
}

template <class Config, class Product>
__global__ __launch_bounds__(Config::threads,
                             1) void nm_tensor_core_kernel(const __grid_constant__ Product product,
                                                           const __grid_constant__ CUtensorMap high_map,
                                                           const __grid_constant__ CUtensorMap low_map) {
#if __CUDA_ARCH__ >= 900
  using T = typename Config::value_type;
  constexpr NmPacking packing = Config::packing;
  constexpr int row_tiles = Config::block_m / MmaM16N8K16::m;
  constexpr int planes = Config::planes;
  constexpr int ahead = Config::ahead;
  if (is_split<T>)
    if (*product.too_wide != 0) return;
  extern __shared__ char memory[];
  const std::uint32_t stage_0 = (ptx::shared_address(memory) + Swizzle128::alignment - 1) /
                                Swizzle128::alignment * Swizzle128::alignment;
  const std::uint32_t full_0 = stage_0 + Config::stages * Config::stage_bytes,
                      empty_0 = full_0 + Config::stages * 8;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int stages = static_cast<int>(packing.stages(product.k));
  const int row_blocks = static_cast<int>(ceil_div(product.m, Config::block_m));
  const int blocks = row_blocks * static_cast<int>(ceil_div(product.n, Config::block_n));

  for (int at = static_cast<int>(threadIdx.x);
       at < Config::stages * Config::slabs * (Swizzle128::alignment / 16); at += Config::threads) {
    const int slab = at / (Swizzle128::alignment / 16);
    ptx::store_shared_zeros(
        stage_0 + slab / Config::slabs * Config::stage_bytes + slab % Config::slabs * Config::slab_bytes +
        Config::stage_rows * Swizzle128::row_bytes + at % (Swizzle128::alignment / 16) * 16);
  }
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Config::stages; ++stage) {
      ptx::barrier_init(full_0 + stage * 8, 1);
      ptx::barrier_init(empty_0 + stage * 8, Config::warps * warp_size);
    }
    ptx::fence_barrier_init();
  }
  __syncthreads();

  if (warp == Config::warps) {  // the copying warp
    if (lane_id() != 0) return;
    int stage = 0;
    std::uint32_t parity = 1;
    for (int block = static_cast<int>(blockIdx.x); block < blocks; block += static_cast<int>(gridDim.x)) {
      const int row = block % row_blocks * Config::block_m;
      const char* b =
          product.packed + std::int64_t{block / row_blocks} * Config::warps * stages * packing.bytes();
      for (int s = 0; s < stages; ++s) {
        const std::uint32_t at = stage_0 + stage * Config::stage_bytes, full = full_0 + stage * 8;
        ptx::wait(empty_0 + stage * 8, parity);
        ptx::arrive_expecting(full, Config::copied_bytes);
#pragma unroll
        for (int slab = 0; slab < Config::slabs; ++slab)
          ptx::copy_box(at + slab * Config::slab_bytes, slab < Config::slabs_of_plane ? &high_map : &low_map,
                        row + slab % Config::slabs_of_plane * 64, s * Config::stage_rows, full);
#pragma unroll
        for (int group = 0; group < Config::warps; ++group)
          ptx::copy_bytes(at + Config::sparse_at + group * packing.bytes(),
                          b + (static_cast<std::int64_t>(group) * stages + s) * packing.bytes(),
                          packing.bytes(), full);
        if (++stage == Config::stages) {
          stage = 0;
          parity ^= 1;
        }
      }
    }
    return;
  }

  // The multiplying warps. What the next step needs is loaded while this one is multiplied.
  const std::uint32_t pieces = MmaM16N8K16::rows_of_address(lane_id()) * Swizzle128::piece_bytes;
  const std::uint32_t fragments_at = Config::sparse_at + warp * packing.bytes() + lane_id() * 16;
  const std::uint32_t places_at = Config::sparse_at + warp * packing.bytes() + packing.places_at() +
                                  MmaM16N8K16::column_of_address(lane_id()) * 2;
  int stage = 0;
  std::uint32_t parity = 0;
  for (int block = static_cast<int>(blockIdx.x); block < blocks; block += static_cast<int>(gridDim.x)) {
    float sums[row_tiles][ColumnsOfWarp::tiles][4];  // [block_m, 32]
#pragma unroll
    for (int i = 0; i < row_tiles; ++i)
#pragma unroll
      for (int j = 0; j < ColumnsOfWarp::tiles; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][j][e] = 0;

    std::uint32_t a[ahead][planes][4];  // [ahead * 16, 16 kept]
    std::uint32_t b[planes][2][4];      // [16 kept, 32]
    std::uint32_t rows, next_rows = 0;  // where this lane's row of A begins, in this step and in the next
    const auto find_rows = [&](std::uint32_t at, int step) {
      return at + (ptx::load_shared_u16(at + places_at + step * 32) ^ pieces);
    };
    const auto load_b = [&](std::uint32_t at, int step) {
#pragma unroll
      for (int pair = 0; pair < planes * 2; ++pair)
        ptx::load_shared(at + fragments_at + step * planes * NmPacking::fragment_bytes + pair * 512,
                         b[pair / 2][pair % 2]);
    };
    const auto load_a = [&](std::uint32_t from, int i) {
#pragma unroll
      for (int plane = 0; plane < planes; ++plane)
        ptx::load_matrices_transposed((from ^ static_cast<std::uint32_t>(i % 4 * 32)) +
                                          (plane * Config::slabs_of_plane + i / 4) * Config::slab_bytes,
                                      a[i % ahead][plane]);
    };
    std::uint32_t at = stage_0 + stage * Config::stage_bytes;
    ptx::wait(full_0 + stage * 8, parity);
    rows = find_rows(at, 0);
    load_b(at, 0);
#pragma unroll
    for (int i = 0; i < ahead; ++i) load_a(rows, i);
#pragma unroll 1
    for (int s = 0; s < stages; ++s) {
#pragma unroll
      for (int step = 0; step < Config::steps; ++step) {
        const bool is_last = step == Config::steps - 1;
        const bool has_next = !is_last || s + 1 < stages;
        const std::uint32_t emptied = empty_0 + stage * 8;
        if (is_last) {
          if (++stage == Config::stages) {
            stage = 0;
            parity ^= 1;
          }
          at = stage_0 + stage * Config::stage_bytes;
          if (has_next) ptx::wait(full_0 + stage * 8, parity);
        }
        if (has_next) next_rows = find_rows(at, is_last ? 0 : step + 1);
#pragma unroll
        for (int i = 0; i < row_tiles; ++i) {
#pragma unroll
          for (int j = 0; j < ColumnsOfWarp::tiles; ++j) multiply_add<T>(sums[i][j], a[i % ahead], b, j);
          if (i + ahead < row_tiles)
            load_a(rows, i + ahead);
          else if (has_next)
            load_a(next_rows, i + ahead - row_tiles);
        }
        if (is_last) ptx::arrive(emptied);
        if (has_next) {
          rows = next_rows;
          load_b(at, is_last ? 0 : step + 1);
        }
      }
    }

    const std::int64_t column = std::int64_t{block / row_blocks} * Config::block_n +
                                warp * ColumnsOfWarp::columns + lane_id() % 4 * 8;
    const std::int64_t row_0 = std::int64_t{block % row_blocks} * Config::block_m + lane_id() / 4;
    const std::int64_t left = product.n - column;
    const bool is_aligned = product.n * static_cast<std::int64_t>(sizeof(*product.c)) % 16 == 0 &&
                            reinterpret_cast<std::uintptr_t>(product.c) % 16 == 0;
#pragma unroll
    for (int i = 0; i < row_tiles; ++i)
#pragma unroll
      for (int half_of_rows = 0; half_of_rows < 2; ++half_of_rows) {
        const std::int64_t row = row_0 + i * 16 + half_of_rows * 8;
        float values[8];
#pragma unroll
        for (int e = 0; e < 8; ++e) values[e] = sums[i][e / 2][half_of_rows * 2 + e % 2];
        if (row >= product.m || left <= 0) continue;
        if constexpr (is_split<T>) {
          const int exponent = product.row_exponents[row];
#pragma unroll
          for (int e = 0; e < 8; ++e)
            if (e < left) values[e] = scaled(values[e], exponent + product.column_exponents[column + e]);
        }
        if constexpr (!Product::epilogue_is_identity) {
#pragma unroll
          for (int e = 0; e < 8; ++e)
            if (e < left) values[e] = product.epilogue(values[e], row, column + e);
        }
        store_values(product.c + row * product.n + column, left, is_aligned, product.accumulates, values);
      }
  }
#endif
}

}  // namespace detail

/// C = f(A B) or C += f(A B), in the order of the stream of `space`.
/// @param high, low  A, stored k-major: [k, m], boxes of Config::stage_rows rows; `low` where floats are
/// split
template <class Config, class Product>
void nm_product(const Kokkos::Cuda& space, const Product& product, const CUtensorMap& high,
                const CUtensorMap& low, int multiprocessors) {
  const std::int64_t tiles = ceil_div(product.m, Config::block_m) * ceil_div(product.n, Config::block_n);
  launch(space, "sporos::nm_product", &detail::nm_tensor_core_kernel<Config, Product>,
         tiles < multiprocessors ? tiles : multiprocessors, Config::threads, Config::shared_bytes, product,
         high, low);
}

}  // namespace sporos::gpu
