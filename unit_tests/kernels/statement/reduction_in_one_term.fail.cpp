// SPDX-License-Identifier: Apache-2.0
/// @file reduction_in_one_term.fail.cpp
/// A reduction in one term of a sum that is multiplied.
// expect: a reduction variable stands in one term of a sum inside a product only: multiply the sum out
#include <sporos/sporos.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> B({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = x(i) * (x(i) + B(i, j));
}
