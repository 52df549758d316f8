// SPDX-License-Identifier: Apache-2.0
/// @file assemble_errors.cpp
/// What cannot be assembled, and what is said then.
#include <sporos/formats/assemble.hpp>
#include <sporos/formats/named.hpp>

#include "reference.hpp"

namespace sporos::test {
namespace {

Entries<double, 2> with_duplicate() {
  return {{3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 7.0}, {{2, 1}, 1.0}, {{2, 1}, 1.0}}};
}

TEST(AssembleErrors, ACoordinateOutsideNamesItsEntry) {
  const auto message = message_of<ShapeError>(
      [] { assemble<CSR<>>(Entries<double, 2>({3, 4}, {{{2, 1}, 5.0}, {{0, 4}, 7.0}, {{5, 0}, 1.0}})); });
  EXPECT_TRUE(contains(message, "entry 1"));
  EXPECT_TRUE(contains(message, "(0, 4)"));
  EXPECT_TRUE(contains(message, "3 x 4"));
  EXPECT_TRUE(contains(message, "mode 1"));
  EXPECT_TRUE(contains(message, "less than 4"));
}

TEST(AssembleErrors, ANegativeCoordinateNamesItsEntry) {
  const auto message = message_of<ShapeError>(
      [] { assemble<DCSR<>>(Entries<double, 2>({3, 4}, {{{2, 1}, 5.0}, {{-1, 2}, 7.0}})); });
  EXPECT_TRUE(contains(message, "entry 1"));
  EXPECT_TRUE(contains(message, "(-1, 2)"));
}

TEST(AssembleErrors, ACoordinateOutsideIsFoundAmongMany) {
  auto entries = random_entries<double, 2>({1000, 1000}, 100000, 1);
  entries.coordinates[0](77777) = 1000;
  EXPECT_TRUE(contains(message_of<ShapeError>([&] { assemble<CSR<>>(entries); }), "entry 77777"));
}

TEST(AssembleErrors, AnyEntryOfAnEmptyTensorIsOutside) {
  EXPECT_THROW(assemble<CSR<>>(Entries<double, 2>({0, 4}, {{{0, 0}, 1.0}})), ShapeError);
}

TEST(AssembleErrors, NegativeExtents) {
  Entries<double, 2> entries;
  entries.extents = {-1, 4};
  EXPECT_THROW(assemble<CSR<>>(entries), ShapeError);
}

TEST(AssembleErrors, ArraysOfDifferentLength) {
  auto entries = with_duplicate();
  entries.coordinates[1] = make_array<std::int64_t>("short", 3);
  const auto message = message_of<ShapeError>([&] { assemble<CSR<>>(entries); });
  EXPECT_TRUE(contains(message, "4 values"));
  EXPECT_TRUE(contains(message, "3 coordinates of mode 1"));
}

TEST(AssembleErrors, DuplicatesAreRefusedWhereAsked) {
  const auto message = message_of<FormatError>([] { assemble<CSR<>>(with_duplicate(), Duplicates::error); });
  EXPECT_TRUE(contains(message, "(2, 1) stands 3 times"));
  EXPECT_THROW((assemble<BCSR<2, 2>>(with_duplicate(), Duplicates::error)), FormatError);
  EXPECT_THROW(assemble<DenseMatrix<>>(with_duplicate(), Duplicates::error), FormatError);
}

TEST(AssembleErrors, DuplicatesAmongManySortedEntriesAreRefused) {
  Entries<double, 1> entries({100000}, 100000);
  for (std::int64_t e = 0; e < entries.size(); ++e) entries.set(e, {e == 60001 ? 60000 : e}, 1.0);
  EXPECT_TRUE(contains(message_of<FormatError>([&] { assemble<SparseVector<>>(entries, Duplicates::error); }),
                       "(60000)"));
}

TEST(AssembleErrors, UniqueFormatsKeepNoDuplicates) {
  EXPECT_TRUE(contains(message_of<FormatError>([] { assemble<CSR<>>(with_duplicate(), Duplicates::keep); }),
                       "cannot keep duplicates"));
}

TEST(AssembleErrors, ComplexValuesHaveNoMaximum) {
  using Complex = Kokkos::complex<double>;
  const Entries<Complex, 1> twice({3}, {{{1}, Complex(1, 2)}, {{1}, Complex(2, 1)}});
  EXPECT_TRUE(contains(message_of<FormatError>([&] { assemble<SparseVector<>>(twice, Duplicates::max); }),
                       "have no order"));
  const Entries<Complex, 1> once({3}, {{{1}, Complex(1, 2)}});
  EXPECT_NO_THROW(assemble<SparseVector<>>(once, Duplicates::max));
}

TEST(AssembleErrors, CoordinatesThatTheFormatCannotHold) {
  constexpr std::int64_t extent = std::int64_t{1} << 31;
  const Entries<double, 1> entries({extent + 1}, {{{5}, 1.0}});
  const auto message = message_of<RangeError>([&] { assemble<SparseVector<>>(entries); });
  EXPECT_TRUE(contains(message, "2147483648"));
  EXPECT_TRUE(contains(message, "32-bit"));
  EXPECT_NO_THROW(assemble<SparseVector<>>(Entries<double, 1>({extent}, {{{extent - 1}, 1.0}})));
  EXPECT_NO_THROW((assemble<SparseVector<std::int64_t, std::int64_t>>(entries)));
}

TEST(AssembleErrors, PositionsThatTheFormatCannotHold) {
  using F = Format<Map<Dim<0>>, Compressed<std::int8_t, std::int32_t>>;
  EXPECT_NO_THROW(assemble<F>(random_unique_entries<double, 1>({1000}, 100, 1)));
  Entries<double, 1> entries({1000}, 128);
  for (std::int64_t e = 0; e < 128; ++e) entries.set(e, {7 * e}, 1.0);
  EXPECT_TRUE(contains(message_of<RangeError>([&] { assemble<F>(entries); }), "128"));
}

TEST(AssembleErrors, DenseLevelsThatDoNotFitTheMemory) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  const Entries<double, 2> entries({huge, huge}, {{{1, 1}, 1.0}});
  EXPECT_TRUE(
      contains(message_of<RangeError>([&] { assemble<DenseMatrix<>>(entries); }), "use a sparse level"));
  const Entries<double, 2> tall({std::int64_t{1} << 60, 1}, {{{1, 0}, 1.0}});
  EXPECT_TRUE(
      contains(message_of<MemoryError>([&] { assemble<DenseMatrix<>>(tall); }), "use a sparse level"));
  EXPECT_THROW((assemble<CSR<std::int64_t, std::int64_t>>(tall)), MemoryError);
}

TEST(AssembleErrors, ASingletonBelowRowsHoldsOneOfEach) {
  using Permutation = Format<Map<Dim<0>, Dim<1>>, Dense, Singleton<>>;
  const auto t =
      assemble<Permutation>(Entries<double, 2>({3, 3}, {{{2, 0}, 1.0}, {{0, 1}, 2.0}, {{1, 2}, 3.0}}));
  EXPECT_EQ(t.nnz(), 3);
  EXPECT_TRUE(same(table(t), Table<double, 2>{{{0, 1}, 2.0}, {{1, 2}, 3.0}, {{2, 0}, 1.0}}));
  const auto message = message_of<FormatError>([] {
    assemble<Permutation>(Entries<double, 2>({3, 3}, {{{2, 0}, 1.0}, {{2, 1}, 2.0}, {{1, 2}, 3.0}}));
  });
  EXPECT_TRUE(contains(message, "exactly one coordinate below each of its 3 parents"));
  EXPECT_TRUE(contains(message, "Compressed"));
  EXPECT_THROW(assemble<Permutation>(Entries<double, 2>({3, 3}, {{{2, 0}, 1.0}, {{0, 1}, 2.0}})),
               FormatError);
}

}  // namespace
}  // namespace sporos::test
