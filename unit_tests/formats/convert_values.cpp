// SPDX-License-Identifier: Apache-2.0
/// @file convert_values.cpp
/// Conversions to other types of value: what fits, and what is refused.
#include <cmath>
#include <cstdint>
#include <limits>
#include <sporos/formats/convert.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/formats/value_cast.hpp>

#include "reference.hpp"

namespace sporos::test {
namespace {

template <class To, class From>
bool holds(From from) {
  To to{};
  return value_cast(from, to) && static_cast<double>(to) == static_cast<double>(from);
}
template <class To, class From>
bool takes(From from) {
  To to{};
  return value_cast(from, to);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ValueCast, IntegersMustBeExact) {
  EXPECT_TRUE((holds<std::int32_t>(3.0)));
  EXPECT_TRUE((holds<std::int32_t>(-2147483648.0)));
  EXPECT_FALSE((takes<std::int32_t>(2147483648.0)));
  EXPECT_FALSE((takes<std::int32_t>(-2147483649.0)));
  EXPECT_FALSE((takes<std::int32_t>(0.5)));
  EXPECT_FALSE((takes<std::int32_t>(std::nan(""))));
  EXPECT_FALSE((takes<std::int64_t>(infinity)));
  EXPECT_FALSE((takes<std::int64_t>(9223372036854775808.0)));
  EXPECT_TRUE((holds<std::int64_t>(-9223372036854775808.0)));
  EXPECT_FALSE((takes<std::uint8_t>(-1.0)));
  EXPECT_TRUE((holds<std::uint8_t>(255.0f)));
  EXPECT_FALSE((takes<std::int8_t>(std::int64_t{128})));
  EXPECT_TRUE((holds<std::int8_t>(std::int64_t{-128})));
  EXPECT_FALSE((takes<std::uint32_t>(std::int32_t{-1})));
}

TEST(ValueCast, FloatsAreRoundedButStayFinite) {
  EXPECT_TRUE((takes<float>(0.1)));
  EXPECT_FALSE((takes<float>(1e300)));
  EXPECT_TRUE((takes<float>(infinity)));
  EXPECT_TRUE((takes<float>(std::nan(""))));
  EXPECT_FALSE((takes<half>(65536.0)));
  EXPECT_TRUE((holds<half>(65504.0)));
  EXPECT_TRUE((holds<bfloat16>(3.0e38f) || takes<bfloat16>(3.0e38f)));
  EXPECT_TRUE((takes<double>(std::int64_t{9007199254740993})));
  EXPECT_TRUE((holds<std::int32_t>(half(12))));
}

TEST(ValueCast, BoolTakesZeroAndOne) {
  EXPECT_TRUE((holds<bool>(1.0)));
  EXPECT_TRUE((holds<bool>(0)));
  EXPECT_FALSE((takes<bool>(2)));
  EXPECT_FALSE((takes<bool>(std::nan(""))));
  EXPECT_TRUE((holds<std::int32_t>(true)));
}

TEST(ValueCast, ComplexBecomesRealWithoutAnImaginaryPart) {
  using Complex = Kokkos::complex<double>;
  double real = 0;
  EXPECT_TRUE(value_cast(Complex(3, 0), real));
  EXPECT_EQ(real, 3.0);
  EXPECT_FALSE(value_cast(Complex(3, 1), real));
  Kokkos::complex<float> narrow;
  EXPECT_TRUE(value_cast(Complex(3, -1), narrow));
  EXPECT_EQ(narrow, Kokkos::complex<float>(3, -1));
  EXPECT_FALSE(value_cast(Complex(0, 1e300), narrow));
  Complex wide;
  EXPECT_TRUE(value_cast(7, wide));
  EXPECT_EQ(wide, Complex(7, 0));
}

TEST(ConvertValues, ChangesFormatAndTypeAtOnce) {
  const auto entries = random_entries<double, 2>({30, 40}, 200, 1);
  const auto t = convert<CSC<>, std::int32_t>(assemble<CSR<>>(entries));
  static_assert(std::is_same_v<decltype(t)::value_type, std::int32_t>);
  const auto back = convert<CSR<>, double>(t);
  EXPECT_TRUE(same(table(back), table(entries)));
  EXPECT_TRUE(same(table(convert<CSR<>, float>(back)), table(convert<CSR<>, float>(t))));
}

TEST(ConvertValues, NamesTheCoordinateOfAValueThatDoesNotFit) {
  const auto t = assemble<CSR<>>(Entries<double, 2>({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 300.0}}));
  const auto message = message_of<RangeError>([&] { convert<CSC<>, std::int8_t>(t); });
  EXPECT_TRUE(contains(message, "300"));
  EXPECT_TRUE(contains(message, "(0, 3)"));
  EXPECT_TRUE(contains(message, "int8"));
}

TEST(ConvertValues, DoesNotShareMemoryWithWhatItConverts) {
  const auto t = assemble<CSR<>>(random_entries<double, 2>({30, 40}, 200, 1));
  const auto same_format = convert<CSR<>>(t);
  EXPECT_NE(same_format.values().data(), t.values().data());
  const auto floats = convert<CSR<>, float>(t);
  EXPECT_NE(floats.level<1>().coordinates.data(), t.level<1>().coordinates.data());
}

}  // namespace
}  // namespace sporos::test
