// SPDX-License-Identifier: Apache-2.0
/// @file summed_variable_above_the_others.fail.cpp
/// A sum inside a function, in the loop nest, over an operand that stores its columns first.
// expect: the first operand of the right side stores their variable above another one
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, CSC<>> C({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  assign(y(i), map([](double value) { return value; }, sum(j, C(i, j)))).generic().run();
}
