// SPDX-License-Identifier: Apache-2.0
/// @file large.cpp
/// Products with matrices of more than 2^31 nonzeros, whose positions take 64 bits: every sum against one
/// that the GPU computes from the formulas of the operands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/kernels/spmm/cuda/dot_products_candidate.hpp>
#include <sporos/sporos.hpp>
#include <string>
#include <string_view>

#include "../device_memory.hpp"

namespace sporos::test::spmm_large {
namespace {

using namespace sporos::indices;
using testing::HasSubstr;

/// The pattern: rows of 2048 nonzeros, one in every 32 columns, and a last row that is full.
constexpr std::int64_t in_row = 2048, apart = 32, inner = in_row * apart;
constexpr std::int64_t rows = (std::int64_t{1} << 20) + 1000;
constexpr std::int64_t nonzeros = (rows - 1) * in_row + inner;
constexpr std::int64_t columns = 8;
static_assert(nonzeros > std::int64_t{1} << 31);

KOKKOS_FUNCTION std::int64_t first_of(std::int64_t row) { return row < rows ? row * in_row : nonzeros; }
KOKKOS_FUNCTION std::int64_t count_of(std::int64_t row) { return row + 1 < rows ? in_row : inner; }
/// The column of nonzero `at` of a row.
KOKKOS_FUNCTION std::int64_t column_of(std::int64_t row, std::int64_t at) {
  return row + 1 < rows ? at * apart + (row * 5 + at * 3) % apart : at;
}
/// Small integers, so that sums in float are exact.
KOKKOS_FUNCTION int value_at(std::int64_t row, std::int64_t at) {
  return static_cast<int>((row * 5 + at * 3 + row / 7 * at) % 7) - 3;
}
KOKKOS_FUNCTION int dense_at(std::int64_t row, std::int64_t column) {
  return static_cast<int>((row * 3 + column * 5 + row / 11) % 5) - 2;
}

struct FillPositions {
  std::int64_t* positions;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const { positions[row] = first_of(row); }
};
struct FillNonzeros {
  std::int32_t* coordinates;
  half* values;
  KOKKOS_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t row = place / in_row < rows - 1 ? place / in_row : rows - 1,
                       at = place - first_of(row);
    coordinates[place] = static_cast<std::int32_t>(column_of(row, at));
    values[place] = static_cast<half>(static_cast<float>(value_at(row, at)));
  }
};
/// [inner, columns], or its transpose.
template <class T>
struct FillDense {
  T* to;
  bool is_turned;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const int number = is_turned ? dense_at(at % inner, at / inner) : dense_at(at / columns, at % columns);
    to[at] = static_cast<T>(static_cast<float>(number));
  }
};

/// Counts wrong sums of a row; sums of a column lie `of_row` and `of_column` apart.
struct CountWrongRows {
  const float* sums;
  std::int64_t of_row, of_column, width;
  KOKKOS_FUNCTION void operator()(std::int64_t at, std::int64_t& wrong) const {
    const std::int64_t row = at / width, column = at % width;
    int sum = 0;
    for (std::int64_t place = 0; place < count_of(row); ++place)
      sum += value_at(row, place) * dense_at(column_of(row, place), column);
    wrong += sums[row * of_row + column * of_column] == static_cast<float>(sum) ? 0 : 1;
  }
};
/// Counts wrong sums of the transpose, [inner, columns], whose other factor has `rows` rows.
struct CountWrongColumns {
  const float* sums;
  KOKKOS_FUNCTION void operator()(std::int64_t at, std::int64_t& wrong) const {
    const std::int64_t of = at / columns, column = at % columns, place = of / apart;
    // Rows with a nonzero here are 5 * row = of - 3 * place (mod 32); 5 * 13 = 1 (mod 32).
    const std::int64_t first = ((of - place * 3) % apart + apart) * 13 % apart;
    int sum = 0;
    for (std::int64_t row = first; row < rows - 1; row += apart)
      sum += value_at(row, place) * dense_at(row, column);
    sum += value_at(rows - 1, of) * dense_at(rows - 1, column);
    wrong += sums[at] == static_cast<float>(sum) ? 0 : 1;
  }
};

using Range = Kokkos::RangePolicy<Cuda, Kokkos::IndexType<std::int64_t>>;

template <class F>
std::int64_t counted(std::int64_t count, const F& wrong) {
  std::int64_t out = 0;
  Kokkos::parallel_reduce("wrong sums", Range(0, count), wrong, out);
  return out;
}

template <class T>
void poison(const T& tensor) {
  Kokkos::deep_copy(tensor.values(), std::numeric_limits<float>::quiet_NaN());
}

using Matrix = Tensor<half, CSR<>, Cuda>;

Matrix matrix() {
  const auto positions = make_array<std::int64_t, gpu::Memory>("positions", rows + 1);
  const auto coordinates = make_array<std::int32_t, gpu::Memory>("coordinates", nonzeros);
  const auto values = make_array<half, gpu::Memory>("values", nonzeros);
  Kokkos::parallel_for("positions", Range(0, rows + 1), FillPositions{positions.data()});
  Kokkos::parallel_for("nonzeros", Range(0, nonzeros), FillNonzeros{coordinates.data(), values.data()});
  Kokkos::fence();
  Matrix::level_storage levels;
  std::get<0>(levels).extent = rows;
  std::get<1>(levels) = {positions, coordinates};
  return {{rows, inner}, std::move(levels), values};
}

/// [height, width], of the formula or of its transpose.
template <class T>
Tensor<T, DenseMatrix<>, Cuda> dense(std::int64_t height, std::int64_t width, bool is_turned) {
  const Tensor<T, DenseMatrix<>, Cuda> out({height, width});
  Kokkos::parallel_for("dense", Range(0, height * width), FillDense<T>{out.values().data(), is_turned});
  return out;
}

template <class K, class S>
void expect_declined(const S& statement, std::string_view reason) {
  const Offer offer = detail::offer_of<K>(statement.template use<K>());
  EXPECT_FALSE(offer.takes()) << K::name;
  EXPECT_THAT(std::string(offer.reason()), HasSubstr(std::string(reason))) << K::name;
}

/// By each kernel that takes so many nonzeros, as a statement and as a plan; the others say why not.
TEST(CudaSpmmLarge, PositionsOf64Bits) {
  if (!has_memory(40)) GTEST_SKIP() << "needs 40 GB of device memory";
  const Matrix A = matrix();
  const auto B = dense<half>(inner, columns, false);
  const Tensor<float, DenseMatrix<>, Cuda> C({rows, columns});
  const auto product = assign(C(i, j), A(i, k) * B(k, j));
  const auto expect = [&](const char* what) {
    Kokkos::fence();
    EXPECT_EQ(counted(rows * columns, CountWrongRows{C.values().data(), columns, 1, columns}), 0) << what;
    poison(C);
  };
  poison(C);
  product.run();
  expect("the fastest candidate");
  product.use<gpu::SpmmByGroups>().run();
  expect("by groups of lanes");
  {
    auto by_groups = plan(product.use<gpu::SpmmByGroups>());
    by_groups.run();
    expect("by groups of lanes, first run of a plan");
    by_groups.run();
    expect("by groups of lanes, second run of a plan");
  }
  if (const auto by_dots = product.use<gpu::SpmmByDotProducts>();
      detail::offer_of<gpu::SpmmByDotProducts>(by_dots).takes()) {
    by_dots.run();
    expect("by dot products");
  }
  expect_declined<gpu::SpmmOnTensorCores>(product, "too many columns or nonzeros");
}

/// The same with the sparse factor on the right, into rows of the result.
TEST(CudaSpmmLarge, ResultsByColumns) {
  if (!has_memory(40)) GTEST_SKIP() << "needs 40 GB of device memory";
  const Matrix A = matrix();
  const auto X = dense<half>(columns, inner, true);
  const Tensor<float, DenseMatrix<>, Cuda> Y({columns, rows});
  for (const bool is_named : {false, true}) {
    poison(Y);
    const auto product = assign(Y(i, j), X(i, k) * A(j, k));
    is_named ? product.use<gpu::SpmmIntoColumns>().run() : product.run();
    Kokkos::fence();
    EXPECT_EQ(counted(rows * columns, CountWrongRows{Y.values().data(), 1, rows, columns}), 0) << is_named;
  }
}

/// The matrix is turned first: its entries are sorted by their numbers, which take 64 bits.
TEST(CudaSpmmLarge, TransposesOfTheMatrix) {
  if (!has_memory(110)) GTEST_SKIP() << "needs 110 GB of device memory";
  const Matrix A = matrix();
  const Tensor<half, DenseMatrix<>, Cuda> B({rows, columns});
  Kokkos::parallel_for("dense", Range(0, rows * columns), FillDense<half>{B.values().data(), false});
  const Tensor<float, DenseMatrix<>, Cuda> C({inner, columns});
  poison(C);
  assign(C(i, j), A(k, i) * B(k, j)).use<gpu::SpmmByGroups>().run();
  Kokkos::fence();
  EXPECT_EQ(counted(inner * columns, CountWrongColumns{C.values().data()}), 0);
  pool<Cuda>().release();
}

TEST(CudaSpmmLarge, ProductsWithAVector) {
  if (!has_memory(40)) GTEST_SKIP() << "needs 40 GB of device memory";
  const Matrix A = matrix();
  const Tensor<half, DenseVector, Cuda> x({inner});
  const auto B = dense<half>(inner, columns, false);
  x(i) = B(i, 0);
  const Tensor<float, DenseVector, Cuda> y({rows});
  for (const bool is_planned : {false, true}) {
    poison(y);
    const auto product = assign(y(i), A(i, k) * x(k)).use<gpu::SpmvByTiles>();
    is_planned ? plan(product).run() : product.run();
    Kokkos::fence();
    EXPECT_EQ(counted(rows, CountWrongRows{y.values().data(), 1, 1, 1}), 0) << is_planned;
  }
}

}  // namespace
}  // namespace sporos::test::spmm_large
