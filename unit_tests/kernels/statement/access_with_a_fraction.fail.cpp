// SPDX-License-Identifier: Apache-2.0
/// @file access_with_a_fraction.fail.cpp
/// A fraction where an index variable or a coordinate belongs.
// expect: an access takes an index variable, or a coordinate, for each mode of the tensor
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> B({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = B(i, 3.5) * x(i);
}
