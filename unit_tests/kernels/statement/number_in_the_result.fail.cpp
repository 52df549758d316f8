// SPDX-License-Identifier: Apache-2.0
/// @file number_in_the_result.fail.cpp
/// A number where an index variable of the result belongs.
// expect: an access takes index variables, not numbers
// alone
#include <sporos/sporos.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), C({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  A(i, 3) = x(i);
}
