// SPDX-License-Identifier: Apache-2.0
/// @file positions_of_columns_by_rows.fail.cpp
/// A loop over positions of an operand whose levels have another order.
// expect: consecutive levels of the operand
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseMatrix<>> B({9, 9});
  assign(A(i, j), B(i, j)).reorder(j, i).fuse(j, i, m).pos(m, n, B(i, j)).run();
}
