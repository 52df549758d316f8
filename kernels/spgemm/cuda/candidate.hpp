// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of two sparse matrices on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../../cuda/operands.hpp"
#include "../../nest/lower.hpp"
#include "../pattern.hpp"
#include "spgemm.hpp"

namespace sporos::cuda {

/// A(i, j) = B(i, k) * C(k, j), all in CSR, A of the type in which the product computes: spgemm.hpp.
struct SpgemmByBins {
  using Pattern = SpgemmPattern<GpuOperands>;
  static constexpr std::string_view name = "SpGEMM on the GPU";
  static constexpr bool is_deterministic = false;

  template <class S>
  static constexpr bool computes() {
    using Value = typename S::result_type::value_type;
    if constexpr (Pattern::matches<S>)
      return std::is_same_v<detail::compute_of<S>, Value> && !std::is_same_v<Value, bool>;
    else
      return false;
  }
  template <class S>
  static constexpr bool matches = computes<S>();

  template <class S>
  static bool run(const S& statement) {
    bounds_of(statement);  // what does not fit is named by its variable
    const auto b = detail::csr_view(Pattern::left(statement).tensor());
    const auto c = detail::csr_view(Pattern::right(statement).tensor());
    const auto& result = statement.result().tensor();
    using New = detail::NewCsr<std::remove_cvref_t<decltype(result)>>;
    New made(result.extents());
    const Kokkos::Cuda space;
    Spgemm<detail::compute_of<S>, std::remove_const_t<decltype(b)>, std::remove_const_t<decltype(c)>,
           typename New::View>
        product(space, b, c, shared_workspace<SpgemmWorkspace>());
    const std::int64_t nonzeros = product.count(made.positions());
    product.fill(made.make_room(nonzeros));
    made.put_into(result);
    space.fence("sporos::spgemm");
    return true;
  }
};

}  // namespace sporos::cuda
