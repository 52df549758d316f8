// SPDX-License-Identifier: Apache-2.0
/// @file maximum_without_indices.fail.cpp
/// The larger of two tensors, written without index variables.
// expect: a tensor is computed with in index notation, which says how modes meet
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), C({9, 9});
  A(i, j) = max(B, C);
}
