// SPDX-License-Identifier: Apache-2.0
/// @file summa_spgemm.cpp
/// Products of sparse matrices on grids of ranks, against the product on one process.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

/// A grid of p x q ranks with p and q above 1; 0 where there is none.
std::array<int, 2> grid_of(int ranks) {
  for (int p = 2; p * 2 <= ranks; ++p)
    if (ranks % p == 0) return {p, ranks / p};
  return {};
}

/// Partitions of an extent into parts that are not as long as one another; of some parts nothing.
std::vector<Partition> ranges(std::int64_t extent, int parts) {
  std::vector<std::int64_t> at_end(static_cast<std::size_t>(parts) + 1, 0), skewed{0};
  at_end.back() = extent;
  for (int part = 1; part < parts; ++part) skewed.push_back(extent - extent / (part + 1));
  skewed.push_back(extent);
  return {Partition::blocks(extent, parts), Partition::ranges(at_end), Partition::ranges(skewed)};
}

std::string_view summa_where_ranks_form_a_grid() {
  return grid_of(world().size())[0] > 0 ? SummaSpgemm::name : OwnerComputes::name;
}

template <class F>
auto multiplied(const Entries<double, 2>& left, const Entries<double, 2>& right) {
  const auto A = assemble<F>(left), B = assemble<F>(right);
  const Tensor<double, F> C({A.extent(0), B.extent(1)});
  C(i, j) = A(i, k) * B(k, j);
  return C;
}

/// Runs C = A * B, by a plan and again with other values; where ranks form no grid, as any other statement.
template <class F>
void expect_product(const Entries<double, 2>& left, const Entries<double, 2>& right, const Partition& rows,
                    const Partition& columns, const Partition& of_left, const Partition& of_right) {
  using D = Distribution<2>;
  SCOPED_TRACE(text(rows.str(), ", ", columns.str(), ", ", of_left.str(), ", ", of_right.str()));
  const auto A = assemble<F>(D(world(), {rows, of_left}), share(world(), left));
  const auto B = assemble<F>(D(world(), {of_right, columns}), share(world(), right));
  const Distributed<Tensor<double, F>> C(D(world(), {rows, columns}));
  const auto expected = multiplied<F>(left, right);
  const Tensor<double, F> scaled(expected.extents());
  scaled(i, j) = 6.0 * expected(i, j);

  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)));
  EXPECT_EQ(product.candidate(), summa_where_ranks_form_a_grid());
  product.run();
  EXPECT_TRUE(holds(C, expected));
  const auto scale = [](const auto& tensor, double factor) {
    for (std::size_t q = 0; q < tensor.local().values().extent(0); ++q) tensor.local().values()(q) *= factor;
  };
  scale(A, 2);
  scale(B, 3);
  for (int time = 0; time < 2; ++time) {  // sums are not added to those of the last time
    product.run();
    EXPECT_TRUE(holds(C, scaled)) << time;
  }
  C(i, j) = B(k, j) * A(i, k);
  EXPECT_TRUE(holds(C, scaled)) << "run once";
}

/// For some of the ways to divide rows, columns and k; on ranks that form no grid, for one of them.
template <class F>
void expect_products(const Extents<3>& extents, double density) {
  const auto [m, l, n] = extents;
  const auto left = all_entries<2>({m, l}, density, 7), right = all_entries<2>({l, n}, density, 8);
  const auto [p, q] = grid_of(world().size());
  if (p == 0) {
    const auto whole = [](std::int64_t extent) { return Partition::whole(extent); };
    return expect_product<F>(left, right, whole(m), whole(n), whole(l), whole(l));
  }
  const auto rows = ranges(m, p), columns = ranges(n, q), of_left = ranges(l, q), of_right = ranges(l, p);
  for_some(
      8, 5,
      [&](std::size_t r, std::size_t c, std::size_t a, std::size_t b) {
        expect_product<F>(left, right, rows[r], columns[c], of_left[a], of_right[b]);
      },
      rows.size(), columns.size(), of_left.size(), of_right.size());
}

TEST(SummaSpgemm, IsTheProductOfTheWholeMatrices) {
  expect_products<CSR<>>({23, 31, 17}, 0.2);
  expect_products<CSR<>>({1, 5, 1}, 0.9);  // fewer rows and columns than ranks
  expect_products<CSR<>>({6, 7, 8}, 0);
  expect_products<CSR<>>({6, 0, 8}, 0);
}

TEST(SummaSpgemm, TakesCoordinatesOf64Bits) {
  expect_products<CSR<std::int64_t, std::int64_t>>({9, 20, 12}, 0.3);
}

TEST(SummaSpgemm, DealsOutRowsAndColumnsAlike) {
  const auto [p, q] = grid_of(world().size());
  if (p == 0 || p != q) return;
  const auto left = all_entries<2>({11, 13}, 0.3, 1), right = all_entries<2>({13, 9}, 0.3, 2);
  std::vector<int> owners;
  for (int c = 0; c < 13; ++c) owners.push_back(c * c % p);
  for (const auto& of_k :
       {Partition::cyclic(13, p), Partition::cyclic(13, p, 2), Partition::owned(owners, p)})
    expect_product<CSR<>>(left, right, Partition::cyclic(11, p), Partition::cyclic(9, q, 2), of_k, of_k);
}

TEST(SummaSpgemm, LeavesOtherDistributionsToOthers) {
  const auto entries = all_entries<2>({12, 12}, 0.3);
  using D = Distribution<2>;
  const auto grid = D::grid(world(), {12, 12});
  const auto A = assemble<CSR<>>(grid, share(world(), entries));
  const auto expected = multiplied<CSR<>>(entries, entries);
  for (const auto& of_b : {D::blocks(world(), {12, 12}), D::cyclic(world(), {12, 12}, 1), grid})
    for (const auto& of_c : {D::blocks(world(), {12, 12}, 1), grid}) {
      const auto B = assemble<CSR<>>(of_b, share(world(), entries));
      const Distributed<Tensor<double, CSR<>>> C(of_c);
      C(i, j) = A(i, k) * B(k, j);
      EXPECT_TRUE(holds(C, expected)) << of_b.str() << ' ' << of_c.str();
    }
}

TEST(SummaSpgemm, MayBeOneOfItsFactors) {
  const auto entries = all_entries<2>({15, 15}, 0.3);
  const auto A = assemble<CSR<>>(Distribution<2>::grid(world(), {15, 15}), share(world(), entries));
  A(i, j) = A(i, k) * A(k, j);
  EXPECT_TRUE(holds(A, multiplied<CSR<>>(entries, entries)));
}

TEST(SummaSpgemm, MergesProductsEarlyThatAreMuchLargerThanTheFirst) {
  const auto [p, q] = grid_of(world().size());
  if (p != 2 || q != 2) return;
  const auto left = all_entries<2>({400, 30}, 0.5, 1), right = all_entries<2>({30, 400}, 0.5, 2);
  // Three stages, of 1, 28 and 1 coordinates.
  expect_product<CSR<>>(left, right, Partition::blocks(400, 2), Partition::blocks(400, 2),
                        Partition::ranges({0, 1, 30}), Partition::ranges({0, 29, 30}));
}

TEST(SummaSpgemm, SaysWhatItWillDo) {
  const auto entries = all_entries<2>({40, 40}, 0.3);
  const auto A = assemble<CSR<>>(Distribution<2>::grid(world(), {40, 40}), share(world(), entries));
  const Distributed<Tensor<double, CSR<>>> C(A.distribution());
  const auto product = assign(C(i, j), A(i, k) * A(k, j));
  const std::string said = explain(product);
  EXPECT_NE(said.find(summa_where_ranks_form_a_grid()), std::string::npos) << said;
  const Estimate bound = estimate(product);
  product.run();
  EXPECT_GE(bound.result, C.bytes());
  const auto [p, q] = grid_of(world().size());
  if (p == 0) return;
  // Each nonzero goes to the other ranks of its row of the grid, and to those of its column.
  const Traffic sent = traffic(product);
  EXPECT_EQ(sent.bytes(), total_nnz(A) * 8 * (p - 1 + q - 1));
  std::int64_t received = 0;
  for (const RankTraffic& rank : sent.ranks) received += rank.received;
  EXPECT_EQ(received, sent.bytes());
}

TEST(SummaStages, CoverEachCoordinateOnce) {
  for (const std::int64_t extent : {0, 1, 2, 7, 30})
    for (const Partition& left : ranges(extent, 3))
      for (const Partition& right : ranges(extent, 2)) {
        std::int64_t next = 0;
        for (const detail::SummaStage& stage : detail::summa_stages(left, right)) {
          ASSERT_EQ(stage.left.size(), stage.right.size());
          for (std::int64_t at = 0; at < stage.left.size(); ++at, ++next) {
            EXPECT_EQ(left.global(stage.left_part, stage.left.begin + at), next);
            EXPECT_EQ(right.global(stage.right_part, stage.right.begin + at), next);
          }
        }
        EXPECT_EQ(next, extent);
      }
}

TEST(SummaStages, EndOnAllRanksWhereOneFails) {
  const auto [p, q] = grid_of(world().size());
  if (p == 0) return;
  using Sparse = Tensor<double, CSR<>>;
  const auto A =
      assemble<CSR<>>(Distribution<2>(world(), {Partition::blocks(12, p), Partition::blocks(12, q)}),
                      share(world(), all_entries<2>({12, 12}, 0.5)));
  const auto stages = detail::summa_stages(A.distribution().partition(1), A.distribution().partition(0));
  std::vector<detail::StageBlock> of_left, of_right;
  for (const auto& stage : stages) {
    of_left.push_back({stage.left_part, {0, A.local().extent(0)}, stage.left});
    of_right.push_back({stage.right_part, stage.right, {0, A.local().extent(1)}});
  }
  const int rank = world().rank();
  const detail::StagedFactor<Sparse> left(world(), world().split(rank / q), A.local(), of_left);
  const detail::StagedFactor<Sparse> right(world(), world().split(rank % q), A.local(), of_right);
  std::size_t seen = 0;
  const auto multiply = [&](std::size_t at) {
    EXPECT_EQ(at, seen++);
    if (rank == 0) throw MemoryError("no room for a product");
  };
  EXPECT_THROW(jointly(world(),
                       [&] {
                         detail::for_each_stage(left, right, multiply);
                         agree(world(), "the stages");
                       }),
               MemoryError);
  EXPECT_EQ(seen, rank == 0 ? 1 : stages.size());
}

}  // namespace
}  // namespace sporos::test
