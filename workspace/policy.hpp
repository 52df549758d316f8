// SPDX-License-Identifier: Apache-2.0
/// @file policy.hpp
/// What a workspace must provide, and how a policy names the workspace that gathers a scattered result.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../core/extents.hpp"
#include "../core/schedule.hpp"

namespace sporos {

namespace detail {

struct TakesAnything {
  void operator()(const auto&...) const {}
};

}  // namespace detail

/// Gathers values of type T by the coordinates of `Order` variables.
///
///     W(policy, extents)           an empty workspace over variables of these extents
///     add(at, value)               adds value at the coordinates `at`; calls may come in any order
///     drain(take)                  calls take(at, value) for what was gathered and empties the workspace
///     W::in_order                  whether drain delivers coordinates in ascending order, each once;
///                                  otherwise it may deliver them in any order and several times, and
///                                  their values are summed
///     W::most_bytes(policy, extents, adds)    an upper bound on its bytes after `adds` calls of add
///
///     W::enough_limit(policy, extents, components)
///                                  optional, of workspaces with a memory limit of their own: a limit that is
///                                  enough for values at so many different coordinates
///
///     W::sums_in_order             optional: whether the values of a coordinate are added up one after
///                                  another, in the order of the calls of add; if not, a deterministic
///                                  statement that is planned is computed anew each time it runs
///
/// and, if it holds what it has gathered in order,
///
///     stages<Keys>()               its stages for keys of one kind (component_keys.hpp): add(at, value), and
///                                  finish(), the keys and values in ascending order, without a copy
///                                  (insert_sort_merge.hpp). Lists over several variables are made of these,
///                                  and not by drain
///
/// Each thread has a workspace of its own.
template <class W, class Policy, class T, int Order>
concept Workspace = std::constructible_from<W, const Policy&, const Extents<Order>&> &&
                    requires(W w, const Policy& policy, const Extents<Order>& at, const T& value) {
                      w.add(at, value);
                      w.drain(detail::TakesAnything{});
                      { W::in_order } -> std::convertible_to<bool>;
                      { W::most_bytes(policy, at, std::int64_t{}) } -> std::same_as<std::int64_t>;
                    };

/// A type that names a workspace for scattered results and holds its settings: the argument of
/// `Statement::workspace`.
///
///     Policy::name                     its name when a statement is explained
///     Policy::takes(order)             whether it can gather over `order` variables
///     Policy::workspace<T, Order>      the Workspace, for orders that it takes
///
/// and optionally
///
///     Policy::lists_everything         where true, it also gathers results that could be appended or
///                                      gathered row by row, over all their variables at once
///     name_over<T>(extents)            its name where a statement is explained, if that depends on the
///                                      extents of the workspace
///     within(bytes)                    the policy for workspaces of at most this many bytes each, of those
///                                      that gather rows or blocks of a result
///     expecting(values)                the policy for workspaces that gather about this many values each
///     without_growth()                 the policy for workspaces that add up values in the same order
///                                      whatever they have gathered before
///     Policy::seconds_of_drain         the time to hand out and empty a workspace of few elements, if it is
///                                      long
///     validate()                       throws ScheduleError if its settings make no sense; called before
///                                      anything is computed or estimated
template <class Policy>
concept WorkspacePolicy = std::copy_constructible<Policy> && requires {
  { Policy::name } -> std::convertible_to<std::string_view>;
  { Policy::takes(1) } -> std::same_as<bool>;
};

namespace detail {

template <class Policy, int Order>
constexpr bool takes_order() {
  if constexpr (WorkspacePolicy<Policy>)
    return Policy::takes(Order);
  else
    return false;
}

/// Whether a workspace adds up the values of a coordinate one after another.
template <class W>
inline constexpr bool sums_in_order_of = [] {
  if constexpr (requires { W::sums_in_order; })
    return W::sums_in_order;
  else
    return false;
}();

/// Whether a policy has a workspace for the innermost variable of a result, from which the result is
/// appended.
template <class Policy>
inline constexpr bool gathers_in_order = [] {
  if constexpr (std::is_same_v<Policy, AutomaticWorkspace>)
    return true;
  else if constexpr (takes_order<Policy, 1>())
    return Policy::template workspace<double, 1>::in_order;
  else
    return false;
}();

/// The policy that the user of a statement has chosen, or the default.
template <class S, class Default>
using chosen_policy =
    std::conditional_t<std::is_same_v<typename S::schedule::workspace_policy, AutomaticWorkspace>, Default,
                       typename S::schedule::workspace_policy>;

/// Throws ScheduleError if the settings of a policy make no sense.
template <class Policy>
void expect_valid(const Policy& policy) {
  if constexpr (requires { policy.validate(); })
    policy.validate();
  else if constexpr (requires { policy.settings.validate(); })
    policy.settings.validate();
}

/// A memory limit that is enough for the workspace W after `adds` calls of add; 0 if it has no limit of its
/// own.
template <class W, class Policy, std::size_t Order>
std::int64_t enough_limit(const Policy& policy, const std::array<std::int64_t, Order>& extents,
                          std::int64_t adds) {
  if constexpr (requires { W::enough_limit(policy, extents, adds); }) {
    return W::enough_limit(policy, extents, std::min(cells_of(extents), adds));
  } else {
    return 0;
  }
}

/// The settings of the chosen policy.
template <class Policy, class S>
Policy policy_of(const S& statement) {
  if constexpr (std::is_same_v<typename S::schedule::workspace_policy, Policy>)
    return statement.options().policy();
  else
    return Policy{};
}

}  // namespace detail

}  // namespace sporos
