// SPDX-License-Identifier: Apache-2.0
/// @file tensor_added_to_an_access.fail.cpp
/// A tensor without index variables added to one with them.
// expect: a tensor is computed with in index notation, which says how modes meet: sum
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) += x;
}
