// SPDX-License-Identifier: Apache-2.0
/// @file access_with_too_few_variables.fail.cpp
/// A matrix with one index variable.
// expect: an access takes one index variable for each mode of the tensor
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> y({9});
  y(i) = A(i);
}
