// SPDX-License-Identifier: Apache-2.0
/// @file dense_product.hpp
/// What surrounds the product of a sparse matrix that is stored dense: its lines, which are rows or columns,
/// are written out with their zeros before, and the sums are looked through afterwards.
///
/// A zero times an infinity is NaN. So sums that are not finite are computed again, from the nonzeros of
/// their row alone. A value of B that is not finite reaches a sum in every row, so if nothing else is done to
/// the sums, the pass behind the product looks at those of a few rows alone, as a rule. On a GPU of compute
/// capability 9.0 it is started before the product has ended.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "../../../core/value.hpp"
#include "../../cuda/cluster.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/once_per_device.hpp"
#include "../../operands/cuda/matrix_by_rows.hpp"
#include "sum_of_nonzeros.hpp"

namespace sporos::gpu {

/// How the matrices of a product of a sparse A and a dense B are stored, of whose modes one is summed over
/// and the other is one of the result's.
struct DenseProductLayout {
  bool a_is_by_rows;         ///< whether the lines of A are those of its mode in the result
  bool a_has_lines;          ///< whether the lines of C are those of A's mode, or of B's
  bool c_is_by_rows = true;  ///< whether the lines of C are those of its first mode
};

/// C = f(A B) where the sums of A B have been formed.
/// @tparam A    the type of A's lines, a CsrView
/// @tparam Sum  in which sums are formed
template <DenseProductLayout Layout, class A, class B, class Sum, class Out, class E>
struct DenseProduct {
  using sum_type = Sum;
  using value_type = Out;
  static constexpr DenseProductLayout layout = Layout;
  A a;
  const B* b;
  std::int64_t inner_of_b,
      outer_of_b;              ///< elements from one to the next along the summed mode, and the other
  std::int64_t lines, length;  ///< of C
  Out* c;                      ///< [lines, length]
  bool accumulates;            ///< C += f(A B)
  E epilogue;
};

namespace detail {

/// Threads that pass over sums, and the bytes of a line that one thread zeroes at a time.
inline constexpr int dense_threads = 256, dense_piece = 16;

/// A block writes a line of A.
/// @param stride  elements from one line to the next, of a multiple of 16 bytes
template <class A, class T>
__global__ void expand_lines_kernel(A a, T* to, std::int64_t stride) {
  T* const line = to + std::int64_t{blockIdx.x} * stride;  // [stride]
  const std::int64_t pieces = stride * static_cast<std::int64_t>(sizeof(T)) / dense_piece;
  for (std::int64_t piece = threadIdx.x; piece < pieces; piece += blockDim.x)
    reinterpret_cast<uint4*>(line)[piece] = make_uint4(0, 0, 0, 0);
  __syncthreads();
  const auto end = static_cast<std::int64_t>(a.positions[blockIdx.x + 1]);
  for (auto q = static_cast<std::int64_t>(a.positions[blockIdx.x]) + threadIdx.x; q < end; q += blockDim.x)
    line[static_cast<std::int64_t>(a.coordinates[q])] = a.values[q];
}

__device__ __forceinline__ void wait_for_sums() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  ptx::wait_for_kernel_before();
#endif
}

template <class Value>
__device__ __forceinline__ bool is_finite_sum(const Value& value) {
  return ::isfinite(static_cast<accumulate_t<Value>>(value));
}

/// The sum at a place of C, of nonzeros alone. Where A is stored by lines that are summed over, those of the
/// place are searched for in each line, which takes as long as the line count times the logarithm of a line's
/// length.
template <class Product>
__device__ __noinline__ typename Product::sum_type sum_without_zeros(const Product& product,
                                                                     std::int64_t at) {
  using Sum = typename Product::sum_type;
  const std::int64_t line = at / product.length, in_line = at % product.length;
  const std::int64_t of_a = Product::layout.a_has_lines ? line : in_line,
                     of_b = Product::layout.a_has_lines ? in_line : line;
  const auto value_of_b = [&](std::int64_t inner) {
    return product.b[inner * product.inner_of_b + of_b * product.outer_of_b];
  };
  if constexpr (Product::layout.a_is_by_rows) {
    return sum_of_row<Sum>(product.a, of_a, value_of_b);
  } else {
    Sum sum = 0;
    for (std::int64_t inner = 0; inner < product.a.rows; ++inner) {
      const auto begin = static_cast<std::int64_t>(product.a.positions[inner]),
                 end = static_cast<std::int64_t>(product.a.positions[inner + 1]);
      const std::int64_t q = begin + first_above(product.a.coordinates + begin, end - begin, of_a - 1);
      if (q < end && static_cast<std::int64_t>(product.a.coordinates[q]) == of_a)
        sum += static_cast<Sum>(product.a.values[q]) * static_cast<Sum>(value_of_b(inner));
    }
    return sum;
  }
}

/// C holds the sums: replaces those that are not finite. A block takes some of the rows of A and, each of its
/// threads, a column of B. It looks at the sums of the first of these rows alone: if a column of B holds a
/// value that is not finite, none of that column's sums is finite.
/// @param rows  of A that a block takes
template <class Product>
__global__ void replace_sums_kernel(const __grid_constant__ Product product, std::int64_t rows) {
  constexpr bool a_has_lines = Product::layout.a_has_lines;
  __shared__ std::int64_t columns[dense_threads];  // with sums that are not finite
  __shared__ int count;                            // of them
  const std::int64_t column = std::int64_t{blockIdx.x} * dense_threads + threadIdx.x,
                     first = std::int64_t{blockIdx.y} * rows;
  const auto place = [&](std::int64_t row, std::int64_t of_b) {
    return a_has_lines ? row * product.length + of_b : of_b * product.length + row;
  };
  wait_for_sums();
  const bool is_replaced = column < (a_has_lines ? product.length : product.lines) &&
                           !is_finite_sum(product.c[place(first, column)]);
  if (__syncthreads_or(is_replaced) == 0) return;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (is_replaced) columns[atomicAdd(&count, 1)] = column;
  __syncthreads();
  const std::int64_t left = (a_has_lines ? product.lines : product.length) - first,
                     sums = (left < rows ? left : rows) * count;
#pragma unroll 1
  for (std::int64_t e = threadIdx.x; e < sums; e += dense_threads) {
    const std::int64_t at = place(first + e / count, columns[e % count]);
    if (!is_finite_sum(product.c[at]))
      product.c[at] = static_cast<typename Product::value_type>(sum_without_zeros(product, at));
  }
}

/// Writes what the epilogue makes of the sums.
template <class Product>
__global__ void finish_sums_kernel(const __grid_constant__ Product product,
                                   const typename Product::sum_type* sums) {
  using Sum = typename Product::sum_type;
  using Out = typename Product::value_type;
  const std::int64_t at = std::int64_t{blockIdx.x} * dense_threads + threadIdx.x;
  wait_for_sums();
  if (at >= product.lines * product.length) return;
  const std::int64_t line = at / product.length, in_line = at % product.length;
  Sum sum = sums[at];
  if (!is_finite_sum(sum)) sum = sum_without_zeros(product, at);
  Sum value = Product::layout.c_is_by_rows ? product.epilogue(sum, line, in_line)
                                           : product.epilogue(sum, in_line, line);
  if (product.accumulates) value += static_cast<Sum>(product.c[at]);
  product.c[at] = static_cast<Out>(value);
}

/// Starts a kernel behind a product; early, if it was compiled for a GPU on which wait_for_sums() waits.
template <class... Parameters, class... Arguments>
void launch_behind_product(const Kokkos::Cuda& space, const char* name, void (*kernel)(Parameters...),
                           const Grid& grid, const Arguments&... arguments) {
  const bool waits = once_per_device(space, [&] {
    cudaFuncAttributes found{};
    expect_success(cudaFuncGetAttributes(&found, kernel), name);
    return found.ptxVersion >= 90;
  });
  launch_clusters(waits ? Begins::early : Begins::behind, space, name, kernel, grid, 0, dense_threads, 0,
                  arguments...);
}

}  // namespace detail

/// Writes A with its zeros.
/// @param to      [lines of A, stride], at a multiple of 16 bytes
/// @param stride  elements from one line to the next, of a multiple of 16 bytes
template <class A, class T>
void expand_lines(const Kokkos::Cuda& space, const A& a, T* to, std::int64_t stride) {
  launch(space, "sporos::expand_lines", &detail::expand_lines_kernel<A, T>, Grid(a.rows), 128, 0, a, to,
         stride);
}

/// C holds A B: computes the sums that are not finite because B is not from nonzeros alone. All blocks run at
/// the same time, unless B has very many columns.
template <class Product>
void replace_sums(const Kokkos::Cuda& space, const Product& product) {
  constexpr bool a_has_lines = Product::layout.a_has_lines;
  const std::int64_t all = a_has_lines ? product.lines : product.length,  // rows of A
      across = ceil_div(a_has_lines ? product.length : product.lines, detail::dense_threads),
                     most = space.cuda_device_prop().multiProcessorCount,
                     rows = ceil_div(all, across < most ? most / across : 1);
  detail::launch_behind_product(space, "sporos::replace_sums", &detail::replace_sums_kernel<Product>,
                                Grid(across, ceil_div(all, rows)), product, rows);
}

/// C = f(sums) or C += f(sums), with those that are not finite computed from nonzeros alone.
template <class Product>
void finish_sums(const Kokkos::Cuda& space, const Product& product, const typename Product::sum_type* sums) {
  detail::launch_behind_product(space, "sporos::finish_sums", &detail::finish_sums_kernel<Product>,
                                Grid(ceil_div(product.lines * product.length, detail::dense_threads)),
                                product, sums);
}

}  // namespace sporos::gpu
