// SPDX-License-Identifier: Apache-2.0
/// @file precompute.cpp
/// Statements of which a part is computed first, into a tensor of its own.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>

#include "../loop_parts.hpp"
#include "spread.hpp"

namespace sporos::test::precompute {
namespace {

using namespace sporos::indices;
using namespace sporos::test::loop_parts;

template <class W>
void check_factor() {
  const auto B = spread<CSR<>>(30, 20, 3, 7), C = spread<CSR<>>(20, 25, 4, 5),
             D = spread<CSR<>>(30, 25, 6, 3);
  const Tensor<double, CSR<>> A({30, 25}), expected({30, 25});
  assign(expected(i, j), D(i, j) * (B(i, k) * C(k, j))).generic().run();
  const Tensor<double, W> part({30, 25});
  const auto both = assign(A(i, j), D(i, j) * (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j));
  EXPECT_EQ(both.str(), "A(i, j) = B(i, j) * C(i, j) where C(i, j) = D(i, k) * E(k, j)");
  both.run();
  // A dense workspace has a value at every coordinate, so the result stores more.
  const auto check = [&] {
    if (W::is_dense)
      expect_same_entries(convert<DenseMatrix<>>(A), convert<DenseMatrix<>>(expected));
    else
      expect_same_entries(A, expected);
  };
  check();
  // Each of the two can be scheduled on its own.
  both.producer().generic().run();
  both.consumer().generic().run();
  check();
}
TEST(Precompute, AFactorOfASampledProduct) {
  check_factor<CSR<>>();
  check_factor<COO<2>>();
  check_factor<DenseMatrix<>>();
}

TEST(Precompute, ATermAndAPartOfATerm) {
  const auto B = spread<CSR<>>(30, 20, 3, 7);
  Tensor<double, DenseVector> x({20}), b({30}), y({30}), expected({30}), w({30});
  for (std::size_t at = 0; at < 20; ++at) x.values()(at) = static_cast<double>(at % 5) - 2;
  for (std::size_t at = 0; at < 30; ++at) b.values()(at) = static_cast<double>(at % 7) - 3;
  expected(i) = b(i) - 2.0 * (B(i, k) * x(k));
  assign(y(i), b(i) - 2.0 * (B(i, k) * x(k))).precompute(B(i, k) * x(k), w(i)).run();
  expect_same_entries(y, expected);
  assign(y(i), b(i) - 2.0 * (B(i, k) * x(k))).precompute(2.0 * (B(i, k) * x(k)), w(i)).run();
  expect_same_entries(y, expected);
  // A part whose variables are all kept may stand inside a function.
  const Tensor<double, CSR<>> A({30, 20}), scaled({30, 20}), same({30, 20});
  const auto square = [](double v) { return v * v; };
  same(i, k) = map(square, B(i, k) * x(k));
  assign(A(i, k), map(square, B(i, k) * x(k))).precompute(B(i, k) * x(k), scaled(i, k)).run();
  expect_same_entries(A, same);
}

/// Calls check(schedule) for the ways to cut the loops of a product by rows, and those over one matrix.
template <class Check>
void for_each_schedule_of_product(const Tensor<double, CSR<>>& B, const Check& check) {
  check([](const auto& s) { return s; });
  check([](const auto& s) { return s.split(i, i0, i1, 4).parallelize(i0); });
  check([](const auto& s) { return s.reorder(i, k, j).split(k, k0, k1, 3).reorder(k0, i, k1, j); });
  check([](const auto& s) { return s.reorder(i, k, j).fuse(i, k, f).split(f, f0, f1, 7).parallelize(f0); });
  check([&](const auto& s) {
    return s.reorder(i, k, j).fuse(i, k, f).pos(f, fp, B(i, k)).split(fp, f0, f1, 4).parallelize(f0);
  });
}
template <class Check>
void for_each_schedule_of_matrix(const Tensor<double, CSR<>>& D, const Check& check) {
  check([](const auto& s) { return s; });
  check([](const auto& s) { return s.split(j, j0, j1, 5).reorder(j0, i, j1).parallelize(j0); });
  check([](const auto& s) { return s.fuse(i, j, f).split(f, f0, f1, 6).parallelize(f0); });
  check([&](const auto& s) { return s.fuse(i, j, f).pos(f, fp, D(i, j)).split(fp, f0, f1, 5); });
}

TEST(Precompute, BeforeLoopsAreSplitFusedAndShared) {
  const auto B = spread<CSR<>>(30, 20, 3, 7), C = spread<CSR<>>(20, 25, 4, 5),
             D = spread<CSR<>>(30, 25, 6, 3);
  double products[30][25] = {};
  for (const auto& [at_b, b] : entries(B))
    for (const auto& [at_c, c] : entries(C))
      if (at_b[1] == at_c[0]) products[at_b[0]][at_c[1]] += b * c;
  const Tensor<double, DenseMatrix<>> part({30, 25});
  const Tensor<double, CSR<>> A({30, 25});
  const auto both = assign(A(i, j), D(i, j) * (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j));
  const auto check = [&](const auto& produce, const auto& consume) {
    for (std::int64_t at = 0; at < part.nnz(); ++at) part.values().data()[at] = 1000;
    produce(both.producer()).run();
    consume(both.consumer()).run();
    validate(A);
    ASSERT_EQ(A.nnz(), D.nnz());
    const auto of_d = entries(D);
    std::int64_t e = 0;
    for (const auto& [at, a] : entries(A)) {
      EXPECT_EQ(at, of_d.coordinate(e));
      EXPECT_EQ(a, of_d.values.data()[e++] * products[at[0]][at[1]]);
    }
  };
  const auto plain = [](const auto& s) { return s; };
  for_each_schedule_of_product(B, [&](const auto& produce) { check(produce, plain); });
  for_each_schedule_of_matrix(D, [&](const auto& consume) { check(plain, consume); });
}

TEST(Precompute, IntoAPolicysWorkspace) {
  const auto B = spread<CSR<>>(30, 20, 3, 7), C = spread<CSR<>>(20, 25, 4, 5);
  const Tensor<double, CSC<>> A({30, 25}), expected({30, 25});
  expected(i, j) = B(i, k) * C(k, j);
  assign(A(i, j), B(i, k) * C(k, j)).reorder(i, k, j).precompute(B(i, k) * C(k, j), hash_workspace).run();
  expect_same_entries(A, expected);
}

TEST(Precompute, TakesTheSemiringAndTheResources) {
  const auto B = spread<CSR<>>(12, 12, 3, 5), C = spread<CSR<>>(12, 12, 4, 7);
  const Tensor<double, CSR<>> W({12, 12}), A({12, 12}), expected({12, 12});
  assign(expected(i, j), C(i, j) + (B(i, k) * C(k, j))).over(MinPlus{}).run();
  assign(A(i, j), C(i, j) + (B(i, k) * C(k, j))).over(MinPlus{}).precompute(B(i, k) * C(k, j), W(i, j)).run();
  expect_same_entries(A, expected);
  const auto small = assign(A(i, j), C(i, j) + (B(i, k) * C(k, j)))
                         .on(Resources<Host>().within(16))
                         .precompute(B(i, k) * C(k, j), W(i, j));
  EXPECT_THROW(small.run(), MemoryError);
}

TEST(Precompute, TakesItsScheduleAfterwards) {
  const auto B = spread<CSR<>>(30, 20, 3, 7), C = spread<CSR<>>(20, 25, 4, 5),
             D = spread<CSR<>>(30, 25, 6, 3);
  const Tensor<double, CSR<>> A({30, 25}), expected({30, 25}), part({30, 25});
  assign(expected(i, j), D(i, j) * (B(i, k) * C(k, j))).generic().run();
  const auto both = assign(A(i, j), D(i, j) * (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j));
  const auto check = [&](const auto& scheduled) {
    for (std::int64_t at = 0; at < A.nnz(); ++at) A.values().data()[at] = 1000;
    scheduled.run();
    expect_same_entries(A, expected);
  };
  check(both.generic());
  check(both.deterministic());
  check(both.split(j, j0, j1, 5).reorder(j0, i, j1).parallelize(j0));
  check(both.split(k, k0, k1, 3));  // which only the part has
  check(both.fuse(i, j, f).split(f, f0, f1, 6).parallelize(f0));
  check(both.schedule_part(
                [](const auto& s) { return s.reorder(i, k, j).split(k, k0, k1, 3).reorder(k0, i, k1, j); })
            .split(i, i0, i1, 4));
  check(both.fuse(i, j, f).pos(f, fp, D(i, j)).split(fp, f0, f1, 5));
  check(both.schedule_part([](const auto& s) { return s.workspace(hash_workspace); }));
  check(both.on(Resources<Host>()));
}

template <class W>
void check_plan() {
  SCOPED_TRACE(W::str());
  const auto B = spread<CSR<>>(30, 20, 3, 7), C = spread<CSR<>>(20, 25, 4, 5),
             D = spread<CSR<>>(30, 25, 6, 3);
  const Tensor<double, CSR<>> A({30, 25}), expected({30, 25});
  const Tensor<double, W> part({30, 25});
  auto both = plan(assign(A(i, j), D(i, j) * (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j)));
  for (int run = 0; run < 3; ++run) {
    for (std::int64_t at = 0; at < B.nnz(); ++at)
      B.values().data()[at] = static_cast<double>((at + run) % 5) - 2;
    both.run();
    assign(expected(i, j), D(i, j) * (B(i, k) * C(k, j))).generic().run();
    if (W::is_dense)
      expect_same_entries(convert<DenseMatrix<>>(A), convert<DenseMatrix<>>(expected));
    else
      expect_same_entries(A, expected);
  }
  std::ostringstream said;
  both.explain(said);
  EXPECT_NE(said.str().find("result: "), std::string::npos);
  EXPECT_NE(both.candidate().find(", then "), std::string::npos);
  EXPECT_GE(both.bytes(), 0);
  EXPECT_GT(both.estimate().workspace, 0);
  // Another pattern of an operand of the second statement is noticed before the part is computed.
  const auto other = spread<CSR<>>(30, 25, 5, 3);
  D.replace(D.extents(), other.levels(), other.values());
  part.values().data()[0] = 1000;
  EXPECT_THROW(both.run(), ScheduleError);
  EXPECT_EQ(part.values().data()[0], 1000);
}
TEST(Precompute, IsPlannedAndReadAgainWhenValuesChange) {
  check_plan<CSR<>>();
  check_plan<COO<2>>();
  check_plan<DenseMatrix<>>();
}

TEST(Precompute, PlansWhosePartHasAPatternOfItsValues) {
  const auto B = spread<CSR<>>(12, 12, 3, 5), C = spread<CSR<>>(12, 12, 4, 7);
  const Tensor<double, CSR<>> W({12, 12}), A({12, 12}), expected({12, 12});
  auto both = plan(assign(A(i, j), C(i, j) + (!B(i, j) * C(i, j))).precompute(!B(i, j) * C(i, j), W(i, j)));
  for (int run = 0; run < 3; ++run) {
    for (std::int64_t at = 0; at < B.nnz(); ++at) B.values().data()[at] = static_cast<double>((at + run) % 2);
    both.run();
    expected(i, j) = C(i, j) + (!B(i, j) * C(i, j));
    expect_same_entries(A, expected);
  }
}

TEST(Precompute, ReadsThePartAnewWhereOtherOperandsAreConstant) {
  const auto B = spread<CSR<>>(300, 300, 3, 7);
  const Tensor<double, DenseVector> s({300}), x({300}), y({300}), expected({300});
  const Tensor<double, CSR<>> W({300, 300});
  x(i) = 1.0;
  const auto statement = assign(y(i), (B(i, k) * s(k)) * x(k));
  auto before = plan(statement.with_constant_operands().precompute(B(i, k) * s(k), W(i, k)));
  auto after = plan(statement.precompute(B(i, k) * s(k), W(i, k)).with_constant_operands());
  for (int run = 1; run < 5; ++run) {
    s(i) = static_cast<double>(run);
    expected(i) = B(i, k) * s(k);
    before.run();
    expect_same_entries(y, expected);
    y(i) = 0.0;
    after.run();
    expect_same_entries(y, expected);
  }
}

TEST(Precompute, PlansRefuseASparseResultThatThePartReads) {
  const auto A = spread<CSR<>>(12, 12, 3, 5), C = spread<CSR<>>(12, 12, 4, 7);
  const Tensor<double, CSR<>> W({12, 12});
  const auto both = assign(A(i, j), C(i, j) * (A(i, k) * C(k, j))).precompute(A(i, k) * C(k, j), W(i, j));
  EXPECT_THROW(plan(both), ScheduleError);
  EXPECT_NO_THROW(both.run());
}

template <class R, class W>
void check_estimate() {
  SCOPED_TRACE(R::str() + " by way of " + W::str());
  const auto B = spread<CSR<>>(300, 200, 5, 7), C = spread<CSR<>>(200, 250, 6, 7),
             D = spread<CSR<>>(300, 250, 9, 3);
  const Tensor<double, R> A({300, 250});
  const Tensor<double, W> part({300, 250});
  const auto both = assign(A(i, j), D(i, j) + (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j));
  const Estimate most = estimate(both);
  EXPECT_EQ(A.nnz(), R::is_dense ? 300 * 250 : 0);
  EXPECT_EQ(part.nnz(), W::is_dense ? 300 * 250 : 0);
  EXPECT_EQ(most.operands, B.bytes() + C.bytes() + D.bytes());
  const std::int64_t needed = (R::is_dense ? 0 : most.result) + most.workspace;
  constexpr std::int64_t slack = 4096;  // tables of chunks, which are not counted
  for (int run = 0; run < 2; ++run) {
    pool().release();
    const PeakMemory peak;
    both.run();
    EXPECT_LE(peak.bytes(), needed + slack) << "run " << run;
  }
  EXPECT_LE(A.nnz(), most.values);
  EXPECT_NO_THROW(both.on(Resources<Host>().within(needed)).run());
  if (needed > 0) {
    EXPECT_THROW(both.on(Resources<Host>().within(0)).run(), MemoryError);
  }
}
TEST(Precompute, TakesNoMoreThanIsEstimated) {
  check_estimate<CSR<>, CSR<>>();
  check_estimate<CSR<>, DenseMatrix<>>();
  check_estimate<COO<2>, CSR<>>();
  check_estimate<DenseMatrix<>, CSR<>>();
  check_estimate<DenseMatrix<>, DenseMatrix<>>();
}

TEST(Precompute, KeepsToTheBoundToEstimateAndExplain) {
  const auto B = spread<CSR<>>(3000, 2000, 5, 7), C = spread<CSR<>>(2000, 2500, 6, 7),
             D = spread<CSR<>>(3000, 2500, 9, 3);
  const Tensor<double, CSR<>> A({3000, 2500}), part({3000, 2500});
  const auto both = assign(A(i, j), D(i, j) + (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j));
  constexpr std::int64_t bound = 100'000;
  const auto bounded = both.on(Resources<Host>().within(bound));
  pool().release();
  const PeakMemory peak;
  EXPECT_THROW(estimate(bounded), MemoryError);
  EXPECT_THROW(explain(bounded), MemoryError);
  EXPECT_LE(peak.bytes(), bound);
  EXPECT_GT(estimate(both).workspace, bound);
}

TEST(Precompute, CountsThePartTowardsTheBoundOfTheStatementThatReadsIt) {
  const auto B = spread<CSR<>>(300, 200, 5, 7), C = spread<CSR<>>(200, 250, 6, 7),
             D = spread<CSR<>>(300, 250, 9, 3);
  const Tensor<double, CSR<>> A({300, 250}), part({300, 250});
  const auto both = assign(A(i, j), D(i, j) + (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j));
  both.run();
  const Estimate rest = estimate(both.consumer());
  const std::int64_t alone = rest.result + rest.workspace;
  const auto within = [&](std::int64_t bytes) {
    return both.on(Resources<Host>().within(bytes)).schedule_part([](const auto& s) {
      return s.on(Resources<Host>());
    });
  };
  EXPECT_THROW(within(alone + part.bytes() - 1).run(), MemoryError);
  EXPECT_NO_THROW(within(alone + part.bytes()).run());
}

TEST(Precompute, IsExplainedAsTwoStatements) {
  const auto B = spread<CSR<>>(30, 20, 3, 7), C = spread<CSR<>>(20, 25, 4, 5),
             D = spread<CSR<>>(30, 25, 6, 3);
  const Tensor<double, CSR<>> A({30, 25}), part({30, 25});
  const auto both = assign(A(i, j), D(i, j) * (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j));
  const std::string said = explain(both);
  EXPECT_TRUE(said.starts_with("A(i, j) = B(i, j) * C(i, j) where C(i, j) = D(i, k) * E(k, j)\n")) << said;
  EXPECT_NE(said.find("The part, which is computed first:\n\nA(i, j) = B(i, k) * C(k, j)"), std::string::npos)
      << said;
  EXPECT_NE(said.find("The statement that reads it:\n\nA(i, j) = B(i, j) * C(i, j)"), std::string::npos)
      << said;
  EXPECT_EQ(part.nnz(), 0);
  // The second statement is explained with the part as it will be.
  both.run();
  EXPECT_EQ(explain(both.consumer()).substr(explain(both.consumer()).rfind("needs at most")),
            said.substr(said.rfind("needs at most")));
  std::ostringstream written;
  written << both;
  EXPECT_EQ(written.str(), both.str());
}

TEST(Precompute, RefusesOtherTensorsAndTensorsOfTheStatement) {
  const auto B = spread<CSR<>>(12, 12, 3, 5), C = spread<CSR<>>(12, 12, 4, 7);
  const Tensor<double, CSR<>> A({12, 12}), W({12, 12});
  const auto statement = assign(A(i, j), B(i, j) + (B(i, k) * C(k, j)));
  EXPECT_THROW(statement.precompute(C(i, k) * B(k, j), W(i, j)), ScheduleError);
  EXPECT_THROW(statement.precompute(B(i, k) * C(k, j), A(i, j)), ScheduleError);
  EXPECT_THROW(statement.precompute(B(i, k) * C(k, j), B(i, j)), ScheduleError);
}

TEST(Precompute, RefusesMemoryThatATensorOfTheStatementHas) {
  const auto A = assemble<CSR<>>(Entries<double, 2>({4, 4}, {{{0, 1}, 2.0}, {{2, 3}, 3.0}}));
  const auto memory = make_array<double>("memory", 48);
  const auto B = wrap<DenseMatrix<>>({4, 4}, memory.data()),
             D = wrap<DenseMatrix<>>({4, 4}, memory.data() + 16);
  const Tensor<double, DenseMatrix<>> R({4, 4});
  const auto statement = assign(R(i, j), D(i, j) * (A(i, k) * B(k, j)));
  const auto refusal = [&](std::int64_t shift) {
    const auto W = wrap<DenseMatrix<>>({4, 4}, memory.data() + shift);
    try {
      statement.precompute(A(i, k) * B(k, j), W(i, j));
      return std::string();
    } catch (const ScheduleError& error) {
      return std::string(error.what());
    }
  };
  const std::string begin =
      "A(i, j) = B(i, j) * C(i, k) * D(k, j): the tensor for the precomputed part, E(i, j), shares memory "
      "with ";
  EXPECT_EQ(refusal(31), begin + "B(i, j): give the part memory of its own");
  EXPECT_EQ(refusal(17), begin + "B(i, j): give the part memory of its own");
  EXPECT_EQ(refusal(1), begin + "B(i, j): give the part memory of its own");
  EXPECT_EQ(refusal(32), "");
  const auto into_a_part = assign(B(i, j), D(i, j) * (A(i, k) * A(k, j)));
  EXPECT_THROW(
      into_a_part.precompute(A(i, k) * A(k, j), wrap<DenseMatrix<>>({4, 4}, memory.data() + 15)(i, j)),
      ScheduleError);
}

}  // namespace
}  // namespace sporos::test::precompute
