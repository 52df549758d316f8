// SPDX-License-Identifier: Apache-2.0
/// @file shared_levels.hpp
/// Levels shared by two tensors with the same pattern.
#pragma once

#include "../core/level.hpp"

namespace sporos::detail {

/// The levels of a tensor for a second one with the same pattern: the same arrays if all are
/// reference-counted, else a copy.
template <class TensorType>
auto shared_levels(const TensorType& pattern) {
  bool counted = true;
  pattern.for_each_level([&](auto, const auto& storage) {
    storage.for_each_array(
        [&](Role, const char*, const auto& array) { counted = counted && array.use_count() > 0; });
  });
  return counted ? pattern.levels() : pattern.clone().levels();
}

}  // namespace sporos::detail
