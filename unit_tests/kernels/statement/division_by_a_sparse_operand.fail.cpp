// SPDX-License-Identifier: Apache-2.0
/// @file division_by_a_sparse_operand.fail.cpp
/// A division by a sparse vector.
// expect: a sparse operand cannot divide: where it stores nothing it is zero
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, DenseVector> x({9}), y({9});
  Tensor<double, SparseVector<>> s({9});
  y(i) = x(i) / s(i);
}
