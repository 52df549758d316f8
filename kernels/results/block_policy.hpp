// SPDX-License-Identifier: Apache-2.0
/// @file block_policy.hpp
/// The policy of the workspaces that gather a result row by row, or block by block.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../core/error.hpp"
#include "../../core/extents.hpp"
#include "../../core/pool.hpp"
#include "../../core/resources.hpp"
#include "../../formats/print.hpp"
#include "../../workspace/accumulation.hpp"
#include "../../workspace/policy.hpp"
#include "sampled_work.hpp"

namespace sporos::detail {

/// Throws MemoryError if several workspaces of so many bytes each take more than three quarters of the
/// machine's memory: the system may grant that, and end the process when they are written.
inline void expect_room_for(std::int64_t workspaces, std::int64_t bytes) {
  const std::int64_t all = saturated_product(workspaces, bytes);
  // One that does not fit by itself says so when it is made.
  if (all > Pool::machine_bytes() / 4 * 3 && bytes <= Pool::machine_bytes())
    throw MemoryError(
        text(workspaces, workspaces == 1 ? " workspace of " : " workspaces of ", bytes_text(bytes),
             workspaces == 1 ? "" : " each", " cannot be allocated: this machine has ",
             bytes_text(Pool::machine_bytes()),
             "; choose another with .workspace(sorted_workspace) or .workspace(coordinate_workspace)"));
}

/// Whether a policy wants to know how many values are gathered before its workspace is drained.
template <class Policy>
inline constexpr bool expects_values = requires(const Policy& policy) { policy.expecting(double{}); };

/// Whether the same values are added up in another order where a workspace of a policy is dense than where it
/// is a list.
template <class Policy, class S>
constexpr bool order_depends_on_memory() {
  using Nest = NestOf<S>;
  constexpr int gathered = Nest::Format::levels - Nest::classification.prefix;
  return !sums_in_order_of<typename Policy::template workspace<typename Nest::Compute, gathered>>;
}

/// The policy that the user of a statement has chosen, or the default, with what is known of the statement:
/// together, the workspaces may take half of the memory that is allowed, or half of the machine's. What each
/// may take depends on the number of threads; where that would decide in which order values are added up, a
/// deterministic statement takes the workspaces that it has without a bound.
/// @param work  what `sampled_work` says of the statement; used if the policy expects_values
template <class Policy, class S>
Policy block_policy(const S& statement, const ExpectedWork& work) {
  Policy chosen = policy_of<Policy>(statement);
  if constexpr (requires { chosen.within(std::int64_t{}); }) {
    if constexpr (!S::schedule::is_deterministic || !order_depends_on_memory<Policy, S>()) {
      const Resources<typename S::space_type>& resources = statement.resources();
      const std::int64_t allowed = std::min(resources.memory_limit(), Pool::machine_bytes());
      chosen = chosen.within(allowed / (2 * resources.space().concurrency()));
    }
  }
  if constexpr (expects_values<Policy>) chosen = chosen.expecting(work.terms / std::max(work.blocks, 1.0));
  // Values of one coordinate are added up in another order where an accumulation array that has grown for one
  // row or block gathers the next; which one is next depends on the threads.
  if constexpr (S::schedule::is_deterministic) {
    if constexpr (requires { chosen.without_growth(); })
      chosen = chosen.without_growth();
    else if constexpr (requires { chosen.settings.growth; })
      chosen.settings.growth = AccumulationGrowth::none();
  }
  return chosen;
}
template <class Policy, class S>
Policy block_policy(const S& statement) {
  if constexpr (expects_values<Policy>)
    return block_policy<Policy>(statement, sampled_work(statement));
  else
    return block_policy<Policy>(statement, ExpectedWork{});
}

/// Whether the workspace of a policy is an array over these extents.
template <class T, class Policy, std::size_t Order>
bool is_dense_over(const Policy& policy, const std::array<std::int64_t, Order>& extents) {
  if constexpr (requires { policy.template is_dense_over<T>(extents); })
    return policy.template is_dense_over<T>(extents);
  else
    return false;
}

/// The name of the workspace of a policy that gathers values of type T over these extents.
template <class T, class Policy, std::size_t Order>
std::string_view name_over(const Policy& policy, const std::array<std::int64_t, Order>& extents) {
  if constexpr (requires { policy.template name_over<T>(extents); })
    return policy.template name_over<T>(extents);
  else
    return Policy::name;
}

}  // namespace sporos::detail
