// SPDX-License-Identifier: Apache-2.0
/// @file scaling_without_indices.fail.cpp
/// A tensor scaled without index variables.
// expect: A\(i, j\) \*= 2.0 scales it
// alone
#include <sporos/compute.hpp>

using namespace sporos;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  A *= 2.0;
}
