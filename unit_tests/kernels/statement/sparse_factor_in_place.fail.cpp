// SPDX-License-Identifier: Apache-2.0
/// @file sparse_factor_in_place.fail.cpp
/// A sparse result times a sparse factor, in place.
// expect: a sparse factor removes coordinates from a sparse result
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  A(i, j) *= B(i, j);
}
