// SPDX-License-Identifier: Apache-2.0
/// @file sum_of_some_variables_as_a_number.fail.cpp
/// A number of which one variable is not summed.
// expect: an expression is a number only where all its index variables are summed: write sum
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  double s = sum(j, A(i, j));
  A.values()(0) = s;
}
