// SPDX-License-Identifier: Apache-2.0
/// @file size_without_indices.fail.cpp
/// The absolute value of a tensor, written without index variables.
// expect: a tensor is computed with in index notation, which says how modes meet
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  A(i, j) = abs(B);
}
