// SPDX-License-Identifier: Apache-2.0
/// @file wrap_arrays.cpp
/// Tensors over std::vector, std::array and std::span, and over const memory, which is only read.
#include <array>
#include <span>
#include <sporos/sporos.hpp>

#include "reference.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

/// 3 x 4:  . . . 7 / . . . . / 2 6 . .
struct Vectors {
  std::vector<int> positions{0, 1, 1, 3};
  std::vector<int> coordinates{3, 0, 1};
  std::vector<double> values{7, 2, 6};
  auto wrapped() { return wrap<CSR<int, int>>({3, 4}, positions, coordinates, values); }
};
const Table<double, 2> wrapped_entries{{{0, 3}, 7.0}, {{2, 0}, 2.0}, {{2, 1}, 6.0}};

TEST(WrapArrays, VectorsAndSpansAreSeenWithoutACopy) {
  Vectors arrays;
  const auto t = arrays.wrapped();
  static_assert(std::is_same_v<decltype(t), const Tensor<double, CSR<int, int>>>);
  EXPECT_TRUE(same(table(t), wrapped_entries));
  t.values()(2) = 5;
  EXPECT_EQ(arrays.values[2], 5);
  const auto of_spans = wrap<CSR<int, int>>({3, 4}, std::span(arrays.positions),
                                            std::span(arrays.coordinates), std::span(arrays.values));
  EXPECT_EQ(of_spans.values().data(), arrays.values.data());
}

TEST(WrapArrays, AVectorTellsItsExtent) {
  std::vector<double> values{1, 2, 3};
  const auto x = wrap(values);
  static_assert(std::is_same_v<decltype(x), const Tensor<double, DenseVector>>);
  x(i) = 2.0 * x(i);
  EXPECT_EQ(values, (std::vector<double>{2, 4, 6}));
  std::array<float, 2> two{1, 2};
  EXPECT_EQ(at(wrap(two), {1}), 2);
  EXPECT_EQ(wrap(std::span(values).first(2)).extent(0), 2);
  std::vector<int> none;
  EXPECT_EQ(wrap(none).extent(0), 0);
}

TEST(WrapArrays, ConstMemoryIsAnOperandThatIsOnlyRead) {
  const Vectors arrays;
  const auto A = wrap<CSR<int, int>>({3, 4}, arrays.positions, arrays.coordinates, arrays.values);
  static_assert(std::is_same_v<decltype(A), const Tensor<const double, CSR<int, int>>>);
  const auto of_pointers = wrap<CSR<int, int>>({3, 4}, 3, arrays.positions.data(), arrays.coordinates.data(),
                                               arrays.values.data());
  static_assert(std::is_same_v<decltype(of_pointers), decltype(A)>);
  const std::vector<double> numbers{1, 2, 3, 4};
  const auto x = wrap(numbers);
  const Tensor<double, DenseVector> y({3}), z({3});
  y(i) = A(i, j) * x(j);
  EXPECT_EQ(table(y), (Table<double, 1>{{{0}, 28.0}, {{2}, 14.0}}));
  y(i) -= of_pointers(i, j);  // 28 - 7, 14 - 8
  EXPECT_EQ(table(y), (Table<double, 1>{{{0}, 21.0}, {{2}, 6.0}}));
  z(i) = A(i, 0) + rows(A, 0, 3)(i, 3);
  EXPECT_EQ(table(z), (Table<double, 1>{{{0}, 7.0}, {{2}, 2.0}}));
  z(i) = block(A, {0, 3}, {1, 4})(i, j) * block(x, {1, 4})(j);
  EXPECT_EQ(table(z), (Table<double, 1>{{{0}, 28.0}, {{2}, 12.0}}));
  Tensor<double, CSR<>> S({3, 4});
  S(i, j) = 2.0 * A(i, j) + max(A(i, j), 5.0 * A(i, j));
  EXPECT_EQ(table(S), (Table<double, 2>{{{0, 3}, 49.0}, {{2, 0}, 14.0}, {{2, 1}, 42.0}}));
  const double all = sum(A(i, j));
  EXPECT_EQ(all, 15);
  EXPECT_EQ(norm(x), std::sqrt(30.0));
}

TEST(WrapArrays, WhatReadsATensorTakesOneThatIsOnlyRead) {
  const Vectors arrays;
  const auto A = wrap<CSR<int, int>>({3, 4}, arrays.positions, arrays.coordinates, arrays.values);
  EXPECT_EQ(at(A, {2, 1}), 6);
  EXPECT_TRUE(same(table(convert<CSC<>>(A)), wrapped_entries));
  EXPECT_EQ((at(convert<DCSR<>, float>(A), {0, 3})), 7.0f);
  EXPECT_TRUE(same(table(entries(A)), wrapped_entries));
  EXPECT_EQ(drop(A, 2).nnz(), 2);
  EXPECT_EQ(at(transpose(A), {1, 2}), 6);
  EXPECT_EQ(at(relabel<1, 0>(A), {1, 2}), 6);
  static_assert(is_read_only_v<decltype(relabel<1, 0>(A))>);
  EXPECT_EQ(components(A).size(), 3u);
  EXPECT_EQ((component<Role::values, double>(A)), arrays.values.data());
  std::ostringstream out;
  out << A;
  print(out, A);
  EXPECT_TRUE(contains(out.str(), "Tensor<double, CSR<int32, int32>> 3 x 4, 3 nonzeros"));
  Tensor<double, CSR<int, int>> copy = A.clone();
  copy.values()(0) = 1;
  EXPECT_EQ(arrays.values[0], 7);
  validate(A);
}

TEST(WrapArrays, AnyTensorCanBeHandedOutToBeRead) {
  const Tensor<double, DenseVector> x({3});
  const Tensor<const double, DenseVector> read = x;
  x(i) = 4.0;
  EXPECT_EQ(at(read, {2}), 4);
  EXPECT_TRUE(read.shares_with(x));
  static_assert(!std::is_convertible_v<decltype(read), Tensor<double, DenseVector>>);
}

TEST(WrapArrays, ConstViewsAreKeptAlive) {
  Kokkos::View<double*, Kokkos::HostSpace> view("view", 3);
  view(1) = 5;
  auto x = wrap(Kokkos::View<const double*, Kokkos::HostSpace>(view));
  static_assert(std::is_same_v<decltype(x), Tensor<const double, DenseVector>>);
  EXPECT_EQ(view.use_count(), 2);
  view = {};
  EXPECT_EQ(at(x, {1}), 5);
}

TEST(WrapArrays, ArraysOfTheWrongLengthAreRefused) {
  const auto message = [](auto change) {
    Vectors arrays;
    change(arrays);
    return message_of<FormatError>([&] { arrays.wrapped(); });
  };
  EXPECT_TRUE(contains(message([](Vectors& a) { a.positions.pop_back(); }), "must have 3 + 1"));
  EXPECT_TRUE(contains(message([](Vectors& a) { a.coordinates.pop_back(); }), "there are 2 coordinates"));
  EXPECT_TRUE(contains(message([](Vectors& a) { a.values.push_back(1); }), "the values are 4"));
  EXPECT_TRUE(contains(message([](Vectors& a) { a.positions[1] = 4; }), "must not decrease"));
  EXPECT_TRUE(contains(message([](Vectors& a) { a.coordinates[0] = -1; }), "position 0 is -1"));
  EXPECT_TRUE(contains(message([](Vectors& a) { a.coordinates[2] = 4; }), "position 2 is 4"));
  EXPECT_TRUE(contains(message([](Vectors& a) { std::swap(a.coordinates[1], a.coordinates[2]); }),
                       "the level is ordered"));
  std::vector<double> eleven(11);
  EXPECT_THROW(wrap<DenseMatrix<>>({3, 4}, eleven), FormatError);
  Vectors arrays;
  EXPECT_NO_THROW(
      (wrap<CSR<int, int>>({3, std::int64_t{1} << 31}, arrays.positions, arrays.coordinates, arrays.values)));
  EXPECT_THROW((wrap<CSR<int, int>>({3, (std::int64_t{1} << 31) + 1}, arrays.positions, arrays.coordinates,
                                    arrays.values)),
               RangeError);
}

}  // namespace
}  // namespace sporos::test
