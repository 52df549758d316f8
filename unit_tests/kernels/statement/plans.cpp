// SPDX-License-Identifier: Apache-2.0
/// @file plans.cpp
/// Plans: run again with new values they give what the statement would, and they know their patterns.
#include <gmock/gmock.h>

#include <cstdint>
#include <sstream>
#include <string>

#include "../typed.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

const Sizes plan_sizes("ijkl", 41);
constexpr std::int64_t plan_extent = 41;

/// Gives a tensor other values, without a change of its pattern.
template <class T>
void draw_values(const T& t, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  for (std::size_t at = 0; at < t.values().extent(0); ++at)
    t.values()(at) = small_value<typename T::value_type>(draw);
}

template <class Space, class F>
auto small_operand(std::string_view modes, double density, std::uint64_t seed) {
  return small_tensor<double, F>(plan_sizes, modes, density, seed).template move_to<Space>();
}

/// Makes a plan, runs it with two sets of new values, and compares each with the statement itself.
template <class F, class Space, class Statement, class... Operands>
void check(std::string_view modes, const Statement& statement, const Operands&... operands) {
  const Tensor<double, F, Space> planned(plan_sizes.extents<F::order>(modes)), expected(planned.extents());
  auto plan = sporos::plan(statement(planned, operands...));
  if constexpr (!F::is_dense) {
    EXPECT_EQ(planned.nnz(), 0) << "before it is run";
  }
  plan.run();
  statement(expected, operands...).run();
  EXPECT_TRUE(same(table(planned), table(expected))) << "run once";
  EXPECT_GT(planned.nnz(), 0);
  for (std::uint64_t seed = 1; seed < 3; ++seed) {
    std::uint64_t next = 10 * seed;
    (draw_values(operands, next++), ...);
    const void* const pattern = planned.identity();
    plan.run();
    EXPECT_EQ(planned.identity(), pattern);
    statement(expected, operands...).run();
    EXPECT_TRUE(same(table(planned), table(expected))) << "with values " << seed;
  }
}

template <class Space_>
class Plans : public testing::Test {
 public:
  using Space = Space_;
  Tensor<double, CSR<>, Space> B = small_operand<Space, CSR<>>("ik", 0.15, 1);
  Tensor<double, CSR<>, Space> C = small_operand<Space, CSR<>>("kj", 0.15, 2);
};
using Spaces = testing::Types<Serial, OpenMP>;
TYPED_TEST_SUITE(Plans, Spaces);

constexpr auto planned_product = [](const auto& A, const auto& B, const auto& C) {
  return assign(A(i, j), B(i, k) * C(k, j));
};
constexpr auto sum_of_two = [](const auto& A, const auto& B, const auto& C) {
  return assign(A(i, j), B(i, j) + 2.0 * C(i, j));
};

TYPED_TEST(Plans, RefillRowsThatAWorkspaceGathers) {
  using Space = typename TestFixture::Space;
  check<CSR<>, Space>("ij", planned_product, this->B, this->C);
  check<DCSR<>, Space>("ij", planned_product, this->B, this->C);
  check<COO<2>, Space>("ij", planned_product, this->B, this->C);
}

TYPED_TEST(Plans, RefillWhatIsAppended) {
  using Space = typename TestFixture::Space;
  check<CSR<>, Space>("ij", sum_of_two, this->B, this->C);
  check<DCSR<>, Space>("ij", sum_of_two, this->B, this->C);
  const auto D = small_operand<Space, CSF<3>>("ijk", 0.02, 3);
  const auto x = small_operand<Space, DenseVector>("k", 1, 4);
  check<DCSR<>, Space>(
      "ij", [](const auto& A, const auto& T, const auto& v) { return assign(A(i, j), T(i, j, k) * v(k)); }, D,
      x);
}

TYPED_TEST(Plans, SayWhichCandidatesTheyChoseBetween) {
  using Space = typename TestFixture::Space;
  const auto x = small_operand<Space, DenseVector>("k", 1, 4);
  const Tensor<double, DenseVector, Space> y({plan_extent});
  const auto said = [&](const auto& statement) {
    std::ostringstream out;
    plan(statement).explain(out);
    return out.str();
  };
  const auto statement = assign(y(i), this->B(i, k) * x(k)).with_constant_operands();
  EXPECT_THAT(said(statement),
              testing::AllOf(testing::StartsWith("  run by SpMV by rows\n"),
                             testing::ContainsRegex("SpMV by rows: [^\n]* expected\n"),
                             testing::ContainsRegex("SpMV by diagonals: [^\n]* expected\n")));
  const Resources<Space> bounded = Resources<Space>().within(0);
  EXPECT_THAT(said(statement.on(bounded)),
              testing::HasSubstr("SpMV by diagonals: a copy of the matrix does not fit"));
  EXPECT_EQ(said(assign(y(i), this->B(i, k) * x(k))).find("candidates"), std::string::npos);
}

/// An outer product, which several workspaces gather.
TYPED_TEST(Plans, SayWhichCandidatesNeedMoreMemoryThanIsAllowed) {
  using Space = typename TestFixture::Space;
  const Sizes sizes("ijk", 300);
  const auto D = small_tensor<double, CSC<>>(sizes, "ik", 0.01, 5).template move_to<Space>();
  const auto E = small_tensor<double, CSR<>>(sizes, "kj", 0.01, 6).template move_to<Space>();
  const Tensor<double, DCSR<>, Space> A({300, 300});
  const auto statement = assign(A(i, j), D(i, k) * E(k, j));
  const auto is_beyond = testing::ContainsRegex(": [^\n]* expected, with more memory than is allowed\n");
  EXPECT_THAT(explain(statement), testing::Not(is_beyond));
  EXPECT_THAT(explain(statement.on(Resources<Space>().within(0))), is_beyond);
  // The least bound with which a plan is made leaves out what is faster and needs more.
  std::int64_t refused = 0, allowed = std::int64_t{1} << 30;
  const auto said = [&](std::int64_t bytes) -> std::string {
    try {
      std::ostringstream out;
      plan(statement.on(Resources<Space>().within(bytes))).explain(out);
      return out.str();
    } catch (const MemoryError&) {
      return {};
    }
  };
  EXPECT_THAT(said(allowed), testing::Not(is_beyond));
  while (allowed - refused > 1) {
    const std::int64_t middle = refused + (allowed - refused) / 2;
    (said(middle).empty() ? refused : allowed) = middle;
  }
  EXPECT_THAT(said(allowed), is_beyond);
}

TYPED_TEST(Plans, SayWhatTheyCost) {
  using Space = typename TestFixture::Space;
  const Tensor<double, CSR<>, Space> A({plan_extent, plan_extent});
  const auto product = plan(assign(A(i, j), this->B(i, k) * this->C(k, j)));
  EXPECT_GT(product.seconds(), 0);
  EXPECT_LT(product.seconds(), 60);
  std::ostringstream out;
  product.explain(out);
  EXPECT_THAT(out.str(), testing::ContainsRegex("  plan: made in [^\n]*s, holds [^\n]*B\n"));
  EXPECT_THAT(out.str(), testing::HasSubstr(text("holds ", bytes_text(product.bytes()))));
  EXPECT_THAT(out.str(), testing::HasSubstr(text("computes in double on ", Space::name())));
}

TYPED_TEST(Plans, RefillSampledProducts) {
  using Space = typename TestFixture::Space;
  const auto sampled = [](const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j), B(i, j) * C(i, k) * D(j, k));
  };
  const auto C = small_operand<Space, DenseMatrix<>>("ik", 1, 11),
             D = small_operand<Space, DenseMatrix<>>("jk", 1, 12);
  check<CSR<>, Space>("ij", sampled, this->B, C, D);

  const Tensor<double, DenseMatrix<>, Space> nothing({plan_extent, 0});
  const Tensor<double, CSR<>, Space> A({plan_extent, plan_extent});
  auto plan = sporos::plan(sampled(A, this->B, nothing, nothing));
  plan.run();
  EXPECT_EQ(A.nnz(), 0);
}

TYPED_TEST(Plans, RefillBlocksBelowAppendedLevels) {
  using Space = typename TestFixture::Space;
  using Rows = Format<Map<Dim<0>, Dim<1>>, Compressed<>, Dense>;
  const auto T = small_operand<Space, DCSR<>>("ik", 0.03, 5);
  const auto X = small_operand<Space, DenseMatrix<>>("kj", 1, 6);
  check<Rows, Space>("ij", planned_product, T, X);
}

TYPED_TEST(Plans, RefillWhatIsListed) {
  using Space = typename TestFixture::Space;
  const auto by_columns = convert<CSC<>>(this->B);
  check<CSR<>, Space>("ij", planned_product, by_columns, this->C);
  check<BCSR<2, 3>, Space>("ij", planned_product, by_columns, this->C);
  check<CSC<>, Space>("ij", sum_of_two, this->B, this->C);
}

TYPED_TEST(Plans, RunDenseResultsAsEver) {
  using Space = typename TestFixture::Space;
  const auto x = small_operand<Space, DenseVector>("k", 1, 7);
  check<DenseVector, Space>(
      "i", [](const auto& y, const auto& A, const auto& v) { return assign(y(i), A(i, k) * v(k)); }, this->B,
      x);
}

TYPED_TEST(Plans, RunOverSemirings) {
  using Space = typename TestFixture::Space;
  check<CSR<>, Space>(
      "ij",
      [](const auto& A, const auto& B, const auto& C) { return planned_product(A, B, C).over(MinPlus{}); },
      this->B, this->C);
}

TYPED_TEST(Plans, TakeOtherArraysOfTheSamePattern) {
  using Space = typename TestFixture::Space;
  const Tensor<double, CSR<>, Space> A({plan_extent, plan_extent}), expected({plan_extent, plan_extent});
  auto plan = sporos::plan(planned_product(A, this->B, this->C));
  plan.run();
  const auto other = this->B.clone();
  draw_values(other, 5);
  this->B.replace(other.extents(), other.levels(), other.values());
  plan.run();
  planned_product(expected, this->B, this->C).run();
  EXPECT_TRUE(same(table(A), table(expected)));
}

TYPED_TEST(Plans, RefuseAnotherPattern) {
  using Space = typename TestFixture::Space;
  const Tensor<double, CSR<>, Space> A({plan_extent, plan_extent});
  auto plan = sporos::plan(planned_product(A, this->B, this->C));
  plan.run();
  const auto before = table(A);
  const auto kept = this->C.clone();
  const auto other = small_operand<Space, CSR<>>("kj", 0.15, 9);
  this->C.replace(other.extents(), other.levels(), other.values());
  const auto message = message_of<ScheduleError>([&] { plan.run(); });
  EXPECT_TRUE(contains(message, "A(i, j) = B(i, k) * C(k, j)"));
  EXPECT_TRUE(contains(message, "another pattern of operand C: make a new one with plan(...)"));
  EXPECT_TRUE(same(table(A), before));
  this->C.replace(kept.extents(), kept.levels(), kept.values());
  plan.run();
  EXPECT_TRUE(same(table(A), before));
  A.replace(other.extents(), other.levels(), other.values());
  EXPECT_TRUE(contains(message_of<ScheduleError>([&] { plan.run(); }), "another pattern of the result A"));
}

TYPED_TEST(Plans, RefuseASparseResultAmongTheOperands) {
  const auto& B = this->B;
  EXPECT_TRUE(contains(message_of<ScheduleError>([&] { sporos::plan(planned_product(B, B, B)); }),
                       "the sparse result of a plan is one of its operands"));
}

TYPED_TEST(Plans, SayWhatTheyHold) {
  using Space = typename TestFixture::Space;
  const Tensor<double, CSR<>, Space> A({plan_extent, plan_extent});
  auto by_rows = sporos::plan(planned_product(A, this->B, this->C));
  by_rows.run();
  EXPECT_GT(by_rows.bytes(), plan_extent * 8);
  auto by_nest = sporos::plan(planned_product(A, this->B, this->C).generic());
  by_nest.run();
  EXPECT_GT(by_nest.bytes(), plan_extent * 8);
}

}  // namespace
}  // namespace sporos::test
