// SPDX-License-Identifier: Apache-2.0
/// @file value_types.cpp
/// Tensors of every type of value: assembled, converted, taken out again.
#include <complex>
#include <cstdint>
#include <sporos/formats/convert.hpp>
#include <sporos/formats/named.hpp>

#include "reference.hpp"

namespace sporos::test {
namespace {

template <class Value>
class ValueTypes : public testing::Test {};
using Values =
    testing::Types<float, double, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, bool,
                   Kokkos::complex<float>, Kokkos::complex<double>, std::complex<double>, half, bfloat16>;
TYPED_TEST_SUITE(ValueTypes, Values);

TYPED_TEST(ValueTypes, AreSummedAndConverted) {
  const auto entries = random_entries<TypeParam, 2>({20, 30}, 500, 1);
  const auto expected = table(entries);
  const auto rows = assemble<CSR<>>(entries);
  EXPECT_TRUE(same(table(rows), expected));
  const auto columns = convert<CSC<>>(rows);
  EXPECT_TRUE(same(table(columns), expected));
  EXPECT_TRUE(same(table(sporos::entries(columns)), expected));
  EXPECT_TRUE(same(table(convert<DenseMatrix<>>(columns)), expected));
}

TYPED_TEST(ValueTypes, AreReplacedByTheLast) {
  const auto entries = random_entries<TypeParam, 2>({6, 5}, 200, 2);
  EXPECT_TRUE(same(table(assemble<COO<2>>(entries, Duplicates::last)), table(entries, Duplicates::last)));
}

TEST(NarrowFloats, AreSummedInFloatAndRoundedOnce) {
  // 2048 + 1 + 1 + 1 + 1: each step alone would round back to 2048 in half.
  Entries<half, 1> entries({1}, 5);
  entries.set(0, {0}, half(2048));
  for (std::int64_t e = 1; e < 5; ++e) entries.set(e, {0}, half(1));
  EXPECT_EQ(static_cast<float>(assemble<SparseVector<>>(entries).values()(0)), 2052.0f);
}

TEST(SumsOfFloats, FollowTheOrderOfTheEntries) {
  const Entries<float, 1> small_first({1}, {{{0}, 1.0f}, {{0}, 1.0f}, {{0}, 16777216.0f}});
  const Entries<float, 1> large_first({1}, {{{0}, 16777216.0f}, {{0}, 1.0f}, {{0}, 1.0f}});
  EXPECT_EQ(assemble<SparseVector<>>(small_first).values()(0), 16777218.0f);
  EXPECT_EQ(assemble<SparseVector<>>(large_first).values()(0), 16777216.0f);
}

#ifdef KOKKOS_ENABLE_SERIAL
template <ExecutionSpace Space>
Tensor<float, CSR<>, Space> sum_of_noise() {
  std::mt19937_64 random(9);
  std::normal_distribution<float> noise;
  Entries<float, 2> entries({300, 40}, 150000);
  for (std::int64_t e = 0; e < entries.size(); ++e)
    entries.set(e, {static_cast<std::int64_t>(random() % 300), static_cast<std::int64_t>(random() % 40)},
                noise(random));
  return assemble<CSR<>, Space>(entries);
}

TEST(SumsOfFloats, AreBitwiseEqualOnOneThreadAndOnSeveral) {
  const auto serial = sum_of_noise<Serial>();
  const auto parallel = sum_of_noise<Host>();
  EXPECT_TRUE(same(table(serial), table(parallel)));
}

TEST(Spaces, AssembleAndConvertWhereTheTensorLives) {
  const auto entries = random_entries<double, 2>({300, 200}, 50000, 1);
  const auto expected = table(entries);
  const auto serial = assemble<DCSR<>, Serial>(entries);
  static_assert(std::is_same_v<decltype(serial)::space_type, Serial>);
  EXPECT_TRUE(same(table(serial), expected));
  const auto columns = convert<CSC<>>(serial);
  static_assert(std::is_same_v<decltype(columns)::space_type, Serial>);
  EXPECT_TRUE(same(table(columns), expected));
  EXPECT_TRUE(same(table(sporos::entries(columns)), expected));
#ifdef KOKKOS_ENABLE_OPENMP
  const auto parallel = assemble<DCSR<>, OpenMP>(entries);
  EXPECT_TRUE(same(table(convert<CSC<>>(parallel)), expected));
#endif
}
#endif

}  // namespace
}  // namespace sporos::test
