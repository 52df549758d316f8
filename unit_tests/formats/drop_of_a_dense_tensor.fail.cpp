// SPDX-License-Identifier: Apache-2.0
/// @file drop_of_a_dense_tensor.fail.cpp
/// Dropping entries of a tensor that stores all of them.
// expect: nothing can be dropped from it: convert it first, as in drop\(convert<CSR<>>\(D\)
// alone
#include <sporos/compute.hpp>

using namespace sporos;

void refused() {
  Tensor<double, DenseMatrix<>> D({9, 9});
  drop(D, 0.5);
}
