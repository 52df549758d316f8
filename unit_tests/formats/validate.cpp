// SPDX-License-Identifier: Apache-2.0
/// @file validate.cpp
/// Arrays that break the rules of their format are found, and the place is named.
#include <sporos/formats/validate.hpp>

#include "matrix_formats.hpp"
#include "tensor_formats.hpp"

namespace sporos::test {
namespace {

/// 3 x 4:  . 5 . 6 / . . . . / 7 . 8 .
Tensor<double, CSR<>> rows() {
  return assemble<CSR<>>(
      Entries<double, 2>({3, 4}, {{{0, 1}, 5.0}, {{0, 3}, 6.0}, {{2, 0}, 7.0}, {{2, 2}, 8.0}}));
}

template <class Change>
std::string fault_of_rows(const Change& change) {
  const auto t = rows();
  change(t.template level<1>().positions, t.template level<1>().coordinates);
  return message_of<FormatError>([&] { validate(t); });
}

TEST(Validate, AcceptsWhatAssembleMakes) {
  for (const auto& entries : matrices())
    for_each_matrix_format([&]<TensorFormat F>() { EXPECT_NO_THROW(validate(assemble<F>(entries))); });
  for (const auto& entries : tensors())
    for_each_tensor_format([&]<TensorFormat F>() { EXPECT_NO_THROW(validate(assemble<F>(entries))); });
  EXPECT_NO_THROW(validate(Tensor<double, CSR<>>({3, 4})));
  EXPECT_NO_THROW(validate(Tensor<double, Scalar>()));
}

TEST(Validate, ACoordinateOutsideTheExtent) {
  const auto large = fault_of_rows([](const auto&, const auto& coordinates) { coordinates(3) = 4; });
  EXPECT_TRUE(contains(large, "level 1 (Compressed, d1)"));
  EXPECT_TRUE(contains(large, "position 3 is 4"));
  EXPECT_TRUE(contains(large, "less than the extent 4"));
  const auto negative = fault_of_rows([](const auto&, const auto& coordinates) { coordinates(0) = -1; });
  EXPECT_TRUE(contains(negative, "position 0 is -1"));
}

TEST(Validate, CoordinatesOutOfOrder) {
  const auto message = fault_of_rows([](const auto&, const auto& coordinates) { coordinates(2) = 3; });
  EXPECT_TRUE(contains(message, "coordinate 2 at position 3 follows 3 below parent 2"));
}

TEST(Validate, ACoordinateThatStandsTwice) {
  const auto message = fault_of_rows([](const auto&, const auto& coordinates) { coordinates(1) = 1; });
  EXPECT_TRUE(contains(message, "coordinate 1 at position 1 stands twice below parent 0"));
}

TEST(Validate, PositionsThatDoNotBeginAtZero) {
  EXPECT_TRUE(contains(fault_of_rows([](const auto& positions, const auto&) { positions(0) = 1; }),
                       "positions[0] is 1, but must be 0"));
}

TEST(Validate, PositionsThatDecrease) {
  EXPECT_TRUE(contains(fault_of_rows([](const auto& positions, const auto&) { positions(1) = 3; }),
                       "positions[2] is 2, less than positions[1], which is 3"));
}

TEST(Validate, PositionsThatDoNotEndAtTheNumberOfCoordinates) {
  EXPECT_TRUE(contains(fault_of_rows([](const auto& positions, const auto&) { positions(3) = 3; }),
                       "positions[3], is 3, but there are 4 coordinates"));
}

TEST(Validate, ArraysOfTheWrongLength) {
  auto levels = rows().levels();
  std::get<1>(levels).positions = zeroed_array<std::int64_t>("short", 3);
  EXPECT_TRUE(contains(
      message_of<FormatError>([&] { validate(Tensor<double, CSR<>>({3, 4}, levels, rows().values())); }),
      "has 3 positions, but there are 3 positions above it: it must have 3 + 1"));
  EXPECT_TRUE(contains(message_of<FormatError>([&] {
                         validate(
                             Tensor<double, CSR<>>({3, 4}, rows().levels(), make_array<double>("short", 3)));
                       }),
                       "the values are 3"));
  EXPECT_TRUE(contains(message_of<FormatError>([&] {
                         validate(Tensor<double, CSR<>>({5, 4}, rows().levels(), rows().values()));
                       }),
                       "level 0 (Dense, d0): it has extent 3"));
  EXPECT_THROW(validate(Tensor<double, DenseMatrix<>>({3, 4}, Tensor<double, DenseMatrix<>>({3, 4}).levels(),
                                                      make_array<double>("short", 11))),
               FormatError);
}

TEST(Validate, ASingletonOfAnotherLengthThanItsParent) {
  const auto t = assemble<COO<2>>(random_unique_entries<double, 2>({9, 9}, 20, 1));
  auto levels = t.levels();
  std::get<1>(levels).coordinates = zeroed_array<std::int32_t>("short", 3);
  EXPECT_TRUE(
      contains(message_of<FormatError>([&] { validate(Tensor<double, COO<2>>({9, 9}, levels, t.values())); }),
               "has 3 coordinates"));
}

TEST(Validate, TuplesOfCooAreOrderedTogether) {
  const auto make = [] {
    return assemble<COO<2>>(Entries<double, 2>({4, 4}, {{{1, 0}, 1.0}, {{1, 3}, 2.0}, {{2, 1}, 3.0}}));
  };
  EXPECT_NO_THROW(validate(make()));
  const auto second_descends = make();
  second_descends.level<1>().coordinates(0) = 3;
  second_descends.level<1>().coordinates(1) = 1;
  EXPECT_TRUE(
      contains(message_of<FormatError>([&] { validate(second_descends); }), "level 1 (Singleton, d1)"));
  const auto first_descends = make();
  first_descends.level<0>().coordinates(2) = 0;
  EXPECT_TRUE(contains(message_of<FormatError>([&] { validate(first_descends); }),
                       "level 0 (Compressed not unique, d0)"));
  const auto twice = make();
  twice.level<1>().coordinates(1) = 0;
  EXPECT_TRUE(contains(message_of<FormatError>([&] { validate(twice); }), "stands twice"));
}

TEST(Validate, UniqueLevelsWithoutOrderAreSearchedForDuplicates) {
  using Unordered = Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<std::int64_t, std::int32_t, false, true>>;
  const auto t =
      assemble<Unordered>(Entries<double, 2>({2, 5}, {{{1, 0}, 1.0}, {{1, 2}, 2.0}, {{1, 4}, 3.0}}));
  t.level<1>().coordinates(0) = 3;
  EXPECT_NO_THROW(validate(t));
  t.level<1>().coordinates(0) = 4;
  EXPECT_TRUE(
      contains(message_of<FormatError>([&] { validate(t); }), "coordinate 4 at position 2 stands twice"));

  using UnorderedCoo = Format<Map<Dim<0>, Dim<1>>, Compressed<std::int64_t, std::int32_t, false, false>,
                              Singleton<std::int32_t, false, true>>;
  const auto u =
      assemble<UnorderedCoo>(Entries<double, 2>({9, 9}, {{{1, 0}, 1.0}, {{1, 2}, 2.0}, {{7, 4}, 3.0}}));
  u.level<0>().coordinates(0) = 7;
  EXPECT_NO_THROW(validate(u));
  u.level<1>().coordinates(0) = 4;
  EXPECT_TRUE(contains(message_of<FormatError>([&] { validate(u); }), "stands twice"));
}

TEST(Validate, LevelsThatAreNotUniqueMayRepeat) {
  const auto t = assemble<RepeatedCoo>(random_entries<double, 2>({5, 5}, 100, 1));
  EXPECT_EQ(t.nnz(), 100);
  EXPECT_NO_THROW(validate(t));
}

TEST(Validate, TheFirstFaultOfManyArraysIsFoundInParallel) {
  const auto t = assemble<CSR<>>(random_entries<double, 2>({700, 3000}, 200000, 1));
  t.level<1>().coordinates(123456) = 3000;
  t.level<1>().coordinates(150000) = 3000;
  EXPECT_TRUE(contains(message_of<FormatError>([&] { validate(t); }), "position 123456 is 3000"));
}

TEST(Validate, BlocksAtTheRimHoldZerosBeyondTheExtents) {
  const auto t = assemble<BCSR<2, 3>>(Entries<double, 2>({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 7.0}}));
  EXPECT_NO_THROW(validate(t));
  t.values()(11) = 9.0;
  EXPECT_TRUE(
      contains(message_of<FormatError>([&] { validate(t); }), "the value 9 at position 11 stands at (3, 2)"));
}

}  // namespace
}  // namespace sporos::test
