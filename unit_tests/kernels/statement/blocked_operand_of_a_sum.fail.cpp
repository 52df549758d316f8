// SPDX-License-Identifier: Apache-2.0
/// @file blocked_operand_of_a_sum.fail.cpp
/// An explicit sum, in the loop nest, over an operand that stores another variable below the summed one.
// expect: a blocked operand, which stores other variables below them, has to be converted
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, BCSR<2, 2>> A({8, 8});
  Tensor<double, DenseVector> x({8}), b({8}), y({8});
  const auto next = [](double v) { return v + 1; };
  assign(y(i), map(everywhere(next), sum(j, A(i, j) * x(j))) * b(i)).generic().run();
}
