// SPDX-License-Identifier: Apache-2.0
/// @file expression_as_a_number.fail.cpp
/// A dot product that is to be a number.
// expect: an expression is a number only where all its index variables are summed: write sum
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), C({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  double s = x(i) * y(i);
  y.values()(0) = s;
}
