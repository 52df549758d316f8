// SPDX-License-Identifier: Apache-2.0
/// @file plan_of_an_assignment.fail.cpp
/// A plan of an assignment, which runs before there is a plan.
// expect: an assignment runs at once, before its plan, estimate or explanation is made: write it as a statement
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), C({9, 9});
  auto product = plan(C(i, j) = A(i, k) * B(k, j));
  product.run();
}
