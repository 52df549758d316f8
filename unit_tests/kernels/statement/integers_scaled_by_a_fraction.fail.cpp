// SPDX-License-Identifier: Apache-2.0
/// @file integers_scaled_by_a_fraction.fail.cpp
/// Integers times one half.
// expect: integers times a floating-point number are no integers
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<int, CSR<>> A({9, 9});
  A(i, j) *= 0.5;
}
