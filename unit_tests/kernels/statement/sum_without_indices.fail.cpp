// SPDX-License-Identifier: Apache-2.0
/// @file sum_without_indices.fail.cpp
/// A tensor as the sum of tensors, without index variables.
// expect: C\(i, j\) = A\(i, k\) \* B\(k, j\) a product of matrices
// alone
#include <sporos/compute.hpp>

using namespace sporos;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), C({9, 9});
  C = A + A;
}
