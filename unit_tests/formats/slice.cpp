// SPDX-License-Identifier: Apache-2.0
/// @file slice.cpp
/// Batches of matrices as tensors, and one of their matrices without a copy.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/formats/slice.hpp>
#include <sporos/sporos.hpp>
#include <sstream>
#include <type_traits>

namespace sporos::test {
namespace {

template <class Value>
Tensor<Value, DenseTensor<3>> numbered(const Extents<3>& extents) {
  Tensor<Value, DenseTensor<3>> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(at) = static_cast<Value>((at * 37 + 11) % 9 - 3) * static_cast<Value>(at % 3 != 0);
  return out;
}

template <class F>
void expect_slices() {
  const auto dense = numbered<double>({3, 8, 12});
  const auto batches = prune<F>(dense);
  EXPECT_NO_THROW(validate(batches));
  for (std::int64_t at = 0; at < 3; ++at) {
    const auto matrix = slice(batches, at);
    static_assert(
        std::is_same_v<decltype(slice(batches, at)), Tensor<double, typename BatchTraits<F>::matrix, Host>>);
    EXPECT_NO_THROW(validate(matrix));
    const Tensor<double, DenseMatrix<>> one({8, 12});
    for (std::int64_t place = 0; place < one.nnz(); ++place)
      one.values()(place) = dense.values()(at * one.nnz() + place);
    const auto expected = prune<typename BatchTraits<F>::matrix>(one);
    ASSERT_EQ(matrix.extents(), expected.extents());
    ASSERT_EQ(matrix.nnz(), expected.nnz());
    for (std::int64_t place = 0; place < expected.nnz(); ++place)
      EXPECT_EQ(matrix.values()(place), expected.values()(place));
    const auto wide = convert<DenseMatrix<>>(matrix), wide_expected = convert<DenseMatrix<>>(expected);
    for (std::int64_t place = 0; place < wide.nnz(); ++place)
      EXPECT_EQ(wide.values()(place), wide_expected.values()(place));
  }
  slice(batches, 1).values()(0) = 77;
  EXPECT_EQ(batches.values()(batches.nnz() / 3), 77);
  EXPECT_THROW((void)slice(batches, 3), RangeError);
  EXPECT_THROW((void)slice(batches, -1), RangeError);
}
TEST(Slice, SharesTheArraysOfTheBatches) {
  expect_slices<Batches<NM<2, 4>>>();
  expect_slices<Batches<NM<2, 4, 3>>>();
  expect_slices<Batches<NM<1, 3, 2, 1>>>();
  expect_slices<Batches<TwoFour>>();
}
TEST(Slice, OfDenseMatrices) {
  const auto batches = numbered<float>({2, 3, 4});
  const Tensor<float, DenseMatrix<>> second = slice(batches, 1);
  for (std::int64_t at = 0; at < 12; ++at) EXPECT_EQ(second.values()(at), batches.values()(12 + at));
}
TEST(Slice, WhoseMetadataBeginsInsideAByteIsNamed) {
  const Tensor<double, Batches<TwoFour>> odd({2, 1, 20});
  EXPECT_THROW((void)slice(odd, 0), FormatError);
}

TEST(BatchesOfMatrices, AreNamedAndPrinted) {
  EXPECT_EQ((format_name<Batches<NM<2, 4, 32>>>()), "Batches<NM<2, 4, 32>>");
  EXPECT_EQ(format_name<Batches<TwoFour>>(), "Batches<TwoFour>");
  EXPECT_EQ((format_name<Batches<CSR<std::int32_t, std::int32_t>>>()), "Batches<CSR<int32, int32>>");
  EXPECT_EQ(format_name<Batches<DenseMatrix<>>>(), "DenseTensor<3>");
  static_assert(std::is_same_v<Batches<DenseMatrix<>>, DenseTensor<3>>);
  static_assert(std::is_same_v<BatchTraits<Batches<TwoFour>>::matrix, TwoFour>);
  static_assert(std::is_same_v<BatchTraits<Batches<NM<1, 3, 4, 1>>>::matrix, NM<1, 3, 4, 1>>);
  static_assert(!BatchTraits<TwoFour>::is && !BatchTraits<CSR<>>::is && !BatchTraits<NM<2, 4>>::is);
  static_assert(!BatchTraits<CSF<3>>::is && !BatchTraits<DenseTensor<4>>::is);
  const auto S =
      assemble<Batches<CSR<>>>(Entries<double, 3>({2, 2, 3}, {{{0, 1, 2}, 5.0}, {{1, 0, 0}, 6.0}}));
  EXPECT_NO_THROW(validate(S));
  std::ostringstream out;
  print(out, S);
  EXPECT_EQ(out.str(),
            "Tensor<double, Batches<CSR>> 2 x 2 x 3, 2 nonzeros, 64 B\n"
            "Dense(d0), Dense(d1), Compressed(d2)\n"
            "root\n"
            "├─ 0\n"
            "│  ├─ 0\n"
            "│  └─ 1\n"
            "│     └─ 2: 5\n"
            "└─ 1\n"
            "   ├─ 0\n"
            "   │  └─ 0: 6\n"
            "   └─ 1\n");
}

/// Batches of CSR, one below the other, are one CSR.
TEST(BatchesOfMatrices, AreTheRowsOfOneMatrix) {
  const auto dense = numbered<double>({3, 4, 5});
  const auto rows = detail::rows_of_batches(convert<Batches<CSR<>>>(dense));
  static_assert(std::is_same_v<std::remove_const_t<decltype(rows)>, Tensor<double, CSR<>>>);
  EXPECT_NO_THROW(validate(rows));
  ASSERT_EQ(rows.extents(), (Extents<2>{12, 5}));
  const auto wide = convert<DenseMatrix<>>(rows);
  for (std::int64_t at = 0; at < wide.nnz(); ++at) EXPECT_EQ(wide.values()(at), dense.values()(at));
}

/// There and back.
TEST(BatchesOfMatrices, AreConverted) {
  const auto dense = numbered<double>({3, 4, 8});
  const auto expect_same = [&](const auto& back) {
    ASSERT_EQ(back.extents(), dense.extents());
    for (std::int64_t at = 0; at < dense.nnz(); ++at) EXPECT_EQ(back.values()(at), dense.values()(at));
  };
  const auto csr = convert<Batches<CSR<>>>(dense);
  expect_same(convert<DenseTensor<3>>(csr));
  expect_same(convert<DenseTensor<3>>(convert<CSF<3>>(convert<Batches<CSC<>>>(convert<COO<3>>(csr)))));
  const auto kept = prune<Batches<TwoFour>>(dense);
  const auto wide = convert<DenseTensor<3>>(kept),
             again = convert<DenseTensor<3>>(convert<Batches<TwoFour>>(wide));
  for (std::int64_t at = 0; at < wide.nnz(); ++at) EXPECT_EQ(again.values()(at), wide.values()(at));
}

}  // namespace
}  // namespace sporos::test
