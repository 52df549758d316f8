// SPDX-License-Identifier: Apache-2.0
/// @file insert_sort_merge.cpp
/// Insert-sort-merge against std::map: every policy, kind of keys, order, capacity and way to run its stages.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <sporos/workspace/bucket.hpp>
#include <sporos/workspace/coordinate.hpp>
#include <sporos/workspace/hash.hpp>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sporos::test {
namespace {

/// A policy of a user: a binary heap, from which components come in order (after Buluç and Gilbert, *On the
/// Representation and Multiplication of Hypersparse Matrices*, IPDPS 2008).
struct HeapPolicy {
  static constexpr std::string_view name = "heap";
  static constexpr bool takes(int order) { return order >= 1; }
  template <class T, int Order>
  using workspace = InsertSortMerge<HeapPolicy, T, Order>;

  template <class Keys, class T>
  class accumulation {
   public:
    using key_type = typename Keys::key_type;
    struct Entry {
      key_type key;
      T value;
      std::int64_t number;
    };

    accumulation(const HeapPolicy&, const Keys&) {}
    static std::int64_t bytes(const HeapPolicy&, const Keys&, std::int64_t capacity) {
      return capacity * static_cast<std::int64_t>(sizeof(Entry));
    }
    void resize(std::int64_t capacity) {
      capacity_ = 0;
      heap_ = {};
      heap_.reserve(static_cast<std::size_t>(capacity));
      capacity_ = static_cast<std::size_t>(capacity);
    }
    bool insert(const key_type& key, const T& value) {
      if (heap_.size() == capacity_) return false;
      heap_.push_back({key, value, inserted_++});
      std::push_heap(heap_.begin(), heap_.end(), comes_after);
      return true;
    }
    std::int64_t size() const { return static_cast<std::int64_t>(heap_.size()); }
    struct Run {
      const detail::CountedVector<Entry>* heap;
      std::int64_t size() const { return static_cast<std::int64_t>(heap->size()); }
      const key_type& key(std::int64_t n) const { return (*heap)[static_cast<std::size_t>(n)].key; }
      const T& value(std::int64_t n) const { return (*heap)[static_cast<std::size_t>(n)].value; }
    };
    Run sort() {
      std::sort(heap_.begin(), heap_.end(), [](const Entry& a, const Entry& b) { return comes_after(b, a); });
      if (!heap_.empty()) {
        auto last = heap_.begin();
        for (auto next = last + 1; next != heap_.end(); ++next) {
          if (next->key == last->key)
            last->value = plus(last->value, next->value);
          else
            *++last = *next;
        }
        heap_.resize(static_cast<std::size_t>(last + 1 - heap_.begin()));  // sorted, and so still a heap
      }
      return {&heap_};
    }
    void clear() { heap_.clear(); }

   private:
    static bool comes_after(const Entry& a, const Entry& b) {
      return b.key < a.key || (a.key == b.key && b.number < a.number);
    }

    detail::CountedVector<Entry> heap_;
    std::size_t capacity_ = 0;
    std::int64_t inserted_ = 0;
  };

  AccumulationSettings settings{};
};

static_assert(AccumulationPolicy<CoordinatePolicy> && AccumulationPolicy<BucketPolicy> &&
              AccumulationPolicy<HashPolicy> && AccumulationPolicy<HeapPolicy>);
static_assert(
    Workspace<CoordinatePolicy::workspace<double, 3>, CoordinatePolicy, double, 3> &&
    Workspace<BucketPolicy::workspace<float, 1>, BucketPolicy, float, 1> &&
    Workspace<HashPolicy::workspace<Kokkos::complex<double>, 8>, HashPolicy, Kokkos::complex<double>, 8> &&
    Workspace<HeapPolicy::workspace<int, 2>, HeapPolicy, int, 2>);

enum class Stream { ascending, descending, random, duplicates, none, few };
constexpr Stream all_streams[] = {Stream::ascending,  Stream::descending, Stream::random,
                                  Stream::duplicates, Stream::none,       Stream::few};

/// Numbers of a thousand coordinates, in the order in which a test inserts them.
std::vector<std::int64_t> numbers_of(Stream stream, std::int64_t count) {
  std::mt19937_64 draw(11);
  std::vector<std::int64_t> numbers(stream == Stream::none ? 0 : static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const auto ascending = static_cast<std::int64_t>(n) * 1000 / count;
    switch (stream) {
      case Stream::ascending:
        numbers[n] = ascending;
        break;
      case Stream::descending:
        numbers[n] = 999 - ascending;
        break;
      case Stream::random:
        numbers[n] = static_cast<std::int64_t>(draw() % 1000);
        break;
      case Stream::duplicates:
        numbers[n] = 577;
        break;
      case Stream::few:
        numbers[n] = static_cast<std::int64_t>(draw() % 5) * 211;
        break;
      case Stream::none:
        break;
    }
  }
  return numbers;
}

/// Extents that hold a thousand coordinates and more; wide ones do not fit in a packed key if there are
/// several.
template <int Order>
Extents<Order> extents_of(bool wide) {
  Extents<Order> extents{};
  extents.fill(wide ? std::int64_t{1} << (Order == 1 ? 62 : 40) : 3001);
  return extents;
}

/// The coordinates of one of a thousand numbers, ascending with it.
template <int Order>
Extents<Order> coordinates(std::int64_t number, const Extents<Order>& extents) {
  constexpr std::int64_t base = Order == 1 ? 1000 : Order == 2 ? 32 : Order == 3 ? 10 : Order == 4 ? 6 : 4;
  Extents<Order> at{};
  for (std::size_t level = at.size(); level-- > 0; number /= base)
    at[level] = number % base * (extents[level] / base);
  return at;
}

template <class T, int Order>
using ExpectedEntries = std::vector<std::pair<Extents<Order>, T>>;

template <class W, class T, int Order>
ExpectedEntries<T, Order> drained(W& workspace) {
  ExpectedEntries<T, Order> out;
  workspace.drain([&](const Extents<Order>& at, const T& value) { out.emplace_back(at, value); });
  return out;
}

/// Inserts a stream, drains, and compares with a map; twice, since a workspace is used again.
template <class T, int Order, class Policy>
void check_against_map(const Policy& policy, bool wide, Stream stream, std::int64_t count) {
  const Extents<Order> extents = extents_of<Order>(wide);
  InsertSortMerge<Policy, T, Order> workspace(policy, extents);
  for (int time = 0; time < 2; ++time) {
    std::map<Extents<Order>, T> expected;
    int inserted = 0;
    for (const std::int64_t number : numbers_of(stream, count)) {
      const auto at = coordinates<Order>(number, extents);
      const T value = static_cast<T>(static_cast<float>(++inserted % 7 + time));
      const auto [place, is_new] = expected.try_emplace(at, value);
      if (!is_new) place->second = plus(place->second, value);
      workspace.add(at, value);
    }
    // Small integers, of which sums are exact in any order.
    const auto found = drained<decltype(workspace), T, Order>(workspace);
    ASSERT_EQ(found, (ExpectedEntries<T, Order>(expected.begin(), expected.end())))
        << Policy::name << ", order " << Order << ", wide " << wide << ", stream " << static_cast<int>(stream)
        << ", capacity " << policy.settings.capacity << ", pipelined " << policy.settings.pipelined
        << ", double buffered " << policy.settings.double_buffered;
  }
}

template <class T, int Order, class Policy>
void check_all_ways(const Policy& base = {}) {
  Policy policy = base;
  for (const std::int64_t capacity : {1, 2, 7, 64, 1000})
    for (const int way : {0, 1, 2, 3, 4, 5, 7}) {
      policy.settings.capacity = capacity;
      policy.settings.pipelined = way & 1;
      policy.settings.double_buffered = !(way & 2);
      policy.settings.growth = way == 4 ? AccumulationGrowth{}  // many merges, otherwise
                                        : AccumulationGrowth{.first_slope = 0.25};
      if (way > 4) policy.settings.growth.distinct = true, policy.settings.growth.of_cells = 0.01;
      for (const bool wide : {false, true})
        for (const Stream stream : all_streams) {
          check_against_map<T, Order>(policy, wide, stream, 150);
          if (testing::Test::HasFatalFailure()) return;
        }
    }
}

template <class Policy>
class InsertSortMergeOf : public testing::Test {};
using EveryPolicy = testing::Types<CoordinatePolicy, BucketPolicy, HashPolicy, HeapPolicy>;
TYPED_TEST_SUITE(InsertSortMergeOf, EveryPolicy);

TYPED_TEST(InsertSortMergeOf, SumsAsAMapDoesInEveryOrder) {
  check_all_ways<double, 1, TypeParam>();
  check_all_ways<double, 2, TypeParam>();
  check_all_ways<double, 3, TypeParam>();
  check_all_ways<double, 4, TypeParam>();
  check_all_ways<double, 5, TypeParam>();
}

TYPED_TEST(InsertSortMergeOf, TakesEightVariables) {
  for (const bool wide : {false, true})
    check_against_map<double, 8>(TypeParam{.settings = {.capacity = 7}}, wide, Stream::random, 300);
}

TYPED_TEST(InsertSortMergeOf, SumsValuesOfEveryKind) {
  check_all_ways<float, 2, TypeParam>();
  check_all_ways<bool, 2, TypeParam>();
  check_all_ways<std::int64_t, 2, TypeParam>();
  check_all_ways<Kokkos::complex<double>, 2, TypeParam>();
}

TYPED_TEST(InsertSortMergeOf, SumsManyComponentsWithTheDefaults) {
  std::mt19937_64 draw(3);
  for (const bool wide : {false, true}) {
    const auto extents = extents_of<3>(wide);
    InsertSortMerge<TypeParam, double, 3> workspace(TypeParam{.settings = {.capacity = 20000}}, extents);
    std::map<Extents<3>, double> expected;
    for (int n = 0; n < 60000; ++n) {
      Extents<3> at{};
      for (std::size_t level = 0; level < 3; ++level)
        at[level] = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(extents[level]));
      if (n % 3 == 0) at[0] = at[2] = 0;
      expected[at] += n;
      workspace.add(at, n);
    }
    const auto found = drained<decltype(workspace), double, 3>(workspace);
    EXPECT_TRUE(found == (ExpectedEntries<double, 3>(expected.begin(), expected.end())));
  }
}

/// Values whose sums depend on the order.
float rounding_value(int n) { return n % 7 == 0 ? 1e8f : 0.1f * static_cast<float>(n); }

template <class Policy>
std::vector<std::pair<Extents<2>, std::uint32_t>> bits_of_sums(const AccumulationSettings& settings,
                                                               bool wide) {
  const auto extents = extents_of<2>(wide);
  InsertSortMerge<Policy, float, 2> workspace(Policy{.settings = settings}, extents);
  for (int n = 0; n < 5000; ++n) workspace.add(coordinates<2>(n * 7919 % 97, extents), rounding_value(n));
  std::vector<std::pair<Extents<2>, std::uint32_t>> out;
  workspace.drain(
      [&](const Extents<2>& at, float sum) { out.emplace_back(at, std::bit_cast<std::uint32_t>(sum)); });
  return out;
}

TYPED_TEST(InsertSortMergeOf, SumsInTheOrderOfInsertionWithinAnArray) {
  for (const bool wide : {false, true}) {
    const auto extents = extents_of<2>(wide);
    std::map<Extents<2>, float> expected;
    for (int n = 0; n < 5000; ++n) expected[coordinates<2>(n * 7919 % 97, extents)] += rounding_value(n);
    std::vector<std::pair<Extents<2>, std::uint32_t>> bits;
    for (const auto& [at, sum] : expected) bits.emplace_back(at, std::bit_cast<std::uint32_t>(sum));
    for (const bool pipelined : {false, true})
      EXPECT_EQ(bits_of_sums<TypeParam>({.capacity = 5000, .pipelined = pipelined}, wide), bits);
  }
}

TYPED_TEST(InsertSortMergeOf, GivesTheSameBitsPipelinedOrNot) {
  for (const bool wide : {false, true})
    for (const std::int64_t capacity : {1, 7, 64, 1000}) {
      for (const AccumulationGrowth& growth :
           {AccumulationGrowth{.first_slope = 0.5},
            AccumulationGrowth{.first_slope = 0.5, .distinct = true, .of_cells = 0.01}})
        EXPECT_EQ(bits_of_sums<TypeParam>({.capacity = capacity, .growth = growth}, wide),
                  bits_of_sums<TypeParam>({.capacity = capacity, .growth = growth, .pipelined = true}, wide));
    }
}

TYPED_TEST(InsertSortMergeOf, KeepsNotANumberWhereItWasAdded) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  InsertSortMerge<TypeParam, double, 1> workspace(TypeParam{.settings = {.capacity = 2}}, Extents<1>{100});
  for (const std::int64_t at : {5, 3, 9, 3, 7, 5}) workspace.add({at}, at == 3 ? nan : 1.0);
  const auto found = drained<decltype(workspace), double, 1>(workspace);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_TRUE(std::isnan(found[0].second));
  EXPECT_EQ(found[1].second, 2);
  EXPECT_EQ(found[2].second, 1);
  EXPECT_EQ(found[3].second, 1);
}

TYPED_TEST(InsertSortMergeOf, TakesExtentsOfOneAndTheLargest) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  InsertSortMerge<TypeParam, double, 2> workspace(TypeParam{.settings = {.capacity = 2}},
                                                  Extents<2>{1, largest});
  for (const std::int64_t at : {largest - 1, std::int64_t{0}, largest - 1, std::int64_t{1}})
    workspace.add({0, at}, 1.0);
  const auto found = drained<decltype(workspace), double, 2>(workspace);
  EXPECT_EQ(found, (ExpectedEntries<double, 2>{{{0, 0}, 1}, {{0, 1}, 1}, {{0, largest - 1}, 2}}));

  InsertSortMerge<TypeParam, double, 2> wide(TypeParam{.settings = {.capacity = 2}},
                                             Extents<2>{largest, largest});
  for (const std::int64_t at : {largest - 1, std::int64_t{0}, largest - 1, std::int64_t{1}})
    wide.add({at, largest - 1 - at}, 1.0);
  const auto found_wide = drained<decltype(wide), double, 2>(wide);
  EXPECT_EQ(found_wide, (ExpectedEntries<double, 2>{
                            {{0, largest - 1}, 1}, {{1, largest - 2}, 1}, {{largest - 1, 0}, 2}}));
}

TYPED_TEST(InsertSortMergeOf, TakesExtentsWhoseCellsAreFewerThanKeysThoughTheirBitsAreMore) {
  constexpr Extents<5> extents{5000, 5000, 5000, 5000, 5000};
  ASSERT_TRUE(PackedKeys<5>::fit(extents));
  const PackedKeys<5> keys(extents);
  EXPECT_FALSE(keys.in_bits());
  EXPECT_FALSE(PackedKeys<5>::fit({6000, 6000, 6000, 6000, 6000}));
  EXPECT_FALSE(PackedKeys<5>::fit({std::int64_t{1} << 40, std::int64_t{1} << 40, 1, 1, 0}));
  constexpr Extents<5> last{4999, 4999, 4999, 4999, 4999};
  EXPECT_EQ(keys.unpack(keys.pack(last)), last);
  EXPECT_LT(keys.prefix(keys.pack(last)) >> keys.prefix_bits(), 1u);
  for (const std::int64_t capacity : {1, 7, 1000}) {
    InsertSortMerge<TypeParam, double, 5> workspace(TypeParam{.settings = {.capacity = capacity}}, extents);
    auto& stages = workspace.template stages<PackedKeys<5>>();
    std::mt19937_64 draw(3);
    std::map<Extents<5>, double> expected{{last, 1}};
    stages.add(last, 1);
    for (int n = 0; n < 2000; ++n) {
      Extents<5> at{};
      for (auto& coordinate : at) coordinate = static_cast<std::int64_t>(draw() % 3 * 2499 + draw() % 2);
      expected[at] += n;
      stages.add(at, n);
    }
    EXPECT_EQ((drained<decltype(workspace), double, 5>(workspace)),
              (ExpectedEntries<double, 5>(expected.begin(), expected.end())));
  }
}

TYPED_TEST(InsertSortMergeOf, RunsItsStagesOneByOne) {
  const Extents<2> extents{10, 10};
  StagedWorkspace<TypeParam, PackedKeys<2>, double> stages(TypeParam{.settings = {.capacity = 8}}, extents);
  for (const std::int64_t i : {7, 2, 7, 4}) stages.insert(stages.keys().pack({i, 1}), 1.0);
  const auto run = stages.sort();
  ASSERT_EQ(run.size(), 3);
  for (std::int64_t n = 0; n < 3; ++n) {
    EXPECT_EQ(stages.keys().unpack(run.key(n)), (Extents<2>{n == 0 ? 2 : n == 1 ? 4 : 7, 1}));
    EXPECT_EQ(run.value(n), n == 2 ? 2 : 1);
  }
  stages.add({7, 1}, 1.0);  // insertion goes on after a sort
  EXPECT_EQ(stages.sort().size(), 3);
  stages.merge();
  EXPECT_EQ(stages.sort().size(), 0);
  stages.add({2, 1}, 1.0);
  stages.add({3, 1}, 1.0);
  ExpectedEntries<double, 2> compressed;
  const auto take = [&](const Extents<2>& at, double value) { compressed.emplace_back(at, value); };
  stages.compress(take);
  const ExpectedEntries<double, 2> expected{{{2, 1}, 2}, {{3, 1}, 1}, {{4, 1}, 1}, {{7, 1}, 3}};
  EXPECT_EQ(compressed, expected);
  const auto finished = stages.finish();
  ASSERT_EQ(finished.keys.size(), 4u);
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_EQ(stages.keys().unpack(finished.keys[n]), expected[n].first);
    EXPECT_EQ(finished.values[n], expected[n].second);
  }
  stages.clear();
  EXPECT_TRUE(stages.finish().keys.empty());
}

TYPED_TEST(InsertSortMergeOf, HandsLoopsTheMachineForItsKeys) {
  for (const bool wide : {false, true}) {
    const auto extents = extents_of<2>(wide);
    InsertSortMerge<TypeParam, double, 2> workspace(TypeParam{}, extents);
    std::size_t key_size = 0;
    workspace.with_inserter([&](auto& stages) {
      key_size = sizeof(typename std::decay_t<decltype(stages)>::key_type);
      for (int n = 0; n < 10; ++n) stages.add({n % 2, 5}, 1.0);
    });
    EXPECT_EQ(key_size, wide ? 16u : 8u);
    EXPECT_EQ((drained<decltype(workspace), double, 2>(workspace)),
              (ExpectedEntries<double, 2>{{{0, 5}, 5}, {{1, 5}, 5}}));
  }
}

TYPED_TEST(InsertSortMergeOf, KeepsItsContentsWhenItMovesAndWhenTakeThrows) {
  std::vector<InsertSortMerge<TypeParam, double, 1>> workspaces;
  for (int n = 0; n < 5; ++n)  // the vector grows, and moves those with a second thread
  {
    workspaces.emplace_back(TypeParam{.settings = {.capacity = 4, .pipelined = true}}, Extents<1>{1000});
    for (std::int64_t at = 0; at < 100; ++at) workspaces.back().add({at * 37 % 50}, 1.0);
  }
  for (auto& workspace : workspaces) {
    EXPECT_THROW(workspace.drain([](const Extents<1>& at, double) {
      if (at[0] == 20) throw std::runtime_error("enough");
    }),
                 std::runtime_error);
    const auto found = drained<InsertSortMerge<TypeParam, double, 1>, double, 1>(workspace);
    ASSERT_EQ(found.size(), 50u);
    for (const auto& entry : found) EXPECT_EQ(entry.second, 2);
  }
}

TEST(InsertSortMerge, TakesHashTablesOfAnyLength) {
  for (const std::int64_t length : {1, 2, 3, 31, 997, 1024})
    for (const bool wide : {false, true})
      for (const Stream stream : all_streams)
        for (const std::int64_t capacity : {1, 7, 64})
          check_against_map<double, 2>(HashPolicy{.settings = {.capacity = capacity}, .length = length}, wide,
                                       stream, 300);
}

TEST(InsertSortMerge, RefusesSettingsThatMakeNoSense) {
  const auto refuses = [](const AccumulationSettings& settings) {
    EXPECT_THROW((InsertSortMerge<CoordinatePolicy, double, 1>(CoordinatePolicy{.settings = settings},
                                                               Extents<1>{10})),
                 ScheduleError);
  };
  refuses({.capacity = 0});
  refuses({.capacity = -1});
  refuses({.capacity = std::int64_t{1} << 40});
  refuses({.memory_limit = -1});
  refuses({.growth = {.first_threshold = 10, .second_threshold = 5}});
  refuses({.growth = {.third_slope = -1}});
  refuses({.growth = {.of_cells = 2}});
  refuses({.growth = {.of_cells = -0.5}});
  refuses({.growth = {.first_slope = std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_THROW((InsertSortMerge<HashPolicy, double, 1>(HashPolicy{.length = -1}, Extents<1>{10})),
               ScheduleError);
}

TEST(AccumulationGrowth, IsLinearInThreePieces) {
  const AccumulationGrowth growth{.first_threshold = 100,
                                  .second_threshold = 1000,
                                  .first_slope = 2,
                                  .second_slope = 1,
                                  .third_slope = 0.5};
  EXPECT_EQ(growth(0), 0);
  EXPECT_EQ(growth(50), 100);
  EXPECT_EQ(growth(100), 200);
  EXPECT_EQ(growth(500), 600);
  EXPECT_EQ(growth(2000), 200 + 900 + 500);
  AccumulationSettings settings{.capacity = 7, .growth = growth};
  EXPECT_EQ(settings.capacity_for(500), 607);
  settings.growth.third_slope = 1e30;
  EXPECT_EQ(settings.capacity_for(5000), AccumulationSettings::largest_capacity);
}

TEST(AccumulationGrowth, StaysBelowAShareOfTheCellsOrTheComponentsThatAreThere) {
  AccumulationSettings settings{.capacity = 100'000, .growth = AccumulationGrowth::none()};
  EXPECT_EQ(settings.capacity_for(0, 1e6), 100'000);
  settings.growth.of_cells = 0.01;
  EXPECT_EQ(settings.capacity_for(0, 1e6), 10'000);
  EXPECT_EQ(settings.capacity_for(20'000, 1e6), 20'000);
  EXPECT_EQ(settings.capacity_for(0, 1e12), 100'000);
  EXPECT_EQ(settings.capacity_for(200'000, 1e6), 100'000);
  EXPECT_EQ(settings.capacity_for(0, 10), 1024);
}

TEST(CoordinateWorkspace, GrowsInPlaceWhileComponentsAreDistinct) {
  using Keys = PackedKeys<1>;
  detail::MovingComponents<double> array(coordinate_workspace, Keys({std::int64_t{1} << 40}));
  array.resize(1000);
  for (std::uint64_t n = 0; n < 1000; ++n) EXPECT_TRUE(array.insert(n * 7919 % 1009 * 1'000'003, 1.0));
  EXPECT_FALSE(array.insert(1, 1.0));
  EXPECT_EQ(array.distinct_share(), 1);
  array.grow(2000);
  EXPECT_EQ(array.size(), 1000);
  for (std::uint64_t n = 0; n < 1000; ++n) EXPECT_TRUE(array.insert(n * 7919 % 1009 * 1'000'003, 1.0));
  EXPECT_FALSE(array.insert(1, 1.0));
  EXPECT_LT(array.distinct_share(), 0.6);
  EXPECT_EQ(array.sort().size(), 1000);
  EXPECT_EQ(array.sort().value(0), 2);
}

TEST(ComponentSort, IsStableOnKeysOfEveryKind) {
  std::mt19937_64 draw(1);
  using Item = detail::SortItem<std::uint32_t>;
  const auto check = [&](std::size_t count, auto key) {
    std::vector<Item> items(count), spare(count);
    for (std::size_t n = 0; n < count; ++n) items[n] = {key(n), static_cast<std::uint32_t>(n)};
    std::vector<Item> expected = items;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Item& a, const Item& b) { return a.key < b.key; });
    detail::ComponentSort<std::uint32_t>::sort(items.data(), spare.data(), static_cast<std::int64_t>(count));
    bool same = true;
    for (std::size_t n = 0; n < count; ++n)
      same = same && items[n].key == expected[n].key && items[n].payload == expected[n].payload;
    EXPECT_TRUE(same) << count;
  };
  for (const std::size_t count : {0u, 1u, 2u, 24u, 25u, 64u, 65u, 257u, 3000u, 4097u, 70000u}) {
    check(count, [&](std::size_t) { return draw() >> 1; });
    check(count, [&](std::size_t) { return draw() % 7; });
    check(count, [&](std::size_t) { return (draw() % 7) << 60 | draw() % 5 << 20; });
    check(count, [&](std::size_t n) { return count - n; });
    check(count, [&](std::size_t) { return std::uint64_t{1} << draw() % 63; });
    check(count, [&](std::size_t n) { return n % 100 == 0 ? draw() >> 1 : draw() % 1000; });
    check(count, [](std::size_t) { return std::uint64_t{5}; });
  }
}

TEST(BucketWorkspaces, SumDuplicatesThatAnInsertionDoesNotFind) {
  // All components are in one bucket, and equal ones lie further apart than an insertion searches.
  InsertSortMerge<BucketPolicy, double, 2> workspace(BucketPolicy{}, {1, 1000});
  auto& stages = workspace.stages<PackedKeys<2>>();
  for (int round = 1; round <= 3; ++round) {
    for (std::int64_t n = 0; n < 100; ++n) stages.add({0, n * 37 % 100}, 1.0);
    const auto run = stages.sort();
    ASSERT_EQ(run.size(), 100);
    for (std::int64_t n = 0; n < 100; ++n) {
      EXPECT_EQ(stages.keys().unpack(run.key(n)), (Extents<2>{0, n}));
      EXPECT_EQ(run.value(n), round);
    }
  }
  EXPECT_EQ(stages.finish().keys.size(), 100u);
}

}  // namespace
}  // namespace sporos::test
