// SPDX-License-Identifier: Apache-2.0
/// @file view.hpp
/// An N:M sparse matrix as kernels see it.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace sporos::gpu {

/// A k x n matrix of which, of each M consecutive rows, each unit of L consecutive columns keeps N: format
/// NM<N, M, L>, or the transpose of NM<N, M, L, 1>.
template <class T>
struct NmView {
  std::int64_t rows = 0, columns = 0;  ///< k, n
  int kept = 0, window = 0;            ///< N, M
  std::int64_t unit = 0;               ///< L
  /// Positions from a window to the next, and from a unit to the next.
  std::int64_t window_stride = 0, unit_stride = 0;
  const std::uint8_t* indices = nullptr;  ///< [positions]
  const T* values = nullptr;              ///< [positions, L]

  /// The first of the N positions of a unit in a window.
  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t in_window, std::int64_t of_unit) const {
    return in_window * window_stride + of_unit * unit_stride;
  }
};

}  // namespace sporos::gpu
