// SPDX-License-Identifier: Apache-2.0
/// @file adaptive.hpp
/// The workspace of order 1 that a statement gets unless its user chooses one: dense, or, over an extent too
/// large for an array, sorted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "../core/extents.hpp"
#include "dense.hpp"
#include "policy.hpp"
#include "sorted.hpp"

namespace sporos {

struct AdaptivePolicy;

/// A dense workspace or a sorted one, as the extent demands.
template <class T>
class AdaptiveWorkspace {
 public:
  static constexpr bool in_order = true;

  /// @throws MemoryError if an array over the extent cannot be allocated
  AdaptiveWorkspace(const AdaptivePolicy&, const Extents<1>& extents) {
    if (is_dense(extents[0])) dense_.emplace(dense_workspace, extents);
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

  static std::int64_t most_bytes(const AdaptivePolicy&, const Extents<1>& extents, std::int64_t adds) {
    return is_dense(extents[0]) ? DenseWorkspace<T>::most_bytes(dense_workspace, extents, adds)
                                : SortedWorkspace<T>::most_bytes(sorted_workspace, extents, adds);
  }

 private:
  static bool is_dense(std::int64_t extent) { return fits_dense(extent, sizeof(T)); }

  std::optional<DenseWorkspace<T>> dense_;
  SortedWorkspace<T> sorted_;
};

/// Gathers over one variable of any extent.
struct AdaptivePolicy {
  static constexpr std::string_view name = "dense or sorted workspace";
  static constexpr bool takes(int order) { return order == 1; }
  template <class T, int Order>
  using workspace = AdaptiveWorkspace<T>;

  /// The name of the workspace that gathers values of type T over one variable.
  template <class T>
  static constexpr std::string_view name_over(const Extents<1>& extents) {
    return fits_dense(extents[0], sizeof(T)) ? DensePolicy::name : SortedPolicy::name;
  }
};

}  // namespace sporos
