// SPDX-License-Identifier: Apache-2.0
/// @file condition_on_repeated_entries.fail.cpp
/// What is selected by a comparison of rows that may repeat their columns in any order.
// expect: a function, a comparison, a mask or a division of integers takes an operand of which a level is neither ordered nor unique: the entries of a coordinate stand apart, and it would be applied to each, not to their sum. Convert the operand, which adds them up: convert<CSR<>>\(operand\)
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

using Rows = Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<std::int64_t, std::int32_t, false, false>>;

void refused() {
  Tensor<double, Rows> V({9, 9});
  Tensor<double, DenseVector> x({9}), y({9});
  y(i) = sum(j, select(V(i, j) > 0.5, x(j), 0));
}
