// SPDX-License-Identifier: Apache-2.0
/// @file contradicting_third_operand.fail.cpp
/// Of three operands, the third asks for another order than the two before it.
// expect: no loop order reads all operands: the third operand of the right side
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  Tensor<double, CSC<>> C({9, 9});
  A(i, j) = B(i, j) * B(i, j) * C(i, j);
}
