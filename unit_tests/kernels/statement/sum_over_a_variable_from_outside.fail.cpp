// SPDX-License-Identifier: Apache-2.0
/// @file sum_over_a_variable_from_outside.fail.cpp
/// A sum over a variable that stands outside of it as well.
// expect: stands in that sum alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, CSC<>> C({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = x(j) * sum(j, A(i, j));
}
