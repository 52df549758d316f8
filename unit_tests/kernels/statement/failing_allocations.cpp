// SPDX-License-Identifier: Apache-2.0
/// @file failing_allocations.cpp
/// Each allocation of a statement fails once: it is a MemoryError or the statement does without, the result
/// is as it was or right, and the statement runs when there is memory again.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <sporos/sporos.hpp>
#include <string>
#include <utility>

#include "reference.hpp"
#include "sanitizers.hpp"

#if defined(__GLIBC__) && !defined(SPOROS_TEST_SANITIZED)
#include <dlfcn.h>

namespace sporos::test::failing_allocations {
namespace {

/// The number of allocations until one fails; none does where this is negative.
std::atomic<std::int64_t> until_failure{-1};

/// Whether an allocation fails that is made at the given place in the program's code. The libraries of OpenMP
/// end the program if theirs do, and Kokkos, which copies a label even to free an array, if this does.
bool fails(std::size_t bytes, const void* place) {
  constexpr std::size_t longer_than_labels = 256;
  if (until_failure.load(std::memory_order_relaxed) < 0 || bytes < longer_than_labels) return false;
  Dl_info library;
  if (dladdr(place, &library) && library.dli_fname && std::strstr(library.dli_fname, "omp")) return false;
  return until_failure.fetch_sub(1, std::memory_order_relaxed) == 0;
}

}  // namespace
}  // namespace sporos::test::failing_allocations

// All of the program's allocations come here.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) noexcept {
  if (!sporos::test::failing_allocations::fails(bytes, __builtin_return_address(0)))
    return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  if (!sporos::test::failing_allocations::fails(count * bytes, __builtin_return_address(0)))
    return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  if (!sporos::test::failing_allocations::fails(bytes, __builtin_return_address(0)))
    return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) noexcept {
  if (sporos::test::failing_allocations::fails(bytes, __builtin_return_address(0))) return ENOMEM;
  *to = __libc_memalign(alignment, bytes);
  return *to ? 0 : ENOMEM;
}
}

namespace sporos::test::failing_allocations {
namespace {

using namespace sporos::indices;

/// Runs a statement as often as it allocates, and has another of its allocations fail each time.
/// @param run  assigns to the result
template <class Result, class Run>
void expect_to_survive(const Result& result, const Run& run, bool must_allocate = true,
                       std::source_location caller = std::source_location::current()) {
  const testing::ScopedTrace where(caller.file_name(), static_cast<int>(caller.line()), "this statement");
  const Result before = result.template copy_to<typename Result::space_type>();
  const auto restore = [&] {
    const Result copy = before.template copy_to<typename Result::space_type>();
    result.replace(copy.extents(), copy.levels(), copy.values());
    pool().release();  // so that what it has had before is not there again
  };
  const auto was = table(before);
  run();
  const auto expected = table(result);
  EXPECT_FALSE(same(expected, was)) << "the statement must change its result";
  int refused = 0;
  for (std::int64_t allocation = 0;; ++allocation) {
    ASSERT_LT(allocation, 100'000);
    restore();
    std::string what;
    until_failure = allocation;
    try {
      run();
    } catch (const MemoryError&) {
      what = "MemoryError";
    } catch (const std::exception& error) {
      what = std::string("another exception: ") + error.what();
    }
    const bool failed = until_failure.exchange(-1) < 0;
    if (!failed) break;
    if (what.empty()) {
      ASSERT_TRUE(same(table(result), expected)) << "without allocation " << allocation;
      continue;
    }
    ++refused;
    ASSERT_EQ(what, "MemoryError") << "without allocation " << allocation;
    ASSERT_TRUE(same(table(result), was)) << "without allocation " << allocation;
    validate(result);
    run();
    ASSERT_TRUE(same(table(result), expected)) << "after failing without allocation " << allocation;
  }
  EXPECT_TRUE(refused > 0 || !must_allocate) << "no allocation has failed";
  restore();
}

/// n x n, three nonzeros a row.
template <class F>
auto matrix(std::int64_t n, std::int64_t stride) {
  Entries<double, 2> entries({n, n}, 3 * n);
  for (std::int64_t e = 0; e < 3 * n; ++e)
    entries.set(e, {e / 3, (e / 3 * 7 + e % 3 * stride) % n}, static_cast<double>(e % 9 + 1));
  return assemble<F>(entries);
}
auto tensor(std::int64_t n) {
  Entries<double, 3> entries({n, n, n}, 4 * n);
  for (std::int64_t e = 0; e < 4 * n; ++e)
    entries.set(e, {e * 3 % n, e * 11 % n, e * 7 % n}, static_cast<double>(e % 5 + 1));
  return assemble<CSF<3>>(entries);
}
template <class Result>
Result holding(Result result) {
  Entries<double, Result::order> entries(result.extents(), 1);
  entries.set(0, Extents<Result::order>{}, 7.0);
  result = assemble<typename Result::format_type>(entries);
  return result;
}

class WithoutAnAllocation : public testing::Test {
 protected:
  static constexpr std::int64_t n = 300;
  const Tensor<double, CSR<>> A = matrix<CSR<>>(n, 41), B = matrix<CSR<>>(n, 87);
  const Tensor<double, CSC<>> D = matrix<CSC<>>(n, 53);
  const Tensor<double, CSF<3>> T = tensor(60);
  const Tensor<double, CSR<>> C = holding(Tensor<double, CSR<>>({n, n}));
  const Tensor<double, DCSR<>> E = holding(Tensor<double, DCSR<>>({n, n}));
  const Tensor<double, COO<2>> L = holding(Tensor<double, COO<2>>({n, n}));
};

TEST_F(WithoutAnAllocation, SurviveAppendedAndGatheredResults) {
  expect_to_survive(C, [&] { C(i, j) = A(i, j) + B(i, j); });
  expect_to_survive(E, [&] { E(i, j) = A(i, j) * B(i, j) + A(i, j); });
  expect_to_survive(C, [&] { assign(C(i, j), A(i, k) * B(k, j)).generic().run(); });
  expect_to_survive(E,
                    [&] { assign(E(i, j), A(i, k) * B(k, j)).generic().workspace(sorted_workspace).run(); });
  expect_to_survive(L, [&] { assign(L(i, j), A(i, k) * B(k, j)).generic().run(); });
}

TEST_F(WithoutAnAllocation, SurviveProductsByRows) {
  expect_to_survive(C, [&] { C(i, j) = A(i, k) * B(k, j); });
  expect_to_survive(C, [&] { C(i, j) = D(i, k) * B(k, j); });
}

TEST_F(WithoutAnAllocation, SurviveListedResults) {
  const auto listed = [&](const auto& workspace) {
    expect_to_survive(
        L, [&] { assign(L(i, j), D(i, k) * B(k, j)).template use<ListedNest>().workspace(workspace).run(); });
  };
  listed(CoordinatePolicy{.settings = {.capacity = 200}});
  listed(CoordinatePolicy{.settings = {.capacity = 200, .pipelined = true}});
  listed(HashPolicy{.settings = {.capacity = 200}});
  listed(BucketPolicy{.settings = {.capacity = 200, .double_buffered = false}});
}

TEST_F(WithoutAnAllocation, SurviveMergedResults) {
  expect_to_survive(E, [&] { assign(E(i, j), D(i, k) * B(k, j)).template use<MergedNest>().run(); });
  expect_to_survive(E,
                    [&] { assign(E(i, j), D(i, k) * (B(k, j) + A(k, j))).template use<MergedNest>().run(); });
  const auto X = holding(Tensor<double, CSF<3>>({60, 60, 60}));
  const auto U = matrix<CSR<>>(60, 17);
  expect_to_survive(X, [&] { X(i, j, l) = T(i, j, k) * U(k, l); });
  expect_to_survive(X, [&] { X(l, j, i) = T(i, j, k) * U(k, l); });
}

TEST_F(WithoutAnAllocation, SurviveResultsGatheredInBlocks) {
  const auto X = holding(Tensor<double, CSF<3>>({60, 60, 60}));
  const auto U = matrix<CSR<>>(60, 17);
  const auto statement = assign(X(i, j, l), T(i, k, j) * U(k, l)).reorder(i, k, j, l);
  const auto hoisted = statement.use<HoistedNest>();
  expect_to_survive(X, [&] { hoisted.run(); });
  expect_to_survive(X, [&] { hoisted.workspace(dense_workspace).run(); });
  expect_to_survive(X, [&] { hoisted.workspace(CoordinatePolicy{.settings = {.capacity = 5}}).run(); });
  expect_to_survive(X, [&] { hoisted.workspace(HashPolicy{.settings = {.capacity = 5}}).run(); });
}

TEST_F(WithoutAnAllocation, SurviveDenseWorkspaces) {
  expect_to_survive(L, [&] { assign(L(i, j), D(i, k) * B(k, j)).workspace(dense_workspace).run(); });
  // Arrays that are too small for the pool.
  const auto E = holding(Tensor<double, COO<2>>({60, 60}));
  const auto U = matrix<CSC<>>(60, 17);
  const auto V = matrix<CSR<>>(60, 11);
  expect_to_survive(E, [&] { assign(E(i, j), U(i, k) * V(k, j)).workspace(dense_workspace).run(); });
}

TEST_F(WithoutAnAllocation, SurvivePlansAndWhatAddsToAResult) {
  const auto once = [](const auto& statement) {
    auto product = plan(statement);
    product.run();
  };
  expect_to_survive(C, [&] { once(assign(C(i, j), A(i, k) * B(k, j))); });
  expect_to_survive(E, [&] { once(assign(E(i, j), D(i, k) * B(k, j))); });
  expect_to_survive(C, [&] { C(i, j) += A(i, j); });
  expect_to_survive(C, [&] { C(i, j) += A(i, k) * B(k, j); });
}

TEST_F(WithoutAnAllocation, SurviveDenseResults) {
  const Tensor<double, DenseMatrix<>> M({n, n}), N({n, n});
  const Tensor<double, DenseVector> x({n}), y({n}), z({60});
  const Tensor<double, DenseMatrix<>> V({60, 60});
  for (std::int64_t q = 0; q < n * n; ++q) N.values().data()[q] = static_cast<double>(q % 7);
  for (std::int64_t q = 0; q < n; ++q) x.values().data()[q] = static_cast<double>(q % 5 + 1);
  for (std::int64_t q = 0; q < 60; ++q) z.values().data()[q] = 1.0;
  const bool shared = Host().concurrency() > 1;  // one thread allocates nothing beside the result
  expect_to_survive(M, [&] { M(i, j) = A(i, k) * N(k, j); }, false);
  expect_to_survive(M, [&] { M(i, j) = N(i, k) * A(k, j); }, shared);
  expect_to_survive(y, [&] { y(i) = D(i, j) * x(j); }, shared);
  expect_to_survive(y, [&] { y(j) = A(i, j) * x(i); }, shared);
  expect_to_survive(V, [&] { V(i, j) = T(i, j, k) * z(k); }, shared);
}

}  // namespace
}  // namespace sporos::test::failing_allocations

#endif
