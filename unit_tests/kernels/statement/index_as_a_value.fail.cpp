// SPDX-License-Identifier: Apache-2.0
/// @file index_as_a_value.fail.cpp
/// An index variable where a value is expected.
// expect: an index variable has no value: values that depend on coordinates are written
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, DenseVector> x(9);
  x(i) = i;
}
