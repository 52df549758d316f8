// SPDX-License-Identifier: Apache-2.0
/// @file root_of_repeated_rows.fail.cpp
/// The root of the sum of a row whose entries stand apart.
// expect: a function, a comparison, a mask or a division of integers takes an operand of which a level is neither ordered nor unique: the entries of a coordinate stand apart, and it would be applied to each, not to their sum. Convert the operand, which adds them up: convert<CSR<>>\(operand\)
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

using Coo = Format<Map<Dim<0>, Dim<1>>, Compressed<std::int64_t, std::int32_t, false, false>,
                   Singleton<std::int32_t, false, false>>;

void refused() {
  Tensor<double, Coo> V({9, 9});
  Tensor<double, SparseVector<>> y({9});
  y(i) = sqrt(sum(j, V(i, j)));
}
