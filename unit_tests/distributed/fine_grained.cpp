// SPDX-License-Identifier: Apache-2.0
/// @file fine_grained.cpp
/// Tensors whose nonzeros are dealt out one by one: statements on them, against the same statements on the
/// whole tensors, and what they send.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

using Matrix = Tensor<double, DenseMatrix<>>;
using Factor = Distributed<Matrix>;

/// Entries without repetitions of which most lie in two slices of one mode, all of them on every rank.
Entries<double, 3> skewed(const Extents<3>& extents, std::int64_t count, int mode, std::uint64_t seed = 5) {
  std::mt19937_64 draw(seed);
  std::set<Extents<3>> places;
  while (std::ssize(places) < count) {
    Extents<3> at{};
    for (std::size_t m = 0; m < 3; ++m)
      at[m] = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(extents[m]));
    const auto luck = draw() % 10;
    auto& slice = at[static_cast<std::size_t>(mode)];
    if (luck < 5)
      slice = 2;
    else if (luck < 7)
      slice = extents[static_cast<std::size_t>(mode)] - 1;
    places.insert(at);
  }
  Entries<double, 3> out(extents, count);
  std::int64_t e = 0;
  for (const auto& at : places) out.set(e++, at, static_cast<double>(1 + draw() % 5));
  return out;
}

/// Owners of the entries, drawn or all the same.
template <class Value, int Order>
Distribution<Order> dealt_at_random(const Entries<Value, Order>& all, std::uint64_t seed = 3) {
  const auto mine = share(world(), all);
  std::mt19937_64 draw(seed + static_cast<std::uint64_t>(world().rank()));
  std::vector<int> owners(static_cast<std::size_t>(mine.size()));
  for (int& owner : owners) owner = static_cast<int>(draw() % static_cast<std::uint64_t>(world().size()));
  return Distribution<Order>::fine_grained(world(), mine, owners);
}
template <class Value, int Order>
Distribution<Order> dealt_to(int rank, const Entries<Value, Order>& all) {
  const auto mine = share(world(), all);
  return Distribution<Order>::fine_grained(world(), mine,
                                           std::vector<int>(static_cast<std::size_t>(mine.size()), rank));
}

/// Fine-grained distributions of a tensor with these entries.
template <class Value, int Order>
std::vector<Distribution<Order>> dealings(const Entries<Value, Order>& all) {
  return {Distribution<Order>::fine_grained(world(), share(world(), all)), dealt_at_random(all),
          dealt_to(world().size() - 1, all)};
}

/// The three MTTKRP of a tensor, each run twice by a plan, with other values the second time.
template <class F>
void expect_mttkrp(const Entries<double, 3>& all) {
  const std::int64_t width = 4;
  const auto whole = assemble<F>(all);
  const auto [m, n, p] = all.extents;
  const std::vector<Extents<2>> shapes{{m, width}, {n, width}, {p, width}};
  std::vector<Matrix> factors, results, twice;
  for (std::size_t mode = 0; mode < 3; ++mode) {
    factors.push_back(whole_dense<DenseMatrix<>>(shapes[mode], 11 + mode));
    results.emplace_back(shapes[mode]);
    twice.emplace_back(shapes[mode]);
  }
  results[0](i, r) = whole(i, k, l) * factors[1](k, r) * factors[2](l, r);
  results[1](k, r) = whole(i, k, l) * factors[0](i, r) * factors[2](l, r);
  results[2](l, r) = whole(i, k, l) * factors[0](i, r) * factors[1](k, r);
  for (std::size_t mode = 0; mode < 3; ++mode) twice[mode](i, r) = 2.0 * results[mode](i, r);
  const std::vector<std::vector<Distribution<2>>> of{kinds<2>(shapes[0]), kinds<2>(shapes[1]),
                                                     kinds<2>(shapes[2])};
  for (const auto& dealing : dealings(all)) {
    const auto T = spread(dealing, whole);
    validate(T);
    for_some(
        8, 17,
        [&](std::size_t a, std::size_t b, std::size_t c) {
          SCOPED_TRACE(text(dealing.str(), ' ', of[0][a].str(), ' ', of[1][b].str(), ' ', of[2][c].str()));
          const Factor U = spread(of[0][a], factors[0]), V = spread(of[1][b], factors[1]),
                       W = spread(of[2][c], factors[2]);
          const Factor A(of[0][a]), B(of[1][b]), C(of[2][c]);
          auto first = plan(assign(A(i, r), T(i, k, l) * V(k, r) * W(l, r)));
          auto second = plan(assign(B(k, r), T(i, k, l) * U(i, r) * W(l, r)));
          auto third = plan(assign(C(l, r), T(i, k, l) * U(i, r) * V(k, r)));
          first.run();
          second.run();
          third.run();
          EXPECT_TRUE(holds(A, results[0]));
          EXPECT_TRUE(holds(B, results[1]));
          EXPECT_TRUE(holds(C, results[2]));
          const auto scale = [&](double by) {
            for (std::size_t q = 0; q < T.local().values().extent(0); ++q) T.local().values()(q) *= by;
          };
          scale(2);
          first.run();
          second.run();
          third.run();
          scale(0.5);
          EXPECT_TRUE(holds(A, twice[0]));
          EXPECT_TRUE(holds(B, twice[1]));
          EXPECT_TRUE(holds(C, twice[2]));
        },
        of[0].size(), of[1].size(), of[2].size());
  }
}

TEST(FineGrained, TensorsHaveMttkrpInEveryMode) {
  for (int mode = 0; mode < 3; ++mode) expect_mttkrp<CSF<3>>(skewed({13, 9, 11}, 150, mode));
  expect_mttkrp<COO<3>>(skewed({9, 14, 8}, 120, 1));
  expect_mttkrp<CSF<3, ModeOrder<2, 0, 1>>>(skewed({9, 14, 8}, 120, 2));
  // Coordinates of a dense level cannot be renumbered.
  using OverDense = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Compressed<>, Compressed<>>;
  expect_mttkrp<OverDense>(skewed({9, 14, 8}, 120, 0));
}

TEST(FineGrained, TensorsMayHaveFewerNonzerosThanRanks) {
  expect_mttkrp<CSF<3>>(skewed({5, 4, 6}, 2, 0));
  expect_mttkrp<CSF<3>>(Entries<double, 3>({5, 4, 6}, 0));
}

/// The number of nonzeros of each rank.
template <class T>
std::vector<std::int64_t> counts_of(const T& tensor) {
  return world().all(tensor.nnz());
}
double imbalance_of(const std::vector<std::int64_t>& counts) {
  const double most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  const auto sum = static_cast<double>(detail::total(counts));
  return most * static_cast<double>(counts.size()) / sum;
}

TEST(FineGrained, NonzerosAreBalancedAndLightSlicesStayTogether) {
  const Extents<3> extents{60, 200, 50};
  const std::int64_t count = 12000;
  for (int mode = 0; mode < 3; ++mode) {
    const auto all = skewed(extents, count, mode);
    const auto D = Distribution<3>::fine_grained(world(), share(world(), all));
    const auto T = assemble<CSF<3>>(D, share(world(), all));
    EXPECT_LE(imbalance_of(counts_of(T)), 1.041) << mode;
    const auto bricks = spread(Distribution<3>::bricks(world(), extents), assemble<CSF<3>>(all));
    // Bricks divide mode 1, in which a block with a heavy slice has far more.
    if (world().size() == 4 && mode == 1) EXPECT_GT(imbalance_of(counts_of(bricks)), 1.5);

    // Mode 1 is the longest.
    std::vector<std::int64_t> nonzeros(200);
    std::vector<std::set<int>> ranks_of(200);
    const auto owners = D.owners(all, "the test");
    for (std::int64_t e = 0; e < all.size(); ++e) {
      const auto slice = static_cast<std::size_t>(all.coordinates[1].data()[e]);
      ++nonzeros[slice];
      ranks_of[slice].insert(owners[static_cast<std::size_t>(e)]);
    }
    const auto slack = static_cast<std::int64_t>(detail::NonzeroCuts<3>::tolerance *
                                                 static_cast<double>(count) / world().size());
    std::size_t shared = 0;
    for (std::size_t slice = 0; slice < nonzeros.size(); ++slice) {
      if (nonzeros[slice] == 0) continue;
      if (nonzeros[slice] <= slack) EXPECT_EQ(ranks_of[slice].size(), 1u) << slice;
      shared += ranks_of[slice].size() - 1;
    }
    EXPECT_LE(shared, static_cast<std::size_t>(world().size() - 1));
    // A vector along the longest mode is where the slices are.
    const auto by_slices = along(T, 1).partition(0);
    for (std::size_t slice = 0; slice < nonzeros.size(); ++slice)
      if (ranks_of[slice].size() == 1 && world().size() > 1)
        EXPECT_EQ(by_slices.owner(static_cast<std::int64_t>(slice)), *ranks_of[slice].begin()) << slice;
  }
}

TEST(FineGrained, CutsSplitSlicesOfWhichARankHasRoomForAFew) {
  // Ten slices with 400 nonzeros each: ranks have 2.5 slices on 4 ranks, 3.3 on 3.
  Entries<double, 3> all({50, 40, 20}, 4000);
  for (std::int64_t e = 0; e < all.size(); ++e) all.set(e, {e / 400 * 5, e / 10 % 40, e % 10}, 1.0);
  const auto T =
      assemble<CSF<3>>(Distribution<3>::fine_grained(world(), share(world(), all)), share(world(), all));
  EXPECT_LE(imbalance_of(counts_of(T)), 1.041);
}

TEST(FineGrained, CutsSplitAHeavyRowAndSpareTheOthers) {
  if (world().size() != 3) return;
  // The picture in nonzero_cuts.hpp.
  const std::vector<Extents<2>> places{{0, 0}, {1, 1}, {2, 0}, {2, 1}, {2, 2}, {2, 3},
                                       {3, 0}, {3, 2}, {4, 0}, {4, 1}, {5, 2}, {5, 3}};
  Entries<double, 2> all({6, 4}, 12);
  for (std::int64_t e = 0; e < 12; ++e) all.set(e, places[static_cast<std::size_t>(e)], 1.0);
  const auto D = Distribution<2>::fine_grained(world(), share(world(), all));
  for (std::int64_t e = 0; e < 12; ++e) EXPECT_EQ(D.owner(all.coordinate(e)), e / 4) << e;
  EXPECT_EQ(D.owner({2, 2}), 1);
  EXPECT_EQ(D.owner({3, 3}), 1);
  EXPECT_EQ(D.owner({4, 0}), 2);
  EXPECT_EQ(D.str(), "nonzeros over 3 ranks, in the order of modes 0, 1");
  const auto A = assemble<CSR<>>(D, share(world(), all));
  EXPECT_EQ(along(A, 0).partition(0), Partition::ranges({0, 2, 4, 6}));
  EXPECT_EQ(along(A, 1).partition(0), Partition::blocks(4, 3));
}

/// The bytes of rows that ranks need of others, or have for others: for each rank, the distinct coordinates
/// of each mode at its nonzeros that it does not own.
std::int64_t bytes_of_shared_rows(const Entries<double, 3>& mine, const std::array<Partition, 3>& owners,
                                  std::int64_t width) {
  std::int64_t rows = 0;
  for (std::size_t mode = 0; mode < 3; ++mode) {
    std::set<std::int64_t> foreign;
    for (std::int64_t e = 0; e < mine.size(); ++e)
      if (const std::int64_t c = mine.coordinates[mode].data()[e]; owners[mode].owner(c) != world().rank())
        foreign.insert(c);
    rows += std::ssize(foreign);
  }
  return world().sum(rows) * width * static_cast<std::int64_t>(sizeof(double));
}

TEST(FineGrained, TensorsSendNoMoreThanTheRowsThatAreNeeded) {
  const Extents<3> extents{60, 200, 50};
  const std::int64_t width = 16;
  const auto all = skewed(extents, 4000, 0);
  const auto whole = assemble<CSF<3>>(all);
  for (const auto& dealing : dealings(all))
    for (const bool cyclic : {false, true}) {
      SCOPED_TRACE(text(dealing.str(), cyclic ? ", cyclic factors" : ", factors in blocks"));
      const auto T = spread(dealing, whole);
      const auto rows_of = [&](std::size_t mode) {
        const Extents<2> shape{extents[mode], width};
        return cyclic ? Distribution<2>::cyclic(world(), shape) : Distribution<2>::blocks(world(), shape);
      };
      const Factor U(rows_of(0)), V(rows_of(1)), W(rows_of(2)), M(rows_of(0));
      const auto statement = assign(M(i, r), T(i, k, l) * V(k, r) * W(l, r));
      const std::int64_t needed = bytes_of_shared_rows(
          entries(T),
          {U.distribution().partition(0), V.distribution().partition(0), W.distribution().partition(0)},
          width);
      const Traffic sent = traffic(statement);
      EXPECT_GE(sent.bytes(), needed);
      EXPECT_LE(static_cast<double>(sent.bytes()), 1.05 * static_cast<double>(needed));
      EXPECT_DOUBLE_EQ(sent.imbalance(), imbalance_of(counts_of(T)));
      const auto& here = sent.ranks[static_cast<std::size_t>(world().rank())];
      EXPECT_EQ(here.work, T.nnz());
      EXPECT_LE(here.messages, 3 * (world().size() - 1));
      const Bytes estimated = estimate(statement);
      EXPECT_EQ(estimated.sent, here.sent);
      EXPECT_EQ(estimated.messages, here.messages);
      const std::string said = explain(statement);
      if (world().size() > 1) {
        EXPECT_NE(said.find("the terms of its nonzeros at (i, k, l)"), std::string::npos) << said;
        EXPECT_NE(said.find(dealing.str()), std::string::npos) << said;
      }
      EXPECT_NE(said.find("times the average work"), std::string::npos) << said;
    }
}

TEST(FineGrained, TensorsShareNoRowsOfAFactorThatLiesAlongThem) {
  // No slice of the longest mode is split: each is as light as the others, and divides evenly.
  const Extents<3> extents{24, 4, 5};
  Entries<double, 3> all(extents, 24 * 20);
  for (std::int64_t e = 0; e < all.size(); ++e) all.set(e, {e / 20, e / 5 % 4, e % 5}, 1.0);
  const auto T =
      assemble<CSF<3>>(Distribution<3>::fine_grained(world(), share(world(), all)), share(world(), all));
  const auto by_slices = Distribution<2>::along(world(), {24, 2}, 0, along(T, 0).partition(0));
  const auto replicated = [](std::int64_t rows) { return Distribution<2>::replicated(world(), {rows, 2}); };
  const Factor M(by_slices), V(replicated(4)), W(replicated(5));
  EXPECT_EQ(traffic(assign(M(i, r), T(i, k, l) * V(k, r) * W(l, r))).bytes(), 0);
}

TEST(FineGrained, TensorsRunAnyStatement) {
  const std::int64_t m = 11, n = 9;
  const auto whole = assemble<CSR<>>(all_entries<2>({m, n}, 0.3, 1));
  const auto all = entries(whole);
  const auto others = assemble<CSR<>>(all_entries<2>({m, n}, 0.3, 2));
  const auto right = assemble<CSR<>>(all_entries<2>({n, m}, 0.3, 3));
  const auto x = whole_dense<DenseVector>({n}, 4), z = whole_dense<DenseVector>({m}, 5);
  const auto U = whole_dense<DenseMatrix<>>({m, 3}, 6), V = whole_dense<DenseMatrix<>>({n, 3}, 7);
  using Vector = Tensor<double, DenseVector>;
  using Sparse = Tensor<double, CSR<>>;
  const Vector y({m}), t({n});
  const Sparse sum({m, n}), sampled({m, n}), product({m, m}), transposed({n, m});
  const Tensor<double, Scalar> square;
  y(i) = whole(i, j) * x(j) + whole(i, j);
  t(j) = whole(i, j) * z(i);
  sum(i, j) = whole(i, j) + 2.0 * others(i, j);
  sampled(i, j) = whole(i, j) * U(i, k) * V(j, k);
  product(i, j) = whole(i, k) * right(k, j);
  transposed(j, i) = -whole(i, j);
  square() = whole(i, j) * whole(i, j);
  const auto of_square = kinds<2>({m, m}), of_rows = kinds<2>({m, n}), of_right = kinds<2>({n, m});
  const auto of_m = kinds<1>({m}), of_n = kinds<1>({n});
  const auto of_A = dealings(all);
  for (std::size_t d = 0; d < of_A.size(); ++d)
    for (std::size_t at = 0; at < of_m.size(); ++at) {
      SCOPED_TRACE(text(of_A[d].str(), ' ', of_m[at].str()));
      const auto A = spread(of_A[d], whole);
      EXPECT_TRUE(holds(A, whole));
      const Distributed<Vector> b(of_m[at]), c(of_n[at]);
      b(i) = A(i, j) * spread(of_n[at], x)(j) + A(i, j);
      EXPECT_TRUE(holds(b, y));
      c(j) = A(i, j) * spread(of_m[at], z)(i);
      EXPECT_TRUE(holds(c, t));
      c(j) += A(i, j) * spread(of_m[at], z)(i);
      c(j) = 0.5 * c(j);
      EXPECT_TRUE(holds(c, t));
      const Tensor<double, Scalar> s;
      s() = A(i, j) * A(i, j);
      EXPECT_EQ(s.values()(0), square.values()(0));
      // Results that are stored where the nonzeros are, and others.
      for (const auto& of_result : {of_A[d], of_A[(d + 1) % of_A.size()], of_rows[at], of_rows[at + 4]}) {
        const Distributed<Sparse> R(of_result);
        R(i, j) = A(i, j) + 2.0 * spread(of_A[(d + 1) % of_A.size()], others)(i, j);
        EXPECT_TRUE(holds(R, sum)) << of_result.str();
        R(i, j) = A(i, j) + 2.0 * spread(of_A[d], others)(i, j);
        EXPECT_TRUE(holds(R, sum)) << of_result.str();
        const auto P = spread(Distribution<2>::blocks(world(), {m, 3}), U);
        const auto Q = spread(Distribution<2>::cyclic(world(), {n, 3}), V);
        auto again = plan(assign(R(i, j), A(i, j) * P(i, k) * Q(j, k)));
        for (int round = 0; round < 2; ++round) {
          again.run();
          EXPECT_TRUE(holds(R, sampled)) << of_result.str();
        }
      }
      const Distributed<Sparse> S(of_square[at]), flipped(of_right[at]);
      S(i, j) = A(i, k) * spread(of_right[at], right)(k, j);
      EXPECT_TRUE(holds(S, product));
      flipped(j, i) = -A(i, j);
      EXPECT_TRUE(holds(flipped, transposed));
    }
}

TEST(FineGrained, TensorsThatAreAccessedInAnotherWayAreFetched) {
  const std::int64_t n = 9;
  const auto whole = assemble<DCSR<>>(all_entries<2>({n, n}, 0.4, 1));
  const auto by_columns = convert<DCSC<>>(whole);
  const Tensor<double, DenseVector> y({n});
  y(i) = whole(i, j) * by_columns(j, i);
  for (const auto& dealing : dealings(entries(whole))) {
    const auto A = spread(dealing, whole);
    const auto B = spread(dealing, by_columns);
    const Distributed<Tensor<double, DenseVector>> b(Distribution<1>::blocks(world(), {n}));
    b(i) = A(i, j) * B(j, i);
    EXPECT_TRUE(holds(b, y)) << dealing.str();
    b(i) = B(j, i) * A(i, j);
    EXPECT_TRUE(holds(b, y)) << dealing.str();
  }
}

TEST(FineGrained, TensorsAreMovedAndGathered) {
  const auto all = skewed({13, 9, 11}, 150, 0);
  const auto whole = assemble<CSF<3>>(all);
  const auto of = dealings(all);
  for (const auto& from : of)
    for (const auto& to : of) {
      const auto T = redistribute(spread(from, whole), to);
      EXPECT_TRUE(holds(T, whole)) << from.str() << ' ' << to.str();
      EXPECT_EQ(total_nnz(T), whole.nnz());
      EXPECT_TRUE(holds(scatter(to, whole), whole));
      EXPECT_TRUE(holds(redistribute(T, Distribution<3>::bricks(world(), {13, 9, 11})), whole));
      if (world().size() > 1) EXPECT_EQ(from == to, &from == &to) << from.str() << ' ' << to.str();
    }
  // Equal owners are the same distribution, by whichever ranks they are given.
  const std::vector<int> zeros(static_cast<std::size_t>(all.size()));
  EXPECT_TRUE(Distribution<3>::fine_grained(world(), all, zeros) == dealt_to(0, all));
}

TEST(FineGrained, DeterministicStatementsAreThoseOfOneRank) {
  auto all = skewed({13, 9, 11}, 150, 0);
  for (std::int64_t e = 0; e < all.size(); ++e) all.values.data()[e] /= 3.0 + static_cast<double>(e % 7);
  const auto whole = assemble<CSF<3>>(all);
  const auto V = whole_dense<DenseMatrix<>>({9, 5}, 2), W = whole_dense<DenseMatrix<>>({11, 5}, 3);
  const Matrix M({13, 5});
  assign(M(i, r), whole(i, k, l) * V(k, r) * W(l, r)).deterministic().run();
  for (const auto& dealing : dealings(all)) {
    const auto T = spread(dealing, whole);
    const Factor R(Distribution<2>::blocks(world(), {13, 5}));
    assign(R(i, r), T(i, k, l) * spread(Distribution<2>::blocks(world(), {9, 5}), V)(k, r) *
                        spread(Distribution<2>::cyclic(world(), {11, 5}), W)(l, r))
        .deterministic()
        .run();
    EXPECT_TRUE(holds(R, M)) << dealing.str();
    // Nothing is added up: a part is computed as the whole is.
    const Distributed<Tensor<double, CSF<3>>> third(dealing);
    const auto divided = assign(third(i, k, l), T(i, k, l) / 3.0).deterministic();
    divided.run();
    const Tensor<double, CSF<3>> expected({13, 9, 11});
    expected(i, k, l) = whole(i, k, l) / 3.0;
    EXPECT_TRUE(holds(third, expected));
    EXPECT_EQ(traffic(divided).bytes(), 0);
  }
}

TEST(FineGrained, FaultsAreThoseOfAllRanks) {
  const Extents<2> extents{4, 4};
  Entries<double, 2> mine(extents, 1);
  mine.set(0, {is_bad() ? 4 : 0, 0}, 1.0);
  const std::vector<int> zero{0};
  expect_everywhere<ShapeError>([&] { Distribution<2>::fine_grained(world(), mine); }, "(4, 0), outside");
  expect_everywhere<ShapeError>([&] { Distribution<2>::fine_grained(world(), mine, zero); },
                                "(4, 0), outside");
  mine.set(0, {1, 2}, 1.0);
  const int ranks = world().size();
  expect_everywhere<ShapeError>(
      [&] { Distribution<2>::fine_grained(world(), mine, {is_bad() ? ranks : 0}); },
      text("entry 0 at (1, 2) is given to rank ", ranks, ", expected 0 to ", ranks - 1));
  expect_everywhere<ShapeError>([&] { Distribution<2>::fine_grained(world(), mine, {is_bad() ? -1 : 0}); },
                                "is given to rank -1");
  expect_everywhere<ShapeError>(
      [&] { Distribution<2>::fine_grained(world(), mine, std::vector<int>(is_bad() ? 2 : 1)); },
      "2 owners are given for 1 entries");
  if (ranks == 1) return;
  expect_everywhere<CommError>([&] { Distribution<2>::fine_grained(world(), mine, {is_bad() ? 1 : 0}); },
                               "coordinate (1, 2) is given to rank 0 and to rank 1");
  expect_everywhere<CommError>(
      [&] { Distribution<2>::fine_grained(world(), Entries<double, 2>({4, is_bad() ? 5 : 4}, 0)); },
      "with other extents");
  expect_everywhere<CommError>(
      [&] { Distribution<2>::fine_grained(world(), Entries<double, 2>({4, is_bad() ? 5 : 4}, 0), {}); },
      "with other extents");
  expect_everywhere<CommError>(
      [&] {
        if (is_bad())
          Distribution<2>::fine_grained(world(), mine);
        else
          Distribution<2>::fine_grained(world(), mine, zero);
      },
      "ranks do different things");

  const auto D = Distribution<2>::fine_grained(world(), mine, zero);
  expect_everywhere<StateError>([&] { D.owner({1, 2}); }, "owners()");
  expect_everywhere<FormatError>([&] { const Factor dense(D); }, "stores zeros beside nonzeros");
  expect_everywhere<FormatError>([&] { assemble<BCSR<2, 2>>(D, mine); }, "stores zeros beside nonzeros");
  // Every rank stores the nonzero of rank 0.
  Distributed<Tensor<double, CSR<>>> A(D, assemble<CSR<>>(mine, Duplicates::sum));
  expect_everywhere<FormatError>([&] { validate(A); }, "stores a nonzero at (1, 2), which belongs to rank 0");

  // One rank deals out in another way than it is to be assembled by.
  A = assemble<CSR<>>(D, mine);
  EXPECT_EQ(A.nnz(), world().rank() == 0 ? 1 : 0);
  const Distributed<Tensor<double, DenseVector>> x(Distribution<1>::blocks(world(), {4})),
      y(x.distribution());
  auto product = plan(assign(y(i), A(i, j) * x(j)));
  product.run();
  expect_everywhere<ScheduleError>(
      [&] { assign(y(i), sum(j, max(A(i, j), x(j)))).on_owners_of(A(i, j)).run(); },
      "is a factor of every term");
  assign(y(i), A(i, j) * x(j)).on_owners_of(A(i, j)).run();
  EXPECT_THROW(assign(y(i), A(i, j) * x(j)).deterministic().on_owners_of(A(i, j)).run(), ScheduleError);
}

}  // namespace
}  // namespace sporos::test
