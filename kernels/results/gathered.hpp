// SPDX-License-Identifier: Apache-2.0
/// @file gathered.hpp
/// The nest's candidate for sparse results that scatter over their innermost variable: a workspace gathers
/// each row, which is then appended.
#pragma once

#include <ostream>
#include <string_view>
#include <type_traits>

#include "../../formats/print.hpp"
#include "../../workspace/dense.hpp"
#include "append_plan.hpp"

namespace sporos {

/// The loop nest with a sparse result that is gathered row by row.
struct GatheredNest {
  static constexpr std::string_view name = "loop nest, gathered";
  static constexpr bool deterministic = true;
  static constexpr bool any_schedule = true;
  static constexpr double seconds_of_term = 6e-9;

  template <class S>
  static constexpr bool matches =
      HostSpace<typename S::space_type> && detail::NestOf<S>::classification.kind == ResultKind::gathered;

  /// The policy of the workspace unless the user chooses one.
  using DefaultPolicy = DensePolicy;
  template <class S>
  using policy_for = detail::chosen_policy<S, DefaultPolicy>;

  template <class S>
  struct Plan : detail::AppendPlan<S, policy_for<S>> {
    using Base = detail::AppendPlan<S, policy_for<S>>;
    using Base::Base;
    void explain(std::ostream& out) const {
      using Workspace = typename policy_for<S>::template workspace<typename detail::NestOf<S>::Compute, 1>;
      constexpr auto names = S::result_type::level_names;
      const auto policy = detail::policy_of<policy_for<S>>(this->nest().statement());
      const auto extents = this->row_extents();
      out << text("  result: scattered over one variable, ", policy_for<S>::name, " of order 1 over ",
                  names[names.size - 1], ", ", bytes_text(Workspace::most_bytes(policy, extents, extents[0])),
                  " a thread\n");
    }
  };
};

}  // namespace sporos
