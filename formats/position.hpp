// SPDX-License-Identifier: Apache-2.0
/// @file position.hpp
/// The position of a coordinate in a tensor whose levels are all full.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "../core/extents.hpp"
#include "../core/tensor.hpp"

namespace sporos::detail {

/// The position, in the values of a dense tensor, of the coordinates `at` of its levels.
/// @param above  the position of the levels above level K
template <int K = 0, class Value, TensorFormat F>
  requires F::is_dense
KOKKOS_INLINE_FUNCTION std::int64_t position_of(const TensorView<Value, F>& view,
                                                const Extents<F::levels>& at, std::int64_t above = 0) {
  if constexpr (K == F::levels)
    return above;
  else
    return position_of<K + 1>(view, at, view.template level<K>().locate(above, at[std::size_t{K}]).position);
}

}  // namespace sporos::detail
