// SPDX-License-Identifier: Apache-2.0
/// @file tensor.cpp
/// Tensors as handles: what copies share, what clones do not, what an empty one holds.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <sporos/core/components.hpp>
#include <sporos/core/tensor.hpp>
#include <sporos/formats/assemble.hpp>
#include <sporos/formats/at.hpp>
#include <sporos/formats/named.hpp>
#include <string>
#include <vector>

namespace {

using namespace sporos;
// Another space in the same memory; the same one where Kokkos has no other.
#ifdef KOKKOS_ENABLE_SERIAL
using Other = Kokkos::Serial;
#else
using Other = Host;
#endif

Tensor<double, CSR<>> two_values() {
  return assemble<CSR<>>(Entries<double, 2>({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 7.0}}));
}

TEST(ATensor, HoldsNothingWhenItIsMadeOfExtents) {
  const Tensor<double, CSR<>> sparse({3, 4});
  EXPECT_EQ(sparse.extents(), (Extents<2>{3, 4}));
  EXPECT_EQ(sparse.nnz(), 0);
  EXPECT_EQ(sparse.level<1>().positions.extent(0), 4u);
  const Tensor<double, DenseMatrix<>> dense({3, 4});
  EXPECT_EQ(dense.nnz(), 12);
  for (std::size_t q = 0; q < 12; ++q) EXPECT_EQ(dense.values()(q), 0.0);
  EXPECT_EQ((Tensor<double, CSR<>>().extents()), (Extents<2>{0, 0}));
  const Tensor<float, Scalar> scalar;
  EXPECT_EQ(scalar.nnz(), 1);
  EXPECT_EQ(at(scalar, {}), 0.0F);
}

TEST(ATensor, TakesExtentsInBracesOrOneByOne) {
  const std::size_t n = 3;
  const int m = 4;
  const Tensor<double, CSR<>> one_by_one(n, m);
  EXPECT_EQ(one_by_one.extents(), (Extents<2>{3, 4}));
  const Tensor<float, DenseVector> vector(n);
  EXPECT_EQ(vector.extents(), (Extents<1>{3}));
  const Tensor<float, DenseVector> braces({m});
  EXPECT_EQ(braces.extents(), (Extents<1>{4}));
  EXPECT_EQ((Tensor<double, CSR<>>({0, 5}).extents()), (Extents<2>{0, 5}));
  EXPECT_EQ((Tensor<double, CSR<>>(Extents<2>{2, 5}).extents()), (Extents<2>{2, 5}));
  EXPECT_THROW((Tensor<double, CSR<>>(3, -1)), ShapeError);
}

TEST(ATensor, IsDenseWithoutTemplateArguments) {
  const int n = 3;
  const Tensor matrix(n, 4);
  static_assert(std::is_same_v<decltype(matrix), const Tensor<double, DenseMatrix<>, Host>>);
  EXPECT_EQ(matrix.extents(), (Extents<2>{3, 4}));
  const Tensor vector({n});
  static_assert(std::is_same_v<decltype(vector), const Tensor<double, DenseVector, Host>>);
  EXPECT_EQ(vector.nnz(), 3);
  const Tensor handle(two_values());
  static_assert(std::is_same_v<decltype(handle), const Tensor<double, CSR<>>>);
  EXPECT_EQ(handle.nnz(), 2);
}

TEST(ATensor, RefusesExtentsThatItCannotHold) {
  EXPECT_THROW((Tensor<double, CSR<>>({-1, 4})), ShapeError);
  EXPECT_THROW((Tensor<double, CSR<>>({3, std::int64_t{1} << 40})), RangeError);
  EXPECT_NO_THROW((Tensor<double, CSR<std::int64_t, std::int64_t>>({3, std::int64_t{1} << 40})));
  EXPECT_THROW((Tensor<double, DenseMatrix<>>({std::int64_t{1} << 40, std::int64_t{1} << 40})), RangeError);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW((Tensor<double, CSR<>>({most, 5})), RangeError);
  EXPECT_THROW((Tensor<double, CSC<>>({5, most})), RangeError);
  EXPECT_THROW((Tensor<double, BCSR<2, 3>>({most, most})), RangeError);
  EXPECT_THROW((Tensor<double, NM<2, 4, 8>>({most, most})), RangeError);
  EXPECT_THROW(assemble<CSR<>>(Entries<double, 2>({most, 5}, {{{1, 2}, 1.0}})), RangeError);
  try {
    Tensor<double, BCSR<2, 3, std::int64_t, std::int64_t>>({most, 5});
    ADD_FAILURE() << "memory for half of all numbers";
  } catch (const MemoryError& error) {
    EXPECT_EQ(std::string(error.what()).find('-'), std::string::npos) << error.what();
  }
}

TEST(ATensor, IsAHandleWhoseCopiesShareEverything) {
  const auto A = two_values();
  const auto B = A;
  EXPECT_TRUE(A.shares_with(B));
  A.values()(0) = 70;
  EXPECT_EQ(at(B, {0, 3}), 70.0);
  const auto other = assemble<CSR<>>(Entries<double, 2>({2, 2}, {{{1, 1}, 1.0}}));
  A.replace(other.extents(), other.levels(), other.values());
  EXPECT_EQ(B.extents(), (Extents<2>{2, 2}));
  EXPECT_EQ(at(B, {1, 1}), 1.0);
}

TEST(ATensor, IsCopiedDeeplyByClone) {
  const auto A = two_values();
  const auto B = A.clone();
  EXPECT_FALSE(A.shares_with(B));
  EXPECT_NE(A.values().data(), B.values().data());
  EXPECT_NE(A.level<1>().coordinates.data(), B.level<1>().coordinates.data());
  A.values()(0) = 70;
  EXPECT_EQ(at(B, {0, 3}), 7.0);
}

TEST(ATensor, MovedWithinOneMemoryStaysTheSameTensor) {
  const auto A = two_values();
  const auto B = A.move_to<Other>();
  EXPECT_TRUE(A.shares_with(B));
  const auto other = assemble<CSR<>>(Entries<double, 2>({2, 2}, {{{1, 1}, 1.0}}));
  A.replace(other.extents(), other.levels(), other.values());
  EXPECT_EQ(at(B, {1, 1}), 1.0);
  const auto copy = A.copy_to<Other>();
  EXPECT_FALSE(A.shares_with(copy));
  EXPECT_EQ(at(copy, {1, 1}), 1.0);
}

TEST(ATensor, CountsTheBytesOfItsArrays) {
  // Three rows: four positions of 8 bytes; two coordinates of 4 and two values of 8.
  EXPECT_EQ(two_values().bytes(), 4 * 8 + 2 * 4 + 2 * 8);
  EXPECT_EQ((Tensor<float, DenseMatrix<>>({3, 4}).bytes()), 48);
}

TEST(Components, AreATensorsArraysWithTheirRoles) {
  const auto A = two_values();
  const std::vector<Component> parts = components(A);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "level 1 positions");
  EXPECT_EQ(parts[0].role, Role::positions);
  EXPECT_EQ(parts[0].type, "int64");
  EXPECT_EQ(parts[0].count, 4);
  EXPECT_EQ(parts[1].name, "level 1 coordinates");
  EXPECT_EQ(parts[1].type, "int32");
  EXPECT_EQ(parts[1].data, A.level<1>().coordinates.data());
  EXPECT_EQ(parts[2].role, Role::values);
  EXPECT_EQ(parts[2].level, -1);
  EXPECT_EQ(parts[2].bytes, 16);
  EXPECT_EQ(to_string(parts[2].role), "values");
  const auto of_dense = components(Tensor<double, DenseMatrix<>>({3, 4}));
  ASSERT_EQ(of_dense.size(), 1u);
  EXPECT_EQ(of_dense[0].role, Role::dense);
  EXPECT_EQ(of_dense[0].count, 12);
  EXPECT_EQ(to_string(of_dense[0].role), "dense");
}

TEST(Components, AreTakenByRoleAndTypeOfElements) {
  const auto A = two_values();
  EXPECT_EQ((component<Role::positions, std::int64_t>(A)), A.level<1>().positions.data());
  EXPECT_EQ((component<Role::coordinates, std::int32_t>(A)), A.level<1>().coordinates.data());
  EXPECT_EQ((component<Role::values, double>(A)), A.values().data());
  const Tensor<double, DenseMatrix<>> dense({3, 4});
  EXPECT_EQ((component<Role::dense, double>(dense)), dense.values().data());
  EXPECT_THROW((void)(component<Role::values, double>(dense)), FormatError);
  EXPECT_THROW((void)(component<Role::coordinates, std::int64_t>(A)), FormatError);
  EXPECT_THROW((void)(component<Role::values, double>(A, 1)), FormatError);
}

}  // namespace
