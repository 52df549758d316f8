// SPDX-License-Identifier: Apache-2.0
/// @file variable_of_relu_outside_of_it.fail.cpp
/// The variable that relu sums over, outside of it as well.
// expect: stands in relu alone: use another letter elsewhere
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = relu(A(i, k) * x(k)) + x(k);
}
