// SPDX-License-Identifier: Apache-2.0
/// @file norm_of_unequal_terms.fail.cpp
/// A norm of terms with different variables: is the second one summed first, or the first one repeated?
// expect: an index variable stands in some terms only of the expression whose norm is taken
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, DenseVector> x({9}), b({9});
  b.values()(0) = norm(b(i) - A(i, j) * x(j));
}
