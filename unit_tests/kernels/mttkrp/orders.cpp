// SPDX-License-Identifier: Apache-2.0
/// @file orders.cpp
/// The product over compressed fibers of tensors of order four and five.
#include "fiber_products.hpp"

namespace sporos::test {
namespace {

TEST(MttkrpOverFibers, IsTheSumOverEntriesOfFourModes) {
  compare_all<CSF<4>, OpenMP>(some_entries<double, 4>({5, 7, 3, 9}, 400, 4), 19);
  compare<2, CSF<4>, OpenMP, true>(some_entries<float, 4>({1, 7, 1, 9}, 40, 5), 19);
}
TEST(MttkrpOverFibers, IsTheSumOverEntriesOfFiveModes) {
  compare<0, CSF<5>, OpenMP>(some_entries<double, 5>({5, 7, 3, 4, 6}, 500, 6), 18);
}

}  // namespace
}  // namespace sporos::test
