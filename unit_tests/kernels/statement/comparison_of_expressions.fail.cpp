// SPDX-License-Identifier: Apache-2.0
/// @file comparison_of_expressions.fail.cpp
/// The standard library's maximum, which compares and takes the comparison for a bool: max(B(i, j), C(i, j))
/// is the one of index notation.
// expect: an expression is a number only where
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), C({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  A(i, j) = std::max(B(i, j), C(i, j));
}
