// SPDX-License-Identifier: Apache-2.0
/// @file unordered_operand_of_a_sum.fail.cpp
/// Rows in no order, added to a matrix.
// expect: operands of a sum meet at an index variable, but a level there is not ordered: convert it to an ordered format
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<std::int64_t, std::int32_t, false>>> B({9, 9});
  A(i, j) += B(i, j);
}
