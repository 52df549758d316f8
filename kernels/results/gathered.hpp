// SPDX-License-Identifier: Apache-2.0
/// @file gathered.hpp
/// The nest's candidate for sparse results that scatter over their innermost variable: a workspace gathers
/// each row, which is then appended.
#pragma once

#include <ostream>
#include <string_view>
#include <type_traits>

#include "../../formats/print.hpp"
#include "../../workspace/adaptive.hpp"
#include "append_plan.hpp"
#include "block_policy.hpp"

namespace sporos {

/// The loop nest with a sparse result that is gathered row by row.
struct GatheredNest : detail::AppendsInChunks {
  static constexpr std::string_view name = "loop nest, gathered";
  static constexpr std::string_view takes =
      "sparse results in host memory of which the loops visit all but the innermost variable in order";
  static constexpr bool deterministic = true;
  static constexpr std::string_view less_memory =
      "choose a smaller workspace, .workspace(sorted_workspace), or compute it in parts";
  static constexpr bool any_schedule = true;
  static constexpr double seconds_of_term = 6e-9;

  template <class S>
  static constexpr bool matches =
      HostSpace<typename S::space_type> && detail::NestOf<S>::classification.kind == ResultKind::gathered;

  template <class S>
  static constexpr std::string_view role_at(int depth) {
    return depth < detail::NestOf<S>::classification.prefix ? "appended" : "gathered";
  }

  /// The policy of the workspace unless the user chooses one.
  using DefaultPolicy = AdaptivePolicy;
  template <class S>
  using policy_for = detail::chosen_policy<S, DefaultPolicy>;

  template <class S>
  struct Plan : detail::AppendPlan<S, policy_for<S>> {
    using Base = detail::AppendPlan<S, policy_for<S>>;
    using Base::Base;
    void explain(std::ostream& out) const {
      using Computed = typename detail::NestOf<S>::Compute;
      using Policy = policy_for<S>;
      using Workspace = typename Policy::template workspace<Computed, 1>;
      constexpr auto names = S::result_type::level_names;
      const auto policy = this->policy();
      const auto extents = this->gathered_extents();
      out << text("  result: scattered over one variable, ", detail::name_over<Computed>(policy, extents),
                  " of order 1 over ", names[names.size - 1], ", ",
                  bytes_text(Workspace::most_bytes(policy, extents, this->most_values().added)),
                  " a thread\n");
    }
  };
};

}  // namespace sporos
