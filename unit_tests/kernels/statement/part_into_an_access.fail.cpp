// SPDX-License-Identifier: Apache-2.0
/// @file part_into_an_access.fail.cpp
/// Rows of a tensor without index variables assigned to a tensor with them.
// expect: the right side needs its index variables as well, which say how the modes meet: A\(i, j\) = B\(i, j\)
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, DenseMatrix<>> A({3, 9}), B({9, 9});
  A(i, j) = rows(B, 0, 3);
}
