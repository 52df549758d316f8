// SPDX-License-Identifier: Apache-2.0
/// @file order_without_a_variable.fail.cpp
/// A loop order that leaves out a variable of the statement.
// expect: takes every index variable of the statement, each once
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  assign(A(i, j), B(i, k) * B(k, j)).reorder(i, j).run();
}
