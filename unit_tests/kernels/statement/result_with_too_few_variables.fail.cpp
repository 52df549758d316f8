// SPDX-License-Identifier: Apache-2.0
/// @file result_with_too_few_variables.fail.cpp
/// A statement as an object, its result a matrix with one index variable.
// expect: an access takes one index variable for each mode of the tensor
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> x({9});
  const auto statement = assign(A(i), x(i));
  statement.run();
}
