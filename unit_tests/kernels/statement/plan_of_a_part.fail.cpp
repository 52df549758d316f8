// SPDX-License-Identifier: Apache-2.0
/// @file plan_of_a_part.fail.cpp
/// A statement object for a row of a dense tensor.
// expect: a statement object computes a whole tensor: a part of one is written by =
#include <sporos/sporos.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, DenseMatrix<>> D({9, 9});
  Tensor<double, DenseVector> x({9});
  assign(D(2, j), x(j)).run();
}
