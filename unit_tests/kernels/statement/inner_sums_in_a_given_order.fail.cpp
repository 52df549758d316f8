// SPDX-License-Identifier: Apache-2.0
/// @file inner_sums_in_a_given_order.fail.cpp
/// Sums inside a function, over a loop that stands before another in the order that was given.
// expect: give an order with their variables last
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), S({9, 9});
  Tensor<double, DenseMatrix<>> B({9, 9});
  assign(S(i, j), sqrt(sum(k, A(i, k) * B(k, j)))).reorder(i, k, j).generic().run();
}
