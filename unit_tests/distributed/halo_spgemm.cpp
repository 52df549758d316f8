// SPDX-License-Identifier: Apache-2.0
/// @file halo_spgemm.cpp
/// Products of sparse matrices by rows, most of whose rows need nothing of other ranks, against the product
/// on one process.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/distributed/distributed.hpp>
#include <string_view>
#include <vector>

#include "ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

using Sparse = Tensor<double, CSR<>>;

constexpr std::int64_t n = 300;

/// Four diagonals, so that rows along them are shifted copies of one another; with a break in every 37th row,
/// where they are not.
Entries<double, 2> band(std::int64_t reach) {
  std::vector<std::pair<Extents<2>, double>> list;
  for (std::int64_t row = 0; row < n; ++row)
    for (const std::int64_t step : {-reach, std::int64_t{0}, std::int64_t{1}, reach}) {
      const std::int64_t column = row + step + (row % 37 == 36 ? 1 : 0);
      if (column >= 0 && column < n)
        list.push_back({{row, column}, static_cast<double>(1 + (row + step) % 3)});
    }
  Entries<double, 2> out({n, n}, std::ssize(list));
  for (std::int64_t e = 0; e < out.size(); ++e)
    out.set(e, list[static_cast<std::size_t>(e)].first, list[static_cast<std::size_t>(e)].second);
  return out;
}

std::string_view halo_where_ranks_are_several() {
  return world().size() > 1 ? HaloSpgemm::name : OwnerComputes::name;
}

/// Runs C = A * B by a plan, then again with other values.
void expect_product(const Entries<double, 2>& left, const Entries<double, 2>& right,
                    const Distribution<2>& by_rows, const Distribution<2>& of_right, bool is_square) {
  SCOPED_TRACE(text(by_rows.str(), ' ', of_right.str(), is_square ? ", A * A" : ""));
  const auto whole_left = assemble<CSR<>>(left), whole_right = assemble<CSR<>>(right);
  const Sparse expected({n, n}), scaled({n, n});
  expected(i, j) = whole_left(i, k) * whole_right(k, j);
  const double factor = is_square ? 4 : 2;
  scaled(i, j) = factor * expected(i, j);
  const auto A = assemble<CSR<>>(by_rows, share(world(), left));
  const auto B = is_square ? A : assemble<CSR<>>(of_right, share(world(), right));
  const Distributed<Sparse> C(by_rows);
  auto product = plan(assign(C(i, j), B(k, j) * A(i, k)));
  EXPECT_EQ(product.candidate(), halo_where_ranks_are_several());
  product.run();
  EXPECT_TRUE(holds(C, expected));
  const auto values = A.local().values();
  for (std::size_t q = 0; q < values.extent(0); ++q) values(q) *= 2;
  product.run();
  EXPECT_TRUE(holds(C, scaled));
}

TEST(HaloSpgemm, IsTheProductOfTheWholeMatrices) {
  using D = Distribution<2>;
  const auto blocks = D::blocks(world(), {n, n});
  const auto cyclic = D::cyclic(world(), {n, n});
  std::vector<std::int64_t> begins(static_cast<std::size_t>(world().size()) + 1, 0);
  begins.back() = n;  // the last rank has everything, the others nothing
  const auto at_last = D::along(world(), {n, n}, 0, Partition::ranges(begins));
  expect_product(band(20), band(20), blocks, blocks, true);
  expect_product(band(20), band(3), blocks, blocks, false);
  expect_product(band(3), band(20), blocks, at_last, false);
  expect_product(band(3), band(20), cyclic, blocks, false);
  expect_product(band(3), band(20), at_last, blocks, false);
  const auto random = all_entries<2>({n, n}, 0.02);  // hardly any row needs nothing
  expect_product(random, random, blocks, blocks, true);
  expect_product(Entries<double, 2>({n, n}, 0), random, blocks, blocks, false);
}

TEST(HaloSpgemm, MayBeOneOfItsFactors) {
  const auto entries = band(20);
  const auto whole = assemble<CSR<>>(entries);
  const Sparse square({n, n});
  square(i, j) = whole(i, k) * whole(k, j);
  const auto A = assemble<CSR<>>(Distribution<2>::blocks(world(), {n, n}), share(world(), entries));
  A(i, j) = A(i, k) * A(k, j);
  EXPECT_TRUE(holds(A, square));
}

TEST(HaloSpgemm, IsNotASquareBecausePositionsAreShared) {
  // Rows of the right factor are as long as those of the left one, and stored with their positions, but lie
  // elsewhere.
  const auto D = Distribution<2>::blocks(world(), {n, n});
  const auto entries = band(20);
  const auto A = assemble<CSR<>>(D, share(world(), entries)), B = assemble<CSR<>>(D, share(world(), entries));
  auto levels = B.local().levels();
  auto& columns = std::get<1>(levels);
  columns.positions = A.local().level<1>().positions;
  columns.coordinates = copy_array<Kokkos::HostSpace>(columns.coordinates);
  for (std::int64_t row = 0; row < B.local().extent(0); ++row)
    for (auto q = columns.positions(row), end = columns.positions(row + 1); q < end; ++q)
      columns.coordinates(q) =
          static_cast<std::int32_t>((row % 5) * 7 + (q - columns.positions(row)) * (1 + row % 2));
  B.local().replace(B.local().extents(), levels, B.local().values());
  const Sparse left = gather(A), right = gather(B), expected({n, n});
  expected(i, j) = left(i, k) * right(k, j);
  const Distributed<Sparse> C(D);
  C(i, j) = A(i, k) * B(k, j);
  EXPECT_TRUE(holds(C, expected));
}

TEST(HaloSpgemm, IsExplainedBeforeItRuns) {
  const auto A = assemble<CSR<>>(Distribution<2>::blocks(world(), {n, n}), share(world(), band(20)));
  const Distributed<Sparse> C(A.distribution());
  const auto product = assign(C(i, j), A(i, k) * A(k, j));
  const std::string said = explain(product);
  EXPECT_NE(said.find(halo_where_ranks_are_several()), std::string::npos) << said;
  const Estimate bound = estimate(product);
  product.run();
  EXPECT_GE(bound.result, C.bytes());
}

}  // namespace
}  // namespace sporos::test
