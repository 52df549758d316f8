// SPDX-License-Identifier: Apache-2.0
/// @file assemble_orders.cpp
/// Tensors of every order from 0 to 8.
#include <sporos/formats/assemble.hpp>
#include <sporos/formats/at.hpp>
#include <sporos/formats/named.hpp>

#include "round_trip.hpp"

namespace sporos::test {
namespace {

TEST(AssembleOrders, AScalarIsTheSumOfItsEntries) {
  const Entries<double, 0> entries({}, {{{}, 2.0}, {{}, 3.0}, {{}, -1.0}});
  EXPECT_EQ(at(assemble<Scalar>(entries), {}), 4.0);
  EXPECT_EQ(at(assemble<Scalar>(entries, Duplicates::last), {}), -1.0);
  EXPECT_EQ(at(assemble<Scalar>(entries, Duplicates::max), {}), 3.0);
  EXPECT_EQ(at(assemble<Scalar>(Entries<double, 0>({}, {})), {}), 0.0);
}

TEST(AssembleOrders, Vectors) {
  for (const std::int64_t extent : {0, 1, 10, 100000}) {
    const auto entries = random_entries<double, 1>({extent}, std::min<std::int64_t>(2 * extent, 40000), 3);
    expect_round_trip<SparseVector<>, DenseVector>(entries);
    expect_round_trip<COO<1, ModeOrder<0>, std::int64_t, std::int32_t, false>, SparseVector<>>(entries);
  }
}

TEST(AssembleOrders, FourModes) {
  const auto entries = random_entries<double, 4>({7, 1, 9, 5}, 200, 4);
  expect_round_trip<CSF<4, ModeOrder<3, 1, 2, 0>>, COO<4>>(entries);
  expect_round_trip<DenseTensor<4, ModeOrder<2, 0, 3, 1>>, CSF<4>>(entries);
}

TEST(AssembleOrders, FiveToSevenModes) {
  expect_round_trip<CSF<5>, COO<5, ModeOrder<4, 3, 2, 1, 0>>>(
      random_entries<double, 5>({3, 4, 5, 6, 7}, 300, 5));
  expect_round_trip<CSF<6>, COO<6>>(random_entries<double, 6>({3, 4, 5, 6, 7, 2}, 300, 6));
  expect_round_trip<COO<7>, DenseTensor<7>>(random_entries<double, 7>({3, 4, 5, 2, 3, 2, 3}, 300, 7));
}

TEST(AssembleOrders, EightModes) {
  const auto entries = random_entries<double, 8>({3, 4, 2, 2, 3, 1, 4, 3}, 400, 8);
  expect_round_trip<CSF<8, ModeOrder<7, 6, 5, 4, 3, 2, 1, 0>>, COO<8>>(entries);
}

}  // namespace
}  // namespace sporos::test
