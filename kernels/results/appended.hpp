// SPDX-License-Identifier: Apache-2.0
/// @file appended.hpp
/// The nest's candidate for sparse results whose levels the loops reach in ascending order.
#pragma once

#include <ostream>
#include <string_view>

#include "append_plan.hpp"

namespace sporos {

/// The loop nest with a sparse result that is appended to.
struct AppendedNest : detail::AppendsInChunks {
  static constexpr std::string_view name = "loop nest, appended";
  static constexpr std::string_view takes =
      "sparse results in host memory whose elements the loops visit in their order";
  static constexpr bool deterministic = true;
  static constexpr bool any_schedule = true;
  static constexpr double seconds_of_term = 4e-9;

  template <class S>
  static constexpr bool matches =
      HostSpace<typename S::space_type> && detail::NestOf<S>::classification.kind == ResultKind::appended;

  template <class S>
  static constexpr std::string_view role_at(int depth) {
    return depth < detail::NestOf<S>::classification.appended_levels ? "appended" : "located";
  }

  template <class S>
  struct Plan : detail::AppendPlan<S, void> {
    using detail::AppendPlan<S, void>::AppendPlan;
    void explain(std::ostream& out) const { out << "  result: appended\n"; }
  };
};

}  // namespace sporos
