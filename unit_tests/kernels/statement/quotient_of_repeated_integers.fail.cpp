// SPDX-License-Identifier: Apache-2.0
/// @file quotient_of_repeated_integers.fail.cpp
/// Integers that are divided entry by entry.
// expect: a function, a comparison, a mask or a division of integers takes an operand of which a level is neither ordered nor unique: the entries of a coordinate stand apart, and it would be applied to each, not to their sum. Convert the operand, which adds them up: convert<CSR<>>\(operand\)
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

using Rows = Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<std::int64_t, std::int32_t, false, false>>;

void refused() {
  Tensor<int, Rows> V({9, 9});
  Tensor<int, DenseMatrix<>> A({9, 9});
  A(i, j) = V(i, j) / 2;
}
