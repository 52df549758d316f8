// SPDX-License-Identifier: Apache-2.0
/// @file adaptive.hpp
/// The workspace of order 1 that a statement gets unless its user chooses one: dense, or sorted if the extent
/// is too large for an array or for the memory that is allowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "../core/extents.hpp"
#include "dense.hpp"
#include "policy.hpp"
#include "sorted.hpp"

namespace sporos {

struct AdaptivePolicy;

/// A dense workspace or a sorted one, as the extent and the policy demand.
template <class T>
class AdaptiveWorkspace {
 public:
  static constexpr bool in_order = true;

  /// @throws MemoryError if an array over the extent cannot be allocated
  AdaptiveWorkspace(const AdaptivePolicy& policy, const Extents<1>& extents) {
    if (is_dense(policy, extents)) dense_.emplace(dense_workspace, extents);
  }

  /// values[c] += value
  void add(const Extents<1>& c, const T& value) {
    if (dense_)
      dense_->add(c, value);
    else
      sorted_.add(c, value);
  }
  /// Calls take(coordinate, value) for each coordinate, ascending, and empties the workspace.
  template <class Take>
  void drain(const Take& take) {
    if (dense_)
      dense_->drain(take);
    else
      sorted_.drain(take);
  }

  static std::int64_t most_bytes(const AdaptivePolicy& policy, const Extents<1>& extents, std::int64_t adds) {
    return is_dense(policy, extents) ? DenseWorkspace<T>::most_bytes(dense_workspace, extents, adds)
                                     : SortedWorkspace<T>::most_bytes(sorted_workspace, extents, adds);
  }

 private:
  static bool is_dense(const AdaptivePolicy& policy, const Extents<1>& extents);

  std::optional<DenseWorkspace<T>> dense_;
  SortedWorkspace<T> sorted_;
};

/// Gathers over one variable of any extent.
struct AdaptivePolicy {
  static constexpr std::string_view name = "dense or sorted workspace";
  static constexpr bool takes(int order) { return order == 1; }
  template <class T, int Order>
  using workspace = AdaptiveWorkspace<T>;

  std::int64_t most_dense = most_dense_bytes;  ///< bytes of an array over the extent

  /// The policy if every thread may use at most `bytes` bytes.
  AdaptivePolicy within(std::int64_t bytes) const { return {std::min(most_dense, bytes)}; }
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

template <class T>
bool AdaptiveWorkspace<T>::is_dense(const AdaptivePolicy& policy, const Extents<1>& extents) {
  return policy.is_dense_over<T>(extents);
}

}  // namespace sporos
