// SPDX-License-Identifier: Apache-2.0
/// @file part_of_an_unordered_level.fail.cpp
/// A column of a matrix whose columns stand in no order.
// expect: a level without order cannot be searched for a coordinate: convert the operand
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<std::int64_t, std::int32_t, false>>> A({9, 9});
  Tensor<double, DenseVector> y({9});
  y(i) = A(i, 3);
}
