// SPDX-License-Identifier: Apache-2.0
/// @file iteration_over_a_tensor.fail.cpp
/// A loop over a tensor and not over its entries.
// expect: for \(const auto& \[coordinate, value\] : entries\(A\)\) iterates over what a tensor stores
// alone
#include <sporos/compute.hpp>

using namespace sporos;

double refused() {
  Tensor<double, CSR<>> A({9, 9});
  double sum = 0;
  for (const double value : A) sum += value;
  return sum;
}
