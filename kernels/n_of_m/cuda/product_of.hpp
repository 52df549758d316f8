// SPDX-License-Identifier: Apache-2.0
/// @file product_of.hpp
/// A statement as a product of a dense and an N:M sparse matrix on the GPU: what it takes, its operands by
/// their roles, and what is done around the product.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../cuda/operands.hpp"
#include "../../nest/bounds.hpp"
#include "../../statement/dense_target.hpp"
#include "../pattern.hpp"
#include "../view.hpp"

namespace sporos::gpu {

/// Floats of one type in both factors, of any in the result; indices of a byte each.
struct NmOperands : GpuMatrixOperands {
  template <class T>
  static constexpr bool is_float = std::is_floating_point_v<T> || is_narrow_float_v<T>;
  template <class C, class A, class B>
  static constexpr bool computes = std::is_same_v<typename A::value_type, typename B::value_type> &&
                                   NmTraits<typename B::format>::bits == 8 &&
                                   is_float<typename A::value_type> && is_float<typename C::value_type>;
};

/// C(i, j) = f(A(i, k) * B(k, j)), the statement of a plan.
template <class S, class Pattern>
class NmProductOf {
 protected:
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using Traits = NmTraits<typename Sparse::format>;
  using T = typename Sparse::value_type;
  using Out = typename S::result_type::value_type;
  using Epilogue = decltype(epilogue_of(std::declval<const S&>()));
  /// Whether A is stored k-major.
  static constexpr bool is_k_major = DenseAccess::level_names[1] == S::result_type::names[0];

  explicit NmProductOf(const S& statement) : statement_(statement) {
    bounds_of(statement);  // what does not fit is named by its variable
  }

  const auto& a() const { return Pattern::dense(statement_).tensor(); }
  const auto& b() const { return Pattern::sparse(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  std::int64_t m() const { return result().extent(0); }
  std::int64_t n() const { return result().extent(1); }
  std::int64_t k() const { return b().extent(Traits::along); }
  NmView<T> view() const { return nm_view(b()); }

  /// What B keeps, and the terms that are added up.
  double kept() const {
    return static_cast<double>(k()) * static_cast<double>(n()) * Traits::kept / Traits::window;
  }

  /// Calls multiply(where the result's values go), unless there is nothing to multiply.
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
  /// The bytes of a run besides the result, whose kernels need so many.
  Bytes bytes_with(std::int64_t of_kernels) const {
    return {result().nnz(), result().bytes(), sporos::detail::DenseTarget<S>::bytes(statement_) + of_kernels};
  }

  const S& statement_;
};

}  // namespace sporos::gpu
