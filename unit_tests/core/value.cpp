// SPDX-License-Identifier: Apache-2.0
/// @file value.cpp
/// The 16-bit floats against what IEEE 754 says of them, and the names and sums of values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sporos/core/value.hpp>

namespace {

using namespace sporos;
using sporos::half;  // CUDA has one as well

/// The value of a binary16, by its definition.
double meaning_of_half(std::uint16_t bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Half, MeansWhatIeee754Says) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    half h;
    h.bits = static_cast<std::uint16_t>(bits);
    const double meant = meaning_of_half(h.bits);
    if (std::isnan(meant)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(h)));
      EXPECT_TRUE(std::isnan(static_cast<float>(half(static_cast<float>(h)))));
    } else {
      ASSERT_EQ(static_cast<double>(static_cast<float>(h)), meant) << bits;
      ASSERT_EQ(half(static_cast<float>(h)).bits, bits);
      ASSERT_EQ(std::signbit(static_cast<float>(h)), (bits & 0x8000) != 0);
    }
  }
}

TEST(Half, RoundsToNearestAndTiesToEven) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {  // every two neighbours up to the largest number
    half low, high;
    low.bits = bits;
    high.bits = static_cast<std::uint16_t>(bits + 1);
    const float a = low, b = high, middle = (a + b) / 2;  // exact in float
    ASSERT_EQ(half(middle).bits, bits % 2 ? bits + 1 : bits);
    ASSERT_EQ(half(std::nextafter(middle, 0.0F)).bits, bits);
    ASSERT_EQ(half(std::nextafter(middle, b)).bits, bits + 1);
    ASSERT_EQ(half(-middle).bits, half(middle).bits | 0x8000);
  }
  EXPECT_EQ(static_cast<float>(half(65519.0F)), 65504.0F);
  EXPECT_TRUE(std::isinf(static_cast<float>(half(65520.0F))));
}

TEST(Bfloat16, IsTheUpperHalfOfAFloatRounded) {
  for (std::uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const float low = std::bit_cast<float>(bits << 16), high = std::bit_cast<float>((bits + 1) << 16);
    const float middle = std::bit_cast<float>((bits << 16) | 0x8000U);
    ASSERT_EQ(bfloat16(low).bits, bits);
    ASSERT_EQ(static_cast<float>(bfloat16(low)), low);
    ASSERT_EQ(bfloat16(middle).bits, bits % 2 ? bits + 1 : bits);
    ASSERT_EQ(bfloat16(std::nextafter(middle, 0.0F)).bits, bits);
    ASSERT_EQ(bfloat16(std::nextafter(middle, high)).bits, bits + 1);
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(static_cast<float>(bfloat16(std::numeric_limits<float>::max()))));
}

TEST(Sums, AreFormedInTheAccumulationType) {
  EXPECT_EQ(plus(true, true), true);
  EXPECT_EQ(plus(false, false), false);
  EXPECT_EQ(plus(2, 3), 5);
  EXPECT_EQ(static_cast<float>(plus(half(1.0F), half(0.25F))), 1.25F);
  EXPECT_EQ(plus(Kokkos::complex<double>(1, 2), Kokkos::complex<double>(3, 4)),
            Kokkos::complex<double>(4, 6));
  static_assert(std::is_same_v<accumulate_t<bfloat16>, float>);
  static_assert(std::is_same_v<accumulate_t<double>, double>);
}

TEST(Values, HaveTheNamesThatFilesUse) {
  EXPECT_EQ(value_name<double>(), "double");
  EXPECT_EQ(value_name<std::int64_t>(), "int64");
  EXPECT_EQ(value_name<std::uint8_t>(), "uint8");
  EXPECT_EQ(value_name<Kokkos::complex<float>>(), "complex<float>");
  EXPECT_EQ(value_name<half>(), "half");
}

}  // namespace
