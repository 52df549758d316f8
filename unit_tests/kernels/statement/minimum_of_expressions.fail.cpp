// SPDX-License-Identifier: Apache-2.0
/// @file minimum_of_expressions.fail.cpp
/// The smaller of two expressions.
// expect: index notation has no min of two expressions
// alone
#include <sporos/sporos.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), C({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = min(x(i), 2.0) + y(i);
}
