// SPDX-License-Identifier: Apache-2.0
/// @file expression_added_to_a_number.fail.cpp
/// A dot product that is to be added to a number.
// expect: an expression is a number only where all its index variables are summed: write sum
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, DenseVector> x({9}), y({9});
  double s = 0;
  s += x(i) * y(i);
  y.values()(0) = s;
}
