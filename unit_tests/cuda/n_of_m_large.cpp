// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_large.cpp
/// N:M and 2:4 products whose arrays have more than 2^31 elements: rows at their ends against sums on the
/// host.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <vector>

#include "kernels/kernel_of.hpp"

namespace sporos::test::n_of_m_large {
namespace {

using namespace sporos::indices;

constexpr std::int64_t past_32_bits = std::int64_t{1} << 31;

/// Small integers, so that sums in float are exact; no two rows next to each other are the same.
KOKKOS_FUNCTION int number(std::int64_t row, std::int64_t column) {
  return static_cast<int>((row * 5 + column * 3 + row / 7 * column) % 7) - 3;
}

template <class T>
struct FillMatrix {
  T* to;
  std::int64_t columns;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    to[at] = static_cast<T>(static_cast<float>(number(at / columns, at % columns)));
  }
};

template <class T>
void fill(const Array<T, gpu::Memory>& values, std::int64_t columns) {
  Kokkos::parallel_for("fill",
                       Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(
                           0, static_cast<std::int64_t>(values.extent(0))),
                       FillMatrix<T>{values.data(), columns});
}

bool has_memory(std::int64_t gigabytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess && free > static_cast<std::size_t>(gigabytes) << 30;
}

template <class T>
std::vector<float> row_of(const Tensor<T, DenseMatrix<>, Cuda>& matrix, std::int64_t row) {
  const std::int64_t columns = matrix.extent(1);
  const Array<T, gpu::Memory> there(matrix.values().data() + row * columns,
                                    static_cast<std::size_t>(columns));
  const auto here = copy_array<Kokkos::HostSpace>(there);
  std::vector<float> out(static_cast<std::size_t>(columns));
  for (std::size_t at = 0; at < out.size(); ++at) out[at] = static_cast<float>(here(at));
  return out;
}

template <class T>
void poison(const Tensor<T, DenseMatrix<>, Cuda>& matrix) {
  Kokkos::deep_copy(matrix.values(), static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
}

/// The sparse factor keeps more than 2^31 elements, the first two of each window.
TEST(CudaNofMLarge, ValuesOfATwoFourMatrix) {
  if (!has_memory(8)) GTEST_SKIP() << "needs 8 GB of device memory";
  constexpr std::int64_t m = 513 * 128, n = 40;
  static_assert(m * m / 2 > past_32_bits);
  const Tensor<half, TwoFour, Cuda> A({m, m});
  fill(A.values(), m / 2);
  constexpr std::uint8_t first_two_of_two_windows = 0x44;
  Kokkos::deep_copy(A.level<2>().indices, first_two_of_two_windows);
  const Tensor<half, DenseMatrix<>, Cuda> B({m, n});
  fill(B.values(), n);
  const Tensor<float, DenseMatrix<>, Cuda> C({m, n});
  poison(C);
  const auto product = assign(C(i, j), A(i, k) * B(k, j));
  EXPECT_EQ(kernel_of(product), "2:4 product on sparse tensor cores");
  product.run();
  for (const std::int64_t row : {std::int64_t{0}, std::int64_t{12345}, m - 200, m - 1}) {
    const auto sums = row_of(C, row);
    for (std::int64_t column = 0; column < n; ++column) {
      std::int64_t expected = 0;
      for (std::int64_t at = 0; at < m / 2; ++at)
        expected += number(row, at) * number(at / 2 * 4 + at % 2, column);
      ASSERT_EQ(sums[static_cast<std::size_t>(column)], static_cast<float>(expected))
          << row << ", " << column;
    }
  }
}

/// Results of more than 2^31 elements: the sparse factor on the left, by rows and by columns of the tiles.
TEST(CudaNofMLarge, ResultsOfTwoFourProducts) {
  constexpr std::int64_t m = 46400, inner = 64;
  static_assert(m * m > past_32_bits);
  if (!has_memory(8)) GTEST_SKIP() << "needs 8 GB of device memory";
  const Tensor<half, TwoFour, Cuda> A({m, inner});
  fill(A.values(), inner / 2);
  constexpr std::uint8_t first_two_of_two_windows = 0x44;
  Kokkos::deep_copy(A.level<2>().indices, first_two_of_two_windows);
  const Tensor<half, DenseMatrix<>, Cuda> X({m, inner}), C({m, m});
  fill(X.values(), inner);
  const auto sum = [](std::int64_t of_a, std::int64_t of_x) {
    int out = 0;
    for (std::int64_t at = 0; at < inner / 2; ++at)
      out += number(of_a, at) * number(of_x, at / 2 * 4 + at % 2);
    return static_cast<float>(out);
  };
  for (const bool is_turned : {false, true}) {
    poison(C);
    if (is_turned)
      C(i, j) = X(i, k) * A(j, k);
    else
      C(i, j) = A(i, k) * X(j, k);
    for (const std::int64_t row : {std::int64_t{0}, m - 129, m - 1}) {
      const auto sums = row_of(C, row);
      for (std::int64_t column = 0; column < m; ++column)
        ASSERT_EQ(sums[static_cast<std::size_t>(column)], is_turned ? sum(column, row) : sum(row, column))
            << row << ", " << column;
    }
  }
}

TEST(CudaNofMLarge, ResultsOfProductsByUnits) {
  constexpr std::int64_t m = 46400, inner = 64;
  if (!has_memory(8)) GTEST_SKIP() << "needs 8 GB of device memory";
  const Tensor<half, DenseMatrix<>, Cuda> A({m, inner}), dense({inner, m}), C({m, m});
  fill(A.values(), inner);
  fill(dense.values(), m);
  const auto B = prune<NM<2, 4, 32>>(dense);
  const auto kept = convert<DenseMatrix<>>(B.copy_to<Host>());
  poison(C);
  C(i, j) = A(i, k) * B(k, j);
  for (const std::int64_t row : {std::int64_t{0}, m - 129, m - 1}) {
    const auto sums = row_of(C, row);
    for (std::int64_t column = 0; column < m; ++column) {
      float expected = 0;
      for (std::int64_t at = 0; at < inner; ++at)
        expected += static_cast<float>(number(row, at)) * static_cast<float>(kept.values()(at * m + column));
      ASSERT_EQ(sums[static_cast<std::size_t>(column)], expected) << row << ", " << column;
    }
  }
}

}  // namespace
}  // namespace sporos::test::n_of_m_large
