// SPDX-License-Identifier: Apache-2.0
/// @file explanation_with_too_few_variables.fail.cpp
/// An explanation, a plan and an estimate of a statement in which a matrix has one index variable.
// expect: an access takes one index variable for each mode of the tensor
// alone
#include <iostream>
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> y({9});
  const auto statement = assign(y(i), 2.0 * A(i)).reorder(i).workspace(dense_workspace).generic();
  std::cout << explain(statement) << estimate(statement).workspace;
  plan(statement).run();
  statement.run();
}
