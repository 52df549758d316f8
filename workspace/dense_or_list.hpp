// SPDX-License-Identifier: Apache-2.0
/// @file dense_or_list.hpp
/// A workspace that is an array over the extents or a list that is sorted, whichever its policy decides.
#pragma once

#include <cstdint>
#include <optional>

#include "../core/extents.hpp"
#include "../core/inline.hpp"
#include "dense.hpp"
#include "policy.hpp"

namespace sporos::detail {

/// Gathers values of type T in a workspace of type Dense if the policy says `is_dense_over<T>(extents)`, and
/// in one of type List, made from `policy.of_list()`, otherwise.
template <class Policy, class T, int Order, class Dense, class List>
class DenseOrList {
 public:
  static constexpr bool in_order = Dense::in_order && List::in_order;
  static constexpr bool sums_in_order = sums_in_order_of<Dense> && sums_in_order_of<List>;

  /// @throws MemoryError if an array over the extents cannot be allocated
  DenseOrList(const Policy& policy, const Extents<Order>& extents) {
    if (policy.template is_dense_over<T>(extents))
      dense_.emplace(dense_workspace, extents);
    else
      list_.emplace(policy.of_list(), extents);
  }

  /// values[at] += value
  SPOROS_HOST_INLINE void add(const Extents<Order>& at, const T& value) {
    if (dense_)
      dense_->add(at, value);
    else
      list_->add(at, value);
  }
  /// Calls take(coordinates, value) for each coordinate, ascending, and empties the workspace.
  template <class Take>
  void drain(const Take& take) {
    if (dense_)
      dense_->drain(take);
    else
      list_->drain(take);
  }

  static std::int64_t most_bytes(const Policy& policy, const Extents<Order>& extents, std::int64_t adds) {
    return policy.template is_dense_over<T>(extents) ? Dense::most_bytes(dense_workspace, extents, adds)
                                                     : List::most_bytes(policy.of_list(), extents, adds);
  }
  /// A memory limit in the settings of the list that is enough; 0 if there is none.
  static std::int64_t enough_limit(const Policy& policy, const Extents<Order>& extents,
                                   std::int64_t components) {
    if (policy.template is_dense_over<T>(extents)) return 0;
    return detail::enough_limit<List>(policy.of_list(), extents, components);
  }

 private:
  std::optional<Dense> dense_;
  std::optional<List> list_;
};

}  // namespace sporos::detail
