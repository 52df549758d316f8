// SPDX-License-Identifier: Apache-2.0
/// @file device_pool.cpp
/// Arrays of the GPU's pool: results that use memory again, kernels that still read what has been given back,
/// and no memory but what the pool holds.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"
#include "../pool_limit.hpp"

namespace sporos::test::cuda_device_pool {
namespace {

using namespace sporos::indices;

/// Copies an element after a while.
struct ReadLate {
  const double* from;
  double* to;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    double slow = static_cast<double>(at);
    for (int step = 0; step < 2000; ++step) slow = slow * 0.5 + 1.0;
    to[at] = slow > 1e9 ? slow : from[at];
  }
};

TEST(CudaDevicePool, GivesNewResultsTheMemoryOfFormerOnes) {
  const PoolLimit unchanged;
  const auto A = assemble<CSR<>>(random_entries<double, 2>({700, 700}, 9000, 1));
  const auto a = A.copy_to<Cuda>();
  const Tensor<double, CSR<>> expected({700, 700});
  expected(i, j) = A(i, k) * A(k, j);
  const auto product = [&] {
    Tensor<double, CSR<>, Cuda> result({700, 700});
    result(i, j) = a(i, k) * a(k, j);
    return result;
  };
  const void* const memory = product().values().data();
  EXPECT_GT(pool<Cuda>().bytes_held(), expected.nnz() * 8);
  for (int again = 0; again < 3; ++again) {
    const auto result = product();
    EXPECT_EQ(result.values().data(), memory);
    expect_equal_tensors(expected, result);
  }
  const auto kept = product(), other = product();
  EXPECT_NE(kept.values().data(), other.values().data());
  expect_equal_tensors(expected, kept);
  expect_equal_tensors(expected, other);

  pool<Cuda>().limit(0);
  EXPECT_EQ(pool<Cuda>().bytes_held(), 0);
  expect_equal_tensors(expected, product());
  EXPECT_EQ(pool<Cuda>().bytes_held(), 0);
}

TEST(CudaDevicePool, WaitsForKernelsThatReadWhatWasGivenBack) {
  const PoolLimit unchanged;
  constexpr std::int64_t count = 1 << 20;
  const auto streams = Kokkos::Experimental::partition_space(Cuda(), 1, 1);
  const auto seen = make_array<double, Kokkos::CudaSpace>("seen", count);
  for (int turn = 0; turn < 20; ++turn) {
    std::optional given = make_array<double, Kokkos::CudaSpace>("given back", count);
    Kokkos::deep_copy(*given, 1.0 + turn);
    const double* const from = given->data();
    Kokkos::parallel_for("reads late", Kokkos::RangePolicy<Cuda>(streams[0], 0, count),
                         ReadLate{from, seen.data()});
    given.reset();
    const auto again = make_array<double, Kokkos::CudaSpace>("used again", count);
    EXPECT_EQ(again.data(), from);
    Kokkos::deep_copy(streams[1], again, -1.0);
    Kokkos::fence();
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), seen);
    std::int64_t wrong = 0;
    for (std::int64_t at = 0; at < count; ++at) wrong += found(at) != 1.0 + turn;
    ASSERT_EQ(wrong, 0);
  }
}

TEST(CudaDevicePool, GivesUpWhatItHoldsWhereMemoryRunsOut) {
  const PoolLimit raised(std::int64_t{1} << 40);
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  const auto bytes = static_cast<std::int64_t>(free / 10 * 6);
  make_array<double, Kokkos::CudaSpace>("given back", bytes / 8);
  EXPECT_GE(pool<Cuda>().bytes_held(), bytes - 8);
  make_array<std::int64_t, Kokkos::CudaSpace>("of another type", bytes / 8);  // would not fit beside it
  EXPECT_THROW((make_array<float, Kokkos::CudaSpace>("more than there is", static_cast<std::int64_t>(total))),
               MemoryError);
}

TEST(CudaDevicePool, LetsSampledProductsKeepTheirValues) {
  const PoolLimit unchanged;
  const auto S = assemble<CSR<>>(random_entries<double, 2>({300, 200}, 3000, 1)).copy_to<Cuda>();
  const auto U = filled<double, DenseMatrix<>>({300, 16}, 2).copy_to<Cuda>();
  const auto V = filled<double, DenseMatrix<>>({200, 16}, 3).copy_to<Cuda>();
  const Tensor<double, CSR<>, Cuda> result({300, 200});
  result(i, j) = S(i, j) * U(i, k) * V(j, k);
  const void* const values = result.values().data();
  result(i, j) = S(i, j) * U(i, k) * V(j, k);
  EXPECT_EQ(result.values().data(), values);

  const Tensor<double, CSR<>, Cuda> sharing;
  sharing.replace(result.extents(), result.levels(), result.values());
  const auto before = sharing.copy_to<Host>();
  result(i, j) = S(i, j) * (U(i, k) + U(i, k)) * V(j, k);
  EXPECT_NE(result.values().data(), values);
  expect_equal_tensors(before, sharing);
}

}  // namespace
}  // namespace sporos::test::cuda_device_pool
