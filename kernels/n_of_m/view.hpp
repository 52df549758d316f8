// SPDX-License-Identifier: Apache-2.0
/// @file view.hpp
/// An N:M sparse matrix in the form that kernels use.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "../../core/components.hpp"
#include "pattern.hpp"

namespace sporos {

/// A k x n matrix in which each unit of L consecutive columns keeps N of each M consecutive rows: format
/// NM<N, M, L>, or the transpose of NM<N, M, L, 1>.
template <class T>
struct NmView {
  std::int64_t rows = 0, columns = 0;  ///< k, n
  int kept = 0, window = 0;            ///< N, M
  std::int64_t unit = 0;               ///< L
  /// Positions from one window to the next, and from one unit to the next.
  std::int64_t window_stride = 0, unit_stride = 0;
  const std::uint8_t* indices = nullptr;  ///< [positions]
  const T* values = nullptr;              ///< [positions, L]

  /// The first of the N positions of a unit in a window.
  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t in_window, std::int64_t of_unit) const {
    return in_window * window_stride + of_unit * unit_stride;
  }
};

/// The view of a tensor of such a format.
template <class TensorType>
NmView<typename TensorType::value_type> nm_view(const TensorType& b) {
  using Traits = NmTraits<typename TensorType::format_type>;
  const auto parts = [](std::int64_t count, std::int64_t of) { return (count + of - 1) / of; };
  NmView<typename TensorType::value_type> out;
  out.rows = b.extent(Traits::along);
  out.columns = b.extent(1 - Traits::along);
  out.kept = Traits::kept;
  out.window = Traits::window;
  out.unit = Traits::unit;
  out.window_stride = Traits::along == 0 ? parts(out.columns, Traits::unit) * Traits::kept : Traits::kept;
  out.unit_stride = Traits::along == 0 ? Traits::kept : parts(out.rows, Traits::window) * Traits::kept;
  out.indices = component<Role::metadata, std::uint8_t>(b);
  out.values = component<Role::values, typename TensorType::value_type>(b);
  return out;
}

}  // namespace sporos
