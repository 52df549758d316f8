// SPDX-License-Identifier: Apache-2.0
/// @file array.cpp
/// Arrays of zeros.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sporos/core/array.hpp>

namespace sporos {
namespace {

template <class T, class Space>
void expect_zeroed(const Space& space, std::int64_t count) {
  const auto array = make_array<T>("sporos::test", count);
  std::fill_n(array.data(), count, T(7));
  zero(space, array);
  EXPECT_TRUE(std::all_of(array.data(), array.data() + count, [](const T& x) { return x == T{}; })) << count;
}

TEST(AnArrayOfZeros, IsZeroToItsEnd) {
  constexpr auto part = static_cast<std::int64_t>(detail::ZeroPart::size);
  for (const std::int64_t bytes :
       {std::int64_t{0}, std::int64_t{1}, part - 1, part, part + 1, 5 * part + 7}) {
    expect_zeroed<std::int8_t>(Host(), bytes);
#ifdef KOKKOS_ENABLE_SERIAL
    expect_zeroed<std::int8_t>(Serial(), bytes);
#endif
    expect_zeroed<double>(Host(), bytes / 8);
  }
}

}  // namespace
}  // namespace sporos
