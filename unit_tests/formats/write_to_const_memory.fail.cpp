// SPDX-License-Identifier: Apache-2.0
/// @file write_to_const_memory.fail.cpp
/// Assigning to a tensor over const memory.
// expect: this tensor is read only, Tensor<const ...>, as wrap makes of const arrays: assign to
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused(const std::vector<double>& numbers) {
  Tensor<double, DenseVector> y({9});
  wrap(numbers)(i) = y(i);
}
