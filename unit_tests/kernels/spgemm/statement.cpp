// SPDX-License-Identifier: Apache-2.0
/// @file statement.cpp
/// Which statements the product by rows takes from the loop nest, and that both compute the same.
#include <random>
#include <span>

#include "../kernel_of.hpp"
#include "sparse_products.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;
using Matrix = Tensor<double, CSR<>>;

template <class T>
std::span<double> values_of(const T& matrix) {
  return {matrix.values().data(), static_cast<std::size_t>(matrix.nnz())};
}

template <class S>
bool by_rows(const S& statement) {
  return kernel_of(statement) == SpgemmByRows::name;
}

class Statements : public testing::Test {
 protected:
  const Matrix B = matrix<double>(scattered(40, 50, 6, 1), small_value<double>, 1);
  const Matrix C = matrix<double>(diagonals(50, 60, {-3, 0, 1, 7}), small_value<double>, 2);
  const Matrix A{{40, 60}};
};

TEST_F(Statements, ThatMultiplyMatricesByRowsAreTaken) {
  EXPECT_TRUE(by_rows(assign(A(i, j), B(i, k) * C(k, j))));
  EXPECT_TRUE(by_rows(assign(A(r, i), B(r, l) * C(l, i))));
  EXPECT_TRUE(by_rows(assign(A(i, j), C(k, j) * B(i, k))));
  const Tensor<float, CSR<std::int32_t, std::int64_t>, Serial> D({40, 60});
  EXPECT_TRUE(by_rows(assign(D(i, j), B(i, k) * C(k, j))));
}

TEST_F(Statements, ThatMultiplyMatricesByColumnsAreTakenInAnyCombination) {
  const auto by_columns = convert<CSC<>>(B);
  const auto D = convert<CSC<>>(C);
  const Matrix expected({40, 60});
  expected(i, j) = B(i, k) * C(k, j);
  const auto check = [&]<class F>(const Tensor<double, F>& result, const auto& left, const auto& right) {
    const auto statement = assign(result(i, j), left(i, k) * right(k, j));
    EXPECT_TRUE(by_rows(statement));
    statement.run();
    validate(result);
    EXPECT_TRUE(same_bytes(convert<CSR<>>(result), expected)) << statement.str();
  };
  check(Matrix({40, 60}), B, D);
  check(Matrix({40, 60}), by_columns, C);
  check(Tensor<double, CSC<>>({40, 60}), B, D);
  check(Tensor<double, CSC<>>({40, 60}), by_columns, C);
  check(Tensor<double, CSC<>>({40, 60}), by_columns, D);
}

TEST_F(Statements, WithPlansReadNewValuesOfMatricesByColumns) {
  const auto check = [&]<class F>(const Tensor<double, F>& result, const auto& left, const auto& right,
                                  std::int64_t most_kept) {
    const auto statement = assign(result(i, j), left(i, k) * right(k, j));
    const Estimate most = estimate(statement);
    const auto resources = Resources<Host>(Host()).within(most.result + most.workspace + most_kept);
    auto product = plan(statement.on(resources));
    std::mt19937_64 draw(5);
    for (int run = 0; run < 4; ++run) {
      for (double& value : values_of(left)) value = small_value<double>(draw);
      for (double& value : values_of(right)) value = small_value<double>(draw);
      product.run();
      const Matrix expected({40, 60});
      assign(expected(i, j), left(i, k) * right(k, j)).generic().run();
      EXPECT_TRUE(same_bytes(convert<CSR<>>(result), expected)) << statement.str() << ", run " << run;
    }
    return product.bytes();
  };
  const auto by_columns = convert<CSC<>>(B);
  const auto D = convert<CSC<>>(C);
  for (const std::int64_t most_kept : {std::int64_t{0}, std::int64_t{1} << 30}) {
    check(A, B, D, most_kept);
    check(A, by_columns, C, most_kept);
    check(A, by_columns, D, most_kept);
    check(Tensor<double, CSC<>>({40, 60}), B, C, most_kept);
    check(Tensor<double, CSC<>>({40, 60}), by_columns, C, most_kept);
  }
  // What refills keep is a number for each element of a copied factor, and nothing where there is no memory.
  const std::int64_t kept = check(A, by_columns, D, std::int64_t{1} << 30) - check(A, by_columns, D, 0);
  EXPECT_GE(kept, 4 * (by_columns.nnz() + D.nnz()));
}

TEST_F(Statements, OfOtherKindsAreLeftToTheNest) {
  EXPECT_FALSE(by_rows(assign(A(i, j), B(i, k) * C(k, j)).generic()));
  EXPECT_FALSE(by_rows(assign(A(i, j), 2.0 * B(i, k) * C(k, j))));
  EXPECT_FALSE(by_rows(assign(A(i, j), -B(i, k) * C(k, j))));
  EXPECT_FALSE(by_rows(assign(A(i, j), A(i, k) * B(k, l) * C(l, j))));
  EXPECT_FALSE(by_rows(assign(A(i, j), B(i, j) * C(i, j))));
  EXPECT_FALSE(by_rows(assign(A(i, j), B(i, k) * C(i, j))));
  EXPECT_FALSE(by_rows(assign(A(i, j), B(i, k) + C(k, j))));
  const Tensor<double, DCSR<>> E({40, 60});
  EXPECT_FALSE(by_rows(assign(E(i, j), B(i, k) * C(k, j))));
  const Tensor<double, DenseMatrix<>> F({40, 60});
  EXPECT_FALSE(by_rows(assign(F(i, j), B(i, k) * C(k, j))));
  const Tensor<bool, CSR<>> G({40, 40});
  EXPECT_FALSE(by_rows(assign(G(i, j), G(i, k) * G(k, j))));
}

TEST_F(Statements, ComputeWhatTheNestDoes) {
  A(i, j) = B(i, k) * C(k, j);
  EXPECT_EQ(wrong(A, B, C), "");
  const Matrix nest({40, 60});
  assign(nest(i, j), B(i, k) * C(k, j)).generic().run();
  EXPECT_TRUE(same_bytes(A, nest));
  const Matrix turned({40, 60});
  turned(i, j) = C(k, j) * B(i, k);
  EXPECT_TRUE(same_bytes(turned, nest));
}

TEST_F(Statements, WithAScalarAreTwiceTheProduct) {
  A(i, j) = B(i, k) * C(k, j);
  const Matrix twice({40, 60});
  twice(i, j) = 2.0 * B(i, k) * C(k, j);
  ASSERT_EQ(twice.nnz(), A.nnz());
  for (std::size_t at = 0; at < static_cast<std::size_t>(A.nnz()); ++at) {
    EXPECT_EQ(twice.level<1>().coordinates(at), A.level<1>().coordinates(at));
    EXPECT_EQ(twice.values()(at), 2 * A.values()(at));
  }
}

TEST_F(Statements, MayReplaceTheirOperand) {
  const auto square = matrix<double>(scattered(70, 70, 5, 3), small_value<double>);
  const auto before = square.clone();
  square(i, j) = square(i, k) * square(k, j);
  EXPECT_EQ(wrong(square, before, before), "");
}

TEST_F(Statements, AreRefusedByTheNameOfTheirVariable) {
  std::string message;
  try {
    A(i, j) = C(i, k) * B(k, j);
  } catch (const ShapeError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("index i"), std::string::npos) << message;
}

TEST_F(Statements, AreExplainedWithTheKernelThatRunsThem) {
  const auto statement = assign(A(i, j), B(i, k) * C(k, j));
  EXPECT_NE(explain(statement).find("run by SpGEMM by rows, in place of these loops (.generic() keeps them)"),
            std::string::npos);
  EXPECT_EQ(explain(statement.generic()).find("SpGEMM"), std::string::npos);
}

}  // namespace
}  // namespace sporos::test
