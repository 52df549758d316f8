// SPDX-License-Identifier: Apache-2.0
/// @file product_of.hpp
/// A statement as a product of a dense and an N:M sparse matrix on the GPU: which operands it takes, their
/// roles, and the work around the product.
#pragma once

#include <cstdint>
#include <ostream>
#include <type_traits>
#include <utility>

#include "../../nest/bounds.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "../view.hpp"
#include "k_major_traits.hpp"

namespace sporos::gpu {

/// Admits floats, of one type in both factors and of any in the result, and indices of one byte each.
struct NmOperands : GpuMatrixOperands {
  template <class T>
  static constexpr bool is_float = std::is_floating_point_v<T> || is_narrow_float_v<T>;
  template <class C>
  static constexpr bool is_result = is_dense_by_rows<C>;
  template <class C, class A, class B>
  static constexpr bool computes = std::is_same_v<typename A::value_type, typename B::value_type> &&
                                   NmTraits<typename B::format>::bits == 8 &&
                                   is_float<typename A::value_type> && is_float<typename C::value_type>;
};

/// C(i, j) = f(A(i, k) * B(k, j)), the statement of a plan. For batches, C(b, i, j) = f(A(b, i, k) *
/// B(k, j)), C and A have the rows of all batches; if A is stored k-major, A(b, k, i), it is said to be *in
/// batches*.
template <class S, class Operands>
class NmProductOf {
 protected:
  using Pattern = NmPatternOf<Operands, S>;
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using Traits = NmTraits<typename Sparse::format>;
  using T = typename Sparse::value_type;
  using Out = typename S::result_type::value_type;
  using Epilogue = decltype(epilogue_by_rows(std::declval<const S&>()));
  static constexpr bool is_of_batches = S::result_type::format::order == 3;
  /// The mode of the rows, in C and in A unless A is k-major, and whether A is stored k-major.
  static constexpr int of_rows = is_of_batches ? 1 : 0;
  static constexpr bool is_k_major = DenseAccess::level_names[of_rows + 1] == S::result_type::names[of_rows];
  static constexpr bool is_in_batches = is_of_batches && is_k_major;

  explicit NmProductOf(const S& statement) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  const auto& a() const { return Pattern::dense(statement_).tensor(); }
  const auto& b() const { return Pattern::sparse(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  /// The batches in which A is stored, and the rows of each.
  std::int64_t batches() const { return is_in_batches ? result().extent(0) : 1; }
  std::int64_t rows_of_batch() const { return is_in_batches ? result().extent(1) : m(); }
  std::int64_t m() const { return (is_of_batches ? result().extent(0) : 1) * result().extent(of_rows); }
  std::int64_t n() const { return result().extent(of_rows + 1); }
  std::int64_t k() const { return b().extent(Traits::along); }
  NmView<T> view() const { return nm_view(b()); }

  /// The elements of B that are kept: each is multiplied with m elements of A.
  double kept() const {
    return static_cast<double>(k()) * static_cast<double>(n()) * Traits::kept / Traits::window;
  }

  /// The layout of A as stored. (If it is row-major, only the stride is used.)
  KMajorBatches stored() const {
    return {k(), rows_of_batch(), is_k_major ? rows_of_batch() : k(), batches()};
  }
  /// The layout of a copy of A, which is one matrix.
  KMajorBatches copied(std::int64_t stride) const { return {k(), m(), stride, 1}; }

  void explain_batches(std::ostream& out) const {
    if (is_of_batches) out << "  batches: " << result().extent(0) << ", as the rows of one product\n";
  }

  /// Calls multiply(address of the result's values), unless there is nothing to multiply.
  template <class Multiply>
  void write_result(const Multiply& multiply) const {
    if (result().nnz() == 0) return;
    const sporos::detail::DenseTarget<S> target(statement_);
    if (b().nnz() == 0)
      apply_epilogue<S, detail::compute_of<S>>(statement_, nullptr, target.data());
    else
      multiply(target.data());
    target.finish();
  }
  /// Whether there is anything to multiply. The result may have no memory yet: the sums that are a part of
  /// another plan get theirs in each run.
  bool has_terms() const { return m() > 0 && n() > 0 && b().nnz() > 0; }
  /// The bytes of a run whose kernels need `of_kernels` bytes besides the result.
  Bytes bytes_with(std::int64_t of_kernels) const {
    return {result().nnz(), result().bytes(), sporos::detail::DenseTarget<S>::bytes(statement_) + of_kernels};
  }

  const S& statement_;
};

}  // namespace sporos::gpu
