// SPDX-License-Identifier: Apache-2.0
/// @file narrow_units.cpp
/// N:M products on tensor cores whose units have multiples of 16 or 8 columns, not of 32, against sums in
/// double on the host.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <sstream>

#include "products.hpp"

namespace sporos::test::narrow_units {
namespace {

using namespace sporos::indices;
using Candidate = gpu::NmByGathering;

TEST(CudaNofMInNarrowUnits, Of16Columns) {
  expect_nm_products<Candidate, half, half, NM<16, 32, 16>>();
  expect_nm_products<Candidate, half, float, NM<2, 5, 48, 1>>();
  expect_nm_products<Candidate, float, float, NM<16, 32, 16>>();
}
TEST(CudaNofMInNarrowUnits, Of8Columns) {
  expect_nm_products<Candidate, half, half, NM<16, 32, 8>>();
  expect_nm_products<Candidate, bfloat16, bfloat16, NM<1, 1, 8>>();
  expect_nm_products<Candidate, half, float, NM<3, 8, 24, 1>>();
}
/// Large tiles, several of them a block, of an odd number of rows of tiles.
TEST(CudaNofMInNarrowUnits, ResultsThatFillTheGpu) {
  expect_nm_product<Candidate, half, half, NM<4, 32, 16>, RowMajor>({4400, 1500, 300});
  expect_nm_product<Candidate, half, half, NM<16, 32, 8>, ColumnMajor>({4400, 1500, 70}, true);
  expect_nm_product<Candidate, float, float, NM<8, 32, 16>, RowMajor>({4400, 1500, 140});
}

/// Small integers, the same for every space.
template <class Value>
struct FillWithIntegers {
  Value* values;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    std::uint64_t bits = static_cast<std::uint64_t>(at + 1) * 0x9e3779b97f4a7c15U;
    bits ^= bits >> 31;
    values[at] = static_cast<Value>(static_cast<float>(bits % 3) - 1.0F);
  }
};
template <class Value>
struct CountDifferences {
  const Value* a;
  const float* b;
  KOKKOS_FUNCTION void operator()(std::int64_t at, std::int64_t& count) const {
    count += !(static_cast<float>(a[at]) == static_cast<float>(b[at]));
  }
};

/// So many stages and tiles that warps of a block drift apart, run again and again. Sums of small integers
/// are exact, so that floats on CUDA cores have the same.
template <class F, class Value>
void expect_long_sums(bool rounds_to_tf32 = false) {
  SCOPED_TRACE(text(format_name<F>(), ", ", value_name<Value>()));
  constexpr std::int64_t extent = 4096;
  using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
  const Range all(0, extent * extent);
  const auto integers = [&]<class T>(T) {
    Tensor<T, DenseMatrix<>, Cuda> out({extent, extent});
    Kokkos::parallel_for("integers", all, FillWithIntegers<T>{out.values().data()});
    return out;
  };
  const Tensor<float, DenseMatrix<>, Cuda> expected({extent, extent});
  {
    const auto A = integers(float{});
    const auto B = prune<F>(A);
    assign(expected(i, j), A(i, k) * B(k, j)).template use<gpu::NmByBlocks>().run();
  }
  const auto A = integers(Value{});
  const auto B = prune<F>(A);
  const Tensor<Value, DenseMatrix<>, Cuda> C({extent, extent});
  const auto expect_sums = [&](auto product) {
    for (int run = 0; run < 20; ++run) {
      Kokkos::deep_copy(C.values(), Value(std::numeric_limits<float>::quiet_NaN()));
      product.run();
      std::int64_t different = 0;
      Kokkos::parallel_reduce("differences", all,
                              CountDifferences<Value>{C.values().data(), expected.values().data()},
                              different);
      EXPECT_EQ(different, 0) << "run " << run;
    }
  };
  const auto statement =
      assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands().template use<Candidate>();
  if (rounds_to_tf32)
    expect_sums(plan(statement.allow_tf32()));
  else
    expect_sums(plan(statement));
}
TEST(CudaNofMInNarrowUnits, LongSumsAreTheSameInEveryRun) {
  expect_long_sums<NM<16, 32, 8>, half>();
  expect_long_sums<NM<16, 32, 16>, half>();
  expect_long_sums<NM<16, 32, 32>, half>();
  expect_long_sums<NM<4, 32, 32>, half>();
  expect_long_sums<NM<16, 32, 16>, float>();
  expect_long_sums<NM<16, 32, 32>, float>();
  expect_long_sums<NM<16, 32, 8>, float>(true);
  expect_long_sums<NM<16, 32, 32>, float>(true);
}

/// A NaN in a row of A's column that B does not keep, and in one where its unit is zero: each unit of 32
/// columns has rows of its own.
TEST(CudaNofMInNarrowUnits, UnitsOfZerosMeetNothing) {
  constexpr std::int64_t columns = 64;
  const Tensor<half, DenseMatrix<>> dense({32, columns});
  for (std::int64_t column = 0; column < columns; ++column)
    dense.values()(column / 8 * columns + column) = half(1.0f);  // row 0 of unit 0, row 1 of unit 1, ...
  const auto B = prune<NM<2, 4, 8>>(dense).copy_to<Cuda>();
  const auto A = random_dense<half, DenseMatrix<>>({20, 32}, 6);
  for (std::int64_t row = 0; row < 20; ++row)
    for (const std::int64_t column : {2, 17})
      A.values()(row * 32 + column) = half(std::numeric_limits<float>::quiet_NaN());
  const Tensor<float, DenseMatrix<>, Cuda> C({20, columns});
  assign(C(i, j), A.copy_to<Cuda>()(i, k) * B(k, j)).use<Candidate>().run();
  const auto result = C.copy_to<Host>();
  for (std::int64_t row = 0; row < 20; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      const float here = result.values()(row * columns + column);
      if (column / 8 == 2)
        EXPECT_TRUE(here != here) << row << ", " << column;
      else
        EXPECT_EQ(here, static_cast<float>(A.values()(row * 32 + column / 8))) << row << ", " << column;
    }
}

TEST(CudaNofMInNarrowUnits, RunOnTensorCores) {
  const Tensor<half, DenseMatrix<>, Cuda> A({2048, 2048}), C({2048, 2048});
  const Tensor<half, NM<8, 32, 16>, Cuda> B({2048, 2048});
  std::ostringstream out;
  out << explain(assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands());
  EXPECT_NE(out.str().find("tiles of matrix instructions whose rows are gathered"), std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace sporos::test::narrow_units
