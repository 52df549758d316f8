// SPDX-License-Identifier: Apache-2.0
/// @file first_touch.cpp
/// The first touch of large arrays, page by page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sporos/core/array.hpp>
#include <sporos/core/first_touch.hpp>
#include <vector>

namespace sporos::detail {
namespace {

constexpr std::int64_t page = large_page;

TEST(FirstTouchOfAnArray, KeepsWhatItHolds) {
  std::vector<std::byte> memory(3 * page + 100, std::byte{7});
  FirstTouch pages(memory.data(), static_cast<std::int64_t>(memory.size()));
  pages.touch_to(2 * page);
  pages.touch_to(page);
  pages.touch_to(9 * page);
  EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{7}; }));
}

TEST(FirstTouchOfAnArray, ClaimsPagesInOrder) {
  std::vector<std::byte> memory(4 * page);
  // From the first byte behind the start of a page on.
  const auto offset =
      page - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.data()) % page) + 1;
  FirstTouch pages(memory.data() + offset, 2 * page);
  EXPECT_FALSE(pages.is_touched(0, 1));
  EXPECT_TRUE(pages.touch_next(1));
  EXPECT_TRUE(pages.is_touched(0, page - 1));
  EXPECT_FALSE(pages.is_touched(0, page));
  EXPECT_FALSE(pages.touch_next(page - 1)) << "the next page begins there";
  pages.touch_to(page);
  EXPECT_TRUE(pages.is_touched(0, page));
  pages.touch_to(2 * page);
  EXPECT_TRUE(pages.is_touched(0, 2 * page));
  EXPECT_FALSE(pages.touch_next(9 * page)) << "there is no further page";
}

TEST(FirstTouchOfAnArray, LeavesAllOfALargeOneZeroed) {
  // Large enough for its pages to be tried before it is written.
  const auto array = zeroed_array<double>("test", (std::int64_t{80} << 20) / 8);
  EXPECT_TRUE(std::all_of(array.data(), array.data() + array.extent(0), [](double x) { return x == 0; }));
}

}  // namespace
}  // namespace sporos::detail
