// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of two sparse matrices on the GPU, as a candidate for statements.
#pragma once

#include <string_view>
#include <type_traits>

#include "../../add/cuda/two_pass.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../pattern.hpp"
#include "spgemm.hpp"

namespace sporos::gpu {

/// A(i, j) = B(i, k) * C(k, j), each in CSR or CSC, with A of the type in which the product computes, by
/// spgemm.hpp. Factors not stored by the rows that it needs are copied first; a result in CSC is computed as
/// its transpose.
struct SpgemmByBins {
  using Pattern = SpgemmPattern<GpuMatrixOperands>;
  static constexpr std::string_view name = "SpGEMM by bins";
  static constexpr std::string_view takes =
      "A(i, j) = B(i, k) * C(k, j), each in CSR or CSC in the memory of the GPU, A of the type in which the "
      "product computes";
  static constexpr bool deterministic = false;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_launch = 1e-4;
  static constexpr double seconds_of_term = 20e-12;

  template <class S>
  static constexpr bool computes() {
    using Value = typename S::result_type::value_type;
    if constexpr (Pattern::matches<S>)
      return std::is_same_v<detail::compute_of<S>, Value> && !std::is_same_v<Value, bool> &&
             detail::is_made_of_segments<typename S::result_type::format>;
    else
      return false;
  }
  template <class S>
  static constexpr bool matches = computes<S>();

  template <class S>
  static constexpr bool is_transposed = detail::is_by_columns<typename S::result_type::format>;
  template <class Compute, class B, class C, class New>
  using Passes = Spgemm<Compute, B, C, New>;
  using PassesWorkspace = SpgemmWorkspace;
  static constexpr const char* fence_name = "sporos::spgemm";
  static constexpr std::string_view explanation =
      "the sizes of rows, then their columns and values; rows sorted into bins by size";

  template <class S, class Product, class To>
  static void fill(const S&, const Product& product, const To& to) {
    product.fill(to);
  }

  template <class S>
  using Plan = TwoPassPlan<SpgemmByBins, S>;
};

}  // namespace sporos::gpu
