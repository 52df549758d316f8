// SPDX-License-Identifier: Apache-2.0
/// @file large.cpp
/// N:M and 2:4 products whose arrays have more than 2^31 elements: rows at their ends against sums on the
/// host.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <vector>

#include "../device_memory.hpp"
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

/// Results of more than 2^31 elements.
template <class Candidate, class Value, class F>
void expect_results() {
  constexpr std::int64_t m = 46400, inner = 64;
  const Tensor<Value, DenseMatrix<>, Cuda> A({m, inner}), dense({inner, m}), C({m, m});
  fill(A.values(), inner);
  fill(dense.values(), m);
  const auto B = prune<F>(dense);
  const auto kept = convert<DenseMatrix<>>(B.template copy_to<Host>());
  poison(C);
  assign(C(i, j), A(i, k) * B(k, j)).template use<Candidate>().run();
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
TEST(CudaNofMLarge, ResultsOfProductsByUnits) {
  if (!has_memory(8)) GTEST_SKIP() << "needs 8 GB of device memory";
  expect_results<gpu::NmByGathering, half, NM<2, 4, 32>>();
  expect_results<gpu::NmByGathering, half, NM<2, 4, 128>>();
}
TEST(CudaNofMLarge, ResultsOfProductsOfFloats) {
  if (!has_memory(12)) GTEST_SKIP() << "needs 12 GB of device memory";
  expect_results<gpu::NmByGathering, float, NM<2, 4, 32>>();
  expect_results<gpu::NmByBlocks, float, NM<2, 4, 32>>();
  expect_results<gpu::NmByBlocks, float, NM<1, 4, 32>>();
  expect_results<gpu::NmByGathering, float, NM<2, 4>>();
}

/// Indices of the first two places of each window.
struct FirstTwo {
  std::uint8_t* to;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const { to[at] = static_cast<std::uint8_t>(at % 2); }
};
/// An N:M matrix of k x n that keeps the first two of each window of four: value `at` of column `column`
/// among all kept rows is number(at, column).
template <class T, class F>
struct FillUnits {
  NmView<T> b;
  T* values;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const std::int64_t row = at / b.columns, column = at % b.columns;
    const std::int64_t place = (b.position(row / 2, column / b.unit) + row % 2) * b.unit + column % b.unit;
    values[place] = static_cast<T>(static_cast<float>(number(row, column)));
  }
};
template <class T, class F>
Tensor<T, F, Cuda> first_two_of_four(std::int64_t rows, std::int64_t columns) {
  const Tensor<T, F, Cuda> out({rows, columns});
  const auto count = [](std::int64_t size) {
    return Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(0, size);
  };
  const auto& indices = out.template level<2>().indices;
  Kokkos::parallel_for("indices", count(static_cast<std::int64_t>(indices.extent(0))),
                       FirstTwo{indices.data()});
  Kokkos::parallel_for("values", count(rows / 2 * columns),
                       FillUnits<T, F>{nm_view(out), out.values().data()});
  return out;
}

/// The sparse factor keeps more than 2^31 elements.
template <class Candidate, class Value, class F>
void expect_sparse_factors() {
  constexpr std::int64_t inner = 513 * 128, m = 40;
  static_assert(inner * inner / 2 > past_32_bits);
  const auto B = first_two_of_four<Value, F>(inner, inner);
  const Tensor<Value, DenseMatrix<>, Cuda> A({m, inner});
  fill(A.values(), inner);
  const Tensor<float, DenseMatrix<>, Cuda> C({m, inner});
  poison(C);
  assign(C(i, j), A(i, k) * B(k, j)).template use<Candidate>().run();
  for (const std::int64_t row : {std::int64_t{0}, m - 1}) {
    const auto sums = row_of(C, row);
    for (const std::int64_t column : {std::int64_t{0}, inner / 2 + 5, inner - 33, inner - 1}) {
      std::int64_t expected = 0;
      for (std::int64_t at = 0; at < inner / 2; ++at)
        expected += number(row, at / 2 * 4 + at % 2) * number(at, column);
      ASSERT_EQ(sums[static_cast<std::size_t>(column)], static_cast<float>(expected))
          << row << ", " << column;
    }
  }
}
TEST(CudaNofMLarge, SparseFactors) {
  if (!has_memory(12)) GTEST_SKIP() << "needs 12 GB of device memory";
  expect_sparse_factors<gpu::NmByGathering, half, NM<2, 4, 32>>();
  expect_sparse_factors<gpu::NmByGathering, half, NM<2, 4, 128>>();
}
TEST(CudaNofMLarge, SparseFactorsOfFloats) {
  if (!has_memory(30)) GTEST_SKIP() << "needs 30 GB of device memory";
  expect_sparse_factors<gpu::NmByGathering, float, NM<2, 4, 32>>();
  expect_sparse_factors<gpu::NmByBlocks, float, NM<2, 4, 32>>();
  expect_sparse_factors<gpu::NmByGathering, float, NM<2, 4>>();
}

/// Numbers in the first and last thousand columns, zeros between, so that sums are exact.
struct FillEnds {
  static constexpr std::int64_t ends = 1000;
  float* to;
  std::int64_t columns;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const std::int64_t column = at % columns;
    to[at] = column < ends || column >= columns - ends ? static_cast<float>(number(at / columns, column)) : 0;
  }
};

/// The dense factor has more than 2^31 elements, in few rows. (Plans take teams for small results and no such
/// k: their kernel is called as it is.)
TEST(CudaNofMLarge, DenseFactors) {
  if (!has_memory(60)) GTEST_SKIP() << "needs 60 GB of device memory";
  constexpr std::int64_t m = 33, n = 64, inner = (std::int64_t{1} << 26) + 64;
  static_assert(m * inner > past_32_bits);
  using Format = NM<2, 4, 32>;
  const auto B = first_two_of_four<float, Format>(inner, n);
  const Tensor<float, DenseMatrix<>, Cuda> A({m, inner}), C({m, n});
  Kokkos::parallel_for("ends", Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>(0, m * inner),
                       FillEnds{A.values().data(), inner});
  const auto expect_sums = [&] {
    for (const std::int64_t row : {std::int64_t{0}, m - 1}) {
      const auto sums = row_of(C, row);
      for (std::int64_t column = 0; column < n; ++column) {
        std::int64_t expected = 0;
        const auto add = [&](std::int64_t at) {
          const std::int64_t dense_row = at / 2 * 4 + at % 2;
          if (dense_row < FillEnds::ends || dense_row >= inner - FillEnds::ends)
            expected += number(row, dense_row) * number(at, column);
        };
        for (std::int64_t at = 0; at < FillEnds::ends; ++at) add(at);
        for (std::int64_t at = inner / 2 - FillEnds::ends; at < inner / 2; ++at) add(at);
        ASSERT_EQ(sums[static_cast<std::size_t>(column)], static_cast<float>(expected))
            << row << ", " << column;
      }
    }
  };
  poison(C);
  assign(C(i, j), A(i, k) * B(k, j)).use<gpu::NmByBlocks>().run();
  expect_sums();
  poison(C);
  assign(C(i, j), A(i, k) * B(k, j)).use<gpu::NmByGathering>().run();
  expect_sums();

  using Config = gpu::NmTeamConfig<float, true, 4, 8, true, 2, 4>;
  constexpr gpu::NmChunks cut = Config::cut(2, 4);
  const gpu::NmChunkLayout layout = Config::layout(cut);
  const Array<char, gpu::Memory> packed("packed", static_cast<std::size_t>(layout.bytes(inner, n)));
  gpu::pack_chunks<float>(Cuda(), nm_view(B), layout, packed.data());
  gpu::NmTeamProduct<float, NoEpilogue<float>> product{};
  product.m = m;
  product.n = n;
  product.packed = packed.data();
  product.c = C.values().data();
  product.set_config<Config>(cut, inner);
  poison(C);
  gpu::nm_team_product<Config>(Cuda(), product, cut, A.values().data(), {inner, m, inner, 1});
  expect_sums();
}

}  // namespace
}  // namespace sporos::test::n_of_m_large
