// SPDX-License-Identifier: Apache-2.0
/// @file insert_sort_merge_memory.cpp
/// The memory of insert-sort-merge: its limit, its bound, and what is left after a failure.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <sporos/workspace/bucket.hpp>
#include <sporos/workspace/coordinate.hpp>
#include <sporos/workspace/hash.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sporos::test {
namespace {

/// The most bytes allocated at any time while it exists, beyond those before.
class ObservedPeak {
 public:
  ObservedPeak() : before_(detail::memory_use()), listener_(detail::memory_listener().load()) {
    peak() = before_;
    detail::memory_listener() = [](std::int64_t) {
      const std::int64_t now = detail::memory_use();
      std::int64_t last = peak().load();
      while (last < now && !peak().compare_exchange_weak(last, now)) {
      }
    };
  }
  ~ObservedPeak() { detail::memory_listener() = listener_; }

  std::int64_t bytes() const { return peak() - before_; }

 private:
  static std::atomic<std::int64_t>& peak() {
    static std::atomic<std::int64_t> bytes{0};
    return bytes;
  }

  std::int64_t before_;
  detail::MemoryListener listener_;
};

Extents<2> scattered(std::int64_t n, const Extents<2>& extents) {
  const std::int64_t number = n * 7919 % 100003;
  return {number % 317 * (extents[0] / 317), number / 317 * (extents[1] / 317)};
}

template <class Policy>
class InsertSortMergeMemory : public testing::Test {};
using LibraryPolicies = testing::Types<CoordinatePolicy, BucketPolicy, HashPolicy>;
TYPED_TEST_SUITE(InsertSortMergeMemory, LibraryPolicies);

/// The extents of packed keys, and of those compared level by level.
constexpr Extents<2> both_extents[] = {{1000, 1000}, {std::int64_t{1} << 40, std::int64_t{1} << 40}};

TYPED_TEST(InsertSortMergeMemory, StaysWithinItsBound) {
  for (const auto& extents : both_extents)
    for (const std::int64_t capacity : {1, 10, 1000})
      for (const int way : {0, 1, 2, 3, 4, 5})
        for (const std::int64_t adds : {0, 1, 50, 5000, 20000}) {
          const TypeParam policy{
              .settings = {
                  .capacity = capacity,
                  .growth = {.first_slope = 0.5, .distinct = way > 3, .of_cells = way > 3 ? 0.01 : 0},
                  .pipelined = (way & 1) != 0,
                  .double_buffered = (way & 2) == 0}};
          using W = InsertSortMerge<TypeParam, double, 2>;
          const ObservedPeak peak;
          W workspace(policy, extents);
          EXPECT_EQ(peak.bytes(), 0) << "an empty workspace allocates nothing";
          for (std::int64_t n = 0; n < adds; ++n) workspace.add(scattered(n, extents), 1.0);
          workspace.with_inserter([](auto& stages) { stages.finish(); });
          EXPECT_LE(peak.bytes(), W::most_bytes(policy, extents, adds))
              << capacity << ' ' << way << ' ' << adds;
        }
}

TYPED_TEST(InsertSortMergeMemory, GivesAllOfItBack) {
  const std::int64_t before = detail::memory_use();
  for (const bool pipelined : {false, true}) {
    InsertSortMerge<TypeParam, double, 2> workspace(
        TypeParam{.settings = {.capacity = 16, .pipelined = pipelined}}, both_extents[0]);
    for (std::int64_t n = 0; n < 1000; ++n) workspace.add(scattered(n, both_extents[0]), 1.0);
  }
  EXPECT_EQ(detail::memory_use(), before);
}

/// Inserts until the limit is reached or all are in: nothing that was inserted is lost, and the limit holds.
template <class Policy>
void check_limit(const Policy& policy, const Extents<2>& extents, bool finish) {
  const std::int64_t limit = policy.settings.memory_limit;
  SCOPED_TRACE(testing::Message() << "limit " << limit << ", pipelined " << policy.settings.pipelined);
  const ObservedPeak peak;
  InsertSortMerge<Policy, double, 2> workspace(policy, extents);
  for (int time = 0; time < 2; ++time) {  // it is usable again afterwards
    std::map<Extents<2>, double> expected;
    int failures = 0;
    for (std::int64_t n = 0; n < 600 && failures < 3; ++n) {
      const auto at = scattered(n, extents);
      try {
        workspace.add(at, static_cast<double>(n));
        expected[at] += static_cast<double>(n);
      } catch (const MemoryError& error) {
        ++failures;
        const std::string message = error.what();
        EXPECT_NE(message.find(text("allows ", limit)), std::string::npos) << message;
        const auto needs = message.find("needs ");
        ASSERT_NE(needs, std::string::npos) << message;
        EXPECT_GT(std::stoll(message.substr(needs + 6)), limit) << message;
      }
    }
    if (finish) {
      try {
        workspace.with_inserter([](auto& stages) { stages.finish(); });
      } catch (const MemoryError&) {
      }
    }
    std::map<Extents<2>, double> found;
    workspace.drain([&](const Extents<2>& at, double value) {
      EXPECT_TRUE(found.empty() || found.rbegin()->first < at);
      found[at] = value;
    });
    EXPECT_EQ(found, expected);
  }
  EXPECT_LE(peak.bytes(), limit);
}

TYPED_TEST(InsertSortMergeMemory, LosesNothingUnderAnyLimit) {
  for (const auto& extents : both_extents)
    for (const int way : {0, 1, 2, 3, 4, 5})
      for (std::int64_t limit = 1; limit < 100000; limit += 1 + limit / 5)
        for (const std::int64_t capacity : {1, 20, 500}) {
          check_limit(TypeParam{.settings = {.capacity = capacity,
                                             .growth = {.first_slope = 0.3, .distinct = way > 3},
                                             .memory_limit = limit,
                                             .pipelined = (way & 1) != 0,
                                             .double_buffered = (way & 2) == 0}},
                      extents, limit % 2 == 0);
          if (this->HasFailure()) return;
        }
}

TEST(CoordinateWorkspace, StaysWithinItsBoundWhereItHashes) {
  using W = InsertSortMerge<CoordinatePolicy, double, 2>;
  for (const std::int64_t distinct : {10, 500, 3000, 100'000})
    for (const std::int64_t capacity : {1, 1024, 5000})
      for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{100'000}, std::int64_t{5'000'000}}) {
        const CoordinatePolicy policy{
            .settings = {.capacity = capacity, .growth = {.first_slope = 0.5}, .memory_limit = limit},
            .hashes = true};
        constexpr std::int64_t adds = 30'000;
        const ObservedPeak peak;
        W workspace(policy, both_extents[0]);
        std::map<Extents<2>, double> expected, found;
        try {
          for (std::int64_t n = 0; n < adds; ++n) {
            const auto at = scattered(n % distinct, both_extents[0]);
            workspace.add(at, 1.0);
            expected[at] += 1;
          }
        } catch (const MemoryError&) {
          EXPECT_GT(limit, 0);
        }
        workspace.drain([&](const Extents<2>& at, double value) { found[at] = value; });
        EXPECT_EQ(found, expected);
        EXPECT_LE(peak.bytes(), W::most_bytes(policy, both_extents[0], adds));
      }
}

TYPED_TEST(InsertSortMergeMemory, TheLimitThatAnErrorNamesIsEnough) {
  for (const Extents<2>& extents : both_extents)
    for (const int way : {0, 1, 2, 3})
      for (const std::int64_t capacity : {1, 20, 500}) {
        TypeParam policy{.settings = {.capacity = capacity,
                                      .growth = {.first_slope = 0.3},
                                      .memory_limit = 1000,
                                      .pipelined = (way & 1) != 0,
                                      .double_buffered = (way & 2) == 0}};
        const auto needed = [&]() -> std::int64_t {
          InsertSortMerge<TypeParam, double, 2> workspace(policy, extents);
          try {
            for (std::int64_t n = 0; n < 600; ++n) workspace.add(scattered(n, extents), 1.0);
            workspace.with_inserter([](auto& stages) { stages.finish(); });
            return 0;
          } catch (const MemoryError& error) {
            const std::string message = error.what();
            return std::stoll(message.substr(message.find("needs ") + 6));
          }
        };
        // What comes later is not known when the error is thrown: each number is enough for what has come.
        std::int64_t before = policy.settings.memory_limit;
        for (std::int64_t n = needed(); n > 0; n = needed()) {
          ASSERT_GT(n, before);
          before = policy.settings.memory_limit = n;
        }
        policy.settings.memory_limit =
            InsertSortMerge<TypeParam, double, 2>::enough_limit(policy, extents, 600);
        EXPECT_EQ(needed(), 0) << policy.settings.memory_limit;
      }
}

TYPED_TEST(InsertSortMergeMemory, DuplicatesNeedNoMoreThanTheirComponents) {
  for (const bool pipelined : {false, true}) {
    InsertSortMerge<TypeParam, double, 2> workspace(
        TypeParam{.settings = {.memory_limit = 40000, .pipelined = pipelined}}, both_extents[0]);
    for (int n = 0; n < 100000; ++n) workspace.add({n % 5, n % 40}, 1.0);
    int count = 0;
    workspace.drain([&](const Extents<2>&, double sum) {
      EXPECT_EQ(sum, 2500);
      ++count;
    });
    EXPECT_EQ(count, 40);
  }
}

/// The most bytes of a list of `count` components of `distinct` coordinates of a square.
std::int64_t bytes_of_list(std::int64_t count, std::int64_t distinct, std::int64_t extent) {
  using W = InsertSortMerge<CoordinatePolicy, double, 2>;
  const Extents<2> extents{extent, extent};
  const ObservedPeak peak;
  W workspace(coordinate_workspace, extents);
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int64_t number = n * 7919 % distinct;
    workspace.add({number % extent, number / extent}, 1.0);
  }
  EXPECT_EQ(workspace.stages<PackedKeys<2>>().finish().keys.size(),
            static_cast<std::size_t>(std::min(count, distinct)));
  EXPECT_LE(peak.bytes(), W::most_bytes(coordinate_workspace, extents, count));
  return peak.bytes();
}
TEST(CoordinateWorkspace, TakesLittleMemoryForFewElements) {
  constexpr std::int64_t extent = 1024, first = extent * extent / 128, of_component = 16;
  // The first array, of which a half is for sorting, and all components, twice.
  EXPECT_LT(bytes_of_list(3'000, 3'000, extent), 2 * of_component * (first + 3'000) + 4096);
  EXPECT_LT(bytes_of_list(60'000, 3'000, extent), 2 * of_component * (first + 2 * 3'000) + 4096);
  // An accumulation array of about as many components as there are, and all of them, twice.
  EXPECT_LT(bytes_of_list(100'000, 20'000, extent), 2 * of_component * (32'768 + 2 * 20'000) + 4096);
}
TEST(CoordinateWorkspace, OfDistinctComponentsMergesThemOnce) {
  // Merged once, the all array is there once: two of them would be 1.1 million larger.
  constexpr std::int64_t count = 1'100'000, of_component = 16;
  EXPECT_LT(bytes_of_list(count, count, std::int64_t{1} << 20),
            of_component * (2 * (std::int64_t{9} << 17) + count) + 4096);
}

TEST(MemoryBudget, CountsWhatItGives) {
  MemoryBudget budget(100);
  budget.take(60, 0, "a");
  EXPECT_EQ(budget.left(), 40);
  EXPECT_THROW(budget.take(41, 0, "b"), MemoryError);
  EXPECT_EQ(budget.used(), 60);
  budget.take(100, 60, "c");
  EXPECT_EQ(budget.left(), 0);
  budget.give_back(100);
  EXPECT_EQ(budget.used(), 0);
  MemoryBudget unlimited;
  EXPECT_NO_THROW(unlimited.take(std::int64_t{1} << 62, 0, "d"));
}

/// An accumulation array that cannot be allocated once it is to hold more than a few components.
/// @tparam Exception  what it throws then
template <class Exception>
struct FailingPolicy {
  static constexpr std::string_view name = "failing";
  static constexpr bool takes(int order) { return order >= 1; }
  template <class T, int Order>
  using workspace = InsertSortMerge<FailingPolicy, T, Order>;
  template <class Keys, class T>
  struct accumulation : detail::IndexedComponents<Keys, T> {
    using Base = detail::IndexedComponents<Keys, T>;
    using Base::Base;
    void resize(std::int64_t capacity) {
      if (capacity > 10) {
        Base::resize(0);
        fail();
      }
      Base::resize(capacity);
    }
    void grow(std::int64_t capacity) {
      if (capacity > 10) fail();
      Base::grow(capacity);
    }
    [[noreturn]] static void fail() {
      if constexpr (std::is_same_v<Exception, MemoryError>)
        throw MemoryError("no memory");
      else
        throw Exception();
    }
  };
  AccumulationSettings settings{};
};

static_assert(AccumulationPolicy<FailingPolicy<std::bad_alloc>>);

/// Adds values at distinct coordinates, twice.
/// @return how many were refused
template <class Exception>
int refused_by(const AccumulationSettings& settings) {
  InsertSortMerge<FailingPolicy<Exception>, double, 1> workspace({.settings = settings}, Extents<1>{1000});
  std::map<std::int64_t, double> expected;
  int failures = 0;
  for (std::int64_t n = 0; n < 200; ++n) {
    try {
      workspace.add({n * 7 % 100}, 1.0);
      expected[n * 7 % 100] += 1;
    } catch (const MemoryError&) {
      ++failures;
    }
  }
  std::map<std::int64_t, double> found;
  workspace.drain([&](const Extents<1>& at, double value) { found[at[0]] = value; });
  EXPECT_EQ(found, expected);
  return failures;
}

TEST(InsertSortMergeFailure, AnArrayThatCannotGrowIsAMemoryErrorAndLosesNothing) {
  for (const bool pipelined : {false, true}) {
    const AccumulationSettings settings{.capacity = 4, .growth = {.first_slope = 1}, .pipelined = pipelined};
    EXPECT_GT(refused_by<std::bad_alloc>(settings), 0);
    EXPECT_GT(refused_by<MemoryError>(settings), 0);
  }
}

TEST(InsertSortMergeFailure, AnArrayOfDistinctComponentsThatCannotGrowIsMerged) {
  for (const bool pipelined : {false, true}) {
    AccumulationSettings settings{
        .capacity = 8, .growth = AccumulationGrowth::none(), .pipelined = pipelined};
    settings.growth.distinct = true;
    EXPECT_EQ(refused_by<std::bad_alloc>(settings), 0);
    EXPECT_EQ(refused_by<MemoryError>(settings), 0);
  }
}

}  // namespace
}  // namespace sporos::test
