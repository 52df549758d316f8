// SPDX-License-Identifier: Apache-2.0
/// @file reduction_in_one_term.fail.cpp
/// A reduction in one term of a sum, next to a factor that has the variable too: a sum of products, or a
/// product of sums?
// expect: a reduction variable stands in one term of a sum only, and the sum is inside a function, or next
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> B({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = x(j) * (x(i) + B(i, j));
}
