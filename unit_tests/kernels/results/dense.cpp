// SPDX-License-Identifier: Apache-2.0
/// @file dense.cpp
/// Results that scatter over several variables and fill a good part of their extents: gathered in dense
/// workspaces over all variables.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <string>
#include <utility>

#include "../kernel_of.hpp"
#include "reference.hpp"
#include "spread.hpp"

namespace sporos::test::dense_results {
namespace {

using namespace sporos::indices;

/// B * C by outer products, over `columns` columns, which need not fill words of marks.
template <class F, class Space = OpenMP>
void check(std::int64_t columns) {
  SCOPED_TRACE(F::str() + ", " + std::to_string(columns) + " columns");
  const auto B = spread<CSC<>>(60, 50, 4, 3).template move_to<Space>();
  const auto C = spread<CSR<>>(50, columns, 5, 7).template move_to<Space>();
  const Tensor<double, F, Space> A({60, columns}), expected({60, columns});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j);
  assign(expected(i, j), B(i, k) * C(k, j)).reorder(k, i, j).template use<ListedNest>().run();
  ASSERT_GT(expected.nnz(), 0);
  statement.template use<DenseNest>().run();
  expect_same_entries(A, expected);
  statement.workspace(dense_workspace).deterministic().run();
  expect_same_entries(A, expected);
  auto again = plan(statement.workspace(dense_workspace));
  again.run();
  again.run();
  expect_same_entries(A, expected);
}

TEST(DenseResults, OfMoreValuesThanPositionsCanNumberAreRefused) {
  Entries<double, 2> entries({300, 300}, 40000);
  for (std::int64_t e = 0; e < entries.size(); ++e) entries.set(e, {e % 300, e / 300}, 1.0);
  const auto B = assemble<CSR<>>(entries);
  const auto expect_refused = [&]<class F>(F) {
    SCOPED_TRACE(F::str());
    const auto A = assemble<F>(Entries<double, 2>({300, 300}, {{{5, 7}, 3.0}}));
    EXPECT_THROW(assign(A(j, i), B(i, j)).template use<DenseNest>().run(), RangeError);
    EXPECT_EQ(A.nnz(), 1);
    EXPECT_NO_THROW(validate(A));
    auto turned = plan(assign(A(j, i), B(i, j)));
    EXPECT_THROW(turned.run(), RangeError);
    EXPECT_EQ(A.nnz(), 1);
  };
  expect_refused(CSR<std::int16_t, std::int32_t>{});
  expect_refused(DCSR<std::int16_t, std::int32_t>{});
}

TEST(DenseResults, AreThoseOfOtherWorkspacesInAnyFormat) {
  for (const std::int64_t columns : {1, 8, 63, 64, 65, 200}) check<CSR<>>(columns);
  check<CSC<>>(65);
  check<COO<2>>(65);
  check<DCSR<>>(65);
  check<BCSR<3, 2>>(66);
  check<CSR<>, Serial>(65);
}

TEST(DenseResults, TakeTensorsOfAnyOrder) {
  Entries<double, 3> some({40, 30, 20}, 400);
  for (std::int64_t e = 0; e < 400; ++e)
    some.set(e, {e * 7 % 40, e * 11 % 30, e * 13 % 20}, static_cast<double>(e % 9 - 4));
  const auto T = assemble<CSF<3>>(some);
  const auto C = spread<CSR<>>(40, 25, 5, 3);
  const auto same = [&](const auto& R, const auto& expected) {
    assign(R(k, l, j), T(i, k, l) * C(i, j)).template use<DenseNest>().run();
    assign(expected(k, l, j), T(i, k, l) * C(i, j)).template use<ListedNest>().run();
    expect_same_entries(R, expected);
  };
  same(Tensor<double, CSF<3>>({30, 20, 25}), Tensor<double, CSF<3>>({30, 20, 25}));
  same(Tensor<double, COO<3>>({30, 20, 25}), Tensor<double, COO<3>>({30, 20, 25}));
  using Rows = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Compressed<>, Compressed<>>;
  same(Tensor<double, Rows>({30, 20, 25}), Tensor<double, Rows>({30, 20, 25}));
}

TEST(DenseResults, StoreWhatCancelsAndWhatIsNotANumber) {
  const auto B = assemble<CSC<>>(Entries<double, 2>({2, 3}, {{{0, 0}, 1}, {{0, 1}, -1}, {{1, 2}, 1}}));
  const auto C = assemble<CSR<>>(Entries<double, 2>(
      {3, 2}, {{{0, 1}, 2}, {{1, 1}, 2}, {{2, 0}, std::numeric_limits<double>::quiet_NaN()}}));
  const Tensor<double, CSR<>> A({2, 2});
  // What was in the memory of the workspace before does not matter: not even if it is not a number.
  const Tensor<double, CSR<>> before({2, 2});
  assign(before(i, j), B(i, k) * C(k, j)).use<DenseNest>().run();
  assign(A(i, j), B(i, k) * C(k, j)).use<DenseNest>().run();
  ASSERT_EQ(A.nnz(), 2);
  EXPECT_EQ(A.values()(0), 0.0);
  EXPECT_TRUE(std::isnan(A.values()(1)));
}

template <class Value>
void check_values() {
  const auto of = [](const auto& matrix) {
    const auto some = entries(matrix);
    Entries<Value, 2> out(some.extents, some.size());
    for (std::int64_t e = 0; e < some.size(); ++e)
      out.set(e, some.coordinate(e), Value(static_cast<int>(some.values[static_cast<std::size_t>(e)])));
    return out;
  };
  const auto B = assemble<CSC<>>(of(spread<CSR<>>(20, 30, 4, 3)));
  const auto C = assemble<CSR<>>(of(spread<CSR<>>(30, 40, 4, 5)));
  const Tensor<Value, CSR<>> A({20, 40}), expected({20, 40});
  assign(A(i, j), B(i, k) * C(k, j)).template use<DenseNest>().run();
  assign(expected(i, j), B(i, k) * C(k, j)).template use<ListedNest>().run();
  expect_same_entries(A, expected);
}
TEST(DenseResults, TakeValuesOfAnyType) {
  check_values<float>();
  check_values<std::int8_t>();
  check_values<std::uint64_t>();
  check_values<bool>();
  check_values<Kokkos::complex<double>>();
}

TEST(DenseResults, AreChosenWhereTheyAreExpectedToBeFull) {
  const auto chosen = [](std::int64_t columns, std::int64_t each) {
    const auto B = spread<CSC<>>(400, 400, each, 7);
    const auto C = spread<CSR<>>(400, columns, each, 11);
    const Tensor<double, CSR<>> A({400, columns});
    const Tensor<double, DenseVector> x({columns});
    return std::pair(candidate_of(assign(A(i, j), B(i, k) * C(k, j) * x(j)).reorder(k, i, j).generic()),
                     candidate_of(assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).generic()));
  };
  EXPECT_EQ(chosen(400, 100).first, "loop nest, dense workspace");
  EXPECT_EQ(chosen(1'000'000, 100).first, "loop nest, merged");
  EXPECT_EQ(chosen(100'000, 1).first, "loop nest, listed");
  // Multiples of fibers are merged faster than values are added up.
  EXPECT_EQ(chosen(400, 100).second, "loop nest, merged");
  EXPECT_EQ(chosen(1'000'000, 100).second, "loop nest, merged");
  EXPECT_EQ(chosen(100'000, 1).second, "loop nest, listed");
}

TEST(ScatteredResults, AreGatheredAsACountOfTermsSuggestsWhereSizesCannotTell) {
  // The rows of C and D have all columns in common, or none.
  const auto chosen = [](std::int64_t distance) {
    const auto rows = [](std::int64_t shift) {
      Entries<double, 2> out({1000, 2000}, 20'000);
      for (std::int64_t at = 0; at < out.size(); ++at)
        out.set(at, {at / 20, 100 * (at % 20) + at / 20 * 13 % 50 + shift}, 1.0);
      return assemble<CSR<>>(out);
    };
    const auto B = spread<CSC<>>(400, 1000, 50, 7);
    const auto C = rows(0), D = rows(distance);
    const Tensor<double, CSR<>> A({400, 2000});
    return candidate_of(assign(A(i, j), B(i, k) * C(k, j) * D(k, j)).reorder(k, i, j));
  };
  EXPECT_EQ(chosen(0), "loop nest, merged");
  EXPECT_EQ(chosen(50), "loop nest, listed");
}

TEST(DenseResults, AreNotChosenBeyondTheMemoryLimit) {
  const auto B = spread<CSC<>>(400, 400, 100, 7);
  const auto C = spread<CSR<>>(400, 400, 100, 11);
  const Tensor<double, CSR<>> A({400, 400});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j) * C(k, j)).reorder(k, i, j);
  EXPECT_EQ(candidate_of(statement.on(Resources<OpenMP>().within(100'000'000))),
            "loop nest, dense workspace");
  EXPECT_NE(candidate_of(statement.on(Resources<OpenMP>().within(1'000'000))), "loop nest, dense workspace");
}

TEST(Candidates, ThatKeepToTheMemoryAreTakenBeforeFasterOnes) {
  const auto statements = [](const auto& check) {
    const auto B = spread<CSC<>>(400, 400, 100, 7);
    const auto C = spread<CSR<>>(400, 400, 100, 11);
    const Tensor<double, CSR<>> A({400, 400});
    check(assign(A(i, j), B(i, k) * C(k, j) * C(k, j)).reorder(k, i, j));
    const auto D = spread<CSC<>>(50, 3000, 1, 7);
    const auto E = spread<CSR<>>(3000, 60, 2, 3);
    const Tensor<double, CSR<>> F({50, 60});
    check(assign(F(i, j), D(i, k) * E(k, j) * E(k, j)).reorder(k, i, j));
  };
  statements([](const auto& statement) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::string smallest;
    const auto look = [&]<class K>() {
      const auto most = estimate(statement.template use<K>());
      if (most.result + most.workspace >= least) return;
      least = most.result + most.workspace;
      smallest = K::name;
    };
    look.template operator()<DenseNest>();
    look.template operator()<MergedNest>();
    look.template operator()<ListedNest>();
    const Resources<OpenMP> any;
    EXPECT_EQ(candidate_of(statement.on(any.within(least))), smallest);
    EXPECT_EQ(plan(statement.on(any.within(least))).candidate(), smallest);
    EXPECT_NO_THROW(statement.on(any.within(least)).run());
    EXPECT_THROW(statement.on(any.within(least - 1)).run(), MemoryError);
  });
}

TEST(DenseResults, SayThatTheirWorkspaceCannotBeAllocated) {
  constexpr std::int64_t many = std::int64_t{1} << 40;
  using Wide = DCSR<std::int64_t, std::int64_t>;
  const auto B = assemble<DCSC<std::int64_t, std::int64_t>>(Entries<double, 2>({many, 3}, {{{7, 1}, 2.0}}));
  const auto C = assemble<Wide>(Entries<double, 2>({3, many}, {{{1, many - 1}, 5.0}}));
  const Tensor<double, Wide> A({many, many});
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j);
  EXPECT_TRUE(contains(message_of<MemoryError>([&] { statement.workspace(dense_workspace).run(); }),
                       "choose another with .workspace(coordinate_workspace)"));
  statement.run();
  EXPECT_EQ(A.nnz(), 1);
}

/// Whether an explanation has a line on how threads share the loops, which it has where there are several.
testing::AssertionResult has_line_on_threads(const std::string& explanation, const std::string& line) {
  if (contains(explanation, line + "\n") == (OpenMP().concurrency() > 1)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << OpenMP().concurrency() << " threads: " << explanation;
}

TEST(DenseResults, AreExplained) {
  const Tensor<double, CSR<>> A({60, 70});
  const auto B = spread<CSC<>>(60, 50, 4, 3);
  const auto C = spread<CSR<>>(50, 70, 5, 7);
  const auto said = explain(assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).workspace(dense_workspace));
  EXPECT_TRUE(
      contains(said, "dense workspace of order 2, 37.5 KiB a thread, inserted as (i, j), stored as (i, j)"))
      << said;
  EXPECT_TRUE(has_line_on_threads(said, "parallel: chunks of about equal nonzeros, a workspace each"));
  EXPECT_TRUE(contains(said, "A(i, j)     reduced   gathered  gathered  ")) << said;
  const auto in_order =
      explain(assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).workspace(dense_workspace).deterministic());
  EXPECT_TRUE(has_line_on_threads(in_order, "serial: one workspace gathers all values in order"));
}

TEST(ScatteredResults, AreExplainedByTheCandidateThatRunsTheLoops) {
  const Tensor<double, CSR<>> A({60, 70});
  const auto B = spread<CSC<>>(60, 50, 4, 3);
  const auto C = spread<CSR<>>(50, 70, 5, 7);
  const auto statement = assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j);
  const auto merged = explain(statement.use<MergedNest>());
  EXPECT_TRUE(has_line_on_threads(merged, "parallel: chunks of about equal nonzeros, inserted side by side"));
  EXPECT_TRUE(contains(merged, "A(i, j)     reduced   inserted  inserted  ")) << merged;
  const auto listed = explain(statement.use<ListedNest>());
  EXPECT_TRUE(has_line_on_threads(listed, "parallel: chunks of about equal nonzeros, a workspace each"));
  EXPECT_TRUE(contains(listed, "A(i, j)     reduced   listed    listed    ")) << listed;
  // A kernel runs in place of the loops that are described.
  const auto by_rows = explain(assign(A(i, j), B(i, k) * C(k, j)).use<SpgemmByRows>());
  EXPECT_TRUE(contains(by_rows, "in place of these loops")) << by_rows;
}

TEST(ResultsInOrder, AreExplainedByTheCandidateThatRunsTheLoops) {
  const Tensor<double, CSR<>> A({60, 70});
  const auto B = spread<CSR<>>(60, 50, 4, 3);
  const auto C = spread<CSR<>>(50, 70, 5, 7);
  const auto gathered = explain(assign(A(i, j), B(i, k) * C(k, j)).generic());
  EXPECT_TRUE(has_line_on_threads(gathered, "parallel: chunks of about equal nonzeros"));
  EXPECT_TRUE(contains(gathered, "A(i, j)     appended  reduced   gathered  ")) << gathered;
  const Tensor<double, SparseVector<>> y({70});
  const auto of_one_row = explain(assign(y(j), B(i, k) * C(k, j)).reorder(i, k, j));
  EXPECT_TRUE(has_line_on_threads(of_one_row, "serial: every chunk would write the same results"));
  EXPECT_TRUE(contains(of_one_row, "A(j)        reduced   reduced   gathered  ")) << of_one_row;
}

}  // namespace
}  // namespace sporos::test::dense_results
