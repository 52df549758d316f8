// SPDX-License-Identifier: Apache-2.0
/// @file dot_products.cpp
/// Products by matricised dot products, TCA-SpMM: rows of every length and many empty ones, how rows are
/// dealt to warps, steps of eight segments, and what is not finite.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "products.hpp"

namespace sporos::test::spmm_dot_products {
namespace {

using namespace sporos::indices;

/// Rows of dot products of which many are empty: alone, in runs that fill windows and blocks, first and last.
std::vector<std::vector<std::int64_t>> lengths_with_empty_rows() {
  std::vector<std::int64_t> mixed(1001), last(600), first(33), full(70, 3);
  const std::vector<std::int64_t> lengths{1, 9, 20, 40, 100, 700};
  for (std::size_t row = 0; row < mixed.size(); ++row)
    if (row % 7 == 3 || (row >= 400 && row < 440)) mixed[row] = lengths[row % lengths.size()];
  last.back() = 12;
  first.front() = 5;
  return {mixed, last, first, full};
}

struct PlusOne {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x + T(1);
  }
};

/// Statements on both sides, with and without an epilogue, into what was not a number or added to it.
template <class Value, class Out>
void expect_empty_rows() {
  for (const auto& lengths : lengths_with_empty_rows()) {
    const auto A = assemble<IntCsr>(with_lengths<Value>(lengths));
    const auto device_A = A.template copy_to<Cuda>();
    for (const std::int64_t columns : {1, 5, 64, 72, 130, 304}) {
      SCOPED_TRACE(text(value_name<Value>(), ", ", lengths.size(), " rows, ", columns, " columns"));
      const auto B = filled<Value, DenseMatrix<>>({A.extent(1), columns}, 2);
      const auto bias = filled<float, DenseVector>({columns}, 3);
      for (std::int64_t column = 0; column < columns; column += 3) bias.values()(column) *= -1;
      const auto device_B = B.template copy_to<Cuda>();
      const auto device_bias = bias.template copy_to<Cuda>();
      const auto before = filled<Out, DenseMatrix<>>({A.extent(0), columns}, 4);
      const auto expect = [&](const char* what, bool accumulates, const auto& make) {
        SCOPED_TRACE(what);
        const auto expected = before.template copy_to<Host>();
        const auto statement = make(expected, A, B, bias);
        accumulates ? statement.generic().accumulate().run() : statement.generic().run();
        for (const bool is_planned : {false, true}) {
          const auto C = before.template copy_to<Cuda>();
          if (!accumulates) Kokkos::deep_copy(C.values(), Out(std::numeric_limits<float>::quiet_NaN()));
          const auto start = [&](const auto& one) { is_planned ? plan(one).run() : one.run(); };
          const auto by_kernel =
              make(C, device_A, device_B, device_bias).template use<gpu::SpmmByDotProducts>();
          accumulates ? start(by_kernel.accumulate()) : start(by_kernel);
          expect_equal_tensors(expected, C);
        }
      };
      const auto product = [](const auto& c, const auto& a, const auto& b, const auto&) {
        return assign(c(i, j), a(i, k) * b(k, j));
      };
      expect("alone", false, product);
      expect("added", true, product);
      expect("with a bias, activated", false,
             [](const auto& c, const auto& a, const auto& b, const auto& of_columns) {
               return assign(c(i, j), relu(a(i, k) * b(k, j) + of_columns(j)));
             });
      expect("plus one, added", true, [](const auto& c, const auto& a, const auto& b, const auto&) {
        return assign(c(i, j), map(everywhere(PlusOne{}), sum(k, a(i, k) * b(k, j))));
      });
    }
  }
}
TEST(CudaSpmmDotProducts, EmptyRowsOfDotProducts) {
  expect_empty_rows<half, float>();
  expect_empty_rows<float, float>();
}

/// Warps of rows as the host counts them.
TEST(CudaSpmmDotProducts, EmptyRowsHaveNoWarpsOfDotProducts) {
  const auto counts_of = [](const std::vector<std::int64_t>& lengths) {
    constexpr std::int64_t longest = 512;  // of a row that is not cut
    const auto A = assemble<IntCsr>(with_lengths<half>(lengths)).template copy_to<Cuda>();
    const Cuda space;
    const auto lay_out = [&](char* memory) {
      gpu::Layout layout(memory);
      const auto warps = gpu::RowWarps::lay_out(space, layout, A.extent(0), A.nnz());
      return std::pair(warps, layout.bytes());
    };
    const auto memory = make_array<char, gpu::Memory>("warps", lay_out(nullptr).second);
    const gpu::RowWarps warps = lay_out(memory.data()).first;
    const auto* const positions = A.template level<1>().positions.data();
    gpu::find_row_warps(space, positions, A.extent(0), longest, warps);
    const auto counts = gpu::count_row_warps(space, positions, A.extent(0), warps);
    EXPECT_LE(counts.warps, warps.most);
    return counts;
  };
  const auto some = counts_of({0, 8, 0, 9, 17, 0, 33, 512, 513, 1000, 0});
  EXPECT_EQ(some.warps, 1 + 2 + 4 + 8 + 8);
  EXPECT_TRUE(some.has_empty_rows);
  const auto all = counts_of({1, 1, 16, 600});
  EXPECT_EQ(all.warps, 1 + 1 + 2);
  EXPECT_FALSE(all.has_empty_rows);
  std::vector<std::int64_t> million(1'000'000);
  million[123'456] = million[999'999] = 3;
  const auto few = counts_of(million);
  EXPECT_EQ(few.warps, 2);
  EXPECT_TRUE(few.has_empty_rows);
}

/// Rows on both sides of the lengths at which another number of segments or steps is multiplied, or a row is
/// cut; columns that fill no piece, tile, warp or panel, and one more or less than fill one.
/// @param short_rows  of one nonzero, behind the others: so many that the kernel for short rows runs, or none
template <class Value>
void expect_lengths_of_dot_products(std::size_t short_rows) {
  std::vector<std::int64_t> lengths = {1,  7,   8,   9,   15,  16,  17,  23,  24,   25, 31,
                                       32, 33,  40,  47,  48,  49,  56,  57,  63,   64, 65,
                                       80, 127, 128, 129, 511, 512, 513, 577, 1000, 0};
  lengths.resize(lengths.size() + short_rows, 1);
  const auto entries = with_lengths<Value>(lengths);
  for (const std::int64_t columns :
       {1, 3, 4, 8, 12, 20, 31, 32, 33, 40, 63, 64, 65, 96, 127, 128, 129, 200, 255, 256, 257, 264, 520}) {
    SCOPED_TRACE(text(value_name<Value>(), ", ", columns, " columns, ", short_rows, " short rows"));
    expect_right<gpu::SpmmByDotProducts, Value, float>(entries, columns);
  }
}
TEST(CudaSpmmDotProducts, DotProductsOfRowsOfEveryLength) {
  for (const std::size_t short_rows : {0, 600}) {
    expect_lengths_of_dot_products<half>(short_rows);
    expect_lengths_of_dot_products<bfloat16>(short_rows);
    expect_lengths_of_dot_products<float>(short_rows);
  }
}

/// Many of a length: more warps than run at once.
TEST(CudaSpmmDotProducts, DotProductsOfManyRows) {
  for (const std::int64_t length : {8, 16, 32, 64, 100}) {
    SCOPED_TRACE(length);
    expect_right<gpu::SpmmByDotProducts, half, float>(
        with_lengths<half>(std::vector<std::int64_t>(5001, length)), 72);
  }
}

/// Long rows are cut after fewer nonzeros where rows are few, so that there are warps for the whole GPU.
TEST(CudaSpmmDotProducts, FewLongRowsOfDotProductsAreCutMoreOften) {
  const auto explained = [](std::size_t rows) {
    const auto A = assemble<IntCsr>(with_lengths<half>(std::vector<std::int64_t>(rows, 1000)));
    const auto a = A.template copy_to<Cuda>();
    const Tensor<half, DenseMatrix<>, Cuda> b({A.extent(1), 128}), c({A.extent(0), 128});
    std::ostringstream out;
    plan(assign(c(i, j), a(i, k) * b(k, j)).use<gpu::SpmmByDotProducts>()).explain(out);
    return out.str();
  };
  EXPECT_NE(explained(3).find("more than 64 nonzeros are cut"), std::string::npos);
  EXPECT_NE(explained(600).find("more than 512 nonzeros are cut"), std::string::npos);
  for (const std::int64_t columns : {5, 64, 130, 256}) {
    expect_right<gpu::SpmmByDotProducts, half, float>(with_lengths<half>({1000, 3, 0, 999, 64, 65, 129}),
                                                      columns);
    expect_right<gpu::SpmmByDotProducts, float, float>(with_lengths<float>({1000, 3, 0, 999, 64, 65, 129}),
                                                       columns);
  }
}

/// Warps of a row take all columns of narrower results, so that there are fewer.
TEST(CudaSpmmDotProducts, RowsOfNarrowResultsHaveFewerWarpsOfDotProducts) {
  const auto warps_of = []<class B>(std::type_identity<B>, std::int64_t columns) {
    const auto dealing = gpu::DotDealing::of<B>(columns, gpu::DotTuning{});
    std::vector<int> out;
    for (const std::int64_t nonzeros : {0, 8, 9, 16, 17, 32, 33, 64, 65, 512})
      out.push_back(dealing.warps(nonzeros));
    return out;
  };
  constexpr std::type_identity<half> narrow;
  constexpr std::type_identity<float> wide;
  EXPECT_EQ(warps_of(narrow, 256), (std::vector{0, 1, 2, 2, 4, 4, 8, 8, 8, 8}));
  EXPECT_EQ(warps_of(narrow, 1000), warps_of(narrow, 129));
  EXPECT_EQ(warps_of(narrow, 128), (std::vector{0, 1, 1, 1, 2, 2, 4, 4, 4, 4}));
  EXPECT_EQ(warps_of(narrow, 64), (std::vector{0, 1, 1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(warps_of(narrow, 5), (std::vector{0, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(warps_of(wide, 128), warps_of(narrow, 256));
  EXPECT_EQ(warps_of(wide, 32), warps_of(narrow, 64));
}

/// The kernel with steps of eight segments, as in the paper.
struct EightSegments {
  static constexpr gpu::DotTuning for_short_rows{}, for_long_rows{};
};
struct SpmmByEightSegments : gpu::SpmmDotProductsCandidate<SpmmByEightSegments, EightSegments> {
  static constexpr std::string_view name = "SpMM by dot products of eight segments";
};

TEST(CudaSpmmDotProducts, OfEightSegments) {
  static_assert(EightSegments::for_long_rows.most_segments == 8);
  std::vector<std::int64_t> lengths = {1,  8,  9,  16,  17,  31,  32,  33,  48,  56,   63, 64,
                                       65, 80, 96, 127, 128, 129, 511, 512, 513, 1000, 0};
  for (const std::int64_t columns : {1, 8, 20, 33, 64, 72, 128, 200, 256, 264}) {
    SCOPED_TRACE(columns);
    expect_right<SpmmByEightSegments, half, float>(with_lengths<half>(lengths), columns);
  }
  expect_infinities<SpmmByEightSegments, half>();
  expect_same_from_run_to_run<SpmmByEightSegments, half>();
}

TEST(CudaSpmmDotProducts, OfInfinitiesInEachType) {
  expect_infinities<gpu::SpmmByDotProducts, half>();
  expect_infinities<gpu::SpmmByDotProducts, bfloat16>();
  expect_infinities<gpu::SpmmByDotProducts, float>();
}

}  // namespace
}  // namespace sporos::test::spmm_dot_products
