// SPDX-License-Identifier: Apache-2.0
/// @file throwing_functions.cpp
/// Functions of the user that throw: the exception arrives as itself, from any thread, and a sparse result is
/// as it was.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "spread.hpp"

namespace sporos::test::throwing_functions {
namespace {

using namespace sporos::indices;

struct Thrown {
  double value;
};
/// Throws for one value among many, which several threads meet.
struct ThrowsAtFive {
  double operator()(double value) const {
    if (value == 5) throw Thrown{value};
    return value;
  }
};

template <class Space_>
class FunctionsThatThrow : public testing::Test {
 public:
  using Space = Space_;
  static constexpr std::int64_t n = 20000;
  Tensor<double, CSR<>, Space> A = [] {
    Entries<double, 2> list({n, n}, 2 * n);
    for (std::int64_t e = 0; e < n; ++e) {
      list.set(2 * e, {e, e * 7 % n}, static_cast<double>(1 + e % 13));
      list.set(2 * e + 1, {e, (e * 11 + 1) % n}, 20.0);
    }
    return assemble<CSR<>, Space>(list);
  }();
  Tensor<double, CSC<>, Space> by_columns = convert<CSC<>>(A);
};
using Spaces = testing::Types<Serial, OpenMP>;
TYPED_TEST_SUITE(FunctionsThatThrow, Spaces);

template <class Statement>
void expect_thrown(const Statement& statement) {
  try {
    statement();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Thrown& thrown) {
    EXPECT_EQ(thrown.value, 5);
  }
}

TYPED_TEST(FunctionsThatThrow, LeaveSparseResultsAsTheyWere) {
  using Space = typename TestFixture::Space;
  const auto& A = this->A;
  const auto& C = this->by_columns;
  const auto S = A.clone();
  const ThrowsAtFive f;
  expect_thrown([&] { S(i, j) = map(f, A(i, j)); });
  expect_thrown([&] { S(i, j) = map(f, A(i, k)) * A(k, j); });
  expect_thrown([&] { S(i, j) = map(f, C(i, k)) * A(k, j); });
  expect_thrown([&] { assign(S(i, j), map(f, C(i, k)) * A(k, j)).workspace(hash_workspace).run(); });
  expect_thrown([&] { assign(S(i, j), map(f, C(i, k)) * A(k, j)).workspace(coordinate_workspace).run(); });
  expect_thrown([&] { S(i, j) += map(f, C(j, i)); });
  expect_same_entries(S, A);
  const Tensor<double, COO<2>, Space> E({this->n, this->n});
  expect_thrown([&] { E(i, j) = map(f, C(i, j)); });
  EXPECT_EQ(E.nnz(), 0);
}

TYPED_TEST(FunctionsThatThrow, LeaveResultsThatAreGatheredInBlocksAsTheyWere) {
  using Space = typename TestFixture::Space;
  constexpr std::int64_t slices = 200, rows = 30, columns = 15, inner = 20, each = 40;
  Entries<double, 3> list({slices, inner, rows}, slices * each);
  for (std::int64_t e = 0; e < slices * each; ++e)
    list.set(e, {e / each, e % inner, (e * 7 + e / each) % rows}, static_cast<double>(1 + e % 13));
  const auto B = assemble<CSF<3>, Space>(list);
  const auto C = spread<CSR<>>(inner, columns, 4, 3).template move_to<Space>();
  const Tensor<double, CSF<3>, Space> X({slices, rows, columns});
  X(i, j, l) = B(i, k, j) * C(k, l);
  const auto before = X.clone();
  const ThrowsAtFive f;
  const auto statement = assign(X(i, j, l), map(f, B(i, k, j)) * C(k, l)).reorder(i, k, j, l);
  const auto hoisted = statement.template use<HoistedNest>();
  expect_thrown([&] { hoisted.run(); });
  expect_thrown([&] { hoisted.workspace(dense_workspace).run(); });
  expect_thrown([&] { hoisted.workspace(coordinate_workspace).run(); });
  expect_thrown([&] { hoisted.workspace(hash_workspace).run(); });
  expect_thrown([&] { statement.template use<DenseNest>().run(); });
  auto planned = plan(hoisted.workspace(dense_workspace));
  for (int run = 0; run < 2; ++run) expect_thrown([&] { planned.run(); });
  expect_same_entries(X, before);
}

TYPED_TEST(FunctionsThatThrow, LeaveNothingBehindThatTheNextRunOfAPlanAddsTo) {
  const auto& A = this->A;
  const auto S = A.clone();
  bool throws = false;
  const auto f = [&throws](double value) {
    if (throws && value == 5) throw Thrown{value};
    return value;
  };
  auto product = plan(assign(S(i, j), map(f, A(i, k)) * A(k, j)).generic());
  product.run();
  product.run();
  const auto expected = S.clone();
  throws = true;
  expect_thrown([&] { product.run(); });
  throws = false;
  product.run();
  expect_same_entries(S, expected);
}

TYPED_TEST(FunctionsThatThrow, ArriveFromDenseResultsAndNumbers) {
  using Space = typename TestFixture::Space;
  const auto& A = this->A;
  const Tensor<double, DenseVector, Space> x({this->n}), y({this->n});
  const ThrowsAtFive f;
  expect_thrown([&] { y(i) = map(f, A(i, j)); });
  expect_thrown([&] { y(j) = map(f, A(i, j)); });
  expect_thrown([&] { y(i) += map(f, A(i, j)); });
  expect_thrown([&] { [[maybe_unused]] const double number = sum(map(f, A(i, j))); });
  // As the epilogue of a product.
  x(i) = 1.0;
  y(i) = 0.0;
  y(i) = A(i, j) * x(j);
  const auto throws_at_25 = [](double value) {
    if (value == 25) throw Thrown{5};
    return value;
  };
  expect_thrown([&] { y(i) = map(throws_at_25, sum(j, A(i, j) * x(j))); });
  // The next statement computes all values.
  y(i) = 2.0 * A(i, j);
  EXPECT_EQ(at(y, {0}), 42);
}

TYPED_TEST(FunctionsThatThrow, MayCapture) {
  const auto& A = this->A;
  const auto S = A.clone();
  double factor = 1;
  auto scaled = plan(assign(S(i, j), map([&factor](double value) { return factor * value; }, A(i, j))));
  for (factor = 2; factor < 5; ++factor) {
    scaled.run();
    EXPECT_EQ(S.values()(0), factor * A.values()(0));
  }
}

}  // namespace
}  // namespace sporos::test::throwing_functions
