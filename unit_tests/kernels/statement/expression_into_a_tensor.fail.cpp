// SPDX-License-Identifier: Apache-2.0
/// @file expression_into_a_tensor.fail.cpp
/// An expression assigned to a tensor without index variables.
// expect: the result needs its index variables as well, which say how the modes meet
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> x(9), y(9);
  y = A(i, j) * x(j);
}
