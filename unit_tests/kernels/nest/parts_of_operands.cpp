// SPDX-License-Identifier: Apache-2.0
/// @file parts_of_operands.cpp
/// Parts of tensors as operands - rows, columns, blocks, one coordinate of a mode - against dense arrays.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../typed.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

constexpr std::int64_t row_count = 12, column_count = 9;

/// A matrix of 12 x 9 with small integers, in which row 5 and column 4 are empty.
template <class F>
auto matrix() {
  std::vector<std::pair<Extents<2>, double>> entries;
  for (std::int64_t r = 0; r < row_count; ++r)
    for (std::int64_t c = 0; c < column_count; ++c)
      if (r != 5 && c != 4 && (r * 7 + c * 5) % 3 == 0)
        entries.push_back({{r, c}, static_cast<double>(1 + (r * 3 + c) % 5)});
  Entries<double, 2> list({row_count, column_count}, static_cast<std::int64_t>(entries.size()));
  for (std::size_t e = 0; e < entries.size(); ++e)
    list.set(static_cast<std::int64_t>(e), entries[e].first, entries[e].second);
  return assemble<F>(list);
}

auto counted_vector(std::int64_t extent) {
  const Tensor<double, DenseVector> x({extent});
  for (std::int64_t c = 0; c < extent; ++c)
    x.values()(static_cast<std::size_t>(c)) = static_cast<double>(c + 1);
  return x;
}

template <class F>
class PartOf : public testing::Test {};
using PartFormats = testing::Types<CSR<>, CSC<>, DCSR<>, COO<2>, BCSR<2, 3>, DenseMatrix<ColumnMajor>>;
TYPED_TEST_SUITE(PartOf, PartFormats);

TYPED_TEST(PartOf, AMatrixAtOneCoordinateIsARowOrAColumn) {
  const auto A = matrix<TypeParam>();
  const auto x = counted_vector(column_count);
  const Tensor<double, DenseVector> row({column_count}), column({row_count});
  for (std::int64_t r = 0; r < row_count; ++r) {
    row(j) = A(r, j) + x(j);
    for (std::int64_t c = 0; c < column_count; ++c) EXPECT_EQ(at(row, {c}), at(A, {r, c}) + at(x, {c}));
  }
  for (std::int64_t c = 0; c < column_count; ++c) {
    column(i) = 2.0 * A(i, c);
    for (std::int64_t r = 0; r < row_count; ++r) EXPECT_EQ(at(column, {r}), 2 * at(A, {r, c}));
  }
}

TYPED_TEST(PartOf, AMatrixAtTwoCoordinatesIsANumber) {
  const auto A = matrix<TypeParam>();
  for (std::int64_t r = 0; r < row_count; ++r)
    for (std::int64_t c = 0; c < column_count; c += 3) EXPECT_EQ(value(A(r, c)), at(A, {r, c}));
}

TYPED_TEST(PartOf, RowsOfAMatrixAreCountedFromTheFirst) {
  const auto A = matrix<TypeParam>();
  const auto x = counted_vector(column_count);
  for (const Range range : {Range{0, 12}, Range{3, 8}, Range{11, 12}, Range{5, 5}}) {
    const auto part = rows(A, range.begin, range.end);
    const Tensor<double, DenseVector> y({range.end - range.begin});
    y(i) = part(i, j) * x(j);
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      double expected = 0;
      for (std::int64_t c = 0; c < column_count; ++c) expected += at(A, {r, c}) * at(x, {c});
      EXPECT_EQ(at(y, {r - range.begin}), expected);
    }
  }
}

template <class F>
class BlockOf : public testing::Test {};
using BlockFormats = testing::Types<CSR<>, CSC<>, DCSR<>, COO<2>, DenseMatrix<>>;
TYPED_TEST_SUITE(BlockOf, BlockFormats);

TYPED_TEST(BlockOf, AMatrixHasItsCoordinatesAndNoOthers) {
  const auto A = matrix<TypeParam>();
  const Tensor<double, DenseMatrix<>> D({5, 4});
  D(i, j) = block(A, {3, 8}, {2, 6})(i, j);
  for (std::int64_t r = 0; r < 5; ++r)
    for (std::int64_t c = 0; c < 4; ++c) EXPECT_EQ(at(D, {r, c}), at(A, {r + 3, c + 2}));
  // A part of a part.
  const Tensor<double, DenseVector> y({5});
  y(i) = block(A, {3, 8}, {2, 6})(i, 1);
  for (std::int64_t r = 0; r < 5; ++r) EXPECT_EQ(at(y, {r}), at(A, {r + 3, 3}));
}

TYPED_TEST(BlockOf, AMatrixMeetsOtherOperands) {
  const auto A = matrix<TypeParam>();
  const auto B = matrix<TypeParam>();
  const Tensor<double, DenseMatrix<>> D({5, 4});
  D(i, j) = block(A, {3, 8}, {2, 6})(i, j) + block(B, {0, 5}, {5, 9})(i, j);
  for (std::int64_t r = 0; r < 5; ++r)
    for (std::int64_t c = 0; c < 4; ++c) EXPECT_EQ(at(D, {r, c}), at(A, {r + 3, c + 2}) + at(B, {r, c + 5}));
  const double product = sum(A(2, j) * B(0, j));
  double expected = 0;
  for (std::int64_t c = 0; c < column_count; ++c) expected += at(A, {2, c}) * at(B, {0, c});
  EXPECT_EQ(product, expected);
}

TEST(APart, GivesASparseResultThePatternOfWhatItStores) {
  const auto A = matrix<CSR<>>();
  const Tensor<double, SparseVector<>> s({column_count});
  s(j) = A(2, j);
  EXPECT_EQ(s.nnz(), A.template level<1>().positions(3) - A.template level<1>().positions(2));
  s(j) = A(5, j);
  EXPECT_EQ(s.nnz(), 0);
  const Tensor<double, CSR<>> C({4, row_count});
  const auto B = matrix<CSR<>>();
  const auto Bt = transpose(B);
  C(i, j) = rows(A, 2, 6)(i, k) * Bt(k, j);
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t c = 0; c < row_count; ++c) {
      double expected = 0;
      for (std::int64_t m = 0; m < column_count; ++m) expected += at(A, {r + 2, m}) * at(Bt, {m, c});
      EXPECT_EQ(at(C, {r, c}), expected);
    }
  validate(C);
}

TEST(APart, OfATensorOfOrderThreeIsAMatrix) {
  Entries<double, 3> list({4, 5, 6}, 40);
  for (std::int64_t e = 0; e < 40; ++e) list.set(e, {e % 4, e % 5, (e * e) % 6}, static_cast<double>(e + 1));
  const auto check = [](const auto& T) {
    const Tensor<double, DenseMatrix<>> D({4, 6});
    for (std::int64_t c = 0; c < 5; ++c) {
      D(i, k) = T(i, c, k);
      for (std::int64_t r = 0; r < 4; ++r)
        for (std::int64_t d = 0; d < 6; ++d) EXPECT_EQ(at(D, {r, d}), at(T, {r, c, d}));
    }
  };
  check(assemble<CSF<3>>(list));
  check(assemble<CSF<3, ModeOrder<1, 2, 0>>>(list));
  check(assemble<DenseTensor<3>>(list));
}

TEST(APart, IsSharedAmongThreadsByItsOwnNonzeros) {
  const std::int64_t n = 3000;
  Entries<double, 2> list({n, n}, 4 * n);
  for (std::int64_t e = 0; e < 4 * n; ++e)
    list.set(e, {e % n, (e * 37 + e / n) % n}, static_cast<double>(e % 7));
  const auto A = assemble<CSR<>>(list);
  const auto x = counted_vector(n);
  const Tensor<double, DenseVector> y({n - 700}), whole({n});
  whole(i) = A(i, j) * x(j);
  y(i) = rows(A, 600, n - 100)(i, j) * x(j);
  for (std::int64_t r = 0; r < n - 700; ++r) EXPECT_EQ(at(y, {r}), at(whole, {r + 600}));
}

TEST(APart, IsPlannedAndReadAgainWhenValuesChange) {
  const auto A = matrix<CSR<>>();
  const Tensor<double, SparseVector<>> s({row_count});
  auto column = plan(assign(s(i), A(i, 3)));
  column.run();
  const double before = at(s, {0});
  ASSERT_NE(before, 0);
  Kokkos::deep_copy(A.values(), 10.0);
  column.run();
  EXPECT_EQ(at(s, {0}), 10);
}

TEST(APart, ThatATensorDoesNotHaveIsRefused) {
  const auto A = matrix<CSR<>>();
  const Tensor<double, DenseVector> y({column_count});
  EXPECT_EQ(assign(y(j), A(3, j)).str(), "A(j) = B(3, j)");
  EXPECT_EQ(assign(y(i), rows(A, 3, 12)(i, j) * A(0, j)).str(), "A(i) = B(3 + i, j) * B(0, j)");
  EXPECT_EQ(message_of<ShapeError>([&] { y(j) = A(12, j); }),
            "A(j) = B(12, j): mode 0 of B(12, j) has extent 12, and coordinate 12 lies outside of it: "
            "coordinates are counted from 0");
  EXPECT_NE(message_of<ShapeError>([&] { y(j) = A(-1, j); }), "");
  EXPECT_EQ(
      message_of<ShapeError>([&] { rows(A, 3, 13); }),
      "rows: mode 0 of the tensor has extent 12, and the range from 3 up to and without 13 ends after 12: "
      "choose 0 <= begin <= end <= 12");
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  const auto refusal = [&](std::int64_t begin, std::int64_t end) {
    return message_of<ShapeError>([&] { rows(A, begin, end); });
  };
  EXPECT_NE(refusal(-1, 5).find("from -1 up to and without 5 begins before 0"), std::string::npos);
  EXPECT_NE(refusal(5, 4).find("from 5 up to and without 4 begins after its end"), std::string::npos);
  EXPECT_NE(refusal(least, most).find("begins before 0: choose 0 <= begin <= end <= 12"), std::string::npos);
  EXPECT_NE(refusal(most, least).find("begins after its end"), std::string::npos);
  EXPECT_NE(refusal(most, most).find("ends after 12"), std::string::npos);
  EXPECT_NE(message_of<ShapeError>([&] { y(j) = A(most, j); }), "");
  EXPECT_NE(message_of<ShapeError>([&] { y(j) = A(least, j); }), "");
  EXPECT_NE(message_of<ShapeError>([&] { block(A, {0, 3}, {4, 2}); }), "");
  EXPECT_NE(message_of<ShapeError>([&] { y(j) = rows(A, 3, 5)(2, j); }),
            "");  // in the tensor, but not in the part
  EXPECT_NE(message_of<ShapeError>([&] { y(i) = rows(A, 3, 5)(i, j) * A(0, j); }), "");
}

}  // namespace
}  // namespace sporos::test
