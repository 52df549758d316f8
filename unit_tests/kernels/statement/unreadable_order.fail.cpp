// SPDX-License-Identifier: Apache-2.0
/// @file unreadable_order.fail.cpp
/// A loop order in which the second operand is not reached through its levels.
// expect: the second operand of the right side cannot be read in this loop order
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  assign(A(i, j), B(i, k) * B(k, j)).reorder(j, i, k).run();
}
