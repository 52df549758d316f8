// SPDX-License-Identifier: Apache-2.0
/// @file strips_inside_their_coordinates.fail.cpp
/// A loop order in which the coordinates of a strip run outside the strips.
// expect: name the outer one first
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  assign(A(i, j), B(i, j)).split(i, m, n, 4).reorder(n, m, j).run();
}
