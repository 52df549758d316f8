// SPDX-License-Identifier: Apache-2.0
/// @file cuda_cores.hpp
/// The product of a dense and an N:M sparse matrix without tensor cores, for any values, N, M and L.
///
/// A block stages whole windows of the dense factor in shared memory, k-major, and each thread gathers the
/// rows that its columns keep: the non-packing kernel of Ma et al., *NM-SpMM* (arXiv 2503.01253), section
/// III-B.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../../core/value.hpp"
#include "../../cuda/cluster.hpp"
#include "../../cuda/launch.hpp"
#include "../view.hpp"

namespace sporos::gpu {

/// C = f(A B), or C += f(A B).
/// @tparam E  the epilogue f: kernels/epilogue/epilogue.hpp
template <class T, class Out, class E>
struct NmGather {
  std::int64_t m = 0;
  const T* a = nullptr;                         ///< [m, k]
  std::int64_t a_row = 0, a_column = 0;         ///< elements between rows of A, and between its columns
  std::int64_t rows_of_batch = 0, a_batch = 0;  ///< rows of A per batch, and elements from batch to batch
  NmView<T> b{};                                ///< [k, n]
  Out* c = nullptr;                             ///< [m, n]
  std::int64_t c_row = 0, c_column = 0;         ///< elements between rows of C, and between its columns
  bool accumulates = false;
  E epilogue;
  int windows = 0;               ///< windows per stage
  const int* only_if = nullptr;  ///< if not null, computes only if it points to a nonzero number
};

/// How a block computes a tile.
/// @tparam Columns   columns per thread
/// @tparam OneUnit   whether they lie in one unit and so share its indices
template <class T, class Out, int Columns, bool OneUnit>
struct NmGatherConfig {
  using value_type = T;
  using result_type = Out;
  using compute = std::common_type_t<accumulate_t<T>, accumulate_t<Out>>;
  static constexpr int columns = Columns;
  static constexpr bool one_unit = OneUnit;
  static constexpr int side = 16;  ///< threads along each mode
  static constexpr int threads = side * side;
  static constexpr int rows = sizeof(compute) == 8 ? 4 : 8;  ///< rows per thread
  static constexpr int block_m = side * rows, block_n = side * Columns;
  static constexpr int pack = 16 / static_cast<int>(sizeof(compute));  ///< values loaded together
  static constexpr int pitch = block_m + pack;
  static constexpr int stage_rows = 32;  ///< about as many rows of A, but at least one window

  static constexpr int windows(int window) { return std::max(1, stage_rows / window); }
  static constexpr std::int64_t shared_bytes(int window) {
    return std::int64_t{windows(window)} * window * pitch * static_cast<int>(sizeof(compute));
  }
  static_assert(rows % pack == 0 && block_m % pack == 0, "a thread loads its rows in whole packs");
  static_assert(256 * pitch * static_cast<int>(sizeof(compute)) <= 227 * 1024,
                "a window of 256 rows does not fit in shared memory");
};

namespace detail {

template <class Config, class E>
__global__ __launch_bounds__(Config::threads, 2) void nm_gather_kernel(
    const __grid_constant__ NmGather<typename Config::value_type, typename Config::result_type, E> in) {
  if (in.only_if != nullptr) {
#if __CUDA_ARCH__ >= 900
    ptx::wait_for_kernel_before();
#endif
    if (*in.only_if == 0) return;
  }
  using T = typename Config::value_type;
  using Compute = typename Config::compute;
  using Out = typename Config::result_type;
  struct alignas(16) Pack {
    Compute values[Config::pack];
  };
  struct alignas(sizeof(T) * Config::columns < 16 ? sizeof(T) * Config::columns : 16) Columns {
    T values[Config::columns];
  };
  extern __shared__ char memory[];
  auto* const stage = reinterpret_cast<Compute*>(memory);  // [windows * M, block_m + padding]
  const int x = static_cast<int>(threadIdx.x) % Config::side,
            y = static_cast<int>(threadIdx.x) / Config::side;
  const std::int64_t block_row = static_cast<std::int64_t>(blockIdx.x) * Config::block_m;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * Config::block_n + x * Config::columns;
  const NmView<T>& b = in.b;
  const int stage_rows = in.windows * b.window;
  const std::int64_t left = b.columns - column;  // columns from this thread's first to the end

  // Where B stores what this thread's columns keep of the first window, and the distance from one window to
  // the next.
  const std::uint8_t* indices[Config::one_unit ? 1 : Config::columns];
  const T* values[Config::one_unit ? 1 : Config::columns];
#pragma unroll
  for (int j = 0; j < (Config::one_unit ? 1 : Config::columns); ++j) {
    const std::int64_t inside = j < left ? column + j : b.columns - 1;
    const std::int64_t q = b.position(0, inside / b.unit);
    indices[j] = b.indices + q;
    values[j] = b.values + q * b.unit + inside % b.unit;
  }
  const bool has_packs = Config::one_unit && left >= Config::columns &&
                         reinterpret_cast<std::uintptr_t>(b.values) % alignof(Columns) == 0;

  Compute sums[Config::rows][Config::columns] = {};  // [rows, columns]
  for (std::int64_t first = 0; first < b.rows; first += stage_rows) {
    if (first > 0) __syncthreads();
    // Neighbouring threads load along the mode of A that is contiguous.
    for (int at = static_cast<int>(threadIdx.x); at < stage_rows * Config::block_m; at += Config::threads) {
      const int row = in.a_row == 1 ? at % Config::block_m : at / stage_rows;
      const int k = in.a_row == 1 ? at / Config::block_m : at % stage_rows;
      Compute value{};
      if (block_row + row < in.m && first + k < b.rows) {
        std::int64_t place = block_row + row;
        place = place < in.rows_of_batch
                    ? place * in.a_row
                    : place / in.rows_of_batch * in.a_batch + place % in.rows_of_batch * in.a_row;
        value = static_cast<Compute>(static_cast<accumulate_t<T>>(in.a[place + (first + k) * in.a_column]));
      }
      stage[k * Config::pitch + row] = value;
    }
    __syncthreads();
    if (left <= 0) continue;
    for (int w = 0; w < in.windows && first + w * b.window < b.rows; ++w) {
      const Compute* const rows = stage + w * b.window * Config::pitch + y * Config::rows;
#pragma unroll 4
      for (int slot = 0; slot < b.kept; ++slot) {
        Compute mine[Config::columns];  // [columns] of B
        int kept[Config::one_unit ? 1 : Config::columns];
#pragma unroll
        for (int j = 0; j < (Config::one_unit ? 1 : Config::columns); ++j) kept[j] = indices[j][slot];
        if (has_packs) {
          const Columns packed = *reinterpret_cast<const Columns*>(values[0] + slot * b.unit);
#pragma unroll
          for (int j = 0; j < Config::columns; ++j)
            mine[j] = static_cast<Compute>(static_cast<accumulate_t<T>>(packed.values[j]));
        } else {
#pragma unroll
          for (int j = 0; j < Config::columns; ++j) {
            const T* const at = Config::one_unit ? values[0] + j : values[Config::one_unit ? 0 : j];
            mine[j] =
                j < left ? static_cast<Compute>(static_cast<accumulate_t<T>>(at[slot * b.unit])) : Compute{};
          }
        }
#pragma unroll
        for (int i = 0; i < Config::rows; i += Config::pack) {
          Pack gathered = *reinterpret_cast<const Pack*>(rows + kept[0] * Config::pitch + i);
#pragma unroll
          for (int j = 0; j < Config::columns; ++j) {
            if (!Config::one_unit && j > 0)
              gathered = *reinterpret_cast<const Pack*>(rows + kept[j] * Config::pitch + i);
#pragma unroll
            for (int e = 0; e < Config::pack; ++e) sums[i + e][j] += gathered.values[e] * mine[j];
          }
        }
      }
#pragma unroll
      for (int j = 0; j < (Config::one_unit ? 1 : Config::columns); ++j) {
        indices[j] += b.window_stride;
        values[j] += b.window_stride * b.unit;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < Config::rows; ++i) {
    const std::int64_t row = block_row + y * Config::rows + i;
    if (row >= in.m) break;
#pragma unroll
    for (int j = 0; j < Config::columns; ++j)
      if (j < left) {
        Out& at = in.c[row * in.c_row + (column + j) * in.c_column];
        const Compute value = in.epilogue(sums[i][j], row, column + j);
        at = static_cast<Out>(
            in.accumulates ? static_cast<Compute>(static_cast<accumulate_t<Out>>(at)) + value : value);
      }
  }
}

}  // namespace detail

/// The rows and columns of a tile of a block.
struct NmGatherTile {
  int rows, columns;
};
/// Calls visit(Config{}) for units of `unit` columns.
template <class T, class Out, class Visit>
constexpr decltype(auto) with_gather_config(std::int64_t unit, const Visit& visit) {
  if (unit % 8 == 0) return visit(NmGatherConfig<T, Out, 8, true>{});
  if (unit % 4 == 0) return visit(NmGatherConfig<T, Out, 4, true>{});
  return visit(NmGatherConfig<T, Out, 4, false>{});
}
template <class T, class Out>
constexpr NmGatherTile nm_gather_tile(std::int64_t unit) {
  return with_gather_config<T, Out>(
      unit, []<class Config>(Config) { return NmGatherTile{Config::block_m, Config::block_n}; });
}

/// C = f(A B) or C += f(A B), in the order of the stream of `space`.
template <class T, class Out, class E>
void nm_gather(const Kokkos::Cuda& space, NmGather<T, Out, E> in) {
  with_gather_config<T, Out>(in.b.unit, [&]<class Config>(Config) {
    in.windows = Config::windows(in.b.window);
    const Grid grid(ceil_div(in.m, Config::block_m), ceil_div(in.b.columns, Config::block_n));
    if (in.only_if != nullptr)  // if there is nothing to do, launching it is all that takes time
      launch_clusters(Begins::early, space, "sporos::nm_gather", &detail::nm_gather_kernel<Config, E>, grid,
                      1, Config::threads, Config::shared_bytes(in.b.window), in);
    else
      launch(space, "sporos::nm_gather", &detail::nm_gather_kernel<Config, E>, grid, Config::threads,
             Config::shared_bytes(in.b.window), in);
  });
}

}  // namespace sporos::gpu
