// SPDX-License-Identifier: Apache-2.0
/// @file precomputed_sum_inside_a_function.fail.cpp
/// A sum computed first that stands inside a function.
// expect: the right side is linear in the part
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> B({9, 9});
  Tensor<double, DenseVector> y({9}), w({9});
  const auto square = [](double v) { return v * v; };
  assign(y(i), map(square, B(i, j))).precompute(B(i, j), w(i)).run();
}
