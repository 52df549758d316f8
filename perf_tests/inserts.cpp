// SPDX-License-Identifier: Apache-2.0
/// @file inserts.cpp
/// Components inserted into workspaces in no order, beside what a programmer writes first: std::sort of keys
/// and positions, and a flat hash map whose entries are sorted at the end.
///
///     perf_inserts --threads 1 --json inserts_1_thread.json
///
/// With several threads, each has a workspace of its own for a part of the components, and the workspaces are
/// merged. All results are compared with those of std::sort.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sporos/sporos.hpp>
#include "harness.hpp"

#ifdef SPOROS_HAVE_ROBIN_MAP
#include <tsl/robin_map.h>
#endif
#ifdef SPOROS_HAVE_ABSEIL
#include <absl/container/flat_hash_map.h>
#endif

namespace sporos::perf {
namespace {

constexpr Extents<3> extents{1 << 18, 1 << 15, 1 << 7};
using Keys = PackedKeys<3>;
using Key = Keys::key_type;

struct Components {
  std::vector<Extents<3>> at;
  std::vector<double> values;

  void add(const Extents<3>& coordinate, double value) {
    at.push_back(coordinate);
    values.push_back(value);
  }
};

/// Sorted keys, each once, and their sums.
struct Sums {
  std::vector<Key> keys;
  std::vector<double> values;

  void add(Key key, double value) {
    keys.push_back(key);
    values.push_back(value);
  }
};

Sums by_sort(const Components& all) {
  const Keys keys(extents);
  struct Item {
    Key key;
    std::uint32_t position;
  };
  std::vector<Item> items(all.at.size());
  for (std::size_t n = 0; n < items.size(); ++n)
    items[n] = {keys.pack(all.at[n]), static_cast<std::uint32_t>(n)};
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.key < b.key || (a.key == b.key && a.position < b.position);
  });
  Sums out;
  out.keys.reserve(items.size());
  out.values.reserve(items.size());
  for (const Item& item : items)
    if (!out.keys.empty() && out.keys.back() == item.key)
      out.values.back() += all.values[item.position];
    else
      out.add(item.key, all.values[item.position]);
  return out;
}

template <class Map>
Sums by_map(const Components& all) {
  const Keys keys(extents);
  Map map;
  for (std::size_t n = 0; n < all.at.size(); ++n) map[keys.pack(all.at[n])] += all.values[n];
  std::vector<std::pair<Key, double>> items(map.begin(), map.end());
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Sums out;
  out.keys.reserve(items.size());
  out.values.reserve(items.size());
  for (const auto& [key, value] : items) out.add(key, value);
  return out;
}

/// What a workspace, or the list that several were merged into, holds.
/// @tparam Of  PackedKeys<3> or LevelKeys<3>
template <class Policy, class Of>
struct Gathered {
  std::vector<std::unique_ptr<StagedWorkspace<Policy, Of, double>>> workspaces;
  MergedList<typename Of::key_type, double> merged;
  SortedComponents<typename Of::key_type, double> components;

  /// The keys, packed.
  std::vector<Key> keys() const {
    const Of of_workspaces(extents);
    const Keys packed(extents);
    std::vector<Key> out;
    for (const auto& key : components.keys) out.push_back(packed.pack(of_workspaces.unpack(key)));
    return out;
  }
};

template <class Of, class Policy>
Gathered<Policy, Of> by_workspace(const Components& all, const Policy& policy) {
  using Workspace = StagedWorkspace<Policy, Of, double>;
  using OfKey = typename Of::key_type;
  const OpenMP space;
  const detail::HostThreads threads(space);
  const auto parts = static_cast<std::size_t>(threads.concurrency());
  Gathered<Policy, Of> out;
  out.workspaces.resize(parts);
  std::vector<SortedList<OfKey, double>> lists(parts);
  detail::for_each_worker(threads, static_cast<std::int64_t>(parts), [&](std::int64_t number) {
    const auto part = static_cast<std::size_t>(number);
    const std::size_t begin = all.at.size() * part / parts, end = all.at.size() * (part + 1) / parts;
    out.workspaces[part] = std::make_unique<Workspace>(policy, extents);
    auto& stages = *out.workspaces[part];
    for (std::size_t n = begin; n < end; ++n) stages.add(all.at[n], all.values[n]);
    const auto sorted = stages.finish();
    lists[part] = {sorted.keys.data(), sorted.values.data(), static_cast<std::int64_t>(sorted.keys.size())};
  });
  if (parts == 1) {
    out.components = out.workspaces[0]->finish();
  } else {
    out.merged = merge_sorted<OfKey, double>(threads, std::span<const SortedList<OfKey, double>>(lists));
    out.components = {{out.merged.keys.data(), static_cast<std::size_t>(out.merged.count)},
                      {out.merged.values.data(), static_cast<std::size_t>(out.merged.count)}};
  }
  return out;
}

void expect_same(const std::string& who, std::span<const Key> keys, std::span<const double> values,
                 const Sums& expected) {
  bool same = keys.size() == expected.keys.size();
  for (std::size_t n = 0; same && n < keys.size(); ++n)
    same = keys[n] == expected.keys[n] &&
           std::abs(values[n] - expected.values[n]) <= 1e-9 * (1 + std::abs(expected.values[n]));
  if (!same) throw StateError(text(who, " computes other sums"));
}

void compare(Report& report, const std::string& name, const Components& all, bool few_distinct) {
  if (!report.wants(name)) return;
  const Sums expected = by_sort(all);
  std::vector<Contender> contenders;
  const auto add_with = [&]<class Of>(std::type_identity<Of>, const std::string& who, Role role,
                                      const auto& policy) {
    const auto run = [&all, policy] { return by_workspace<Of>(all, policy); };
    const auto made = run();
    expect_same(who, made.keys(), made.components.values, expected);
    contenders.emplace_back(who, role, run);
  };
  const auto add = [&](const std::string& who, Role role, const auto& policy) {
    add_with(std::type_identity<Keys>(), who, role, policy);
  };
  const auto settings = [](bool pipelined, bool double_buffered) {
    AccumulationSettings out = coordinate_workspace.settings;
    out.pipelined = pipelined;
    out.double_buffered = double_buffered;
    return out;
  };
  // What statements use unless the user chooses another.
  add("sporos", Role::ours, CoordinatePolicy{.hashes = true});
  add("coordinate workspace", Role::variant, coordinate_workspace);
  add("hash workspace", Role::variant, hash_workspace);
  add("bucket workspace", Role::variant, bucket_workspace);
  add("coordinate, all array kept once", Role::variant, CoordinatePolicy{.settings = settings(false, false)});
  add("coordinate, pipelined, all array kept once", Role::variant,
      CoordinatePolicy{.settings = settings(true, false)});
  add("coordinate, pipelined", Role::variant, CoordinatePolicy{.settings = settings(true, true)});
  // Each of the others alone: how accumulation arrays grow, a bound on memory, keys that are compared level
  // by level.
  CoordinatePolicy other = coordinate_workspace;
  other.settings.growth = AccumulationGrowth::none();
  other.settings.capacity = AccumulationSettings{}.capacity;
  add("coordinate, no growth", Role::variant, other);
  other.settings.growth = AccumulationGrowth{};
  add("coordinate, growth by slopes alone", Role::variant, other);
  other = coordinate_workspace;
  other.settings.memory_limit = std::int64_t{64} << 20;
  add("coordinate, within 64 MiB", Role::variant, other);
  add_with(std::type_identity<LevelKeys<3>>(), "coordinate, keys by level", Role::variant,
           coordinate_workspace);
  const auto peer = [&](const std::string& who, Sums (*run)(const Components&)) {
    const Sums made = run(all);
    expect_same(who, made.keys, made.values, expected);
    contenders.emplace_back(who, Role::peer, [&all, run] { return run(all); });
  };
  if (!few_distinct) peer("std::sort", &by_sort);
#ifdef SPOROS_HAVE_ROBIN_MAP
  if (few_distinct) peer("tsl::robin_map", &by_map<tsl::robin_map<Key, double>>);
#endif
#ifdef SPOROS_HAVE_ABSEIL
  if (few_distinct) peer("absl::flat_hash_map", &by_map<absl::flat_hash_map<Key, double>>);
#endif
  report.compare({name,
                  {{"inserts", all.at.size()}, {"distinct", expected.keys.size()}},
                  few_distinct ? "many duplicates" : "nearly distinct"},
                 contenders);
}

/// A value that takes so many dependent operations to compute.
double computed(double value, std::int64_t steps) {
  for (std::int64_t step = 0; step < steps; ++step) value = 0.75 * value + 0.25;
  return value;
}

/// What gathers values that are computed one after another.
using Gathering = InsertSortMerge<CoordinatePolicy, double, 3>;
std::shared_ptr<Gathering> gathered(const Components& all, const CoordinatePolicy& policy,
                                    std::int64_t steps) {
  auto out = std::make_shared<Gathering>(policy, extents);
  auto& stages = out->stages<Keys>();
  for (std::size_t n = 0; n < all.at.size(); ++n) stages.add(all.at[n], computed(all.values[n], steps));
  const auto sorted = stages.finish();
  ::benchmark::DoNotOptimize(sorted.values.data());
  return out;
}

/// Inserts values into accumulation arrays that are dropped before they are full, so that nothing is sorted.
void insert_alone(const Components& all, const CoordinatePolicy& policy) {
  const auto some = static_cast<std::size_t>(policy.settings.capacity - 1);
  for (std::size_t begin = 0; begin < all.at.size(); begin += some) {
    Gathering out(policy, extents);
    auto& stages = out.stages<Keys>();
    for (std::size_t n = begin; n < std::min(begin + some, all.at.size()); ++n)
      stages.add(all.at[n], all.values[n]);
  }
}

/// The steps with which computing and inserting the values takes as long as sorting and merging them.
std::int64_t steps_of_half(const Components& all, const CoordinatePolicy& policy) {
  const auto least = [](const auto& work) {
    double seconds = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 5; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      work();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      seconds = std::min(seconds, took.count());
    }
    return seconds;
  };
  const auto seconds = [&](std::int64_t steps) { return least([&] { gathered(all, policy, steps); }); };
  const double sorting = seconds(0) - least([&] { insert_alone(all, policy); });
  std::int64_t too_few = 0, enough = 1;
  while (seconds(enough) < 2 * sorting) too_few = enough, enough *= 2;
  while (enough - too_few > 1) {
    const std::int64_t middle = (too_few + enough) / 2;
    (seconds(middle) < 2 * sorting ? too_few : enough) = middle;
  }
  return enough;
}

/// Values that take as long to compute and insert as to sort and merge: what a second thread that sorts and
/// merges, and a second all array, are worth there.
/// @param slope  how accumulation arrays grow with the all array: little, so that there are several of them
///               and sorting one goes with filling the next, or as by default, so that there are few merges
void compare_stages(Report& report, const std::string& name, const Components& all, double slope) {
  if (!report.wants(name)) return;
  CoordinatePolicy policy{.settings = {}};
  policy.settings.capacity = slope < 1 ? 1 << 16 : policy.settings.capacity;
  policy.settings.growth.first_slope = slope;
  const std::int64_t steps = steps_of_half(all, policy);
  Components values = all;
  for (double& value : values.values) value = computed(value, steps);
  const Sums expected = by_sort(values);
  std::vector<Contender> contenders;
  for (const bool pipelined : {false, true})
    for (const bool double_buffered : {false, true}) {
      policy.settings.pipelined = pipelined;
      policy.settings.double_buffered = double_buffered;
      const auto run = [&all, policy, steps] { return gathered(all, policy, steps); };
      const auto made = run();
      const auto sorted = made->stages<Keys>().finish();
      const std::string who = pipelined && double_buffered ? "both"
                              : pipelined                  ? "pipelined"
                              : double_buffered            ? "double-buffered"
                                                           : "neither";
      expect_same(who, sorted.keys, sorted.values, expected);
      contenders.emplace_back(who,
                              pipelined && double_buffered   ? Role::ours
                              : pipelined || double_buffered ? Role::variant
                                                             : Role::peer,
                              run);
    }
  report.compare(
      {name, {{"inserts", all.at.size()}, {"distinct", expected.keys.size()}, {"steps", steps}}, "stages"},
      contenders);
}

void run(Report& report) {
  report.count_memory();
  std::mt19937_64 draw(5);
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(bound));
  };
  const auto part = [&] { return static_cast<double>(draw() >> 11) * 0x1p-53; };
  for (const bool skewed : {false, true}) {
    Components all;
    for (std::int64_t n = 0; n < 1'100'000; ++n) {
      const double u = part(), lead = skewed ? u * u * u * u : u;
      all.add({static_cast<std::int64_t>(lead * static_cast<double>(extents[0])), below(extents[1]),
               below(extents[2])},
              0.5 + part());
      if (n % 100 == 99) all.at.back() = all.at[static_cast<std::size_t>(below(n))];
    }
    compare(report, skewed ? "1.1M nearly distinct, skewed" : "1.1M nearly distinct, even", all, false);
    if (skewed) continue;
    compare_stages(report, "sorting takes as long as computing and inserting, default growth", all,
                   AccumulationGrowth{}.first_slope);
    compare_stages(report, "sorting takes as long as computing and inserting, growth by a half", all, 0.5);
  }
  for (const std::int64_t distinct : {20'000, 300'000}) {
    std::vector<Extents<3>> some;
    for (std::int64_t n = 0; n < distinct; ++n)
      some.push_back({below(extents[0]), below(extents[1]), below(extents[2])});
    Components all;
    for (std::int64_t n = 0; n < 2'000'000; ++n)
      all.add(some[static_cast<std::size_t>(below(distinct))], 0.5 + part());
    compare(report, text("2M of ", distinct, " coordinates"), all, true);
  }
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) { return sporos::perf::benchmark(argc, argv, "inserts", sporos::perf::run); }
