// SPDX-License-Identifier: Apache-2.0
/// @file split_of_a_stranger.fail.cpp
/// A split of a loop that the statement does not have.
// expect: names a loop that the statement does not have
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  assign(A(i, j), B(i, j)).split(k, m, n, 4).run();
}
