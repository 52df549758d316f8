// SPDX-License-Identifier: Apache-2.0
/// @file negative_bool.fail.cpp
/// The negative of a tensor of bool.
// expect: bool tensors know [*] and [+] only
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<bool, CSR<>> A({9, 9}), B({9, 9});
  A(i, j) = -B(i, j);
}
