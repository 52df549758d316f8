// SPDX-License-Identifier: Apache-2.0
/// @file maximum_of_expressions.fail.cpp
/// The larger of two expressions.
// expect: index notation has no max of two expressions
// alone
#include <sporos/sporos.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), C({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  A(i, j) = max(B(i, j), 2 * C(i, j));
}
