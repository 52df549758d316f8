// SPDX-License-Identifier: Apache-2.0
/// @file quotient_of_tensors_without_indices.fail.cpp
/// A quotient of tensors without index variables.
// expect: a tensor is computed with in index notation
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), S({9, 9});
  S = A / B;
}
