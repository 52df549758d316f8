// SPDX-License-Identifier: Apache-2.0
/// @file sum_over_a_variable_of_the_result.fail.cpp
/// A sum over a variable of the result, which would be left out: each term has one value of it.
// expect: the variable of an explicit sum cannot be used in the result
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, DenseMatrix<>> A({9, 9});
  Tensor<double, DenseVector> y({9});
  y(i) = -2.0 * sum(i, j, A(i, j));
}
