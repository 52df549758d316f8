// SPDX-License-Identifier: Apache-2.0
/// @file shared_rows.hpp
/// The product of a dense and a sparse matrix on the GPU, Y(i, j) = X(i, k) * W(j, k), with X read and Y
/// written as they are stored: for small products, this is faster than transposing X and Y as other kernels
/// for SpMM require.
///
/// A block of threads copies 32 rows of X into shared memory as they are. A warp takes rows of W one after
/// another: each of its lanes has a row of X, and reads the element that a nonzero of W asks for. Rows of X
/// begin an odd number of words apart, so that lanes read from 32 different banks. The sums are gathered in
/// shared memory and written by rows of Y.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

struct SharedRows {
  static constexpr int threads = 512, warps = threads / warp_size;
  static constexpr int rows = warp_size;     ///< rows of X per block, one for each lane
  static constexpr int most_of_block = 128;  ///< the most rows of W per block

  /// Elements from one row of X to the next in shared memory: an odd number of words, or of elements if they
  /// are larger.
  template <class T>
  static constexpr std::int64_t pitch(std::int64_t inner) {
    constexpr std::int64_t of_word = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
    return (ceil_div(inner, of_word) | 1) * of_word;
  }
  /// @param of_block  rows of W per block
  template <class T, class Sum>
  static constexpr std::int64_t shared_bytes(std::int64_t inner, int of_block) {
    return bytes_of_x<T>(inner) + std::int64_t{rows} * (of_block + 1) * std::int64_t{sizeof(Sum)};
  }
  template <class T>
  static constexpr std::int64_t bytes_of_x(std::int64_t inner) {
    return ceil_div(rows * pitch<T>(inner) * std::int64_t{sizeof(T)}, 16) * 16;
  }
};

/// The arguments of the product.
template <class T, class Matrix, class Store>
struct SharedRowsProduct {
  std::int64_t rows;   ///< of X and Y
  std::int64_t inner;  ///< columns of X and W
  const T* x;          ///< [rows, inner]
  Matrix w;            ///< by rows, each of which gives a column of Y
  int of_block;        ///< rows of W per block, a power of two
  Store store;         ///< store(row, column, sum) stores an element of Y
};

namespace detail {

/// Copies rows of X that begin at multiples of `Word`, one word per lane.
template <class Word, class T>
__device__ __forceinline__ void share_rows(const T* x, std::int64_t first, std::int64_t count,
                                           std::int64_t inner, std::int64_t pitch, T* to) {
  constexpr int of_word = sizeof(Word) / sizeof(T);
  for (std::int64_t r = threadIdx.x / warp_size; r < count; r += SharedRows::warps) {
    const auto* const from = reinterpret_cast<const Pack<Word, 1>*>(x + (first + r) * inner);
    auto* const row = reinterpret_cast<Pack<Word, 1>*>(to + r * pitch);
#pragma unroll 8
    for (std::int64_t at = lane_id(); at < inner / of_word; at += warp_size)
      row[at] = load_constant(from + at);
  }
}

template <class Sum, class T, class Matrix, class Store>
__global__ __launch_bounds__(SharedRows::threads, 1) void shared_rows_kernel(
    const __grid_constant__ SharedRowsProduct<T, Matrix, Store> in) {
  extern __shared__ __align__(16) char memory[];
  const std::int64_t pitch = SharedRows::pitch<T>(in.inner);
  T* const x = reinterpret_cast<T*>(memory);                                               // [32, inner]
  Sum* const sums = reinterpret_cast<Sum*>(memory + SharedRows::bytes_of_x<T>(in.inner));  // [32, of_block]
  const std::int64_t first_row = std::int64_t{blockIdx.y} * SharedRows::rows;
  const std::int64_t first_column = std::int64_t{blockIdx.x} * in.of_block;
  const std::int64_t rows = ::min(in.rows - first_row, std::int64_t{SharedRows::rows});
  const std::int64_t columns = ::min(in.w.rows - first_column, std::int64_t{in.of_block});

  if constexpr (sizeof(T) < 4) {
    constexpr std::int64_t of_word = 4 / sizeof(T);
    if (in.inner % of_word == 0 && reinterpret_cast<std::uintptr_t>(in.x) % 4 == 0)
      share_rows<std::uint32_t>(in.x, first_row, rows, in.inner, pitch, x);
    else
      share_rows<T>(in.x, first_row, rows, in.inner, pitch, x);
  } else {
    share_rows<T>(in.x, first_row, rows, in.inner, pitch, x);
  }
  __syncthreads();

  const T* const mine = x + ::min(std::int64_t{lane_id()}, rows - 1) * pitch;  // [inner]
  for (std::int64_t column = threadIdx.x / warp_size; column < columns; column += SharedRows::warps) {
    const auto begin = static_cast<std::int64_t>(in.w.positions[first_column + column]);
    const auto end = static_cast<std::int64_t>(in.w.positions[first_column + column + 1]);
    Sum sum{};  // [32 rows]
    for (std::int64_t base = begin; base < end; base += warp_size) {
      const std::int64_t q = ::min(base + lane_id(), end - 1);
      const auto k = static_cast<std::int32_t>(in.w.coordinates[q]);  // [32 nonzeros]
      const auto value = static_cast<Sum>(in.w.values[q]);            // [32 nonzeros]
      const int count = static_cast<int>(::min(end - base, std::int64_t{warp_size}));
#pragma unroll 8
      for (int at = 0; at < count; ++at)
        sum = plus(sum, times(shuffle(value, at), static_cast<Sum>(mine[shuffle(k, at)])));
    }
    sums[lane_id() * (in.of_block + 1) + column] = sum;
  }
  __syncthreads();
  for (int at = static_cast<int>(threadIdx.x); at < SharedRows::rows * in.of_block;
       at += SharedRows::threads) {
    const int row = at / in.of_block, column = at % in.of_block;
    if (row < rows && column < columns)
      in.store(first_row + row, first_column + column, sums[row * (in.of_block + 1) + column]);
  }
}

}  // namespace detail

/// Computes the product, in the order of the stream of `space`.
/// @tparam Sum  the type in which products and sums are formed
/// Cost: one kernel; each block reads 32 rows of X.
template <class Sum, class T, class Matrix, class Store>
void spmm_shared_rows(const Kokkos::Cuda& space, const SharedRowsProduct<T, Matrix, Store>& product) {
  launch(space, "sporos::spmm_shared_rows", &detail::shared_rows_kernel<Sum, T, Matrix, Store>,
         Grid(ceil_div(product.w.rows, product.of_block), ceil_div(product.rows, SharedRows::rows)),
         SharedRows::threads, SharedRows::shared_bytes<T, Sum>(product.inner, product.of_block), product);
}

}  // namespace sporos::gpu
