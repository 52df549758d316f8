// SPDX-License-Identifier: Apache-2.0
/// @file print.cpp
/// Tensors as text, and the names of formats.
#include <sporos/formats/assemble.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/formats/print.hpp>
#include <sstream>

#include "reference.hpp"

namespace sporos::test {
namespace {

template <class T>
std::string printed(const T& t, const PrintOptions& options = {}) {
  std::ostringstream out;
  print(out, t, options);
  return out.str();
}

/// The matrix of the doc comments:  . 5 . / . . . / 7 . 9
Entries<double, 2> drawn() { return {{3, 3}, {{{0, 1}, 5.0}, {{2, 0}, 7.0}, {{2, 2}, 9.0}}}; }

TEST(Print, DrawsADenseLevelOverACompressedOne) {
  EXPECT_EQ(printed(assemble<CSR<>>(drawn())),
            "Tensor<double, CSR> 3 x 3, 3 nonzeros, 68 B\n"
            "Dense(d0), Compressed(d1)\n"
            "root\n"
            "├─ 0\n"
            "│  └─ 1: 5\n"
            "├─ 1\n"
            "└─ 2\n"
            "   ├─ 0: 7\n"
            "   └─ 2: 9\n");
}

TEST(Print, DrawsTheSingletonsOfCoo) {
  EXPECT_EQ(printed(assemble<COO<2>>(drawn())),
            "Tensor<double, COO<2>> 3 x 3, 3 nonzeros, 64 B\n"
            "Compressed not unique(d0), Singleton(d1)\n"
            "root\n"
            "├─ 0\n"
            "│  └─ 1: 5\n"
            "├─ 2\n"
            "│  └─ 0: 7\n"
            "└─ 2\n"
            "   └─ 2: 9\n");
}

TEST(Print, DrawsTheTreeOfCsf) {
  const Entries<float, 3> entries({3, 3, 2}, {{{0, 1, 1}, 5.0f}, {{2, 0, 1}, 7.0f}, {{2, 2, 0}, 9.5f}});
  EXPECT_EQ(printed(assemble<CSF<3, ModeOrder<2, 0, 1>>>(entries)),
            "Tensor<float, CSF<3, 2-0-1>> 3 x 3 x 2, 3 nonzeros, 116 B\n"
            "Compressed(d2), Compressed(d0), Compressed(d1)\n"
            "root\n"
            "├─ 0\n"
            "│  └─ 2\n"
            "│     └─ 2: 9.5\n"
            "└─ 1\n"
            "   ├─ 0\n"
            "   │  └─ 1: 5\n"
            "   └─ 2\n"
            "      └─ 0: 7\n");
}

TEST(Print, DrawsBlocks) {
  EXPECT_EQ(printed(assemble<BCSR<2, 2>>(Entries<int, 2>({2, 4}, {{{1, 2}, 8}}))),
            "Tensor<int32, BCSR<2, 2>> 2 x 4, 4 stored values, 36 B\n"
            "Dense(d0 / 2), Compressed(d1 / 2), Dense(d0 % 2), Dense(d1 % 2)\n"
            "root\n"
            "└─ 0\n"
            "   └─ 1\n"
            "      ├─ 0\n"
            "      │  ├─ 0: 0\n"
            "      │  └─ 1: 0\n"
            "      └─ 1\n"
            "         ├─ 0: 8\n"
            "         └─ 1: 0\n");
}

TEST(Print, LeavesOutTheMiddleOfLongLevels) {
  EXPECT_EQ(printed(assemble<DenseVector>(Entries<int, 1>({100}, {{{1}, 5}, {{99}, 6}})), {.children = 3}),
            "Tensor<int32, DenseVector> extent 100, 100 values, 400 B\n"
            "Dense(d0)\n"
            "root\n"
            "├─ 0: 0\n"
            "├─ 1: 5\n"
            "├─ … 97 more\n"
            "└─ 99: 6\n");
  // What would hide a single one is drawn in full.
  EXPECT_EQ(printed(assemble<DenseVector>(Entries<int, 1>({4}, {{{1}, 5}})), {.children = 3}),
            "Tensor<int32, DenseVector> extent 4, 4 values, 16 B\n"
            "Dense(d0)\n"
            "root\n"
            "├─ 0: 0\n"
            "├─ 1: 5\n"
            "├─ 2: 0\n"
            "└─ 3: 0\n");
}

TEST(Print, EndsAfterTheLinesAskedFor) {
  const auto text = printed(Tensor<double, DenseMatrix<>>({1000, 1000}), {.children = 3, .lines = 5});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 1 + 5 + 1);
  EXPECT_TRUE(contains(text, "… (more than 5 lines)"));
  EXPECT_FALSE(contains(printed(assemble<CSR<>>(drawn()), {.lines = 6}), "more than"));
}

TEST(Print, ShowsScalarsAndEmptyTensors) {
  EXPECT_EQ(printed(assemble<Scalar>(Entries<bool, 0>({}, {{{}, true}}))),
            "Tensor<bool, Scalar> scalar, 1 value, 1 B\nroot: 1\n");
  EXPECT_EQ(printed(Tensor<double, DCSR<>>({0, 5})),
            "Tensor<double, DCSR> 0 x 5, 0 nonzeros, 24 B\nCompressed(d0), Compressed(d1)\nroot\n");
}

TEST(Print, SpellsEveryTypeOfValue) {
  const auto value = [](auto x) {
    return printed(assemble<SparseVector<>>(Entries<decltype(x), 1>({3}, {{{1}, x}})));
  };
  EXPECT_TRUE(contains(value(Kokkos::complex<double>(5, -2)), "1: 5 - 2i"));
  EXPECT_TRUE(contains(value(Kokkos::complex<float>(0.5, 2)), "1: 0.5 + 2i"));
  EXPECT_TRUE(contains(value(half(0.25)), "1: 0.25"));
  EXPECT_TRUE(contains(value(bfloat16(-3)), "1: -3"));
  EXPECT_TRUE(contains(value(std::int64_t{9007199254740993}), "1: 9007199254740993"));
  EXPECT_TRUE(contains(value(1.0 / 3), "1: 0.333333"));
  EXPECT_TRUE(contains(value(std::int8_t{-5}), "1: -5"));
}

TEST(Print, RefusesOptionsThatShowNothing) {
  EXPECT_THROW(printed(assemble<CSR<>>(drawn()), {.children = 0}), ShapeError);
  EXPECT_THROW(printed(assemble<CSR<>>(drawn()), {.lines = -1}), ShapeError);
}

TEST(Summary, IsOneLine) {
  std::ostringstream out;
  out << assemble<CSR<>>(drawn());
  EXPECT_EQ(out.str(), "Tensor<double, CSR> 3 x 3, 3 nonzeros, 68 B");
  EXPECT_EQ(summary(assemble<CSC<>>(Entries<double, 2>({3, 3}, {{{0, 1}, 5.0}}))),
            "Tensor<double, CSC> 3 x 3, 1 nonzero, 44 B");
}

TEST(Summary, BytesAreReadable) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(34918), "34.1 KiB");
  EXPECT_EQ(bytes_text(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(bytes_text(std::int64_t{5} << 30), "5.0 GiB");
  EXPECT_EQ(bytes_text(std::numeric_limits<std::int64_t>::max()), "8.0 EiB");
}

TEST(FormatName, IsTheNameThatThePublicTypeHas) {
  EXPECT_EQ(format_name<Scalar>(), "Scalar");
  EXPECT_EQ(format_name<DenseVector>(), "DenseVector");
  EXPECT_EQ(format_name<DenseMatrix<>>(), "DenseMatrix<RowMajor>");
  EXPECT_EQ(format_name<DenseMatrix<ColumnMajor>>(), "DenseMatrix<ColumnMajor>");
  EXPECT_EQ(format_name<DenseTensor<3>>(), "DenseTensor<3>");
  EXPECT_EQ((format_name<DenseTensor<3, ModeOrder<2, 1, 0>>>()), "DenseTensor<3, 2-1-0>");
  EXPECT_EQ(format_name<SparseVector<>>(), "SparseVector");
  EXPECT_EQ(format_name<CSR<>>(), "CSR");
  EXPECT_EQ((format_name<CSR<int, int>>()), "CSR<int32, int32>");
  EXPECT_EQ((format_name<UnorderedCSR<int, int>>()), "UnorderedCSR<int32, int32>");
  EXPECT_EQ(format_name<CSC<>>(), "CSC");
  EXPECT_EQ((format_name<DCSR<std::int64_t, std::int64_t>>()), "DCSR<int64, int64>");
  EXPECT_EQ(format_name<DCSC<>>(), "DCSC");
  EXPECT_EQ(format_name<COO<3>>(), "COO<3>");
  EXPECT_EQ((format_name<COO<2, ColumnMajor>>()), "COO<2, 1-0>");
  EXPECT_EQ((format_name<COO<2, RowMajor, std::int64_t, std::int32_t, false>>()), "COO<2, not unique>");
  EXPECT_EQ(format_name<CSF<3>>(), "CSF<3>");
  EXPECT_EQ((format_name<CSF<3, ModeOrder<2, 0, 1>>>()), "CSF<3, 2-0-1>");
  EXPECT_EQ((format_name<BCSR<2, 3>>()), "BCSR<2, 3>");
  EXPECT_EQ((format_name<BCSR<4, 4, int, int>>()), "BCSR<4, 4, int32, int32>");
}

TEST(FormatName, OfOneTypeIsOneName) {
  static_assert(std::is_same_v<CSF<2>, DCSR<>>);
  EXPECT_EQ(format_name<CSF<2>>(), "DCSR");
  EXPECT_EQ(format_name<COO<1>>(), "SparseVector");
}

TEST(FormatName, WithoutANameListsTheLevels) {
  EXPECT_EQ((format_name<Format<Map<Dim<0>, Dim<1>>, Dense, Singleton<>>>()), "Dense(d0), Singleton(d1)");
  EXPECT_EQ((format_name<Format<Map<Dim<1>, Dim<0>>, Compressed<>, Dense>>()), "Compressed(d1), Dense(d0)");
}

}  // namespace
}  // namespace sporos::test
