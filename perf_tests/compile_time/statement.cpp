// SPDX-License-Identifier: Apache-2.0
/// @file statement.cpp
/// One statement, as a user's translation unit has it: what `measure` compiles.
#include <sporos/sporos.hpp>

using namespace sporos;
using namespace sporos::indices;

void multiply(const Tensor<double, CSR<>>& A, const Tensor<double, CSR<>>& B,
              const Tensor<double, CSR<>>& C) {
  A(i, j) = B(i, k) * C(k, j);
}
