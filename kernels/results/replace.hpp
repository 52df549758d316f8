// SPDX-License-Identifier: Apache-2.0
/// @file replace.hpp
/// Puts entries into a sparse result; they come in the order of its levels.
#pragma once

#include "../../core/space.hpp"
#include "../../core/tensor.hpp"
#include "../../formats/build.hpp"

namespace sporos::detail {

/// Builds levels and values from entries, each coordinate once, and replaces those of the result.
template <HostSpace Space, class Value, TensorFormat F>
void replace_by_entries(const Space& space, const Tensor<Value, F, Space>& result, const Packing<F>& packing,
                        const KeyedEntries<Value>& entries) {
  const auto made = Builder<F, Value>(space, entries, packing, result.extents(), Duplicates::sum, true)
                        .template build<Space>();
  result.replace(made.extents(), made.levels(), made.values());
}

}  // namespace sporos::detail
