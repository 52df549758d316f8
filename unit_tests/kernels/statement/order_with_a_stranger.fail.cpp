// SPDX-License-Identifier: Apache-2.0
/// @file order_with_a_stranger.fail.cpp
/// A loop order with a variable that the statement does not have.
// expect: takes every index variable of the statement, each once
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  assign(A(i, j), B(i, j)).reorder(i, k).run();
}
