// SPDX-License-Identifier: Apache-2.0
/// @file variable_of_gelu_outside_of_it.fail.cpp
/// The variable that gelu sums over, outside of it as well.
// expect: stands in gelu alone: use another letter elsewhere
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = gelu(A(i, k) * x(k)) + x(k);
}
