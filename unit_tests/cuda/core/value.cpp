// SPDX-License-Identifier: Apache-2.0
/// @file value.cpp
/// 16-bit floats convert on a GPU as they do on the host, bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sporos/sporos.hpp>
#include <vector>

namespace {

using namespace sporos;

/// floats[at] = the value of the pattern `at`; patterns[at] = the pattern of that float.
template <class T>
struct ThereAndBack {
  Array<float, Kokkos::CudaSpace> floats;            // [2^16]
  Array<std::uint16_t, Kokkos::CudaSpace> patterns;  // [2^16]
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    T value;
    value.bits = static_cast<std::uint16_t>(at);
    floats(at) = static_cast<float>(value);
    patterns(at) = T(floats(at)).bits;
  }
};

/// patterns[at] = the pattern of floats[at].
template <class T>
struct Round {
  Array<float, Kokkos::CudaSpace> floats;
  Array<std::uint16_t, Kokkos::CudaSpace> patterns;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const { patterns(at) = T(floats(at)).bits; }
};

template <class T>
bool is_nan(std::uint16_t pattern) {
  T value;
  value.bits = pattern;
  return std::isnan(static_cast<float>(value));
}

template <class T>
void expect_same(std::uint16_t host, std::uint16_t device, float from) {
  if (is_nan<T>(host))
    ASSERT_TRUE(is_nan<T>(device)) << "from NaN " << std::bit_cast<std::uint32_t>(from);
  else
    ASSERT_EQ(host, device) << "from " << from << " with the bits " << std::bit_cast<std::uint32_t>(from);
}

/// What rounding and range make hard, for a type with `kept` explicit bits of significand: each of its values
/// from a list of exponents, halfway to the next and a bit below and above that, in either sign; besides the
/// ends of float's range, and floats of random bits.
std::vector<float> hard_floats(int kept) {
  std::vector<float> out;
  const auto add = [&](std::uint32_t bits) {
    out.push_back(std::bit_cast<float>(bits));
    out.push_back(std::bit_cast<float>(bits | 0x80000000u));
  };
  const std::uint32_t half_unit = 1u << (22 - kept);
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent)
    for (const std::uint32_t kept_bits : {0u, 1u, 2u, 3u, 61u, (1u << kept) - 2, (1u << kept) - 1})
      for (std::uint32_t rest : {0u, 1u, half_unit - 1, half_unit, half_unit + 1, 2 * half_unit - 1})
        add(exponent << 23 | kept_bits << (23 - kept) | rest);
  // Subnormals of binary16: halfway cases lie at other bits for each exponent.
  for (std::uint32_t exponent = 127 - 26; exponent <= 127 - 14; ++exponent)
    for (int bit = 0; bit < 23; ++bit)
      for (const std::uint32_t off : {0xffffffffu, 0u, 1u})
        for (const std::uint32_t above : {0u, 1u, 2u, 3u})
          add(((exponent << 23 | (above << bit << 1 & 0x7fffffu)) + (1u << bit)) + off);
  for (const float x : {65504.0f, 65519.99f, 65520.0f, 65536.0f, std::numeric_limits<float>::max(),
                        std::numeric_limits<float>::min(), std::numeric_limits<float>::denorm_min()})
    add(std::bit_cast<std::uint32_t>(x));
  add(0x7f800000u);  // infinity
  for (const std::uint32_t nan : {0x7f800001u, 0x7fbfffffu, 0x7fc00000u, 0x7fffffffu}) add(nan);
  std::mt19937 draw(1);
  for (int at = 0; at < 1'000'000; ++at)
    out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(draw())));
  return out;
}

template <class T>
class CudaNarrowFloats : public testing::Test {};
using Narrow = testing::Types<sporos::half, sporos::bfloat16>;
TYPED_TEST_SUITE(CudaNarrowFloats, Narrow);

TYPED_TEST(CudaNarrowFloats, OfEveryPatternWidenAndComeBackAsOnTheHost) {
  constexpr std::int64_t count = 1 << 16;
  const auto floats = make_array<float, Kokkos::CudaSpace>("floats", count);
  const auto patterns = make_array<std::uint16_t, Kokkos::CudaSpace>("patterns", count);
  Kokkos::parallel_for("there and back", Kokkos::RangePolicy<Kokkos::Cuda>(0, count),
                       ThereAndBack<TypeParam>{floats, patterns});
  const auto device_floats = copy_array<Kokkos::HostSpace>(floats);
  const auto device_patterns = copy_array<Kokkos::HostSpace>(patterns);
  for (std::int64_t at = 0; at < count; ++at) {
    TypeParam value;
    value.bits = static_cast<std::uint16_t>(at);
    const auto host = static_cast<float>(value);
    if (std::isnan(host))
      ASSERT_TRUE(std::isnan(device_floats(at))) << "pattern " << at;
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(host), std::bit_cast<std::uint32_t>(device_floats(at)))
          << "pattern " << at;
    expect_same<TypeParam>(TypeParam(host).bits, device_patterns(at), host);
  }
}

TYPED_TEST(CudaNarrowFloats, AreRoundedFromFloatsAsOnTheHost) {
  const std::vector<float> hard = hard_floats(std::is_same_v<TypeParam, sporos::half> ? 10 : 7);
  const auto count = static_cast<std::int64_t>(hard.size());
  const auto input = make_array<float, Kokkos::HostSpace>("floats", count);
  std::copy(hard.begin(), hard.end(), input.data());
  const auto floats = copy_array<Kokkos::CudaSpace>(input);
  const auto patterns = make_array<std::uint16_t, Kokkos::CudaSpace>("patterns", count);
  Kokkos::parallel_for("round", Kokkos::RangePolicy<Kokkos::Cuda>(0, count),
                       Round<TypeParam>{floats, patterns});
  const auto device = copy_array<Kokkos::HostSpace>(patterns);
  for (std::int64_t at = 0; at < count; ++at)
    expect_same<TypeParam>(TypeParam(input(at)).bits, device(at), input(at));
}

}  // namespace
