// SPDX-License-Identifier: Apache-2.0
/// @file sparse_result_added_to_in_place.fail.cpp
/// A sparse result that is to be added to in place.
// expect: only dense results are added to in place
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  assign(A(i, j), B(i, j)).accumulate().run();
}
