// SPDX-License-Identifier: Apache-2.0
/// @file value_by_brackets.fail.cpp
/// A value of a tensor asked for as of an array.
// expect: a tensor has no operator\[\]: x\(3\) and A\(3, 4\) are values in index notation
// alone
#include <sporos/compute.hpp>

using namespace sporos;

double refused() {
  Tensor<double, DenseVector> x(9);
  return x[3];
}
