// SPDX-License-Identifier: Apache-2.0
/// @file variable_twice_in_the_result.fail.cpp
/// A sparse result with a variable twice.
// expect: an index variable stands twice in the result: only a dense tensor takes values on its diagonal
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> x({9});
  A(i, i) = x(i);
}
