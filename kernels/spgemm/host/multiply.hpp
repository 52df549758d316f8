// SPDX-License-Identifier: Apache-2.0
/// @file multiply.hpp
/// The product of two sparse matrices by rows, on the host.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../../core/error.hpp"
#include "../../../core/format.hpp"
#include "../../../core/tensor.hpp"
#include "../../host/sparse_rows.hpp"
#include "../../protocol/compute_type.hpp"
#include "product.hpp"

namespace sporos {

namespace detail {

/// The type in which products of B and C are formed and summed, for a result of A.
template <class A, class B, class C>
using product_accumulate_t = typename WidestOf<accumulate_t<A>, accumulate_t<B>, accumulate_t<C>>::type;

/// Puts a product's arrays into its result, which is stored by rows or by columns.
template <class TensorA, class Product>
void replace_rows(const TensorA& A, Product product) {
  const auto extents = TensorA::format_type::level_extents(A.extents());
  auto levels = A.levels();
  auto& columns = std::get<1>(levels);
  columns = std::remove_cvref_t<decltype(columns)>::template from_segments<typename TensorA::space_type>(
      {std::move(product.positions), std::move(product.coordinates)}, extents[0], extents[1]);
  A.replace(A.extents(), std::move(levels), std::move(product.values));
}

}  // namespace detail

/// A = B * C: A(i, j) = the sum over k of B(i, k) * C(k, j), for sparse matrices by rows.
///
/// A's old pattern and values are replaced. It holds an element wherever elements of B and C meet, even if
/// their products cancel. The result is the same, bit by bit, for any number of threads. A may be B or C.
///
/// @param space  the instance whose threads compute it
/// @param A  [m, n]
/// @param B  [m, l]
/// @param C  [l, n]
/// @throws ShapeError   if the extents do not match
/// @throws RangeError   if A's positions cannot hold its number of elements
/// @throws MemoryError  if there is no memory for A
///
/// Cost: one pass over the products. Most rows are gathered in a dense accumulator over the columns that they
/// can reach, and ordered by a map of marks instead of sorting (Kjolstad, Ahrens, Kamil, Amarasinghe, *Tensor
/// Algebra Compilation with Workspaces*, CGO 2019, for the accumulator; Gustavson, *Two Fast Algorithms for
/// Sparse Matrices*, ACM TOMS 4(3), 1978, for the product by rows). Neighbouring rows whose columns are the
/// same, or the same except for a shift, are computed together. Memory: the result's, from the pool, and for
/// each thread an accumulator over the columns of C and a few chunks of the result; ProductByRows::most_bytes
/// is an upper bound.
template <HostSpace Space, SparseRowsMatrix TensorA, SparseRowsMatrix TensorB, SparseRowsMatrix TensorC>
void spgemm(const Space& space, const TensorA& A, const TensorB& B, const TensorC& C) {
  using Value = typename TensorA::value_type;
  using Columns = typename TensorA::format_type::template level<1>;
  using Acc = detail::product_accumulate_t<Value, typename TensorB::value_type, typename TensorC::value_type>;
  static_assert(!is_complex_v<Acc> || is_complex_v<Value>,
                "the product is complex and the result is real: make the result a tensor of Kokkos::complex");
  expect_kokkos();
  expect_same_extent("mode 1 of B (k)", B.extent(1), "mode 0 of C (k)", C.extent(0));
  expect_same_extent("mode 0 of A (i)", A.extent(0), "mode 0 of B (i)", B.extent(0));
  expect_same_extent("mode 1 of A (j)", A.extent(1), "mode 1 of C (j)", C.extent(1));
  auto product =
      detail::multiply_rows<Acc, Value, typename Columns::position_type, typename Columns::coordinate_type>(
          space, detail::sparse_rows(B), detail::sparse_rows(C));
  detail::replace_rows(A, std::move(product));
}

/// The same product on the default instance of A's space.
template <SparseRowsMatrix TensorA, SparseRowsMatrix TensorB, SparseRowsMatrix TensorC>
void spgemm(const TensorA& A, const TensorB& B, const TensorC& C) {
  spgemm(typename TensorA::space_type(), A, B, C);
}

}  // namespace sporos
