// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The sum of two scaled sparse matrices on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../../cuda/operands.hpp"
#include "../../nest/lower.hpp"
#include "../pattern.hpp"
#include "add.hpp"

namespace sporos::cuda {

/// A(i, j) = ± b * B(i, j) ± c * C(i, j) with scalars b and c or without, all in CSR: add.hpp.
struct SparseSumByMatches {
  using Pattern = AddPattern<GpuOperands>;
  static constexpr std::string_view name = "the sparse sum on the GPU";
  static constexpr bool is_deterministic = true;

  template <class S>
  static constexpr bool matches =
      Pattern::matches<S> && !std::is_same_v<typename S::result_type::value_type, bool>;

  template <class S>
  static bool run(const S& statement) {
    using Compute = detail::compute_of<S>;
    bounds_of(statement);  // what does not fit is named by its variable
    const auto b = detail::csr_view(Pattern::left(statement).tensor());
    const auto c = detail::csr_view(Pattern::right(statement).tensor());
    const auto& result = statement.result().tensor();
    using New = detail::NewCsr<std::remove_cvref_t<decltype(result)>>;
    New made(result.extents());
    const Kokkos::Cuda space;
    SparseSum<Compute, std::remove_const_t<decltype(b)>, std::remove_const_t<decltype(c)>, typename New::View>
        sum(space, b, c, shared_workspace());
    const std::int64_t nonzeros = sum.count(made.positions());
    sum.fill(made.make_room(nonzeros), Pattern::left_coefficient<Compute>(statement),
             Pattern::right_coefficient<Compute>(statement));
    made.put_into(result);
    space.fence("sporos::add");
    return true;
  }
};

}  // namespace sporos::cuda
