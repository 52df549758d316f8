// SPDX-License-Identifier: Apache-2.0
/// @file function_of_unequal_terms.fail.cpp
/// The magnitude of a residual, of which one term alone is summed.
// expect: a reduction variable stands in one term of a sum only, and the sum is inside a function, or next
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = abs(x(i) - A(i, j) * x(j));
}
