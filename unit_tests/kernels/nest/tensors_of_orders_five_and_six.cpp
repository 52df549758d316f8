// SPDX-License-Identifier: Apache-2.0
/// @file tensors_of_orders_five_and_six.cpp
/// Sums, elementwise products and contractions of tensors of five and six modes, against maps of coordinates;
/// and the scalars, of no mode, that they leave.
#include <map>

#include "../typed.hpp"
#include "reference.hpp"

namespace sporos::test::orders_five_and_six {
namespace {

constexpr Extents<6> six{4, 3, 5, 2, 3, 4};
constexpr Extents<5> five{4, 3, 5, 2, 3};

template <int Order>
using Values = std::map<Extents<Order>, double>;

template <int Order>
Values<Order> map_of(const Table<double, Order>& table) {
  return {table.begin(), table.end()};
}
/// A result as a map, zeros left out.
template <class TensorType>
auto stored(const TensorType& tensor) {
  Values<TensorType::order> out;
  for (const auto& [at, value] : table(tensor))
    if (value != 0) out[at] = value;
  return out;
}

class OrdersFiveAndSix : public testing::Test {
 protected:
  Entries<double, 6> b_ = random_unique_entries<double, 6>(six, 300, 1);
  Entries<double, 6> c_ = random_unique_entries<double, 6>(six, 200, 2);
  Entries<double, 5> d_ = random_unique_entries<double, 5>(five, 120, 3);
  Values<6> b() const { return map_of<6>(table(b_)); }
  Values<6> c() const { return map_of<6>(table(c_)); }
  Values<5> d() const { return map_of<5>(table(d_)); }
};
TEST_F(OrdersFiveAndSix, SumsAreUnionsOfTheirCoordinates) {
  const auto expect = [&](const auto& A, const auto& B, const auto& C) {
    A(i, j, k, l, m, n) = B(i, j, k, l, m, n) - 2.0 * C(i, j, k, l, m, n);
    auto expected = b();
    for (const auto& [at, value] : c())
      if ((expected[at] -= 2 * value) == 0) expected.erase(at);
    EXPECT_EQ(stored(A), expected);
  };
  using Trees = Tensor<double, CSF<6>>;
  using Lists = Tensor<double, COO<6>>;
  const auto B = assemble<CSF<6>>(b_);
  expect(Trees(six), B, assemble<COO<6>>(c_));
  expect(Lists(six), B, assemble<CSF<6>>(c_));
}

TEST_F(OrdersFiveAndSix, ProductsAreIntersectionsOfTheirCoordinates) {
  const auto B = assemble<CSF<6>>(b_);
  const auto C = assemble<COO<6>>(c_);
  const Tensor<double, CSF<6>> A(six);
  A(i, j, k, l, m, n) = B(i, j, k, l, m, n) * C(i, j, k, l, m, n);
  Values<6> expected;
  const auto others = c();
  for (const auto& [at, value] : b())
    if (others.count(at)) expected[at] = value * others.at(at);
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(stored(A), expected);
}

TEST_F(OrdersFiveAndSix, LastModeTimesVectorLeavesFive) {
  const auto x = assemble<DenseVector>([] {
    Entries<double, 1> entries({six[5]}, six[5]);
    for (std::int64_t at = 0; at < six[5]; ++at) entries.set(at, {at}, static_cast<double>(at + 1));
    return entries;
  }());
  Values<5> expected;
  for (const auto& [at, value] : b())
    expected[{at[0], at[1], at[2], at[3], at[4]}] += value * static_cast<double>(at[5] + 1);
  const auto expect = [&](const auto& A, const auto& B) {
    A(i, j, k, l, m) = B(i, j, k, l, m, n) * x(n);
    EXPECT_EQ(stored(A), expected);
  };
  using Trees = Tensor<double, CSF<5>>;
  using Blocks = Tensor<double, DenseTensor<5>>;
  expect(Trees(five), assemble<CSF<6>>(b_));
  expect(Blocks(five), assemble<CSF<6>>(b_));
  expect(Blocks(five), assemble<COO<6>>(b_));
}

TEST_F(OrdersFiveAndSix, ContractionsOverFourModesScatterIntoMatrices) {
  Values<2> expected;
  const auto others = d();
  for (const auto& [at, value] : b())
    for (const auto& [other, factor] : others)
      if (std::equal(at.begin() + 1, at.begin() + 5, other.begin() + 1))
        expected[{at[5], other[0]}] += value * factor;
  const auto B = assemble<CSF<6, ModeOrder<1, 2, 3, 4, 5, 0>>>(b_);
  const auto D = assemble<CSF<5, ModeOrder<1, 2, 3, 4, 0>>>(d_);
  const Tensor<double, CSR<>> A({six[5], five[0]});
  A(n, p) = B(i, j, k, l, m, n) * D(p, j, k, l, m);
  EXPECT_EQ(stored(A), expected);
  const Tensor<double, DenseMatrix<>> E({six[5], five[0]});
  E(n, p) = B(i, j, k, l, m, n) * D(p, j, k, l, m);
  EXPECT_EQ(stored(E), expected);
}

TEST_F(OrdersFiveAndSix, AllModesLeaveAScalarThatOthersAreScaledBy) {
  double expected = 0;
  for (const auto& [at, value] : b()) expected += value;
  const Tensor<double, Scalar> s;
  const auto B = assemble<CSF<6>>(b_);
  s() = B(i, j, k, l, m, n);
  EXPECT_EQ(s.values()(0), expected);

  const Tensor<double, CSF<5>> A(five);
  const auto D = assemble<CSF<5>>(d_);
  A(i, j, k, l, m) = s() * D(i, j, k, l, m);
  auto scaled = d();
  for (auto& [at, value] : scaled) value *= expected;
  EXPECT_EQ(stored(A), scaled);
}

}  // namespace
}  // namespace sporos::test::orders_five_and_six
