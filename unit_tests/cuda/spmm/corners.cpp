// SPDX-License-Identifier: Apache-2.0
/// @file corners.cpp
/// Every kernel for products of sparse and dense matrices with patterns that are easily forgotten, the same
/// bits in every run, plans in CUDA graphs, and what empty rows cost dot products.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../kept_memory.hpp"
#include "products.hpp"

namespace sporos::test::spmm_corners {
namespace {

using namespace sporos::indices;

/// Calls work.template operator()<Kernel, Value, Out>() for each kernel with a result by rows.
template <class Work>
void with_each_kernel(const Work& work) {
  test::with_each_kernel(work, SpmmCase<gpu::SpmmByWindows, half, float>{},
                         SpmmCase<gpu::SpmmByCublas, double, double>{});
}

/// C = A B into what was not a number, and C += A B, as statements and as plans of constant operands. Sums of
/// small integers are exact in every kernel.
template <class Kernel, class Value, class Out>
void expect_right(const Entries<Value, 2>& entries, std::int64_t columns) {
  const auto A = assemble<IntCsr>(entries);
  const auto B = filled<Value, DenseMatrix<>>({A.extent(1), columns}, 2);
  const Tensor<Out, DenseMatrix<>> expected({A.extent(0), columns}), twice({A.extent(0), columns});
  for (std::int64_t entry = 0; entry < entries.size(); ++entry)
    for (std::int64_t column = 0; column < columns; ++column)
      expected.values()(entries.coordinates[0](entry) * columns + column) +=
          static_cast<Out>(static_cast<float>(entries.values(static_cast<std::size_t>(entry))) *
                           static_cast<float>(B.values()(entries.coordinates[1](entry) * columns + column)));
  for (std::int64_t at = 0; at < expected.nnz(); ++at) twice.values()(at) = 2 * expected.values()(at);
  const auto a = A.template copy_to<Cuda>();
  const auto b = B.template copy_to<Cuda>();
  const auto c = expected.template copy_to<Cuda>();
  const auto statement = assign(c(i, j), a(i, k) * b(k, j)).template use<Kernel>();
  const auto check = [&](const auto& run) {
    Kokkos::deep_copy(c.values(), Out(std::numeric_limits<float>::quiet_NaN()));
    run(statement);
    expect_equal_tensors(expected, c);
    run(statement.accumulate());
    expect_equal_tensors(twice, c);
  };
  check([](const auto& one) { one.run(); });
  check([](const auto& one) { plan(one.with_constant_operands()).run(); });
}

TEST(CudaSpmmCorners, MatricesWithoutNonzeros) {
  with_each_kernel([]<class Kernel, class Value, class Out>() {
    expect_right<Kernel, Value, Out>(Entries<Value, 2>({300, 200}, 0), 70);
    Entries<Value, 2> zeros({300, 200}, 500);  // stored, but zero
    for (std::int64_t entry = 0; entry < 500; ++entry)
      zeros.set(entry, {entry % 300, entry * 7 % 200}, Value{});
    expect_right<Kernel, Value, Out>(zeros, 70);
  });
}

TEST(CudaSpmmCorners, AMillionRowsOfWhichFewHaveNonzeros) {
  with_each_kernel([]<class Kernel, class Value, class Out>() {
    Entries<Value, 2> few({1'000'000, 50}, 40);
    for (std::int64_t entry = 0; entry < 40; ++entry)
      few.set(entry, {entry < 20 ? entry * 49'999 : 999'999, entry},
              static_cast<Value>(static_cast<float>(1 + entry % 3)));
    if constexpr (std::is_same_v<Kernel, gpu::SpmmOnTensorCores> ||
                  std::is_same_v<Kernel, gpu::SpmmBySplitTiles>)
      EXPECT_THROW((expect_right<Kernel, Value, Out>(few, 5)), ScheduleError) << "it has too few nonzeros";
    else
      expect_right<Kernel, Value, Out>(few, 5);
  });
}

TEST(CudaSpmmCorners, OneRowThatIsFull) {
  with_each_kernel([]<class Kernel, class Value, class Out>() {
    Entries<Value, 2> row({130, 60'000}, 60'003);
    for (std::int64_t entry = 0; entry < 60'000; ++entry)
      row.set(entry, {77, entry}, static_cast<Value>(static_cast<float>(1 + entry % 3)));
    for (std::int64_t entry = 0; entry < 3; ++entry)
      row.set(60'000 + entry, {entry * 60, 59'999 - entry}, static_cast<Value>(2.0F));
    expect_right<Kernel, Value, Out>(row, 33);
  });
}

/// Sums of inexact values, by a kernel for results by rows and by the two for results by columns.
TEST(CudaSpmmCorners, MakeTheSameBitsInEveryRun) {
  expect_same_from_run_to_run<gpu::SpmmOnTensorCores, half>();
  const auto W = convert<IntCsr>(thinned<float>({300, 500}, 4, 1)).copy_to<Cuda>();
  const auto X = random_dense<float, DenseMatrix<>>({60, 500}, 2).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> Y({60, 300});
  const auto check = [&]<class Kernel>() {
    SCOPED_TRACE(std::string(Kernel::name));
    const auto statement = assign(Y(i, j), X(i, k) * W(j, k)).template use<Kernel>();
    statement.run();
    const auto first = Y.copy_to<Host>();
    for (int again = 0; again < 5; ++again) {
      Kokkos::deep_copy(Y.values(), -1.0F);
      again % 2 == 0 ? statement.run() : plan(statement).run();
      expect_equal_tensors(first, Y);
    }
  };
  check.template operator()<gpu::SpmmIntoColumns>();
  check.template operator()<gpu::SpmmFromSharedRows>();
}

/// Gives operands other values.
template <class Value, class F>
void refill(const Tensor<Value, F, Cuda>& dense, unsigned seed) {
  Kokkos::deep_copy(dense.values(),
                    filled<Value, F>(dense.extents(), seed).template copy_to<Cuda>().values());
}

/// A plan is captured before it has run, and reads new values when the graph is launched, in memory of its
/// own.
template <class Layout>
void expect_plans_in_graphs() {
  with_each_kernel([&]<class Kernel, class Value, class Out>() {
    pool<Cuda>().release();
    const OwnStream stream;
    const auto A = convert<IntCsr>(thinned<Value>({260, 300}, 4, 1)).template copy_to<Cuda>();
    const auto B = filled<Value, DenseMatrix<Layout>>({300, 70}, 2).template copy_to<Cuda>();
    const auto wide_B = filled<Value, DenseMatrix<Layout>>({300, 701}, 3).template copy_to<Cuda>();
    Kokkos::deep_copy(A.values(), static_cast<Value>(2.0F));
    const Tensor<Out, DenseMatrix<>, Cuda> C({260, 70}), wide_C({260, 701}), expected({260, 70});
    auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).template use<Kernel>().on(stream.resources()));
    const auto run = [&] { product.run(); };
    const auto run_larger = [&] {
      assign(wide_C(i, j), A(i, k) * wide_B(k, j)).template use<Kernel>().on(stream.resources()).run();
    };
    const auto change = [&] {
      Kokkos::deep_copy(A.values(), static_cast<Value>(3.0F));
      refill(B, 4);
      Kokkos::deep_copy(C.values(), Out(-1));
      assign(expected(i, j), A(i, k) * B(k, j)).template use<gpu::SpmmByGroups>().run();
    };
    const auto check = [&] { expect_equal_tensors(expected.template copy_to<Host>(), C); };
    // cuBLAS works in as much memory for any B.
    if constexpr (std::is_same_v<Layout, ColumnMajor> && !std::is_same_v<Kernel, gpu::SpmmByCublas>)
      expect_graph_keeps_shared_memory(stream, run, run_larger, change, check);
    else
      expect_graph_keeps_memory(stream, run, run_larger, change, check);
  });
}
TEST(CudaSpmmCorners, PlansFollowValuesInAGraph) { expect_plans_in_graphs<RowMajor>(); }
TEST(CudaSpmmCorners, PlansThatCopyFollowValuesInAGraph) { expect_plans_in_graphs<ColumnMajor>(); }

/// The sums have working memory, and so has the product that computes them.
TEST(CudaSpmmCorners, PlansOfLayersFollowValuesInAGraph) {
  const auto W = convert<IntCsr>(thinned<float>({300, 500}, 4, 1)).copy_to<Cuda>();
  const auto X = filled<float, DenseMatrix<>>({60, 500}, 2).copy_to<Cuda>();
  const auto wide_X = filled<float, DenseMatrix<>>({610, 500}, 3).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> Y({60, 300}), wide_Y({610, 300}), expected({60, 300});
  const auto expect = [&]<class Kernel>() {
    SCOPED_TRACE(std::string(Kernel::name));
    pool<Cuda>().release();
    const OwnStream stream;
    Kokkos::deep_copy(W.values(), 2.0F);
    auto product = plan(assign(Y(i, j), X(i, k) * W(j, k)).template use<Kernel>().on(stream.resources()));
    const auto run = [&] { product.run(); };
    const auto run_larger = [&] {
      assign(wide_Y(i, j), wide_X(i, k) * W(j, k)).template use<Kernel>().on(stream.resources()).run();
    };
    const auto change = [&] {
      Kokkos::deep_copy(W.values(), 3.0F);
      refill(X, 4);
      Kokkos::deep_copy(Y.values(), -1.0F);
      assign(expected(i, j), X(i, k) * W(j, k)).template use<gpu::SpmmIntoColumns>().run();
    };
    const auto check = [&] { expect_equal_tensors(expected.copy_to<Host>(), Y); };
    if constexpr (std::is_same_v<Kernel, gpu::SpmmIntoColumns>)
      expect_graph_keeps_shared_memory(stream, run, run_larger, change, check);
    else
      expect_graph_keeps_memory(stream, run, run_larger, change, check);
  };
  expect.template operator()<gpu::SpmmIntoColumns>();
  expect.template operator()<gpu::SpmmFromSharedRows>();
}

TEST(CudaSpmmCorners, PlansAllocateNothingInARun) {
  const auto expect = []<class Kernel, class Value, class Out, class Layout>() {
    const auto A = convert<IntCsr>(thinned<Value>({260, 300}, 4, 1)).template copy_to<Cuda>();
    const auto B = filled<Value, DenseMatrix<Layout>>({300, 70}, 2).template copy_to<Cuda>();
    const Tensor<Out, DenseMatrix<>, Cuda> C({260, 70});
    const Resources<Cuda> fresh{Cuda()};
    auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).template use<Kernel>().on(fresh));
    for (int run = 0; run < 2; ++run) EXPECT_EQ(memory_of([&] { product.run(); }), 0);
  };
  with_each_kernel([&]<class Kernel, class Value, class Out>() {
    expect.template operator()<Kernel, Value, Out, RowMajor>();
    expect.template operator()<Kernel, Value, Out, ColumnMajor>();
  });
}

/// A matrix of small integers with that many nonzeros in each row, at most 1000.
template <class Value>
Entries<Value, 2> with_lengths(const std::vector<std::int64_t>& lengths) {
  constexpr std::int64_t columns = 1000;
  std::int64_t nonzeros = 0, at = 0;
  for (const std::int64_t length : lengths) nonzeros += length;
  Entries<Value, 2> out({static_cast<std::int64_t>(lengths.size()), columns}, nonzeros);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    for (std::int64_t entry = 0; entry < lengths[row]; ++entry, ++at)
      out.set(at, {static_cast<std::int64_t>(row), (entry * columns + 7) / lengths[row] % columns},
              static_cast<Value>(static_cast<float>(1 + (at + entry) % 3)));
  return out;
}

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
TEST(CudaSpmmCorners, EmptyRowsOfDotProducts) {
  expect_empty_rows<half, float>();
  expect_empty_rows<float, float>();
}

/// Warps of rows as the host counts them.
TEST(CudaSpmmCorners, EmptyRowsHaveNoWarpsOfDotProducts) {
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
TEST(CudaSpmmCorners, DotProductsOfRowsOfEveryLength) {
  for (const std::size_t short_rows : {0, 600}) {
    expect_lengths_of_dot_products<half>(short_rows);
    expect_lengths_of_dot_products<bfloat16>(short_rows);
    expect_lengths_of_dot_products<float>(short_rows);
  }
}

/// Many of a length: more warps than run at once.
TEST(CudaSpmmCorners, DotProductsOfManyRows) {
  for (const std::int64_t length : {8, 16, 32, 64, 100}) {
    SCOPED_TRACE(length);
    expect_right<gpu::SpmmByDotProducts, half, float>(
        with_lengths<half>(std::vector<std::int64_t>(5001, length)), 72);
  }
}

/// Long rows are cut after fewer nonzeros where rows are few, so that there are warps for the whole GPU.
TEST(CudaSpmmCorners, FewLongRowsOfDotProductsAreCutMoreOften) {
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
TEST(CudaSpmmCorners, RowsOfNarrowResultsHaveFewerWarpsOfDotProducts) {
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

}  // namespace
}  // namespace sporos::test::spmm_corners
