// SPDX-License-Identifier: Apache-2.0
/// @file short_rows.cpp
/// Products of sparse matrices whose rows have at most eight nonzeros by padded rows, several by a group of
/// lanes: against sums in double.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <tuple>

#include "packed_rows.hpp"
#include "products.hpp"

namespace sporos::test::spmm_by_short_rows {
namespace {

using namespace sporos::indices;
using Kernel = gpu::SpmmByPaddedRows;

/// Rows of up to `longest` nonzeros, some empty.
template <class Value>
Tensor<Value, DenseMatrix<>> short_rows(std::int64_t m, std::int64_t inner, std::int64_t longest) {
  const auto values = random_dense<Value, DenseMatrix<>>({m, inner}, 1);
  const Tensor<Value, DenseMatrix<>> out({m, inner});
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t e = 0; e < row * 5 % (longest + 1); ++e) {
      const std::int64_t column = (row * 3 + e * e * 11) % inner;
      out.values()(row * inner + column) = values.values()(row * inner + column);
    }
  return out;
}

/// The product by one and two packs of columns a lane, groups of different sizes and numbers of rows.
template <class Value, class Out>
void expect_every_shape(std::int64_t n) {
  using Prepared = ProductWithInfinities<Value, Out>;
  constexpr std::int64_t m = Prepared::m, inner = Prepared::inner;
  const Prepared prepared(short_rows<Value>(m, inner, 6), n);
  ASSERT_TRUE(prepared.can_have_packs());
  const Kokkos::Cuda space;
  const auto view = prepared.view();
  const gpu::RowSteps counts = gpu::count_pattern(Resources<Cuda>(), view, {.rows = true}).rows.steps;
  ASSERT_EQ(counts.most, gpu::ShortRowsShape::steps);
  const PackedRows<Value> packed(space, view, counts);
  constexpr int of_pack = gpu::PaddedRowsConfig<Value>::columns, threads = gpu::ShortRowsConfig<1>::threads;
  for (const int packs : {1, 2})
    for (int lanes = 0;
         lanes <= (packs == 1 ? gpu::ShortRowsConfig<1>::most_lanes : gpu::ShortRowsConfig<2>::most_lanes);
         ++lanes)
      for (const int rows_of_group : {1, 2, 7, gpu::ShortRowsShape::most_rows}) {
        SCOPED_TRACE(
            text(n, " columns, ", packs, " packs, ", 1 << lanes, " lanes, ", rows_of_group, " rows"));
        gpu::ShortRowsShape shape;
        shape.packs = packs;
        shape.lanes = lanes;
        shape.rows_of_group = rows_of_group;
        shape.blocks = gpu::ceil_div(m, std::int64_t{threads >> lanes} * rows_of_group);
        shape.panels = gpu::ceil_div(n, std::int64_t{packs * of_pack} << lanes);
        prepared.expect([&]<class E>(const gpu::TiledProduct<Out, E>& product) {
          gpu::spmm_short_rows(
              space,
              gpu::PaddedRowsProduct<Value, Out, E, typename Prepared::View>{
                  product, packed.rows(), view, prepared.b(), prepared.stride(), true, 0, {}},
              shape);
        });
      }
}
TEST(CudaSpmmByShortRows, EveryShape) {
  for (const std::int64_t n : {8, 24, 264}) expect_every_shape<half, half>(n);
  expect_every_shape<bfloat16, float>(92);
  for (const std::int64_t n : {4, 136}) expect_every_shape<float, float>(n);
  for (const std::int64_t n : {2, 66}) expect_every_shape<double, double>(n);
}

/// Shapes cover every row and column once, for results that the L2 cache holds and larger ones.
TEST(CudaSpmmByShortRows, ShapesCoverResults) {
  const cudaDeviceProp& device = Kokkos::Cuda().cuda_device_prop();
  std::set<std::tuple<int, int, int>> seen;
  for (const std::int64_t rows : {1, 100, 40'000, 512'000, 2'000'000'000})
    for (const std::int64_t columns : {1, 2, 8, 31, 32, 33, 64, 100, 128, 512, 4096})
      for (const int of_pack : {2, 4, 8}) {
        const double bytes = static_cast<double>(rows) * static_cast<double>(columns) * 32 / of_pack;
        const auto shape = gpu::ShortRowsShape::of(rows, columns, of_pack, bytes, device);
        SCOPED_TRACE(text(rows, " rows, ", columns, " columns, ", of_pack, " a pack"));
        const std::int64_t of_block = std::int64_t{gpu::ShortRowsConfig<1>::threads >> shape.lanes} *
                                      shape.rows_of_group,
                           of_panel = std::int64_t{shape.packs * of_pack} << shape.lanes;
        EXPECT_GE(shape.blocks * of_block, rows);
        EXPECT_LT((shape.blocks - 1) * of_block, rows);
        EXPECT_GE(shape.panels * of_panel, columns);
        EXPECT_LT((shape.panels - 1) * of_panel, columns);
        EXPECT_GE(shape.rows_of_group, 1);
        EXPECT_LE(shape.rows_of_group, gpu::ShortRowsShape::most_rows);
        seen.insert({shape.packs, shape.lanes, shape.rows_of_group});
      }
  EXPECT_GT(seen.size(), 10U);
}

/// Statements and plans of matrices with short rows, of the types that have one another's results.
template <class Value, class Out>
void expect_statements() {
  for (const std::int64_t n : {1, 3, 8, 32, 33, 64, 130, 512})
    for (const std::int64_t longest : {1, 4, 5, 8}) {
      SCOPED_TRACE(text(value_name<Value>(), ", ", n, " columns, rows of up to ", longest));
      const auto dense = short_rows<Value>(300, 200, longest);
      const auto A = convert<IntCsr>(dense).template copy_to<Cuda>();
      const auto B = random_dense<Value, DenseMatrix<>>({200, n}, 2);
      const auto wide_A = convert<DenseMatrix<>, double>(dense), wide_B = convert<DenseMatrix<>, double>(B);
      const auto C = poisoned<Out, DenseMatrix<>>({300, n});
      const auto device_B = B.template copy_to<Cuda>();
      auto product =
          plan(assign(C(i, j), A(i, k) * device_B(k, j)).with_constant_operands().template use<Kernel>());
      product.run();
      EXPECT_EQ((wrong_sums<Value, Out>(wide_A, wide_B, nullptr, C.template copy_to<Host>())), 0);
      const auto before = C.template copy_to<Host>();
      assign(C(i, j), A(i, k) * device_B(k, j)).template use<Kernel>().accumulate().run();
      EXPECT_EQ((wrong_sums<Value, Out>(wide_A, wide_B, &before, C.template copy_to<Host>())), 0);
    }
}
TEST(CudaSpmmByShortRows, Statements) {
  expect_statements<half, half>();
  expect_statements<float, float>();
  expect_statements<double, double>();
}

TEST(CudaSpmmByShortRows, SayHowTheyRun) {
  constexpr std::int64_t m = 30'000, inner = 20, n = 64;
  const auto A = convert<IntCsr>(short_rows<float>(m, inner, 8)).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> B({inner, n}), C({m, n});
  const auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands().use<Kernel>());
  const auto shape = gpu::ShortRowsShape::of(m, n, gpu::PaddedRowsConfig<float>::columns, (m + inner) * n * 4,
                                             Kokkos::Cuda().cuda_device_prop());
  ASSERT_GT(shape.rows_of_group, 1);
  std::ostringstream out;
  product.explain(out);
  EXPECT_NE(out.str().find(text(shape.rows_of_group, " rows one after another by ", 1 << shape.lanes,
                                " lanes of a warp")),
            std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace sporos::test::spmm_by_short_rows
