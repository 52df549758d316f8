// SPDX-License-Identifier: Apache-2.0
/// @file error.cpp
/// What errors say: both values, the place, the mend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/core/error.hpp>
#include <sporos/core/extents.hpp>
#include <string>

namespace {

using namespace sporos;
using testing::HasSubstr;

template <class Thrown, class Run>
std::string message_of(const Run& run) {
  try {
    run();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "nothing of this type was thrown";
}

TEST(Text, PutsPartsBehindOneAnother) {
  EXPECT_EQ(text("extent ", 3, " of ", std::string("A"), ':', -7L), "extent 3 of A:-7");
  EXPECT_EQ(text(0.1, ' ', 1e300, ' ', 2.0F), "0.1 1e+300 2");
  EXPECT_EQ(text(0.1F, ' ', true, ' ', std::int8_t{-5}, ' ', std::uint16_t{9}), "0.1 1 -5 9");
  EXPECT_EQ(text(std::numeric_limits<std::uint64_t>::max(), std::string_view(" and "),
                 std::numeric_limits<std::int64_t>::min()),
            "18446744073709551615 and -9223372036854775808");
  EXPECT_EQ(text(), "");
}

TEST(ExtentsThatDiffer, AreNamedWithTheirPlace) {
  EXPECT_NO_THROW(expect_same_extent("mode 1 of B (k)", 4, "mode 0 of C (k)", 4));
  const auto message =
      message_of<ShapeError>([] { expect_same_extent("mode 1 of B (k)", 4, "mode 0 of C (k)", 5); });
  EXPECT_THAT(message, HasSubstr("mode 1 of B (k) has extent 4, but mode 0 of C (k) has extent 5"));
  EXPECT_THAT(message, HasSubstr("error.cpp:"));
}

TEST(Narrowing, KeepsTheValueOrRefuses) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(narrow<std::int32_t>(largest, "a coordinate"), largest);
  EXPECT_THAT(
      message_of<RangeError>([] { narrow<std::int32_t>(largest + 1, "the extent of mode 0"); }),
      HasSubstr(
          "the extent of mode 0 is 2147483648, which a 32-bit index cannot hold (largest: 2147483647)"));
  EXPECT_THROW(narrow<std::uint32_t>(-1, "a coordinate"), RangeError);
}

TEST(AParseError, KnowsFileLineAndReason) {
  const ParseError error("west.mtx", 17, "coordinate 9 of mode 0 is out of range");
  EXPECT_STREQ(error.what(), "west.mtx:17: coordinate 9 of mode 0 is out of range");
  EXPECT_EQ(error.file(), "west.mtx");
  EXPECT_EQ(error.line(), 17);
  EXPECT_EQ(error.reason(), "coordinate 9 of mode 0 is out of range");
  EXPECT_STREQ(ParseError("west.mtx", 0, "the file is empty").what(), "west.mtx: the file is empty");
}

TEST(AnIoError, NamesTheFileFirst) {
  const IoError error("west.mtx", "No such file or directory");
  EXPECT_STREQ(error.what(), "west.mtx: No such file or directory");
  EXPECT_EQ(error.file(), "west.mtx");
}

TEST(ABrokenInvariant, IsToldApartFromAUsersFault) {
  EXPECT_NO_THROW(ensure(true, "one is one"));
  EXPECT_THAT(message_of<InternalError>([] { ensure(false, "one is one"); }),
              HasSubstr("broken invariant: one is one"));
}

TEST(EachError, IsAnError) {
  EXPECT_THROW(throw ShapeError("x"), Error);
  EXPECT_THROW(throw FormatError("x"), Error);
  EXPECT_THROW(throw ScheduleError("x"), Error);
  EXPECT_THROW(throw RangeError("x"), Error);
  EXPECT_THROW(throw MemoryError("x"), Error);
  EXPECT_THROW(throw StateError("x"), Error);
  EXPECT_THROW(throw IoError("x", "y"), Error);
  EXPECT_THROW(throw ParseError("x", 1, "y"), Error);
}

TEST(Extents, AreCheckedAndPrinted) {
  EXPECT_EQ(to_string(Extents<3>{497, 3478, 2}), "497 x 3478 x 2");
  EXPECT_EQ(to_string(Extents<0>{}), "scalar");
  EXPECT_EQ(coordinate_text(Extents<2>{2, 1}), "(2, 1)");
  EXPECT_NO_THROW(expect_valid_extents(Extents<2>{0, 5}));
  EXPECT_THAT(message_of<ShapeError>([] { expect_valid_extents(Extents<2>{3, -5}); }),
              HasSubstr("extent -5 of mode 1 is negative"));
  EXPECT_EQ(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 31, "positions"),
            std::int64_t{1} << 62);
  EXPECT_THROW(checked_product(std::int64_t{1} << 32, std::int64_t{1} << 31, "positions"), RangeError);
}

}  // namespace
