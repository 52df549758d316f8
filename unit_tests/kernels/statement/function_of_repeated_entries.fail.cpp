// SPDX-License-Identifier: Apache-2.0
/// @file function_of_repeated_entries.fail.cpp
/// The square of each entry of a list that may store a coordinate several times, anywhere.
// expect: a function, a comparison, a mask or a division of integers takes an operand of which a level is neither ordered nor unique: the entries of a coordinate stand apart, and it would be applied to each, not to their sum. Convert the operand, which adds them up: convert<CSR<>>\(operand\)
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

using Coo = Format<Map<Dim<0>, Dim<1>>, Compressed<std::int64_t, std::int32_t, false, false>,
                   Singleton<std::int32_t, false, false>>;

void refused() {
  Tensor<double, Coo> V({9, 9});
  Tensor<double, CSR<>> A({9, 9});
  A(i, j) = map([](double x) { return x * x; }, V(i, j));
}
