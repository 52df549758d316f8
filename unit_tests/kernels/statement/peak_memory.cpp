// SPDX-License-Identifier: Apache-2.0
/// @file peak_memory.cpp
/// What statements allocate, as it happens, against what their estimates say: over formats, orders, spaces
/// and kinds of result.
#include <cstdint>
#include <string>

#include "../../spread.hpp"
#include "../bounded.hpp"
#include "../typed.hpp"

namespace sporos::test {
namespace {

const Sizes peak_sizes("ijkl", 300);

/// Compares what a statement and a plan of it allocate with what they are estimated to.
template <class Statement>
void expect_bounded(const std::string& what, const Statement& statement) {
  SCOPED_TRACE(what);
  EXPECT_EQ(wrong_estimate(statement), "");
  if (!statement.accumulates() && !reads_result(statement)) EXPECT_EQ(wrong_estimate_of_plan(statement), "");
}

template <class Space, class F>
auto operand(std::string_view modes, double density, std::uint64_t seed) {
  return small_tensor<double, F>(peak_sizes, modes, density, seed).template move_to<Space>();
}

template <class Space_>
class PeaksOfStatements : public testing::Test {
 public:
  using Space = Space_;
  Tensor<double, CSR<>, Space> B = operand<Space, CSR<>>("ik", 0.05, 1);
  Tensor<double, CSR<>, Space> C = operand<Space, CSR<>>("kj", 0.05, 2);
  Tensor<double, CSC<>, Space> by_columns = operand<Space, CSC<>>("ik", 0.05, 3);

  template <class F>
  void products(const std::string& format) {
    const Tensor<double, F, Space> A({300, 300});
    expect_bounded("by rows into " + format, assign(A(i, j), B(i, k) * C(k, j)));
    expect_bounded("by rows, nest, into " + format, assign(A(i, j), B(i, k) * C(k, j)).generic());
    expect_bounded("outer products into " + format, assign(A(i, j), by_columns(i, k) * C(k, j)));
  }
  template <class F>
  void sums(const std::string& format) {
    const Tensor<double, F, Space> A({300, 300});
    expect_bounded("a sum into " + format, assign(A(i, j), B(i, j) + 2.0 * C(i, j)));
    expect_bounded("a map into " + format, assign(A(i, j), B(i, j) * C(i, j)));
  }
};
using Spaces = testing::Types<Serial, OpenMP>;
TYPED_TEST_SUITE(PeaksOfStatements, Spaces);

TYPED_TEST(PeaksOfStatements, StayWithinEstimatesForProducts) {
  this->template products<CSR<>>("CSR");
  this->template products<CSC<>>("CSC");
  this->template products<DCSR<>>("DCSR");
  this->template products<COO<2>>("COO");
  this->template products<BCSR<2, 3>>("BCSR");
  this->template products<DenseMatrix<>>("DenseMatrix");
}

TYPED_TEST(PeaksOfStatements, StayWithinEstimatesForSums) {
  this->template sums<CSR<>>("CSR");
  this->template sums<DCSR<>>("DCSR");
  this->template sums<COO<2>>("COO");
  this->template sums<CSC<>>("CSC");
}

TYPED_TEST(PeaksOfStatements, StayWithinEstimatesForOtherTypesAndWorkspaces) {
  using Space = typename TestFixture::Space;
  const Tensor<float, CSR<>, Space> narrow({300, 300});
  expect_bounded("in float", assign(narrow(i, j), this->B(i, k) * this->C(k, j)));
  expect_bounded("in float, nest", assign(narrow(i, j), this->B(i, k) * this->C(k, j)).generic());
  const Tensor<double, CSR<>, Space> A({300, 300});
  expect_bounded("listed", assign(A(i, j), this->B(i, k) * this->C(k, j)).workspace(coordinate_workspace));
  const auto columns = convert<CSC<>>(this->B);
  expect_bounded("dense", assign(A(i, j), columns(i, k) * this->C(k, j)).workspace(dense_workspace));
  expect_bounded("over a semiring", assign(A(i, j), this->B(i, k) * this->C(k, j)).over(MinPlus{}));
  const Tensor<double, Format<Map<Dim<0>, Dim<1>>, Compressed<>, Dense>, Space> rows({300, 300});
  const auto X = operand<Space, DenseMatrix<>>("kj", 1, 6);
  expect_bounded("blocks", assign(rows(i, j), convert<DCSR<>>(this->B)(i, k) * X(k, j)));
  // The sums of a block are wider than its values.
  const Tensor<float, Format<Map<Dim<0>, Dim<1>>, Compressed<>, Dense>, Space> narrow_rows({300, 300});
  const auto D = convert<DCSR<>>(this->B);
  expect_bounded("narrow blocks", assign(narrow_rows(i, k), 2.0 * D(i, k)));
  expect_bounded("narrow blocks, gathered", assign(narrow_rows(i, j), D(i, k) * X(k, j)));
}

TYPED_TEST(PeaksOfStatements, StayWithinEstimatesWhereLoopsAreCut) {
  using Space = typename TestFixture::Space;
  const Tensor<double, CSR<>, Space> A({300, 300});
  const auto product = assign(A(i, j), this->B(i, k) * this->C(k, j)).reorder(i, k, j);
  expect_bounded("by nonzeros",
                 product.fuse(i, k, p).pos(p, q, this->B(i, k)).split(q, r, s, 50).parallelize(r));
  expect_bounded("columns", product.split(j, r, s, 50).reorder(r, i, k, s));
  const Tensor<double, CSC<>, Space> D = convert<CSC<>>(this->C);
  expect_bounded(
      "sums in strips",
      assign(A(i, j), this->B(i, k) * D(k, j)).reorder(i, j, k).split(k, r, s, 50).reorder(r, i, j, s));
  const Tensor<double, DenseVector, Space> y({300});
  const auto x = operand<Space, DenseVector>("k", 1, 7);
  expect_bounded("SpMV", assign(y(i), this->B(i, k) * x(k)).fuse(i, k, p).split(p, r, s, 50).parallelize(r));
}

TYPED_TEST(PeaksOfStatements, StayWithinEstimatesForDenseResults) {
  using Space = typename TestFixture::Space;
  const auto x = operand<Space, DenseVector>("k", 1, 7);
  const Tensor<double, DenseVector, Space> y({300});
  expect_bounded("SpMV", assign(y(i), this->B(i, k) * x(k)));
  expect_bounded("SpMV onto itself", assign(x(i), this->B(i, k) * x(k)));
  expect_bounded("scattered", assign(y(k), this->B(i, k) * x(i)));
  expect_bounded("scattered, deterministic", assign(y(k), this->B(i, k) * x(i)).deterministic());
  expect_bounded("scattered, before an epilogue",
                 assign(y(k), relu(sum(i, this->B(i, k) * x(i)) + x(k))).accumulate());
  const auto T = operand<Space, CSF<3>>("ikl", 0.01, 8);
  const auto U = operand<Space, DenseMatrix<>>("kj", 1, 9), V = operand<Space, DenseMatrix<>>("lj", 1, 10);
  const Tensor<double, DenseMatrix<>, Space> M({300, 300});
  expect_bounded("MTTKRP", assign(M(i, j), T(i, k, l) * U(k, j) * V(l, j)));
  expect_bounded("MTTKRP of an inner mode", assign(M(k, j), T(i, k, l) * U(i, j) * V(l, j)));
  const Tensor<double, DenseMatrix<>, Space> E({300, 300});
  expect_bounded("an epilogue that reads the result",
                 assign(E(i, j), relu(this->B(i, k) * U(k, j) + E(j, i))));
}

TYPED_TEST(PeaksOfStatements, StayWithinEstimatesForTensors) {
  using Space = typename TestFixture::Space;
  const auto T = operand<Space, CSF<3>>("ikl", 0.01, 8);
  const auto x = operand<Space, DenseVector>("l", 1, 9);
  const Tensor<double, DCSR<>, Space> A({300, 300});
  expect_bounded("TTV", assign(A(i, k), T(i, k, l) * x(l)));
  const auto D = operand<Space, CSR<>>("lj", 0.05, 10);
  const Tensor<double, CSF<3>, Space> R({300, 300, 300});
  expect_bounded("TTM", assign(R(i, k, j), T(i, k, l) * D(l, j)));
  const Tensor<double, COO<3>, Space> S({300, 300, 300});
  expect_bounded("TTM into COO", assign(S(i, k, j), T(i, k, l) * D(l, j)));
}

TYPED_TEST(PeaksOfStatements, StayWithinEstimatesWhereADenseLevelMultipliesTheRoomForFewValues) {
  using Space = typename TestFixture::Space;
  const auto expect = []<class F>(const Tensor<double, F, Space>& A) {
    const auto T = assemble<CSF<3>, Space>(
        Entries<double, 3>({4, A.extent(1), 4}, {{{0, 1, 2}, 1.0}, {{3, 0, 1}, 2.0}}));
    const auto C =
        assemble<CSR<>, Space>(Entries<double, 2>({4, A.extent(2)}, {{{1, 2}, 1.0}, {{2, 0}, 2.0}}));
    expect_bounded(F::str(), assign(A(i, j, l), T(i, j, k) * C(k, l)));
  };
  using ByThree = Map<Dim<0>, Dim<1>, Dim<2>>;
  expect(Tensor<double, Format<ByThree, Compressed<>, Compressed<>, Dense>, Space>({4, 4, 200}));
  expect(Tensor<double, Format<ByThree, Compressed<>, Dense, Compressed<>>, Space>({4, 200, 4}));
  expect(Tensor<double, CSF<3>, Space>({4, 4, 200}));
}

TYPED_TEST(PeaksOfStatements, KeepToTheBoundThatResourcesSet) {
  using Space = typename TestFixture::Space;
  const Tensor<double, CSR<>, Space> A = this->B.clone();
  const auto before = A.nnz();
  const auto statement = assign(A(i, j), this->B(i, k) * this->C(k, j));
  const Estimate most = estimate(statement);
  const std::int64_t needed = most.result + most.workspace;
  const Resources<Space> resources;
  try {
    statement.on(resources.within(needed - 1)).run();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const MemoryError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(needed)), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(std::to_string(needed - 1)), std::string::npos) << error.what();
  }
  EXPECT_EQ(A.nnz(), before) << "the result has changed";
  EXPECT_THROW(plan(statement.on(resources.within(needed - 1))), MemoryError);
  statement.on(resources.within(needed)).run();
  EXPECT_NE(A.nnz(), before);
  const auto of_copies = assign(A(i, j), this->by_columns(i, k) * this->C(k, j));
  const Estimate with_copies = estimate(of_copies);
  EXPECT_NO_THROW(of_copies.on(resources.within(with_copies.result + with_copies.workspace)).run());
}

/// Runs and plans a statement that may allocate nothing.
/// @param headers  bytes that arrays without elements take all the same
template <class S>
void expect_refused_at_once(const S& statement, std::int64_t headers = 0) {
  SCOPED_TRACE(statement.str());
  const auto bounded = statement.on(Resources<typename S::space_type>().within(0));
  pool().release();
  const PeakMemory peak;
  EXPECT_THROW(bounded.run(), MemoryError);
  EXPECT_THROW(plan(bounded), MemoryError);
  EXPECT_LE(peak.bytes(), headers);
  EXPECT_EQ(pool().bytes_held(), 0);
}
TYPED_TEST(PeaksOfStatements, AllocateNothingWhereNothingIsAllowed) {
  using Space = typename TestFixture::Space;
  const Tensor<double, CSR<>, Space> A({300, 300});
  const Tensor<double, CSC<>, Space> D({300, 300});
  const Tensor<double, COO<2>, Space> E({300, 300});
  expect_refused_at_once(assign(A(i, j), this->B(i, k) * this->C(k, j)));
  expect_refused_at_once(assign(A(i, j), this->B(i, k) * this->C(k, j)).generic());
  expect_refused_at_once(assign(A(i, j), this->by_columns(i, k) * this->C(k, j)));
  expect_refused_at_once(assign(D(i, j), this->B(i, k) * this->C(k, j)));
  expect_refused_at_once(assign(E(i, j), this->by_columns(i, k) * this->C(k, j)));
  expect_refused_at_once(assign(A(i, j), this->B(i, j) + this->C(i, j)));
  const auto x = operand<Space, DenseVector>("k", 1, 7);
  const Tensor<double, DenseVector, Space> y({300});
  expect_refused_at_once(assign(x(i), this->B(i, k) * x(k)));
  // The tensor of the sums, still without elements.
  constexpr std::int64_t header_of_kokkos = 128;
  expect_refused_at_once(assign(y(k), relu(sum(i, this->B(i, k) * x(i)) + x(k))).accumulate(),
                         header_of_kokkos);
}

TYPED_TEST(PeaksOfStatements, GatherRowsInSortedWorkspacesWhereDenseOnesExceedTheBound) {
  using Space = typename TestFixture::Space;
  constexpr std::int64_t many = 1'000'000;
  const auto B = assemble<CSR<>, Space>(Entries<int, 2>({2, 3}, {{{0, 0}, 1}, {{0, 2}, 2}, {{1, 1}, 3}}));
  const auto C = assemble<CSR<>, Space>(
      Entries<int, 2>({3, many}, {{{0, many - 1}, 4}, {{1, 7}, 5}, {{2, 0}, 6}, {{2, many - 1}, 7}}));
  const Tensor<int, DCSR<>, Space> A({2, many}), expected({2, many});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j));
  assign(expected(i, j), B(i, k) * C(k, j)).generic().run();
  EXPECT_GT(estimate(statement.generic()).workspace, many * 4);
  const auto bounded = statement.generic().on(Resources<Space>().within(1 << 20));
  EXPECT_LE(estimate(bounded).workspace, 1 << 20);
  pool().release();
  {
    const PeakMemory peak;
    bounded.run();
    EXPECT_LE(peak.bytes(), 1 << 20);
  }
  expect_same_entries(A, expected);
}

}  // namespace
}  // namespace sporos::test
