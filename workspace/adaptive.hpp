// SPDX-License-Identifier: Apache-2.0
/// @file adaptive.hpp
/// The workspace of order 1 that a statement gets unless its user chooses one: dense, or sorted if the extent
/// is too large for an array or for the memory that is allowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "../core/extents.hpp"
#include "dense.hpp"
#include "dense_or_list.hpp"
#include "policy.hpp"
#include "sorted.hpp"

namespace sporos {

/// Gathers over one variable of any extent.
struct AdaptivePolicy {
  static constexpr std::string_view name = "dense or sorted workspace";
  static constexpr bool takes(int order) { return order == 1; }
  template <class T, int Order>
  using workspace = detail::DenseOrList<AdaptivePolicy, T, 1, DenseWorkspace<T>, SortedWorkspace<T>>;

  std::int64_t most_dense = most_dense_bytes;  ///< bytes of an array over the extent

  /// The policy if every thread may use at most `bytes` bytes. An array that takes no more than the shortest
  /// list stays dense.
  AdaptivePolicy within(std::int64_t bytes) const {
    constexpr std::int64_t of_shortest_list = 4096;
    return {std::min(most_dense, std::max(bytes, of_shortest_list))};
  }
  SortedPolicy of_list() const { return sorted_workspace; }
  template <class T>
  bool is_dense_over(const Extents<1>& extents) const {
    return extents[0] <= most_dense / static_cast<std::int64_t>(sizeof(T));
  }
  /// The name of the workspace that gathers values of type T over one variable.
  template <class T>
  std::string_view name_over(const Extents<1>& extents) const {
    return is_dense_over<T>(extents) ? DensePolicy::name : SortedPolicy::name;
  }
};

}  // namespace sporos
