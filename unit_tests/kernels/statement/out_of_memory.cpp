// SPDX-License-Identifier: Apache-2.0
/// @file out_of_memory.cpp
/// Statements whose memory cannot be allocated: the error is a MemoryError, whoever needed the memory, and
/// the result is as it was.
#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <source_location>
#include <sporos/sporos.hpp>
#include <string>

#include "reference.hpp"
#include "short_memory.hpp"

namespace sporos::test::out_of_memory {
namespace {

using namespace sporos::indices;

template <class Statement>
std::string refusal(const Statement& statement) {
  try {
    statement();
  } catch (const MemoryError& error) {
    return error.what();
  }
  return "ran";
}

#if defined(SPOROS_TEST_CAN_LIMIT_MEMORY)

/// Runs a statement with more and more memory, until there is enough.
/// @param nonzeros  of the result, which a plan's second run leaves as its first one made them
template <class Result, class Run>
void expect_memory_errors(const Result& result, const Run& run, std::int64_t nonzeros = -1,
                          std::source_location caller = std::source_location::current()) {
  const testing::ScopedTrace where(caller.file_name(), static_cast<int>(caller.line()), "this statement");
  std::int64_t values = result.nnz();
  run_with_more_and_more_memory(run, [&](const std::string& what) {
    EXPECT_TRUE(result.nnz() == values || result.nnz() == nonzeros) << what;
    EXPECT_TRUE(contains(what, "bytes")) << what;
    values = result.nnz();
  });
}

template <class F>
auto diagonals(std::int64_t n) {
  Entries<double, 2> entries({n, n}, 3 * n);
  for (std::int64_t e = 0; e < 3 * n; ++e)
    entries.set(e, {e / 3, (e / 3 * 7 + e % 3 * 1001) % n}, static_cast<double>(e % 9 + 1));
  return assemble<F>(entries);
}

void check_every_kind_of_result() {
  constexpr std::int64_t n = 20'000;
  const auto A = diagonals<CSR<>>(n);
  const auto B = diagonals<DCSR<>>(n);
  const auto D = diagonals<CSC<>>(n);
  const Tensor<double, CSR<>> C({n, n});
  const Tensor<double, DCSR<>> E({n, n});
  const Tensor<double, COO<2>> L({n, n});
  const Tensor<double, BCSR<2, 2>> blocks({n, n});
  expect_memory_errors(C, [&] { C(i, j) = A(i, k) * A(k, j); });
  expect_memory_errors(C, [&] { assign(C(i, j), A(i, k) * A(k, j)).generic().run(); });
  expect_memory_errors(E, [&] { E(i, j) = B(i, k) * B(k, j); });
  expect_memory_errors(E, [&] { E(i, j) = B(i, j) + A(i, j); });
  expect_memory_errors(L, [&] { L(i, j) = D(i, k) * A(k, j); });
  expect_memory_errors(C, [&] { assign(C(i, j), A(i, j) * 2).workspace(coordinate_workspace).run(); });
  expect_memory_errors(blocks, [&] { blocks(i, j) = A(i, j) + A(i, j); });
}
TEST(OutOfMemory, IsAMemoryErrorForEveryKindOfResult) { in_new_process(check_every_kind_of_result); }

void check_plans_and_dense_results() {
  constexpr std::int64_t n = 20'000;
  const auto A = diagonals<CSR<>>(n);
  const auto D = diagonals<CSC<>>(n);
  const Tensor<double, CSR<>> C({n, n});
  const Tensor<double, COO<2>> L({n, n});
  const Tensor<double, DenseVector> y({40 * n}), x({40 * n});
  const Tensor<double, CSR<>> made({n, n});
  made(i, j) = A(i, k) * A(k, j);
  const auto twice = [](const auto& statement) {
    auto product = plan(statement);
    product.run();
    product.run();
  };
  expect_memory_errors(C, [&] { twice(assign(C(i, j), A(i, k) * A(k, j))); }, made.nnz());
  expect_memory_errors(L, [&] { twice(assign(L(i, j), D(i, k) * A(k, j))); }, made.nnz());
  expect_memory_errors(y, [&] { y(i) = 2 * y(i) + x(i); });
}
TEST(OutOfMemory, IsAMemoryErrorForPlansAndForDenseResults) { in_new_process(check_plans_and_dense_results); }

void check_conversions() {
  const auto A = diagonals<CSR<>>(50'000);
  expect_memory_errors(A, [&] { convert<CSC<>>(A); });
  expect_memory_errors(A, [&] { convert<COO<2>>(A); });
  expect_memory_errors(A, [&] { convert<BCSR<2, 2>>(A); });
  expect_memory_errors(A, [&] { transpose(A); });
  expect_memory_errors(A, [&] { entries(A); });
  expect_memory_errors(A, [&] { diagonals<CSR<>>(50'000); });
  expect_memory_errors(A, [&] { diagonals<DCSC<>>(50'000); });
}
TEST(OutOfMemory, IsAMemoryErrorForConversions) { in_new_process(check_conversions); }

#endif

TEST(OutOfMemory, IsAMemoryErrorWhileAStatementIsPlanned) {
  const Tensor<double, DenseVector> x({100}), y({100});
  const auto statement = assign(y(i), 2.0 * x(i) + x(i));
  const auto what = refusal([&] { sporos::detail::step_of(statement, [] { throw std::bad_alloc(); }); });
  EXPECT_TRUE(contains(what, statement.str() +
                                 ": there is no memory to plan it beside its tensors, of 1.6 KiB "
                                 "(1600 bytes); this machine has "))
      << what;
}

TEST(ASparseResultThatNoOperandBounds, IsNamedBeforeItFillsMemory) {
  constexpr std::int64_t n = 400'000;
  Entries<double, 2> entries({n, n}, n);
  for (std::int64_t e = 0; e < n; ++e) entries.set(e, {e, e}, 1);
  const auto B = assemble<CSR<>>(entries);
  const Tensor<double, CSR<>> A({n, n});
  const std::string what = refusal([&] { A(i, j) = B(i, k); });
  EXPECT_TRUE(contains(what, "bounds the variable j, so each of its 400000 coordinates is stored")) << what;
  EXPECT_EQ(A.nnz(), 0);
  const Tensor<double, DenseVector> x({n});
  EXPECT_TRUE(contains(refusal([&] { A(i, j) = x(i) * x(j); }), "the variable j"));
  EXPECT_TRUE(contains(refusal([&] { A(i, j) = B(i, k) * B(k, j) + x(i); }), "the variable j"));
  EXPECT_TRUE(contains(refusal([&] { A(i, j) = map(everywhere([](double v) { return v + 1; }), B(i, j)); }),
                       "the variable j"));
  EXPECT_TRUE(contains(refusal([&] { plan(assign(A(i, j), B(i, k))).run(); }), "the variable j"));
}

#if defined(SPOROS_TEST_CAN_LIMIT_MEMORY)
TEST(ASparseResultThatNoOperandBounds, IsNamedWhereItFitsAndItsWorkspaceDoesNot) {
  constexpr std::int64_t columns = 1 << 20;
  const std::int64_t rows = Pool::machine_bytes() / 10 * 6 / (columns * 12);
  Entries<double, 2> entries({rows, 1}, rows);
  for (std::int64_t row = 0; row < rows; ++row) entries.set(row, {row, 0}, 1);
  const auto B = assemble<CSR<>>(entries);
  const Tensor<double, CSR<>> A({rows, columns});
  const Estimate most = estimate(assign(A(i, j), B(i, k)));
  ASSERT_LT(most.result, Pool::machine_bytes());
  ASSERT_GT(most.result + most.workspace, Pool::machine_bytes());
  const AddressSpaceLimit limit(1 << 28);  // so that it does not fill memory where it is not refused
  EXPECT_TRUE(contains(refusal([&] { A(i, j) = B(i, k); }),
                       "the variable j, so each of its 1048576 coordinates is stored, which takes up to "));
}
#endif

TEST(ASparseResultThatNoOperandBounds, IsNamedBeforeItsLoopsRunOverHugeExtents) {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  using Wide = DCSR<std::int64_t, std::int64_t>;
  const auto B = assemble<Wide>(Entries<double, 2>({n, n}, {{{7, n - 1}, 2}}));
  const Tensor<double, Wide> A({n, n});
  EXPECT_TRUE(contains(refusal([&] { A(i, j) = B(i, k); }), "the variable j"));
  EXPECT_TRUE(contains(refusal([&] { A(i, j) = map(everywhere([](double v) { return v + 1; }), B(i, j)); }),
                       "the variables i, j"));
}

TEST(Entries, ThatCannotBeAllocatedAreNotToldToChooseALevel) {
  const std::string what = refusal([] { Entries<double, 2>({9, 9}, std::int64_t{1} << 58); });
  EXPECT_TRUE(contains(what, "cannot be allocated: ")) << what;
  EXPECT_TRUE(contains(what, ". Free some memory, or assemble parts and add them")) << what;
}

TEST(ASparseResultThatNoOperandBounds, RunsWhereItFits) {
  const auto B = assemble<CSR<>>(Entries<double, 2>({3, 3}, {{{1, 1}, 4}, {{1, 2}, 5}}));
  const Tensor<double, CSR<>> A({3, 3});
  A(i, j) = B(i, k);
  EXPECT_EQ(A.nnz(), 3);
  EXPECT_EQ(at(A, {1, 0}), 9);
}

TEST(OutOfMemory, IsRefusedForDenseWorkspacesThatFillTheMachine) {
  using Wide = CSR<std::int64_t, std::int64_t>;
  // The system would grant them, and end the program when they are cleared.
  const std::int64_t many = Pool::machine_bytes() / 10;
  const auto B = assemble<Wide>(Entries<double, 2>({50, 3}, {{{0, 1}, 2.0}, {{49, 2}, 3.0}}));
  const auto C = assemble<Wide>(Entries<double, 2>({3, many}, {{{1, 7}, 5.0}, {{2, many - 1}, 7.0}}));
  const Tensor<double, Wide> A({50, many});
  const auto gathered = assign(A(i, j), B(i, k) * C(k, j)).use<GatheredNest>();
  EXPECT_TRUE(contains(refusal([&] { gathered.workspace(dense_workspace).run(); }), "cannot be allocated"));
  EXPECT_EQ(A.nnz(), 0);
  gathered.run();
  EXPECT_EQ(at(A, {49, many - 1}), 21.0);
}

/// What a statement would take is more than any machine has, and its bytes do not fit in 64 bits.
template <class Statement>
void expect_too_much(const Statement& statement) {
  const Estimate most = estimate(statement);
  EXPECT_GE(most.values, std::int64_t{1} << 48) << statement.str();
  EXPECT_GE(most.result, std::int64_t{1} << 50) << statement.str();
  EXPECT_GE(most.workspace, 0) << statement.str();
  EXPECT_TRUE(contains(refusal([&] { statement.run(); }), "takes more than there is")) << statement.str();
  EXPECT_EQ(statement.result().tensor().nnz(), 0);
}

TEST(OutOfMemory, IsEstimatedWhereItsBytesDoNotFitIn64Bits) {
  using Index = std::int64_t;
  using Wide = DCSR<Index, Index>;
  using Tree = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Compressed<Index, Index>, Compressed<Index, Index>,
                      Compressed<Index, Index>>;
  Entries<double, 2> entries({1000, 1000}, 5000);
  for (std::int64_t e = 0; e < entries.size(); ++e) entries.set(e, {e / 5, e * 7 % 1000}, 1.0);
  const auto B = assemble<CSR<>>(entries, Duplicates::sum);
  for (const int bits : {40, 50, 58, 61}) {
    SCOPED_TRACE(bits);
    const Index many = Index{1} << bits;
    const Tensor<double, Wide> tall({many, 1000}), wide({1000, many});
    const Tensor<double, Tree> cube({1000, many, many});
    expect_too_much(assign(wide(i, j), B(i, k)));
    expect_too_much(assign(wide(i, j), B(i, k)).reorder(i, k, j));
    expect_too_much(assign(tall(j, i), B(i, k)).reorder(i, k, j));
    expect_too_much(assign(tall(j, i), B(i, k)).reorder(i, k, j).template use<ListedNest>());
    expect_too_much(assign(cube(i, j, l), B(i, k)).reorder(i, k, l, j));
  }
}

}  // namespace
}  // namespace sporos::test::out_of_memory
