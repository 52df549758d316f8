// SPDX-License-Identifier: Apache-2.0
/// @file turns.cpp
/// Sparse results of a size that is bounded beforehand, which several threads put together in turns: as one
/// thread makes them, byte for byte.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <sporos/sporos.hpp>
#include <stdexcept>

#include "../same_bytes.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

/// Entries in rows that crowd at the front, so that chunks are of different sizes.
template <int N>
Entries<double, N> crowded(const Extents<N>& extents, std::int64_t count, unsigned seed) {
  std::mt19937_64 draw(seed);
  Entries<double, N> out(extents, count);
  for (std::int64_t e = 0; e < count; ++e) {
    Extents<N> coordinate{};
    for (std::size_t mode = 0; mode < coordinate.size(); ++mode) {
      const double x = static_cast<double>(draw() >> 11) * 0x1p-53;
      coordinate[mode] =
          static_cast<std::int64_t>(static_cast<double>(extents[mode]) * (mode == 0 ? x * x * x : x));
    }
    out.set(e, coordinate, static_cast<double>(draw() >> 11) * 0x1p-53);
  }
  return out;
}

/// B + C of matrices in format F, by several threads and by one.
template <class F>
void compare_sums(const Extents<2>& extents, std::int64_t count) {
  const auto b = crowded<2>(extents, count, 1), c = crowded<2>(extents, count / 2, 2);
  const auto B = assemble<F>(b, Duplicates::sum), C = assemble<F>(c, Duplicates::sum);
  const auto sum = [&]<class Space>(Space) {
    const Tensor<double, F, Space> A(extents);
    assign(A(i, j), B(i, j) - 2.0 * C(i, j)).generic().run();
    validate(A);
    return A;
  };
  const auto A = sum(OpenMP());
#ifdef KOKKOS_ENABLE_SERIAL
  EXPECT_TRUE(same_bytes(A, sum(Serial())));
#endif
  EXPECT_GT(A.nnz(), 0);
}

TEST(Turns, MakeTheSumOfRowsThatOneThreadMakes) {
  compare_sums<CSR<>>({40, 50}, 200);
  compare_sums<CSR<>>({3000, 4000}, 400'000);
  compare_sums<CSR<std::int32_t, std::int16_t>>({200'000, 1000}, 300'000);
}
TEST(Turns, MakeTheSumOfCompressedRowsThatOneThreadMakes) { compare_sums<DCSR<>>({200'000, 4000}, 300'000); }
// One row is most of the result.
TEST(Turns, MakeASumOfFewRowsThatOneThreadMakes) { compare_sums<CSR<>>({3, 200'000}, 300'000); }

TEST(Turns, MakeTheSumOfTensorsThatOneThreadMakes) {
  const Extents<3> extents{300, 200, 5000};
  const auto b = crowded<3>(extents, 200'000, 3), c = crowded<3>(extents, 200'000, 4);
  const auto B = assemble<CSF<3>>(b, Duplicates::sum), C = assemble<CSF<3>>(c, Duplicates::sum);
  const auto sum = [&]<class Space>(Space) {
    const Tensor<double, CSF<3>, Space> A(extents);
    A(i, j, k) = B(i, j, k) + C(i, j, k);
    validate(A);
    return A;
  };
  const auto A = sum(OpenMP());
#ifdef KOKKOS_ENABLE_SERIAL
  EXPECT_TRUE(same_bytes(A, sum(Serial())));
#endif
  EXPECT_GT(A.nnz(), 390'000);
}

TEST(Turns, MayReplaceAnOperandOfTheSum) {
  const auto A = assemble<CSR<>>(crowded<2>({3000, 4000}, 300'000, 5), Duplicates::sum);
  const auto before = A.clone();
  const auto B = assemble<CSR<>>(crowded<2>({3000, 4000}, 300'000, 6), Duplicates::sum);
  A(i, j) = A(i, j) + B(i, j);
  const Tensor<double, CSR<>> expected(A.extents());
  expected(i, j) = before(i, j) + B(i, j);
  EXPECT_TRUE(same_bytes(A, expected));
}

struct RefusesLargest {
  double operator()(double x) const {
    if (x > 0.99999) throw std::domain_error("too large");
    return x;
  }
};
TEST(Turns, LeaveTheResultAsItWasWhereAFunctionThrows) {
  const auto B = assemble<CSR<>>(crowded<2>({3000, 4000}, 400'000, 7), Duplicates::last);
  B.values()(B.values().extent(0) / 2) = 1;
  const auto A = assemble<CSR<>>(crowded<2>({3000, 4000}, 10, 8), Duplicates::sum);
  const auto before = A.clone();
  EXPECT_THROW((A(i, j) = map(RefusesLargest{}, B(i, j)) + B(i, j)), std::domain_error);
  EXPECT_TRUE(same_bytes(A, before));
}

}  // namespace
}  // namespace sporos::test
