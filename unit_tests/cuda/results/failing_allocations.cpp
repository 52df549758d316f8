// SPDX-License-Identifier: Apache-2.0
/// @file failing_allocations.cpp
/// Each allocation on the GPU of a statement with a sparse result, or with a dense factor, fails once: it is
/// a MemoryError, the result is as it was, and the statement runs when there is memory again.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>

#include "../inputs.hpp"
#include "../pool_limit.hpp"

namespace sporos::test::failing_allocations {
namespace {

/// The number of allocations until one fails; none does where this is negative.
std::atomic<std::int64_t> until_failure{-1};

}  // namespace
}  // namespace sporos::test::failing_allocations

// The linker lets all of the program's calls of cudaMalloc come here.
extern "C" {
cudaError_t __real_cudaMalloc(void** to, std::size_t bytes);
cudaError_t __wrap_cudaMalloc(void** to, std::size_t bytes) {
  auto& left = sporos::test::failing_allocations::until_failure;
  if (left.load() >= 0 && left.fetch_sub(1) == 0) return cudaErrorMemoryAllocation;
  return __real_cudaMalloc(to, bytes);
}
}

namespace sporos::test::failing_allocations {
namespace {

using namespace sporos::indices;

/// Runs a statement as often as it allocates, and has another of its allocations fail each time.
/// @param write  write(result) makes the statement
template <class F, class Write>
void expect_to_survive(const Tensor<double, F>& expected, const Write& write) {
  const auto before =
      assemble<F>(Entries<double, F::order>(expected.extents(), {{Extents<F::order>{}, 7.0}}));
  const PoolLimit none(0);
  int refused = 0;
  for (std::int64_t allocation = 0;; ++allocation) {
    ASSERT_LT(allocation, 10'000);
    const auto result = on_device(before);
    const auto statement = write(result).on(Resources<Cuda>(Cuda()));
    std::string what;
    until_failure = allocation;
    try {
      statement.run();
    } catch (const MemoryError&) {
      what = "MemoryError";
    } catch (const std::exception& error) {
      what = std::string("another exception: ") + error.what();
    }
    const bool failed = until_failure.exchange(-1) < 0;
    if (!failed) break;
    if (what.empty()) {
      expect_equal_tensors(expected, result);
      continue;
    }
    ++refused;
    ASSERT_EQ(what, "MemoryError") << "without allocation " << allocation;
    expect_equal_tensors(before, result);
    statement.run();
    expect_equal_tensors(expected, result);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(refused, 0) << "no allocation has failed";
}

TEST(CudaStatementsWithoutAnAllocation, LeaveSparseResultsAsTheyWere) {
  const auto A = assemble<CSR<>>(random_entries<double, 2>({60, 50}, 400, 1));
  const auto B = assemble<CSR<>>(random_entries<double, 2>({50, 40}, 400, 2));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({60, 50}, 300, 3));
  const auto D = convert<CSC<>>(A);
  const auto a = on_device(A), b = on_device(B), c = on_device(C);
  const auto d = on_device(D);
  const Tensor<double, CSR<>> product({60, 40}), sum({60, 50});
  product(i, j) = A(i, k) * B(k, j);
  sum(i, j) = A(i, j) + C(i, j);
  {
    SCOPED_TRACE("product by rows");
    expect_to_survive(product, [&](const auto& result) { return assign(result(i, j), a(i, k) * b(k, j)); });
  }
  {
    SCOPED_TRACE("sum");
    expect_to_survive(sum, [&](const auto& result) { return assign(result(i, j), a(i, j) + c(i, j)); });
  }
  {
    SCOPED_TRACE("outer product");
    expect_to_survive(product,
                      [&](const auto& result) { return assign(result(i, j), d(i, k) * b(k, j)).generic(); });
  }
  {
    SCOPED_TRACE("outer product in batches");
    expect_to_survive(product, [&](const auto& result) {
      return assign(result(i, j), d(i, k) * b(k, j))
          .workspace(CoordinatePolicy{.settings = {.capacity = 500}});
    });
  }
}

/// Products that copy or pack an operand, and sampled ones, which look for rows.
TEST(CudaStatementsWithoutAnAllocation, LeaveProductsWithDenseFactorsAsTheyWere) {
  const auto A = assemble<CSR<>>(random_entries<double, 2>({60, 50}, 400, 1));
  const auto X = filled<double, DenseMatrix<>>({50, 20}, 2);
  const auto U = filled<double, DenseMatrix<>>({60, 16}, 3);
  const auto V = filled<double, DenseMatrix<>>({50, 16}, 4);
  const Tensor<double, DenseMatrix<>> product({60, 20});
  const Tensor<double, COO<2>> sampled({60, 50});
  product(i, j) = A(i, k) * X(k, j);
  const auto listed = convert<COO<2>>(A);
  sampled(i, j) = listed(i, j) * U(i, k) * V(j, k);
  const auto by_columns = on_device(convert<CSC<>>(A));
  const auto a = on_device(listed);
  const auto x = on_device(X), u = on_device(U), v = on_device(V);
  {
    SCOPED_TRACE("a copy by rows");
    expect_to_survive(product, [&](const auto& result) {
      return assign(result(i, j), by_columns(i, k) * x(k, j)).template use<gpu::SpmmByGroups>();
    });
  }
  {
    SCOPED_TRACE("packed windows");
    expect_to_survive(product, [&](const auto& result) {
      return assign(result(i, j), by_columns(i, k) * x(k, j)).template use<gpu::SpmmByWindows>();
    });
  }
  {
    SCOPED_TRACE("padded rows");
    expect_to_survive(product, [&](const auto& result) {
      return assign(result(i, j), by_columns(i, k) * x(k, j)).template use<gpu::SpmmByPaddedRows>();
    });
  }
  {
    SCOPED_TRACE("a sampled product");
    expect_to_survive(sampled,
                      [&](const auto& result) { return assign(result(i, j), a(i, j) * u(i, k) * v(j, k)); });
  }
}

TEST(CudaStatementsWithoutAnAllocation, LeaveResultsOfLongExtentsAsTheyWere) {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  using Rows = DCSR<std::int64_t, std::int64_t>;
  using Columns = DCSC<std::int64_t, std::int64_t>;
  Entries<double, 2> left({n, 20}, 60), right({20, n}, 60);
  for (std::int64_t e = 0; e < 60; ++e) {
    left.set(e, {e * (n / 60), e % 20}, static_cast<double>(e % 5 + 1));
    right.set(e, {e % 20, n - 1 - e * (n / 60)}, static_cast<double>(e % 7 + 1));
  }
  const auto B = assemble<Columns>(left);
  const auto C = assemble<Rows>(right);
  const Tensor<double, Rows> product({n, n});
  product(i, j) = B(i, k) * C(k, j);
  const auto b = on_device(B);
  const auto c = on_device(C);
  for (const std::int64_t capacity : {50, 100'000})
    expect_to_survive(product, [&](const auto& result) {
      return assign(result(i, j), b(i, k) * c(k, j))
          .workspace(CoordinatePolicy{.settings = {.capacity = capacity}});
    });
}

}  // namespace
}  // namespace sporos::test::failing_allocations
