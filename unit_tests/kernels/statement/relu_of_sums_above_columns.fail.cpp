// SPDX-License-Identifier: Apache-2.0
/// @file relu_of_sums_above_columns.fail.cpp
/// relu of the product of two matrices by rows, into a third.
// expect: the sums that relu is applied to run inside all other loops, but the second operand of the right side
// expect: convert<CSC<>>.operand. where it is CSR
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), S({9, 9});
  S(i, j) = relu(A(i, k) * B(k, j));
}
