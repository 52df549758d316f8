// SPDX-License-Identifier: Apache-2.0
/// @file part_of_a_sparse_result.fail.cpp
/// A row of a sparse matrix as a result.
// expect: a part of a sparse tensor is not written to
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> x({9});
  A(i, 3) = x(i);
}
