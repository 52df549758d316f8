// SPDX-License-Identifier: Apache-2.0
/// @file wrap.cpp
/// Tensors over foreign memory: pointers, Views, dense Views; what is refused.
#include <sporos/formats/at.hpp>
#include <sporos/formats/transpose.hpp>
#include <sporos/formats/wrap.hpp>

#include "matrix_formats.hpp"

namespace sporos::test {
namespace {

/// 3 x 4:  . . . 7 / . . . . / 2 6 . .
struct Arrays {
  std::vector<int> positions{0, 1, 1, 3};
  std::vector<int> coordinates{3, 0, 1};
  std::vector<double> values{7, 2, 6};
  auto wrap_rows() {
    return wrap<CSR<int, int>>({3, 4}, 3, positions.data(), coordinates.data(), values.data());
  }
};
const Table<double, 2> expected{{{0, 3}, 7.0}, {{2, 0}, 2.0}, {{2, 1}, 6.0}};

TEST(Wrap, SeesPointersAsATensorWithoutACopy) {
  Arrays arrays;
  const auto t = arrays.wrap_rows();
  static_assert(std::is_same_v<decltype(t)::format_type, CSR<int, int>>);
  EXPECT_TRUE(same(table(t), expected));
  EXPECT_EQ(t.values().data(), arrays.values.data());
  arrays.values[1] = 5;
  EXPECT_EQ(at(t, {2, 0}), 5.0);
  t.values()(1) = 4;
  EXPECT_EQ(arrays.values[1], 4);
}

TEST(Wrap, TakesTheArraysOfEachLevelInTurn) {
  const auto entries = random_entries<double, 2>({12, 15}, 40, 1);
  const auto a = assemble<DCSR<>>(entries);
  const auto wrapped =
      wrap<DCSR<>>({12, 15}, a.nnz(), a.level<0>().positions.data(), a.level<0>().coordinates.data(),
                   a.level<1>().positions.data(), a.level<1>().coordinates.data(), a.values().data());
  EXPECT_TRUE(same(table(wrapped), table(entries)));
  const auto b = assemble<COO<2>>(entries);
  const auto coo = wrap<COO<2>>({12, 15}, b.level<0>().positions, b.level<0>().coordinates,
                                b.level<1>().coordinates, b.values());
  EXPECT_TRUE(same(table(coo), table(entries)));
  const auto c = assemble<BCSR<2, 3>>(entries);
  const auto blocks = wrap<BCSR<2, 3>>({12, 15}, c.nnz(), c.level<1>().positions.data(),
                                       c.level<1>().coordinates.data(), c.values().data());
  EXPECT_TRUE(same(table(blocks), table(entries)));
}

TEST(Wrap, KeepsViewsAlive) {
  Tensor<double, CSR<int, int>> t;
  {
    const Kokkos::View<int*, Kokkos::HostSpace> positions("positions", 4);
    const Kokkos::View<int*, Kokkos::HostSpace> coordinates("coordinates", 1);
    const Kokkos::View<double*, Kokkos::HostSpace> values("values", 1);
    positions(2) = positions(3) = 1;
    coordinates(0) = 2;
    values(0) = 8;
    t = wrap<CSR<int, int>>({3, 4}, positions, coordinates, values);
    EXPECT_EQ(values.use_count(), 2);
  }
  EXPECT_EQ(t.values().use_count(), 1);
  EXPECT_EQ(at(t, {1, 2}), 8.0);
}

TEST(Wrap, LooksAtTheArraysUnlessTheyAreTrusted) {
  Arrays arrays;
  arrays.coordinates[2] = 4;
  EXPECT_TRUE(contains(message_of<FormatError>([&] { arrays.wrap_rows(); }), "position 2 is 4"));
  EXPECT_NO_THROW((wrap<CSR<int, int>>(trusted, {3, 4}, 3, arrays.positions.data(), arrays.coordinates.data(),
                                       arrays.values.data())));
}

TEST(Wrap, ComparesTheNumberOfValuesWithTheLastPosition) {
  Arrays arrays;
  arrays.positions[3] = 1000;
  EXPECT_TRUE(contains(message_of<FormatError>([&] { arrays.wrap_rows(); }), "1000 values"));
  arrays.positions[3] = -1;
  EXPECT_TRUE(contains(message_of<FormatError>([&] { arrays.wrap_rows(); }), "must not be negative"));
}

TEST(Wrap, RefusesViewsThatDoNotFit) {
  const Kokkos::View<int*, Kokkos::HostSpace> positions("positions", 4);
  const Kokkos::View<int*, Kokkos::HostSpace> coordinates("coordinates", 0);
  const Kokkos::View<double*, Kokkos::HostSpace> values("values", 0);
  EXPECT_NO_THROW((wrap<CSR<int, int>>({3, 4}, positions, coordinates, values)));
  EXPECT_THROW((wrap<CSR<int, int>>({4, 4}, positions, coordinates, values)), FormatError);
  EXPECT_THROW((wrap<CSR<int, int>>({-3, 4}, positions, coordinates, values)), ShapeError);
  EXPECT_THROW((wrap<CSR<int, int>>({3, std::int64_t{1} << 40}, positions, coordinates, values)), RangeError);
}

TEST(Wrap, DenseMemory) {
  std::vector<double> numbers(12);
  for (std::size_t q = 0; q < 12; ++q) numbers[q] = static_cast<double>(q);
  const auto rows = wrap<DenseMatrix<>>({3, 4}, numbers.data());
  const auto columns = wrap<DenseMatrix<ColumnMajor>>({3, 4}, numbers.data());
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      EXPECT_EQ(at(rows, {i, j}), static_cast<double>(4 * i + j));
      EXPECT_EQ(at(columns, {i, j}), static_cast<double>(i + 3 * j));
    }
  double one = 3;
  EXPECT_EQ(at(wrap<Scalar>({}, &one), {}), 3.0);
}

template <class View>
void fill(const View& view) {
  for (std::size_t i = 0; i < view.extent(0); ++i)
    for (std::size_t j = 0; j < view.extent(1); ++j) view(i, j) = static_cast<double>(10 * i + j);
}

TEST(Wrap, DenseViewsOfBothLayouts) {
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> right("right", 3, 4);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 3, 4);
  fill(right);
  fill(left);
  const auto r = wrap(right);
  const auto l = wrap(left);
  static_assert(std::is_same_v<decltype(r)::format_type, DenseMatrix<RowMajor>>);
  static_assert(std::is_same_v<decltype(l)::format_type, DenseMatrix<ColumnMajor>>);
  EXPECT_EQ(r.values().data(), right.data());
  EXPECT_TRUE(same(table(r), table(l)));
  EXPECT_EQ(at(l, {2, 3}), 23.0);
}

TEST(Wrap, DenseViewsOfAnyRank) {
  const Kokkos::View<int*, Kokkos::HostSpace> vector("vector", 3);
  vector(1) = 5;
  EXPECT_EQ(at(wrap(vector), {1}), 5);
  const Kokkos::View<float****, Kokkos::LayoutLeft, Kokkos::HostSpace> four("four", 2, 3, 4, 5);
  four(1, 2, 3, 4) = 6;
  four(1, 0, 2, 0) = 7;
  const auto t = wrap(four);
  static_assert(std::is_same_v<decltype(t)::format_type, DenseTensor<4, ModeOrder<3, 2, 1, 0>>>);
  EXPECT_EQ(at(t, {1, 2, 3, 4}), 6.0f);
  EXPECT_EQ(at(t, {1, 0, 2, 0}), 7.0f);
}

TEST(Wrap, DenseViewsAreKeptAlive) {
  auto view = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>("view", 300, 400);
  view(299, 399) = 3;
  const auto t = wrap(view);
  const auto relabelled = relabel<1, 0>(t);
  EXPECT_EQ(view.use_count(), 2);
  view = {};
  EXPECT_EQ(at(t, {299, 399}), 3.0);
  EXPECT_EQ(at(relabelled, {399, 299}), 3.0);
}

TEST(Wrap, RefusesStridedViews) {
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> whole("whole", 4, 6);
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> part(
      Kokkos::subview(whole, std::pair(0, 4), Kokkos::ALL));
  EXPECT_NO_THROW(wrap(part));
  const auto narrow = Kokkos::subview(whole, std::pair(0, 4), std::pair(1, 3));
  if constexpr (std::is_same_v<typename decltype(narrow)::array_layout, Kokkos::LayoutRight>) {
    EXPECT_THROW(wrap(narrow), FormatError);
  }
}

}  // namespace
}  // namespace sporos::test
