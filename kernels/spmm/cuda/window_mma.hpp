// SPDX-License-Identifier: Apache-2.0
/// @file window_mma.hpp
/// The instruction by which products by windows of rows (windows.hpp) multiply values of a type: 16 columns
/// of B by 8 rows of A's window, so that C is computed transposed. It sums over the columns of a step.
///
/// Four neighbouring lanes share the columns of a step: each has a quarter of them, which are neighbours, so
/// that it loads their values of a row of the window at once.
#pragma once

#include <cstdint>

#include "../../../core/value.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"

namespace sporos::gpu {

/// The instruction for values of type T.
template <class T>
struct WindowMma;

template <>
struct WindowMma<double> : MmaM16N8K8 {
  using Sum = double;
  using Values = double2;  ///< the values of a row of a window in a lane's columns of a step

  /// d += the products of a step.
  __device__ __forceinline__ static void multiply(Sum (&d)[4], const double (&b)[4], const Values& a) {
    ptx::mma_m16n8k8(d, b, a.x, a.y);
  }
};

template <class T>
  requires is_narrow_float_v<T>
struct WindowMma<T> : MmaM16N8K16 {
  using Sum = float;
  using Values = uint2;

  __device__ __forceinline__ static void multiply(Sum (&d)[4], const std::uint32_t (&b)[4], const Values& a) {
    ptx::mma_m16n8k16<T>(d, b, a.x, a.y);
  }
};

}  // namespace sporos::gpu
