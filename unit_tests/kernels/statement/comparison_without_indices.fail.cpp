// SPDX-License-Identifier: Apache-2.0
/// @file comparison_without_indices.fail.cpp
/// A tensor compared with a number, written without index variables.
// expect: a tensor is computed with in index notation, which says how modes meet
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  A(i, j) = B < 2.0;
}
