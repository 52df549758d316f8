// SPDX-License-Identifier: Apache-2.0
/// @file tensor_into_an_access.fail.cpp
/// A tensor without index variables assigned to one with them.
// expect: the right side needs its index variables as well, which say how the modes meet: A\(i, j\) = B\(i, j\)
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  A(i, j) = B;
}
