// SPDX-License-Identifier: Apache-2.0
/// @file value_without_a_sum.fail.cpp
/// The value of an expression with variables.
// expect: an index variable of this expression is not summed: write value\(sum
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, DenseVector> x({9}), y({9});
  y.values()(0) = value(x(i) * y(i));
}
