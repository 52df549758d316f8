// SPDX-License-Identifier: Apache-2.0
/// @file shared_levels.hpp
/// Two tensors of one pattern.
#pragma once

namespace sporos::detail {

/// The levels of a matrix in CSR for a second one of its pattern: the same arrays where they are counted,
/// else a copy.
template <class TensorType>
auto shared_levels(const TensorType& pattern) {
  if (pattern.template level<1>().positions.use_count() > 0) return pattern.levels();
  return pattern.clone().levels();
}

}  // namespace sporos::detail
