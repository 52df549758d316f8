// SPDX-License-Identifier: Apache-2.0
/// @file accumulation.hpp
/// What an accumulation array must provide, and the settings that all policies of insert-sort-merge share.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>

#include "../core/error.hpp"
#include "component_keys.hpp"
#include "policy.hpp"

namespace sporos {

/// The capacity of the next accumulation array as a piecewise linear function of the number n of components
/// in the all array, in three pieces (Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse
/// Workspaces*, PLDI 2024, section 5.1):
///
///     capacity + slope[0] min(n, t0) + slope[1] (min(n, t1) - t0) + slope[2] (n - t1)
///
/// where negative terms are left out. A merge takes time proportional to n, so a capacity proportional to n
/// keeps the number of merges logarithmic; smaller slopes for large n keep memory small.
///
/// Two more rules apply only if asked for:
///
///     distinct  while nothing has been merged, and nearly all components of a full array are distinct, it
///               grows and keeps what it holds: merging would sum nothing
///     of_cells  an array holds no more than this share of the cells that the workspace spans, or than what
///               has been merged, whichever is larger: where few cells are filled, a list then takes a
///               fraction of the memory of a dense result
struct AccumulationGrowth {
  std::int64_t first_threshold = std::int64_t{1} << 17;   ///< t0, in components
  std::int64_t second_threshold = std::int64_t{1} << 24;  ///< t1, in components
  double first_slope = 8;
  double second_slope = 1;
  double third_slope = 0.25;
  bool distinct = false;
  double of_cells = 0;

  /// The share of components from which on an array counts as nearly distinct.
  static constexpr double nearly_all = 31.0 / 32;
  /// The capacity to which an array of nearly distinct components grows if it is full: a multiple, up to a
  /// largest one. Later arrays grow by the number of merged components.
  static std::int64_t after_distinct(std::int64_t capacity) {
    constexpr std::int64_t small = std::int64_t{1} << 17, largest = 9 * small;
    if (capacity >= largest) return capacity;
    return std::min((2 * capacity <= small ? 2 : 3) * capacity, largest);
  }
  /// The most components of an array if the all array holds n components and the workspace spans `cells`.
  double most(std::int64_t n, double cells) const {
    constexpr double least = 1024;  // smaller arrays would save no memory worth the merges
    if (of_cells == 0) return std::numeric_limits<double>::infinity();
    return std::max({of_cells * cells, static_cast<double>(n), least});
  }

  /// All arrays have the capacity of the first.
  static AccumulationGrowth none() {
    return {
        .first_threshold = 0, .second_threshold = 0, .first_slope = 0, .second_slope = 0, .third_slope = 0};
  }

  /// The capacity to add if the all array holds n components.
  double operator()(std::int64_t n) const {
    const auto piece = [n](std::int64_t from, std::int64_t to) {
      return static_cast<double>(std::max<std::int64_t>(std::min(n, to) - from, 0));
    };
    return first_slope * piece(0, first_threshold) + second_slope * piece(first_threshold, second_threshold) +
           third_slope * piece(second_threshold, std::numeric_limits<std::int64_t>::max());
  }
};

/// The settings of insert-sort-merge that do not depend on the kind of accumulation array.
struct AccumulationSettings {
  /// Indices of components have 32 bits, one of which stays unused.
  static constexpr std::int64_t largest_capacity = std::int64_t{1} << 31;

  /// Number of components that the first accumulation array holds.
  std::int64_t capacity = std::int64_t{1} << 17;
  AccumulationGrowth growth{};
  /// A bound in bytes on all that a workspace allocates; 0 for none. An accumulation array takes at most a
  /// quarter of it, and is made smaller than `capacity` if it would take more.
  std::int64_t memory_limit = 0;
  /// Whether a second thread sorts and merges an accumulation array while the first fills another.
  bool pipelined = false;
  /// Whether a second all array is kept for the next merge, rather than allocated for each merge.
  bool double_buffered = true;

  /// The capacity of an accumulation array if the all array holds n components.
  std::int64_t capacity_for(std::int64_t n) const {
    const double wanted = static_cast<double>(capacity) + growth(n);
    return wanted < static_cast<double>(largest_capacity) ? static_cast<std::int64_t>(wanted)
                                                          : largest_capacity;
  }

  /// The same in a workspace that spans `cells`, the product of its extents.
  std::int64_t capacity_for(std::int64_t n, double cells) const {
    const std::int64_t by_size = capacity_for(n);
    const double most = growth.most(n, cells);
    return most < static_cast<double>(by_size) ? static_cast<std::int64_t>(most) : by_size;
  }
  /// The largest capacity that an array of distinct components grows to within `adds` insertions.
  std::int64_t largest_distinct(std::int64_t adds, double cells) const {
    std::int64_t out = capacity_for(0, cells);
    while (growth.distinct && out < adds && AccumulationGrowth::after_distinct(out) > out)
      out = AccumulationGrowth::after_distinct(out);
    return out;
  }
  /// The largest capacity of an accumulation array after `adds` insertions.
  std::int64_t largest_capacity_for(std::int64_t adds, double cells) const {
    return std::max(largest_distinct(adds, cells), capacity_for(adds, cells));
  }

  /// @throws ScheduleError if a setting makes no sense
  void validate() const {
    if (capacity < 1 || capacity > largest_capacity)
      throw ScheduleError(text("the capacity of an accumulation array is ", capacity,
                               " components: choose one from 1 to ", largest_capacity));
    if (memory_limit < 0)
      throw ScheduleError(text("the memory limit of a workspace is ", memory_limit,
                               " bytes: choose a positive one, or 0 for none"));
    if (growth.first_threshold < 0 || growth.second_threshold < growth.first_threshold)
      throw ScheduleError(text("the thresholds of an accumulation array's growth are ",
                               growth.first_threshold, " and ", growth.second_threshold,
                               " components: they have to ascend from 0"));
    if (!(growth.of_cells >= 0 && growth.of_cells <= 1))
      throw ScheduleError(text("an accumulation array holds at most ", growth.of_cells,
                               " of the cells that the workspace spans: choose 0 to 1"));
    for (const double slope : {growth.first_slope, growth.second_slope, growth.third_slope})
      if (!(slope >= 0))
        throw ScheduleError(
            text("a slope of an accumulation array's growth is ", slope, ": choose 0 or a positive number"));
  }
};

/// Components in ascending order of their keys, each key once.
template <class Run, class Key, class T>
concept ComponentRun = requires(const Run& run, std::int64_t n) {
  { run.size() } -> std::convertible_to<std::int64_t>;
  { run.key(n) } -> std::convertible_to<Key>;
  { run.value(n) } -> std::convertible_to<T>;
};

/// Takes components (key, value) in any order, and hands them out sorted.
///
///     A(policy, keys)               an array of capacity 0, which has allocated nothing
///     bytes(policy, keys, c)        an upper bound on the bytes that an array of capacity c has allocated at
///                                   any time
///     resize(c)                     sets the capacity of an empty array; frees its old memory before it
///                                   allocates. If it throws, the capacity is 0
///     insert(key, value)            takes a component; if the array is full, takes nothing and returns
///                                   false. With capacity c, takes at least c components after clear()
///     size()                        0 if and only if it is empty
///     sort()                        a ComponentRun of what was inserted, valid until the array changes.
///                                   Values of one key are summed in the order in which they were inserted.
///                                   May be called again, also after more calls of insert; neither
///                                   allocates nor throws
///     clear()                       makes the array empty
///
/// and, optionally, for AccumulationGrowth::distinct,
///
///     grow(c)                       sets a larger capacity and keeps what was inserted. If it throws, the
///                                   array is as before
///     distinct_share()              the share of distinct components among those inserted, about; allocates
///                                   nothing
template <class A, class Policy, class Keys, class T>
concept AccumulationArray =
    ComponentKeys<Keys> && std::constructible_from<A, const Policy&, const Keys&> && std::movable<A> &&
    requires(A array, const Policy& policy, const Keys& keys, const typename Keys::key_type& key,
             const T& value, std::int64_t count) {
      { A::bytes(policy, keys, count) } -> std::same_as<std::int64_t>;
      array.resize(count);
      { array.insert(key, value) } -> std::same_as<bool>;
      { array.size() } -> std::convertible_to<std::int64_t>;
      { array.sort() } -> ComponentRun<typename Keys::key_type, T>;
      array.clear();
    };

/// A policy of insert-sort-merge: a WorkspacePolicy with
///
///     settings                   AccumulationSettings
///     accumulation<Keys, T>      its AccumulationArray for keys of both kinds
template <class Policy>
concept AccumulationPolicy = WorkspacePolicy<Policy> && requires(const Policy& policy) {
  { policy.settings } -> std::convertible_to<const AccumulationSettings&>;
  requires AccumulationArray<typename Policy::template accumulation<PackedKeys<2>, double>, Policy,
                             PackedKeys<2>, double>;
  requires AccumulationArray<typename Policy::template accumulation<LevelKeys<2>, double>, Policy,
                             LevelKeys<2>, double>;
};

}  // namespace sporos
