// SPDX-License-Identifier: Apache-2.0
/// @file contradicting_operands.fail.cpp
/// A sum of a matrix by rows and its transpose: no loop order reads both.
// expect: no loop order reads all operands: the second operand of the right side
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  A(i, j) = B(i, j) + B(j, i);
}
