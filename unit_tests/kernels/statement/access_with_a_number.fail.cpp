// SPDX-License-Identifier: Apache-2.0
/// @file access_with_a_number.fail.cpp
/// A number where an index variable belongs.
// expect: an access takes index variables, not numbers: read one value with at
// alone
#include <sporos/sporos.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), C({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = B(i, 3) * x(i);
}
