// SPDX-License-Identifier: Apache-2.0
/// @file number.cpp
/// Numbers as text: parsing at the borders of the types, and writing that reads back exactly.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <sporos/formats/io/number.hpp>
#include <string>

namespace {
namespace number_tests {

using namespace sporos;
using io::Field;
using sporos::half;  // CUDA has one as well

/// Text the way a block holds it.
class Text {
 public:
  explicit Text(const std::string& text)
      : size_(text.size()), bytes_(text + std::string(1 + io::text_padding, '\n')) {}
  const char* begin() const { return bytes_.data(); }
  const char* end() const { return begin() + size_ + 1; }
  const char* newline() const { return begin() + size_; }

 private:
  std::size_t size_;
  std::string bytes_;
};

/// The value that the whole text is; nothing where it is refused.
template <class Value, Field F = Field::real>
std::optional<Value> parsed(const std::string& text) {
  const Text t(text);
  Value value{};
  const char* const stop = io::parse_value<Value, F>(t.begin(), t.end(), value);
  if (stop != t.newline()) return std::nullopt;
  return value;
}

template <class Value>
std::string written(const Value& value) {
  char digits[2 * io::scalar_width + 1];
  return std::string(digits, io::format_value(digits, value));
}

TEST(Number, ReadsUnsignedIntegersOfEveryLength) {
  std::string digits;
  std::uint64_t expected = 0;
  for (int length = 1; length <= 19; ++length) {
    digits += static_cast<char>('0' + length % 10);
    expected = expected * 10 + static_cast<std::uint64_t>(length % 10);
    for (const char* behind : {"", " ", "\t7", "\r", "x", "/", ":", "-", "\x80", "\xff\xff"}) {
      const Text text(digits + behind);
      std::uint64_t value = 0;
      const char* const stop = io::parse_unsigned(text.begin(), value);
      ASSERT_EQ(stop, text.begin() + length) << digits << behind;
      EXPECT_EQ(value, expected);
    }
  }
  EXPECT_EQ((parsed<std::uint64_t>("18446744073709551615")), UINT64_MAX);
  EXPECT_EQ((parsed<std::uint64_t>("00000000000000000000000000000000000042")), 42u);
}

TEST(Number, RefusesIntegersThatDoNotFit) {
  EXPECT_FALSE((parsed<std::uint64_t, Field::integer>("18446744073709551616")));
  EXPECT_FALSE((parsed<std::uint64_t, Field::integer>("-1")));
  EXPECT_EQ((parsed<std::uint64_t, Field::integer>("-0")), 0u);
  EXPECT_EQ((parsed<std::int64_t, Field::integer>("-9223372036854775808")), INT64_MIN);
  EXPECT_FALSE((parsed<std::int64_t, Field::integer>("-9223372036854775809")));
  EXPECT_EQ((parsed<std::int64_t, Field::integer>("9223372036854775807")), INT64_MAX);
  EXPECT_FALSE((parsed<std::int64_t, Field::integer>("9223372036854775808")));
  EXPECT_EQ((parsed<std::int32_t, Field::integer>("-2147483648")), INT32_MIN);
  EXPECT_FALSE((parsed<std::int32_t, Field::integer>("2147483648")));
  EXPECT_EQ((parsed<std::int8_t, Field::integer>("+127")), 127);
  EXPECT_FALSE((parsed<std::int8_t, Field::integer>("128")));
}

TEST(Number, RefusesWhatIsNoInteger) {
  for (const char* text :
       {"", "-", "+", "+-1", "--1", "1.", "1.0", "1e3", "nan", "NaN", "inf", "0x10", "1,000", "١", "a", "1a"})
    EXPECT_FALSE((parsed<std::int64_t, Field::integer>(text))) << text;
}

TEST(Number, ReadsRealsAsTheNearestDouble) {
  EXPECT_EQ(parsed<double>("0.1"), 0.1);
  EXPECT_EQ(parsed<double>("-1.7976931348623157e308"), -std::numeric_limits<double>::max());
  EXPECT_EQ(parsed<double>("4.9406564584124654e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parsed<double>("9007199254740993"), 9007199254740992.0);  // a tie, to even
  EXPECT_EQ(parsed<double>("9007199254740993.0000000000000000001"), 9007199254740994.0);
  EXPECT_EQ(parsed<double>("+2.5"), 2.5);
  EXPECT_EQ(parsed<double>(".5"), 0.5);
  EXPECT_EQ(parsed<double>("5."), 5.0);
  EXPECT_EQ(parsed<double>("1E+2"), 100.0);
  EXPECT_EQ(parsed<double>("1e-400"), 0.0);
  EXPECT_EQ(parsed<double>("inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parsed<double>("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parsed<double>("NaN").value_or(0)));
}

TEST(Number, ReadsFortransExponents) {
  EXPECT_EQ(parsed<double>("1.5D+03"), 1500.0);
  EXPECT_EQ(parsed<double>("-1.5d-1"), -0.15);
  EXPECT_EQ(parsed<double>("2Q2"), 200.0);
  EXPECT_EQ(parsed<float>("1D0"), 1.0f);
  EXPECT_FALSE(parsed<double>("1.5D"));
  EXPECT_FALSE(parsed<double>("1.5D+"));
  EXPECT_FALSE(parsed<double>("1.5DD1"));
  EXPECT_FALSE(parsed<double>("1D400"));
}

TEST(Number, RefusesWhatIsNoReal) {
  for (const char* text :
       {"", "-", "+", "+-1", "-+1", ".", "e5", "1e", "1e+", "1.2.3", "1,5", "0x1p3", "infinit", "abc", "1-2"})
    EXPECT_FALSE(parsed<double>(text)) << text;
}

TEST(Number, RefusesFiniteTextThatIsTooLargeForTheType) {
  EXPECT_FALSE(parsed<double>("1e309"));
  EXPECT_FALSE(parsed<double>("-1e309"));
  EXPECT_FALSE(parsed<float>("1e39"));
  EXPECT_TRUE(parsed<double>("1e39"));
  EXPECT_FALSE(parsed<half>("70000"));
  EXPECT_EQ(static_cast<float>(parsed<half>("65504").value_or(half(0))), 65504.0f);
  EXPECT_FALSE(parsed<half>("65520"));  // halfway to the next power of two: rounds to infinity
  EXPECT_TRUE(std::isinf(static_cast<float>(parsed<half>("inf").value_or(half(0)))));
  EXPECT_FALSE(parsed<bfloat16>("3.4e38"));
  EXPECT_TRUE(parsed<bfloat16>("3.38e38"));
}

TEST(Number, ReadsRealTextIntoIntegersOnlyWhereItIsOne) {
  EXPECT_EQ(parsed<std::int64_t>("3.0"), 3);
  EXPECT_EQ(parsed<std::int64_t>("-1.2e1"), -12);
  EXPECT_EQ(parsed<std::int64_t>("1E3"), 1000);
  EXPECT_EQ(parsed<std::int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_FALSE(parsed<std::int64_t>("3.5"));
  EXPECT_FALSE(parsed<std::int64_t>("nan"));
  EXPECT_FALSE(parsed<std::int64_t>("inf"));
  EXPECT_FALSE(parsed<std::int64_t>("1e30"));
  EXPECT_FALSE(parsed<std::int64_t>("1e17"));  // beyond 2^53 a double does not tell neighbours apart
  EXPECT_FALSE(parsed<std::int32_t>("3e9"));
  EXPECT_FALSE(parsed<std::uint32_t>("-1.0"));
  EXPECT_EQ(parsed<bool>("1"), true);
  EXPECT_EQ(parsed<bool>("0.0"), false);
  EXPECT_FALSE(parsed<bool>("2"));
}

TEST(Number, ReadsComplexValuesOfTwoParts) {
  using Complex = Kokkos::complex<double>;
  EXPECT_EQ((parsed<Complex, Field::complex>("1.5 -2")), Complex(1.5, -2));
  EXPECT_EQ((parsed<Complex, Field::complex>("1\t \t2")), Complex(1, 2));
  EXPECT_EQ((parsed<Complex, Field::real>("1.5")), Complex(1.5, 0));
  EXPECT_EQ((parsed<std::complex<float>, Field::integer>("-3")), std::complex<float>(-3, 0));
  EXPECT_FALSE((parsed<Complex, Field::complex>("1.5")));
  EXPECT_FALSE((parsed<Complex, Field::complex>("1.5-2")));
  EXPECT_FALSE((parsed<Complex, Field::complex>("1.5 2i")));
}

/// Random bit patterns, and the neighbours of powers of two, where digits are scarce.
template <class Float, class Bits>
void expect_exact_round_trips() {
  std::mt19937_64 random(5);
  int wrong = 0;
  for (int k = 0; k < 20000; ++k) {
    auto bits = static_cast<Bits>(random());
    if (k % 2) {
      constexpr int mantissa = sizeof(Bits) == 8 ? 52 : 23;
      bits = static_cast<Bits>((bits & ~((Bits{1} << mantissa) - 1)) + static_cast<Bits>(k % 5) - 2);
    }
    const auto value = std::bit_cast<Float>(bits);
    if (std::isnan(value)) continue;
    const auto back = parsed<Float>(written(value));
    if (!back || std::bit_cast<Bits>(*back) != bits) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Number, WritesDoublesThatReadBackExactly) { expect_exact_round_trips<double, std::uint64_t>(); }
TEST(Number, WritesFloatsThatReadBackExactly) { expect_exact_round_trips<float, std::uint32_t>(); }

template <class Narrow>
void expect_all_round_trips(std::size_t most_digits) {
  int wrong = 0;
  std::size_t longest = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    Narrow value;
    value.bits = static_cast<std::uint16_t>(bits);
    if (std::isnan(static_cast<float>(value))) continue;
    const std::string digits = written(value);
    const auto back = parsed<Narrow>(digits);
    if (!back || back->bits != value.bits) ++wrong;
    std::size_t significant = 0;
    for (const char c : digits.substr(0, digits.find('e')))
      significant += io::is_digit(c) && (significant > 0 || c != '0');
    longest = std::max(longest, significant);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(longest, most_digits);
}

// 1 + ceil(p log10 2) digits tell all floats of p bits apart.
TEST(Number, WritesEveryHalfWithAtMostFiveDigitsThatReadBackExactly) { expect_all_round_trips<half>(5); }
TEST(Number, WritesEveryBfloat16WithAtMostFourDigitsThatReadBackExactly) {
  expect_all_round_trips<bfloat16>(4);
}

TEST(Number, WritesTheFewestDigits) {
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(1.0), "1");
  EXPECT_EQ(written(1e22), "1e+22");
  EXPECT_EQ(written(-0.0), "-0");
  EXPECT_EQ(written(0.1f), "0.1");
  EXPECT_EQ(written(half(0.1f)), "0.1");
  EXPECT_EQ(written(bfloat16(3.14159f)), "3.14");
  EXPECT_EQ(written(true), "1");
  EXPECT_EQ(written(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(written(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(written(Kokkos::complex<double>(0.5, -2)), "0.5 -2");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Number, QuotesWhatItFound) {
  EXPECT_EQ(io::found(Text("  abc def").begin()), "'abc'");
  EXPECT_EQ(io::found(Text(" \t\r").begin()), "the end of the line");
  EXPECT_EQ(io::found(Text(std::string("a\0\xff", 3)).begin()), "'a\\x00\\xff'");
  EXPECT_EQ(io::found(Text(std::string(50, 'x')).begin()), "'" + std::string(40, 'x') + "…'");
}

template <class Value, Field F>
std::string refusal(const std::string& text) {
  const Text t(text);
  return io::why_no_value<Value, F>(t.begin(), t.end());
}

TEST(Number, SaysWhyAValueIsRefused) {
  EXPECT_EQ((refusal<double, Field::real>("abc")), "found 'abc', expected a real number");
  EXPECT_EQ((refusal<double, Field::real>("")), "found the end of the line, expected a real number");
  EXPECT_EQ((refusal<double, Field::real>("1e999")), "'1e999' is too large for double");
  EXPECT_EQ((refusal<double, Field::real>("-1D999")), "'-1D999' is too large for double");
  EXPECT_EQ((refusal<std::int32_t, Field::real>("2.5")),
            "found '2.5', which int32 cannot hold: read the file as double");
  EXPECT_EQ((refusal<std::int32_t, Field::integer>("3000000000")),
            "found '3000000000', which int32 cannot hold: read the file as int64 or double");
  EXPECT_EQ((refusal<std::int64_t, Field::integer>("NaN")), "found 'NaN', expected an integer");
  EXPECT_EQ((refusal<double, Field::integer>("1.0")), "found '1.0', expected an integer");
  EXPECT_EQ((refusal<double, Field::integer>("99999999999999999999")),
            "'99999999999999999999' does not fit in 64 bits");
  EXPECT_EQ((refusal<Kokkos::complex<double>, Field::complex>("1.0")),
            "found the end of the line, expected the imaginary part of a complex value");
  EXPECT_EQ((refusal<Kokkos::complex<double>, Field::complex>("1.0 x")),
            "found 'x', expected a real number as imaginary part");
}

}  // namespace number_tests
}  // namespace
