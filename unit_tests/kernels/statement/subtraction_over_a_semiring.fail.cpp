// SPDX-License-Identifier: Apache-2.0
/// @file subtraction_over_a_semiring.fail.cpp
/// A difference where + means the smaller of two.
// expect: a semiring has no subtraction
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), C({9, 9});
  assign(A(i, j), B(i, j) - C(i, j)).over(MinPlus{}).run();
}
