// SPDX-License-Identifier: Apache-2.0
/// @file square_roots_of_integers.fail.cpp
/// Square roots in a tensor of integers.
// expect: the square roots of integers are no integers: compute in tensors of float or double
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<int, DenseVector> x(9), y(9);
  y(i) = sqrt(x(i));
}
