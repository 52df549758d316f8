// SPDX-License-Identifier: Apache-2.0
/// @file aliasing.cpp
/// Results that are operands of their own statement, and statements that add to their result.
#include <cstdint>

#include "../statements.hpp"

namespace sporos::test {
namespace {

const Sizes square("ijk", 9);

template <class F>
class OneMatrix : public testing::Test {};
using MatrixFormats = testing::Types<RowMajorMatrix, CSR<>, COO<2>, Blocks>;
TYPED_TEST_SUITE(OneMatrix, MatrixFormats);

TYPED_TEST(OneMatrix, IsReplacedByItsProductWithAnother) {
  const auto A = random_tensor<TypeParam>(square, "ik", 0.3, false, 1);
  const auto B = random_tensor<RowMajorMatrix>(square, "kj", 0.3, false, 2);
  const auto before = read(A).terms;
  const auto other = read(B).terms;
  Oracle<double> expected({9, 9});
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j)
      expected.terms[expected.offset({i, j})] = sum(9, [&](auto k) { return before(i, k) * other(k, j); });
  A(i, j) = A(i, k) * B(k, j);
  EXPECT_EQ(difference(A, expected), "");
}

TYPED_TEST(OneMatrix, IsReplacedByTwiceItselfThroughAnotherHandle) {
  const auto A = random_tensor<TypeParam>(square, "ij", 0.3, false, 3);
  const auto seen = A;
  auto expected = read(A).terms;
  for (auto& term : expected.terms) term = term + term;
  A(i, j) = seen(i, j) + A(i, j);
  EXPECT_EQ(difference(seen, expected), "");
  EXPECT_TRUE(seen.shares_with(A));
}

TYPED_TEST(OneMatrix, IsAddedToAndSubtractedFrom) {
  const auto A = random_tensor<TypeParam>(square, "ij", 0.3, false, 4);
  const auto B = random_tensor<TypeParam>(square, "ij", 0.2, false, 5);
  auto expected = read(A).terms;
  const auto added = read(B).terms;
  for (std::size_t at = 0; at < expected.terms.size(); ++at)
    expected.terms[at] = expected.terms[at] + 2 * added.terms[at];
  A(i, j) += 2 * B(i, j);
  EXPECT_EQ(difference(A, expected), "");
  for (std::size_t at = 0; at < expected.terms.size(); ++at)
    expected.terms[at] = expected.terms[at] - added.terms[at];
  A(i, j) -= B(i, j);
  EXPECT_EQ(difference(A, expected), "");
}

TYPED_TEST(OneMatrix, TimesAVectorIsAddedToTheVector) {
  const auto A = random_tensor<TypeParam>(square, "ij", 0.3, false, 6);
  const auto x = random_tensor<DenseVector>(square, "j", 0.8, false, 7);
  const auto terms = read(A).terms;
  const auto factor = read(x).terms;
  Oracle<double> expected({9});
  for (int i = 0; i < 9; ++i)
    expected.terms[expected.offset({i})] =
        factor(i) + sum(9, [&](auto j) { return terms(i, j) * factor(j); });
  x(i) += A(i, j) * x(j);
  EXPECT_EQ(difference(x, expected), "");
}

template <class F>
class OneDenseMatrix : public testing::Test {};
using DenseFormats = testing::Types<RowMajorMatrix, ColumnMajorMatrix>;
TYPED_TEST_SUITE(OneDenseMatrix, DenseFormats);

TYPED_TEST(OneDenseMatrix, IsReplacedByItsTranspose) {
  const auto A = random_tensor<TypeParam>(square, "ij", 0.5, false, 8);
  const auto before = read(A).terms;
  Oracle<double> expected({9, 9});
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) expected.terms[expected.offset({i, j})] = before(j, i);
  A(i, j) = A(j, i);
  EXPECT_EQ(difference(A, expected), "");
}

TYPED_TEST(OneDenseMatrix, IsAddedToByAReductionOverTheOutermostLoop) {
  const auto A = random_tensor<TypeParam>(square, "ij", 0.5, false, 9);
  const auto B = random_tensor<CSC<>>(square, "ik", 0.3, false, 10);
  const auto C = random_tensor<CSR<>>(square, "kj", 0.3, false, 11);
  auto expected = read(A).terms;
  const auto left = read(B).terms;
  const auto right = read(C).terms;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) {
      auto& term = expected.terms[expected.offset({i, j})];
      term = term + sum(9, [&](auto k) { return left(i, k) * right(k, j); });
    }
  assign(A(i, j), B(i, k) * C(k, j)).accumulate().reorder(k, i, j).run();
  EXPECT_EQ(difference(A, expected), "");
}

TEST(OneVector, IsReplacedByItsSumWithAnother) {
  const auto x = random_tensor<SparseVector<>>(square, "i", 0.5, false, 12);
  const auto y = random_tensor<SparseVector<>>(square, "i", 0.5, true, 13);
  const auto a = read(x).terms;
  const auto b = read(y).terms;
  Oracle<double> expected({9});
  for (std::size_t at = 0; at < 9; ++at) expected.terms[at] = a.terms[at] + b.terms[at];
  x(i) = x(i) + y(i);
  EXPECT_EQ(difference(x, expected), "");
}

TEST(OneTensorOfOrderZero, IsAddedToByADotProduct) {
  const Tensor<double, Scalar> s;
  s.values()(0) = 10;
  const auto x = random_tensor<SparseVector<>>(square, "i", 0.5, false, 14);
  const auto terms = read(x).terms;
  s() += x(i) * x(i);
  EXPECT_EQ(s.values()(0), 10 + sum(9, [&](auto i) { return terms(i) * terms(i); }).value);
  s() = s() * s();
  s() -= 1;
  const double once = 10 + sum(9, [&](auto i) { return terms(i) * terms(i); }).value;
  EXPECT_EQ(s.values()(0), once * once - 1);
}

/// Runs a plan twice, the second time after `share` has given an operand the array of the result's values.
template <class Result, class Statement, class Share>
void expect_own_values(const Result& A, const Result& expected, const Statement& statement,
                       const Share& share) {
  auto planned = plan(statement(A));
  planned.run();
  share();
  statement(expected).run();
  planned.run();
  EXPECT_EQ(difference(A, read(expected).terms), "");
}

TEST(ThePlanOfASparseResult, KeepsItsHandsOffAnOperandThatHasTheArrayOfItsValues) {
  // Full, so that the result has as many values as they have.
  const auto make = [](std::int64_t first) {
    Entries<double, 2> entries({9, 9}, 81);
    for (std::int64_t e = 0; e < 81; ++e)
      entries.set(e, {e / 9, e % 9}, static_cast<double>((first + 5 * e) % 7));
    return assemble<CSR<>>(entries);
  };
  const auto share = [](const auto& operand, const auto& A) {
    return [=] {
      ASSERT_EQ(operand.nnz(), A.nnz());
      operand.replace(operand.extents(), operand.levels(), A.values());
    };
  };
  const Tensor<double, CSR<>> A({9, 9}), expected({9, 9});
  const auto B = make(1), X = make(4);
  const auto product = [&](const auto& to) { return assign(to(i, j), B(i, k) * X(k, j)); };
  const auto gathered = [&](const auto& to) { return assign(to(i, j), B(i, k) * X(k, j)).generic(); };
  const auto sum = [&](const auto& to) { return assign(to(i, j), B(i, j) + X(i, j)); };
  for (const auto& operand : {X, B}) {
    expect_own_values(A, expected, product, share(operand, A));
    expect_own_values(A, expected, gathered, share(operand, A));
    expect_own_values(A, expected, sum, share(operand, A));
  }
}

TEST(ThePlanOfASparseResult, KeepsItsHandsOffADenseOperandThatHasTheArrayOfItsValues) {
  const auto B =
      assemble<CSR<>>(Entries<double, 2>({2, 2}, {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 3}, {{1, 1}, 4}}));
  const auto U = random_tensor<RowMajorMatrix>(Sizes("ik", 2), "ik", 1.0, false, 3);
  const auto V = random_tensor<RowMajorMatrix>(Sizes("jk", 2), "jk", 1.0, false, 4);
  const Tensor<double, CSR<>> A({2, 2}), expected({2, 2});
  expect_own_values(
      A, expected, [&](const auto& to) { return assign(to(i, j), B(i, j) * U(i, k) * V(j, k)); },
      [&] { V.replace(V.extents(), V.levels(), A.values()); });
}

/// Runs statements whose dense result begins `shift` values behind a dense operand, in the same memory.
void check_overlapping(std::int64_t shift) {
  SCOPED_TRACE(shift);
  constexpr std::int64_t n = 9;
  const auto memory = make_array<double>("memory", 3 * n * n);
  const auto fresh = [&] {
    for (std::size_t at = 0; at < memory.extent(0); ++at) memory(at) = static_cast<double>((7 * at) % 11) - 5;
  };
  fresh();
  const auto x = wrap<DenseVector>({n}, memory.data() + n);
  const auto y = wrap<DenseVector>({n}, memory.data() + n + shift);
  const auto X = wrap<RowMajorMatrix>({n, n}, memory.data() + n);
  const auto Y = wrap<RowMajorMatrix>({n, n}, memory.data() + n + shift);
  const auto A = random_tensor<CSR<>>(square, "ij", 0.4, false, 20);
  const auto B = random_tensor<CSC<>>(square, "ij", 0.4, false, 21);
  const auto check = [&](const auto& result, const auto& operand, const auto& statement) {
    fresh();
    const auto apart = result.clone();
    statement(apart, operand.clone()).run();
    statement(result, operand).run();
    EXPECT_EQ(difference(result, read(apart).terms), "") << statement(result, operand).str();
  };
  check(y, x, [&](const auto& to, const auto& from) { return assign(to(i), A(i, j) * from(j)); });
  check(y, x, [&](const auto& to, const auto& from) { return assign(to(i), A(i, j) * from(j)).generic(); });
  check(y, x, [&](const auto& to, const auto& from) { return assign(to(i), B(i, j) * from(j)); });
  check(y, x, [&](const auto& to, const auto& from) { return assign(to(i), 2 * from(i)); });
  check(y, x,
        [&](const auto& to, const auto& from) { return assign(to(i), A(i, j) * from(j)).accumulate(); });
  check(Y, X, [&](const auto& to, const auto& from) { return assign(to(i, j), A(i, k) * from(k, j)); });
  check(Y, X, [&](const auto& to, const auto& from) { return assign(to(i, j), from(j, i)); });
  check(Y, X, [&](const auto& to, const auto& from) { return assign(to(i, j), from(i, j) + A(i, j)); });
  check(Y, x, [&](const auto& to, const auto& from) { return assign(to(i, j), from(i) * from(j)); });
  check(y, X, [&](const auto& to, const auto& from) { return assign(to(i), from(i, j) * from(j, i)); });
  // Epilogues of products, which are applied after the sums are complete.
  const auto D = random_tensor<RowMajorMatrix>(square, "ij", 0.5, false, 22);
  check(Y, X, [&](const auto& to, const auto& from) {
    return assign(to(i, j), relu(A(i, k) * D(k, j) + from(i, j)));
  });
  check(Y, X, [&](const auto& to, const auto& from) {
    return assign(to(i, j), relu(A(i, k) * D(k, j) + from(j, i)));
  });
  check(Y, X, [&](const auto& to, const auto& from) {
    return assign(to(i, j), relu(A(i, k) * D(k, j) - from(j, i))).accumulate();
  });
  check(Y, x, [&](const auto& to, const auto& from) {
    return assign(to(i, j), relu(A(i, k) * D(k, j) + from(j)));
  });
  check(Y, X, [&](const auto& to, const auto& from) {
    return assign(to(i, j), relu(A(i, k) * from(k, j)) + D(j, i));
  });
}

TEST(ADenseResult, MayOverlapAnOperandPartly) {
  for (const std::int64_t shift : {-8, -1, 0, 1, 5, 8}) check_overlapping(shift);
}

TYPED_TEST(OneDenseMatrix, IsAddedTransposedToAProductInsideAFunction) {
  const auto C = random_tensor<TypeParam>(square, "ij", 0.7, false, 23);
  const auto A = random_tensor<CSR<>>(square, "ik", 0.3, false, 24);
  const auto B = random_tensor<RowMajorMatrix>(square, "kj", 0.5, false, 25);
  const auto expected = C.clone(), product = C.clone();
  product(i, j) = A(i, k) * B(k, j);
  const auto statement = assign(C(i, j), relu(A(i, k) * B(k, j) - C(j, i)));
  auto planned = plan(statement);
  for (int times = 0; times < 2; ++times) {
    const auto before = C.clone();
    expected(i, j) = relu(product(i, j) - before(j, i));
    planned.run();
    EXPECT_EQ(difference(C, read(expected).terms), "");
  }
  // What reads each element just where it is written needs no room beside the sums.
  const std::int64_t values = C.nnz() * static_cast<std::int64_t>(sizeof(C.values()(0)));
  EXPECT_EQ(estimate(statement).workspace,
            estimate(assign(C(i, j), relu(A(i, k) * B(k, j) - C(i, j)))).workspace + values);
}

TEST(ADenseResult, MayOverlapTheValuesOrTheLevelsOfASparseOperand) {
  const auto A = assemble<CSR<std::int32_t, std::int32_t>>(
      Entries<std::int32_t, 2>({3, 3}, {{{0, 1}, 4}, {{1, 0}, 5}, {{1, 2}, 6}, {{2, 1}, 7}}));
  const Tensor<std::int32_t, DenseVector> x({3});
  for (std::size_t at = 0; at < 3; ++at) x.values()(at) = static_cast<std::int32_t>(at) + 1;
  const auto check = [&](std::int32_t* memory) {
    const auto kept = std::vector<std::int32_t>(memory, memory + 3);
    const auto y = wrap<DenseVector>({3}, memory);
    y(i) = A(i, j) * x(j);
    EXPECT_EQ(at(y, {0}), 8);
    EXPECT_EQ(at(y, {1}), 23);
    EXPECT_EQ(at(y, {2}), 14);
    std::copy(kept.begin(), kept.end(), memory);
  };
  check(A.values().data() + 1);
  check(A.level<1>().coordinates.data());
  check(A.level<1>().positions.data() + 1);
}

}  // namespace
}  // namespace sporos::test
