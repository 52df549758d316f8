// SPDX-License-Identifier: Apache-2.0
/// @file division_of_an_integer_sum.fail.cpp
/// Integers of which only a part has been added up when they are divided.
// expect: integers are divided after their sum is complete
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<int, CSR<>> B({9, 9}), C({9, 9});
  C(i, j) = (B(i, j) - B(i, k) * B(k, j)) / 2;
}
