// SPDX-License-Identifier: Apache-2.0
/// @file split_into_a_taken_name.fail.cpp
/// A split whose loops have the name of another.
// expect: a new loop takes a new name
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  assign(A(i, j), B(i, j)).split(i, m, j, 4).run();
}
