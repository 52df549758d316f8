// SPDX-License-Identifier: Apache-2.0
/// @file integer_division.cpp
/// Quotients of integers that C++ leaves undefined, and on which processors stop a program.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>

namespace sporos::test {
namespace integer_division {

using namespace sporos::indices;

template <class Value>
class Quotients : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::int32_t, std::int64_t, std::uint8_t, std::uint64_t>;
TYPED_TEST_SUITE(Quotients, Integers);

TYPED_TEST(Quotients, AreTheNearestNumberThatThereIs) {
  using T = TypeParam;
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  constexpr bool is_signed = std::numeric_limits<T>::is_signed;
  const Tensor<T, DenseVector> a({6}), b({6}), q({6});
  const T dividends[] = {7, 0, least, most, least, 7}, divisors[] = {0, 0, 0, 0, static_cast<T>(-1), 2};
  for (std::size_t at = 0; at < 6; ++at) {
    a.values()(at) = dividends[at];
    b.values()(at) = divisors[at];
  }
  q(i) = a(i) / b(i);
  EXPECT_EQ(q.values()(0), most);
  EXPECT_EQ(q.values()(1), 0);
  EXPECT_EQ(q.values()(2), is_signed ? least : T{0});
  EXPECT_EQ(q.values()(3), most);
  EXPECT_EQ(q.values()(4), is_signed ? most : T{0});
  EXPECT_EQ(q.values()(5), 3);
  q(i) = a(i) / 0;
  EXPECT_EQ(q.values()(5), most);

  const auto S = assemble<CSR<>>(Entries<T, 2>({2, 6}, {{{0, 0}, T{7}}, {{1, 5}, T{7}}}));
  const Tensor<T, CSR<>> R({2, 6});
  R(i, j) = S(i, j) / b(j);
  ASSERT_EQ(R.nnz(), 2);
  EXPECT_EQ(R.values()(0), most);
  EXPECT_EQ(R.values()(1), 3);
}

}  // namespace integer_division
}  // namespace sporos::test
