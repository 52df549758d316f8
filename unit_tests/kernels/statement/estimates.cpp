// SPDX-License-Identifier: Apache-2.0
/// @file estimates.cpp
/// Estimates against what statements then made: exact where they can be, never too low.
#include <cstdint>

#include "../typed.hpp"

namespace sporos::test {
namespace {

const Sizes estimate_sizes("ijk", 60);
constexpr std::int64_t estimate_extent = 60;

class Estimates : public testing::Test {
 protected:
  Tensor<double, CSR<>> B_ = small_tensor<double, CSR<>>(estimate_sizes, "ik", 0.05, 1);
  Tensor<double, CSR<>> C_ = small_tensor<double, CSR<>>(estimate_sizes, "kj", 0.05, 2);

  /// The estimate of a statement, whose result holds no more when it has run.
  template <class Statement>
  Estimate checked(const Statement& statement) {
    const Estimate estimated = estimate(statement);
    statement.run();
    const auto& made = statement.result().tensor();
    EXPECT_LE(made.nnz(), estimated.values);
    EXPECT_LE(made.bytes(), estimated.result);
    return estimated;
  }
};

TEST_F(Estimates, AreExactForDenseResults) {
  const Tensor<double, DenseVector> y({estimate_extent}), x({estimate_extent});
  const Estimate e = checked(assign(y(i), B_(i, k) * x(k)));
  EXPECT_EQ(e.values, estimate_extent);
  EXPECT_EQ(e.result, 8 * estimate_extent);
  EXPECT_EQ(e.operands, B_.bytes() + 8 * estimate_extent);
  EXPECT_EQ(e.workspace, 0);
}

TEST_F(Estimates, CountPrivateResultsOfThreads) {
  const Tensor<double, DenseVector> y({estimate_extent}), x({estimate_extent});
  const auto statement = assign(y(k), B_(i, k) * x(i));
  EXPECT_EQ(estimate(statement.deterministic()).workspace, 16 * estimate_extent * 8);
  const std::int64_t threads = Host().concurrency();
  EXPECT_EQ(estimate(statement).workspace, threads > 1 ? threads * estimate_extent * 8 : 0);
}

TEST_F(Estimates, BoundAProductByItsTermsAndItsRows) {
  std::int64_t bound = 0;
  const auto& b = B_.level<1>();
  const auto& c = C_.level<1>();
  for (std::size_t row = 0; row < static_cast<std::size_t>(estimate_extent); ++row) {
    std::int64_t of_row = 0;
    for (auto q = b.positions(row); q < b.positions(row + 1); ++q) {
      const auto at = static_cast<std::size_t>(b.coordinates(static_cast<std::size_t>(q)));
      of_row += c.positions(at + 1) - c.positions(at);
    }
    bound += std::min(of_row, estimate_extent);
  }
  const Tensor<double, CSR<>> A({estimate_extent, estimate_extent});
  EXPECT_GE(checked(assign(A(i, j), B_(i, k) * C_(k, j))).values, bound);
  const Estimate e = checked(assign(A(i, j), B_(i, k) * C_(k, j)).generic());
  EXPECT_EQ(e.values, bound);
  EXPECT_EQ(e.result, (estimate_extent + 1) * 8 + bound * 12);
  EXPECT_GE(e.workspace, Host().concurrency() * DenseWorkspace<double>::most_bytes({}, {estimate_extent}, 0));
  EXPECT_EQ(e.operands, B_.bytes() + C_.bytes());
}

TEST_F(Estimates, BoundUnionsAndIntersections) {
  const Tensor<double, CSR<>> A({estimate_extent, estimate_extent});
  EXPECT_EQ(checked(assign(A(i, j), B_(i, j) + C_(i, j))).values, B_.nnz() + C_.nnz());
  EXPECT_LE(checked(assign(A(i, j), B_(i, j) * C_(i, j))).values, std::min(B_.nnz(), C_.nnz()));
  EXPECT_EQ(checked(assign(A(i, j), 2.0 * B_(i, j))).values, B_.nnz());
  EXPECT_EQ(checked(assign(A(i, j), B_(i, j) + B_(i, j))).operands, B_.bytes());
}

TEST_F(Estimates, BoundListedResults) {
  const Tensor<double, CSC<>> A({estimate_extent, estimate_extent});
  const Estimate e = checked(assign(A(i, j), B_(i, k) * C_(k, j)));
  EXPECT_GT(e.workspace, 2 * A.nnz() * (8 + 16));
  const Tensor<double, BCSR<2, 2>> blocked({estimate_extent, estimate_extent});
  checked(assign(blocked(i, j), B_(i, j)));
}

TEST_F(Estimates, BoundFibersAndBlocks) {
  const auto T = small_tensor<double, CSF<3>>(estimate_sizes, "ijk", 0.01, 5);
  const Tensor<double, DCSR<>> flat({estimate_extent, estimate_extent});
  EXPECT_EQ(checked(assign(flat(i, j), T(i, j, k))).values, T.level<1>().coordinates.extent(0));
  const auto X = small_tensor<double, DenseMatrix<>>(estimate_sizes, "kj", 1, 6);
  const Tensor<double, Format<Map<Dim<0>, Dim<1>>, Compressed<>, Dense>> rows(
      {estimate_extent, estimate_extent});
  checked(assign(rows(i, j), convert<DCSR<>>(B_)(i, k) * X(k, j)));
}

}  // namespace
}  // namespace sporos::test
