// SPDX-License-Identifier: Apache-2.0
/// @file window_mma.hpp
/// The instruction by which products by windows of rows (windows.hpp) multiply values of a type: 16 columns
/// of B by 8 rows of A's window, so that C is computed transposed. It sums over the columns of a step.
///
/// Four neighbouring lanes share what the step's columns are: each has a quarter of them, which are
/// neighbours, and so loads their numbers, and the values of a row of the window there, at once. A lane reads
/// pairs of neighbouring elements of B.
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
  using Pair = double2;    ///< two neighbouring elements of a row of B
  using Columns = int2;    ///< a lane's columns of a step
  using Values = double2;  ///< the values of a row of a window in these columns
  static constexpr int columns_of_lane = k / 4;

  /// d += the products of a step with two columns of B for each four lanes.
  /// @param b  of each of the lane's columns of A, the pair in that row of B
  __device__ __forceinline__ static void multiply(Sum (&d)[4], const Pair (&b)[columns_of_lane],
                                                  const Values& a) {
    ptx::mma_m16n8k8(d, {b[0].x, b[0].y, b[1].x, b[1].y}, a.x, a.y);
  }
};

template <class T>
  requires is_narrow_float_v<T>
struct WindowMma<T> : MmaM16N8K16 {
  using Sum = float;
  using Pair = std::uint32_t;
  using Columns = int4;
  using Values = uint2;
  static constexpr int columns_of_lane = k / 4;

  __device__ __forceinline__ static void multiply(Sum (&d)[4], const Pair (&b)[columns_of_lane],
                                                  const Values& a) {
    constexpr unsigned lower = 0x5410, upper = 0x7632;  // halves of two words
    multiply_fragment(d,
                      {__byte_perm(b[0], b[1], lower), __byte_perm(b[0], b[1], upper),
                       __byte_perm(b[2], b[3], lower), __byte_perm(b[2], b[3], upper)},
                      a);
  }
  /// The same for a B whose elements are in the order of the instruction's operand.
  __device__ __forceinline__ static void multiply_fragment(Sum (&d)[4], const std::uint32_t (&b)[4],
                                                           const Values& a) {
    ptx::mma_m16n8k16<T>(d, b, a.x, a.y);
  }
};

}  // namespace sporos::gpu
