// SPDX-License-Identifier: Apache-2.0
/// @file unordered_operands.cpp
/// Operands whose coordinates are stored in any order, or more than once: sparse results are in order all the
/// same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <sporos/formats/validate.hpp>
#include <sporos/sporos.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../oracle.hpp"

namespace sporos::test::unordered {
namespace {

using namespace sporos::indices;

template <bool Ordered, bool Unique>
using Columns = Compressed<std::int64_t, std::int32_t, Ordered, Unique>;
using UnorderedRows = Format<Map<Dim<0>, Dim<1>>, Dense, Columns<false, true>>;
using RepeatedRows = Format<Map<Dim<0>, Dim<1>>, Dense, Columns<false, false>>;
using UnorderedTwice = Format<Map<Dim<0>, Dim<1>>, Columns<false, true>, Columns<false, true>>;
using UnorderedCoo =
    Format<Map<Dim<0>, Dim<1>>, Columns<false, false>, Singleton<std::int32_t, false, false>>;
using UnorderedVector = Format<Map<Dim<0>>, Columns<false, false>>;

constexpr std::int64_t rows = 19, columns = 23;

/// Segments whose coordinates are shuffled, and repeated where the level allows it.
template <class Level, class Draw>
typename Level::template Storage<Kokkos::HostSpace> shuffled(
    const std::vector<std::vector<std::int64_t>>& below, Draw&& draw) {
  std::int64_t count = 0;
  for (const auto& one : below) count += std::ssize(one);
  typename Level::template Storage<Kokkos::HostSpace> out{
      make_array<std::int64_t>("positions", std::ssize(below) + 1),
      make_array<std::int32_t>("coordinates", count)};
  std::size_t q = 0;
  out.positions(0) = 0;
  for (std::size_t p = 0; p < below.size(); ++p) {
    auto coordinates = below[p];
    std::shuffle(coordinates.begin(), coordinates.end(), draw);
    for (const std::int64_t i : coordinates) out.coordinates(q++) = static_cast<std::int32_t>(i);
    out.positions(p + 1) = static_cast<std::int64_t>(q);
  }
  return out;
}

/// Some of [0, extent); each up to `times` times.
template <class Draw>
std::vector<std::int64_t> some(std::int64_t extent, int times, Draw& draw) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < extent; ++i)
    for (int time = 0; time < times; ++time)
      if (draw() % 3 == 0) out.push_back(i);
  return out;
}

HostArray<double> values(std::size_t count) {
  auto out = make_array<double>("values", static_cast<std::int64_t>(count));
  for (std::size_t at = 0; at < count; ++at) out(at) = static_cast<double>(at % 11) - 5.25;
  return out;
}

template <class F>
Tensor<double, F> rows_of(int times) {
  std::mt19937_64 draw(1);
  std::vector<std::vector<std::int64_t>> below;
  for (std::int64_t row = 0; row < rows; ++row) below.push_back(some(columns, times, draw));
  typename Tensor<double, F>::level_storage levels;
  std::get<0>(levels).extent = rows;
  std::get<1>(levels) = shuffled<typename F::template level<1>>(below, draw);
  const std::size_t count = std::get<1>(levels).coordinates.extent(0);
  return {{rows, columns}, levels, values(count)};
}

Tensor<double, UnorderedTwice> twice() {
  std::mt19937_64 draw(2);
  const auto outer = some(rows, 1, draw);
  std::vector<std::vector<std::int64_t>> below;
  for (std::size_t p = 0; p < outer.size(); ++p) below.push_back(some(columns, 1, draw));
  Tensor<double, UnorderedTwice>::level_storage levels;
  std::get<0>(levels) = shuffled<Columns<false, true>>({outer}, draw);
  std::get<1>(levels) = shuffled<Columns<false, true>>(below, draw);
  const std::size_t count = std::get<1>(levels).coordinates.extent(0);
  return {{rows, columns}, levels, values(count)};
}

/// Random coordinates, in the order in which they are drawn.
template <class F>
Tensor<double, F> coo(const Extents<F::order>& extents, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  typename Tensor<double, F>::level_storage levels;
  const auto all = static_cast<std::size_t>(count);
  [&]<std::size_t... L>(std::index_sequence<L...>) {
    ((std::get<L>(levels).coordinates = make_array<std::int32_t>("coordinates", count)), ...);
    for (std::size_t q = 0; q < all; ++q)
      ((std::get<L>(levels).coordinates(q) =
            static_cast<std::int32_t>(draw() % static_cast<std::uint64_t>(extents[L]))),
       ...);
  }(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});
  auto& positions = std::get<0>(levels).positions;
  positions = make_array<std::int64_t>("positions", 2);
  positions(0) = 0;
  positions(1) = count;
  return {extents, levels, values(all)};
}
Tensor<double, UnorderedCoo> coo() { return coo<UnorderedCoo>({rows, columns}, 150, 3); }

/// Runs R(i, j) = U(i, j), U(i, j) * x(j) and x(i) * U(i, j) into format F, and compares with U's own
/// entries.
template <class F, class U>
void check_into(const U& operand) {
  SCOPED_TRACE(F::str() + " of " + U::format_type::str());
  Tensor<double, DenseVector> x({columns}), y({rows});
  for (std::size_t at = 0; at < columns; ++at) x.values()(at) = static_cast<double>(at) + 2;
  for (std::size_t at = 0; at < rows; ++at) y.values()(at) = static_cast<double>(at) + 3;
  std::vector<double> dense(rows * columns);
  const auto all = entries(operand);
  for (std::int64_t e = 0; e < all.size(); ++e) {
    const auto [row, column] = all.coordinate(e);
    dense[static_cast<std::size_t>(row * columns + column)] += all.values(static_cast<std::size_t>(e));
  }
  const auto is = [&](const Tensor<double, F>& result, const auto& factor) {
    validate(result);
    std::vector<double> found(dense.size());
    const auto made = entries(result);
    for (std::int64_t e = 0; e < made.size(); ++e) {
      const auto [row, column] = made.coordinate(e);
      found[static_cast<std::size_t>(row * columns + column)] += made.values(static_cast<std::size_t>(e));
    }
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        const auto at = static_cast<std::size_t>(row * columns + column);
        ASSERT_DOUBLE_EQ(found[at], dense[at] * factor(row, column)) << row << ", " << column;
      }
  };
  Tensor<double, F> R({rows, columns});
  R(i, j) = operand(i, j);
  is(R, [](std::int64_t, std::int64_t) { return 1.0; });
  R(i, j) = operand(i, j) * x(j);
  is(R, [](std::int64_t, std::int64_t column) { return static_cast<double>(column) + 2; });
  R(i, j) = y(i) * operand(i, j);
  is(R, [](std::int64_t row, std::int64_t) { return static_cast<double>(row) + 3; });
  auto planned = plan(assign(R(i, j), operand(i, j) * x(j)));
  planned.run();
  for (std::size_t at = 0; at < columns; ++at) x.values()(at) = -1;
  planned.run();
  is(R, [](std::int64_t, std::int64_t) { return -1.0; });
}

template <class U>
void check_into_all(const U& operand) {
  check_into<CSR<>>(operand);
  check_into<CSC<>>(operand);
  check_into<DCSR<>>(operand);
  check_into<COO<2>>(operand);
  check_into<BCSR<2, 2>>(operand);
  check_into<DenseMatrix<>>(operand);
}

TEST(UnorderedOperands, WithShuffledRows) { check_into_all(rows_of<UnorderedRows>(1)); }
TEST(UnorderedOperands, WithShuffledRowsThatRepeat) { check_into_all(rows_of<RepeatedRows>(3)); }
TEST(UnorderedOperands, WithBothLevelsShuffled) { check_into_all(twice()); }
TEST(UnorderedOperands, InCoordinatesThatRepeat) { check_into_all(coo()); }

/// R(i, j) = f, with U in no order next to S by rows and x dense, in sparse and dense results, and in a sum.
template <class U, class Right, class Value>
void check_looked_up(const U& operand, const Right& right, const Value& value) {
  const auto all = entries(operand);
  std::vector<double> expected(rows * columns), sums(rows);
  for (std::int64_t e = 0; e < all.size(); ++e) {
    const auto [row, column] = all.coordinate(e);
    const double term = value(all.values(static_cast<std::size_t>(e)), row, column);
    expected[static_cast<std::size_t>(row * columns + column)] += term;
    sums[static_cast<std::size_t>(row)] += term;
  }
  Tensor<double, CSR<>> R({rows, columns});
  Tensor<double, DenseMatrix<>> D({rows, columns});
  Tensor<double, DenseVector> y({rows});
  R(i, j) = right;
  validate(R);
  D(i, j) = right;
  auto planned = plan(assign(y(i), right));
  planned.run();
  for (std::int64_t row = 0; row < rows; ++row) {
    EXPECT_NEAR(at(y, {row}), sums[static_cast<std::size_t>(row)], 1e-9) << row;
    for (std::int64_t column = 0; column < columns; ++column) {
      const double wanted = expected[static_cast<std::size_t>(row * columns + column)];
      EXPECT_DOUBLE_EQ(at(R, {row, column}), wanted) << row << ", " << column;
      EXPECT_DOUBLE_EQ(at(D, {row, column}), wanted) << row << ", " << column;
    }
  }
}

TEST(UnorderedOperands, LeadAlongOthersThatAreLookedUp) {
  const auto U = rows_of<UnorderedRows>(1);
  std::mt19937_64 draw(6);
  Entries<double, 2> some_of_it({rows, columns}, 200);
  for (std::int64_t e = 0; e < 200; ++e)
    some_of_it.set(e, {static_cast<std::int64_t>(draw() % rows), static_cast<std::int64_t>(draw() % columns)},
                   static_cast<double>(draw() % 9) - 4.5);
  const auto S = assemble<CSR<>>(some_of_it);
  const Tensor<double, DenseVector> x({columns});
  for (std::size_t c = 0; c < columns; ++c) x.values()(c) = static_cast<double>(c % 5) - 1.5;
  const auto s = [&](std::int64_t row, std::int64_t column) { return at(S, {row, column}); };
  const auto of = [&](std::int64_t column) { return x.values()(static_cast<std::size_t>(column)); };
  const auto entries_of_s = entries(S);
  std::vector<bool> stored(rows * columns);
  for (std::int64_t e = 0; e < entries_of_s.size(); ++e) {
    const auto [row, column] = entries_of_s.coordinate(e);
    stored[static_cast<std::size_t>(row * columns + column)] = true;
  }
  const auto stores = [&](std::int64_t row, std::int64_t column) {
    return stored[static_cast<std::size_t>(row * columns + column)];
  };
  using I = std::int64_t;
  check_looked_up(U, U(i, j) * (S(i, j) + x(j)),
                  [&](double u, I row, I column) { return u * (s(row, column) + of(column)); });
  check_looked_up(U, (x(j) - S(i, j)) * U(i, j),
                  [&](double u, I row, I column) { return u * (of(column) - s(row, column)); });
  check_looked_up(U, !pattern(S(i, j)) * U(i, j),
                  [&](double u, I row, I column) { return stores(row, column) ? 0.0 : u; });
  check_looked_up(U, U(i, j) * !S(i, j),
                  [&](double u, I row, I column) { return s(row, column) == 0 ? u : 0.0; });
  check_looked_up(U, U(i, j) * max(S(i, j), x(j)),
                  [&](double u, I row, I column) { return u * std::max(s(row, column), of(column)); });
  check_looked_up(U, select(S(i, j) > x(j), U(i, j), 0),
                  [&](double u, I row, I column) { return s(row, column) > of(column) ? u : 0.0; });
  const auto next = [](double value) { return value + 1; };
  check_looked_up(U, U(i, j) * map(everywhere(next), S(i, j)),
                  [&](double u, I row, I column) { return u * (s(row, column) + 1); });
}

TEST(UnorderedOperands, LeadThroughBothLevels) {
  const auto U = twice();
  Entries<double, 2> all({rows, columns}, 100);
  for (std::int64_t e = 0; e < 100; ++e)
    all.set(e, {e * 7 % rows, e * 11 % columns}, static_cast<double>(e % 9) + 0.5);
  const auto S = assemble<DCSR<>>(all);
  const Tensor<double, DenseVector> x({columns});
  for (std::size_t c = 0; c < columns; ++c) x.values()(c) = static_cast<double>(c % 5) - 1.5;
  check_looked_up(U, U(i, j) * (S(i, j) + x(j)), [&](double u, std::int64_t row, std::int64_t column) {
    return u * (at(S, {row, column}) + x.values()(static_cast<std::size_t>(column)));
  });
}

/// What is linear in an operand that stores coordinates several times, anywhere; and functions of its sums.
template <class U>
void check_linear(const U& operand) {
  const Tensor<double, DenseVector> x({columns}), y({rows});
  for (std::size_t c = 0; c < columns; ++c) x.values()(c) = static_cast<double>(c % 5) - 1.5;
  const auto of = [&](std::int64_t column) { return x.values()(static_cast<std::size_t>(column)); };
  using I = std::int64_t;
  check_looked_up(operand, -(operand(i, j) * x(j)) / 2.0,
                  [&](double u, I, I column) { return -u * of(column) / 2; });
  check_looked_up(operand, select(x(j) > 0, operand(i, j), 0),
                  [&](double u, I, I column) { return of(column) > 0 ? u : 0.0; });
  const auto all = entries(operand);
  std::vector<double> sums(rows);
  for (std::int64_t e = 0; e < all.size(); ++e) {
    const auto [row, column] = all.coordinate(e);
    sums[static_cast<std::size_t>(row)] += all.values(static_cast<std::size_t>(e)) * of(column);
  }
  y(i) = relu(operand(i, j) * x(j));
  for (std::size_t row = 0; row < rows; ++row)
    EXPECT_NEAR(y.values()(row), std::max(sums[row], 0.0), 1e-9) << row;
}

TEST(UnorderedOperands, ThatRepeatAreTakenLinearly) {
  check_linear(rows_of<RepeatedRows>(3));
  check_linear(coo());
}

TEST(UnorderedOperands, RowsThatRepeatAreSummedInsideFunctions) {
  const auto U = rows_of<RepeatedRows>(3);
  const Tensor<double, DenseVector> y({rows}), sums({rows});
  sums(i) = U(i, j);
  assign(y(i), abs(sum(j, U(i, j)))).generic().run();
  for (std::size_t row = 0; row < rows; ++row)
    EXPECT_DOUBLE_EQ(y.values()(row), std::abs(sums.values()(row))) << row;
}

TEST(UnorderedOperands, VectorsMakeVectorsInOrder) {
  std::mt19937_64 draw(4);
  Tensor<double, UnorderedVector>::level_storage levels;
  std::get<0>(levels) = shuffled<Columns<false, false>>({some(columns, 3, draw)}, draw);
  const Tensor<double, UnorderedVector> v({columns}, levels,
                                          values(std::get<0>(levels).coordinates.extent(0)));
  const Tensor<double, SparseVector<>> w({columns});
  w(i) = 2.0 * v(i);
  validate(w);
  std::vector<double> sums(columns), found(columns);
  const auto all = entries(v), made = entries(w);
  for (std::int64_t e = 0; e < all.size(); ++e)
    sums[static_cast<std::size_t>(all.coordinate(e)[0])] += 2 * all.values(static_cast<std::size_t>(e));
  for (std::int64_t e = 0; e < made.size(); ++e)
    found[static_cast<std::size_t>(made.coordinate(e)[0])] += made.values(static_cast<std::size_t>(e));
  EXPECT_EQ(sums, found);
}

TEST(UnorderedOperands, MakeResultsThatNeedNoOrderWithoutAWorkspace) {
  const auto U = rows_of<UnorderedRows>(1);
  const Tensor<double, UnorderedRows> R({rows, columns});
  EXPECT_TRUE(explain(assign(R(i, j), U(i, j))).find("appended") != std::string::npos);
  R(i, j) = U(i, j);
  validate(R);
  EXPECT_EQ(R.nnz(), U.nnz());
}

using ThreeModes = Map<Dim<0>, Dim<1>, Dim<2>>;
using RowsOfUnorderedTensor = Format<ThreeModes, Dense, Columns<false, true>, Columns<false, true>>;
using UnorderedTensor = Format<ThreeModes, Columns<false, true>, Columns<false, true>, Columns<false, true>>;
using RepeatedFibers = Format<ThreeModes, Columns<true, true>, Columns<false, true>, Columns<false, false>>;
using UnorderedCooOfThree = Format<ThreeModes, Columns<false, false>, Singleton<std::int32_t, false, false>,
                                   Singleton<std::int32_t, false, false>>;
constexpr Extents<3> tensor_extents{7, 11, 5};

/// A tensor of three levels, whose coordinates are shuffled where a level has no order; those of the last one
/// are stored up to `times` times.
template <class F>
Tensor<double, F> tensor_by(int times) {
  std::mt19937_64 draw(7);
  typename Tensor<double, F>::level_storage levels;
  std::size_t parents = tensor_extents[0];
  const auto below = [&](std::int64_t extent, int each) {
    std::vector<std::vector<std::int64_t>> out;
    for (std::size_t p = 0; p < parents; ++p) out.push_back(some(extent, each, draw));
    return out;
  };
  if constexpr (std::is_same_v<typename F::template level<0>, Dense>) {
    std::get<0>(levels).extent = tensor_extents[0];
  } else {
    std::vector<std::int64_t> outer{5, 0, 3, 6};
    if (F::template level<0>::properties.ordered) std::sort(outer.begin(), outer.end());
    auto& first = std::get<0>(levels);
    first = {make_array<std::int64_t>("positions", 2), make_array<std::int32_t>("coordinates", 4)};
    first.positions(0) = 0;
    first.positions(1) = 4;
    for (std::size_t q = 0; q < 4; ++q) first.coordinates(q) = static_cast<std::int32_t>(outer[q]);
    parents = 4;
  }
  std::get<1>(levels) = shuffled<typename F::template level<1>>(below(tensor_extents[1], 1), draw);
  parents = std::get<1>(levels).coordinates.extent(0);
  std::get<2>(levels) = shuffled<typename F::template level<2>>(below(tensor_extents[2], times), draw);
  return {tensor_extents, levels, values(std::get<2>(levels).coordinates.extent(0))};
}

/// Sums by coordinate, of the nonzeros of a tensor times a function of their coordinates, without some modes.
template <int Kept, class U, class Factor>
std::map<std::array<std::int64_t, Kept>, double> sums_of(const U& operand, const std::array<int, Kept>& modes,
                                                         const Factor& factor) {
  std::map<std::array<std::int64_t, Kept>, double> out;
  const auto all = entries(operand);
  for (std::int64_t e = 0; e < all.size(); ++e) {
    const auto coordinate = all.coordinate(e);
    std::array<std::int64_t, Kept> kept;
    for (int mode = 0; mode < Kept; ++mode)
      kept[static_cast<std::size_t>(mode)] =
          coordinate[static_cast<std::size_t>(modes[static_cast<std::size_t>(mode)])];
    if (const double term = all.values(static_cast<std::size_t>(e)) * factor(coordinate); term != 0)
      out[kept] += term;
  }
  std::erase_if(out, [](const auto& sum) { return sum.second == 0; });
  return out;
}

template <class R, class Expected>
void expect_sums(const R& result, const Expected& expected) {
  SCOPED_TRACE(R::format_type::str());
  validate(result);
  constexpr int order = R::format_type::order;
  std::array<int, order> modes;
  std::iota(modes.begin(), modes.end(), 0);
  const auto found = sums_of<order>(result, modes, [](const auto&) { return 1.0; });
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [coordinate, sum] : expected) {
    const auto at = found.find(coordinate);
    ASSERT_NE(at, found.end());
    EXPECT_NEAR(at->second, sum, 1e-9);
  }
}

/// A tensor of order 3 in no order: copied, scaled, transposed and contracted, in results of any format.
template <class U>
void check_tensor(const U& operand) {
  SCOPED_TRACE(U::format_type::str());
  const auto [rows3, columns3, depth] = tensor_extents;
  const Tensor<double, DenseVector> x({depth}), y({columns3});
  for (std::size_t at = 0; at < static_cast<std::size_t>(depth); ++at)
    x.values()(at) = static_cast<double>(at) + 2;
  for (std::size_t at = 0; at < static_cast<std::size_t>(columns3); ++at)
    y.values()(at) = static_cast<double>(at) - 4;
  const auto by_depth = [](const auto& at) { return static_cast<double>(at[2]) + 2; };
  const auto of_tensor = [&](auto result) {
    result(i, j, k) = operand(i, j, k);
    expect_sums(result, sums_of<3>(operand, {0, 1, 2}, [](const auto&) { return 1.0; }));
    result(i, j, k) = operand(i, j, k) * x(k);
    expect_sums(result, sums_of<3>(operand, {0, 1, 2}, by_depth));
  };
  of_tensor(Tensor<double, CSF<3>>(tensor_extents));
  of_tensor(Tensor<double, COO<3>>(tensor_extents));
  of_tensor(Tensor<double, DenseTensor<3>>(tensor_extents));
  const Tensor<double, CSF<3>> turned({depth, columns3, rows3});
  turned(k, j, i) = operand(i, j, k) * x(k);
  expect_sums(turned, sums_of<3>(operand, {2, 1, 0}, by_depth));
  const auto of_matrix = [&](auto result) {
    result(i, j) = operand(i, j, k) * x(k);
    expect_sums(result, sums_of<2>(operand, {0, 1}, by_depth));
  };
  of_matrix(Tensor<double, CSR<>>({rows3, columns3}));
  of_matrix(Tensor<double, DCSC<>>({rows3, columns3}));
  of_matrix(Tensor<double, DenseMatrix<>>({rows3, columns3}));
  const Tensor<double, CSR<>> sides({depth, rows3});
  sides(k, i) = operand(i, j, k) * y(j);
  expect_sums(sides,
              sums_of<2>(operand, {2, 0}, [](const auto& at) { return static_cast<double>(at[1]) - 4; }));
}

TEST(UnorderedTensors, WithDenseRows) { check_tensor(tensor_by<RowsOfUnorderedTensor>(1)); }
TEST(UnorderedTensors, InAllTheirLevels) { check_tensor(tensor_by<UnorderedTensor>(1)); }
TEST(UnorderedTensors, WithFibersThatRepeat) { check_tensor(tensor_by<RepeatedFibers>(2)); }
TEST(UnorderedTensors, InCoordinatesThatRepeat) {
  check_tensor(coo<UnorderedCooOfThree>(tensor_extents, 200, 5));
}

}  // namespace
}  // namespace sporos::test::unordered
