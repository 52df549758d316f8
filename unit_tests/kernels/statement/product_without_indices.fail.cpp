// SPDX-License-Identifier: Apache-2.0
/// @file product_without_indices.fail.cpp
/// A product of tensors without index variables as a number.
// expect: a tensor is computed with in index notation, which says how modes meet: sum
// alone
#include <sporos/compute.hpp>

using namespace sporos;

double refused() {
  Tensor<double, CSR<>> A({9, 9});
  double s = A * A;
  return s;
}
