// SPDX-License-Identifier: Apache-2.0
/// @file insert_sort_merge.hpp
/// Insert-sort-merge: a sparse workspace over any number of variables, made from a kind of accumulation
/// array.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "../core/inline.hpp"
#include "../core/value.hpp"
#include "accumulation.hpp"
#include "all_array.hpp"
#include "component_keys.hpp"
#include "memory_budget.hpp"
#include "policy.hpp"
#include "stage_thread.hpp"

namespace sporos {

/// The sorted components of a workspace, without a copy; valid until the workspace changes.
template <class Key, class T>
struct SortedComponents {
  std::span<const Key> keys;
  std::span<const T> values;
};

/// Insert-sort-merge with one kind of keys, as its four stages (Zhang, Hsu, Kjolstad, *Compilation of Modular
/// and General Sparse Workspaces*, PLDI 2024, sections 4.3, 5.3):
///
///     insert     a component goes to the accumulation array
///     sort       the accumulation array is sorted, when it is full or all has been inserted
///     merge      the sorted accumulation array goes to the all array
///     compress   the components are handed out in order
///
/// Pipelined, there are two accumulation arrays. While one is filled, a second thread sorts and merges the
/// other:
///
///     this thread     | insert 1 | insert 2            | insert 3         | …
///     second thread              | sort 1 | merge 1    | sort 2 | merge 2 | …
///
/// Both ways sum in the same order and give the same bits: values of one key that are in the accumulation
/// array at the same time are summed in the order of insertion, and these sums are added to the all array one
/// after another.
///
/// If a function throws, everything that was inserted before is still there, and `compress` hands it out
/// without allocating anything.
template <class Policy, ComponentKeys Keys, class T>
class StagedWorkspace {
 public:
  using key_type = typename Keys::key_type;
  using accumulation_type = typename Policy::template accumulation<Keys, T>;
  static constexpr int order = Keys::order;
  static_assert(AccumulationArray<accumulation_type, Policy, Keys, T>,
                "the accumulation array of a policy has what accumulation.hpp lists");

  /// Allocates nothing.
  /// @throws ScheduleError if the policy's settings make no sense
  StagedWorkspace(const Policy& policy, const Extents<order>& extents)
      : policy_((detail::expect_valid(policy), policy)),
        keys_(extents),
        budget_(policy.settings.memory_limit),
        filling_{accumulation_type(policy_, keys_)},
        waiting_{accumulation_type(policy_, keys_)},
        all_(policy.settings.double_buffered),
        cells_(static_cast<double>(cells_of(extents))) {}
  /// Waits for the second thread.
  StagedWorkspace(StagedWorkspace&& other) noexcept
      : policy_((other.await(), std::move(other.policy_))),
        keys_(other.keys_),
        budget_(other.budget_),
        filling_(std::move(other.filling_)),
        waiting_(std::move(other.waiting_)),
        all_(std::move(other.all_)),
        cells_(other.cells_),
        has_merged_(other.has_merged_),
        thread_(std::move(other.thread_)) {}
  StagedWorkspace& operator=(StagedWorkspace&&) = delete;
  ~StagedWorkspace() = default;

  const Keys& keys() const { return keys_; }

  /// Adds `value` at the coordinates `at`.
  /// @throws MemoryError if there is no room and no memory for more; the value has then not been added
  SPOROS_HOST_INLINE void add(const Extents<order>& at, const T& value) { insert(keys_.pack(at), value); }

  /// The first stage: adds a component, and runs the other stages if the accumulation array is full.
  /// @throws MemoryError as `add` does
  SPOROS_HOST_INLINE void insert(const key_type& key, const T& value) {
    if (!filling_.array.insert(key, value)) [[unlikely]]
      make_room_for(key, value);
  }

  /// The second stage: the components inserted since the last merge, as a ComponentRun that is valid until
  /// the next insertion.
  auto sort() { return filling_.array.sort(); }

  /// The third stage: moves these components to the all array.
  /// @throws MemoryError if there is no memory for the result
  void merge() {
    has_merged_ = true;
    within_limit(0, [&] {
      finish_waiting();
      merge(filling_);
    });
  }

  /// The fourth stage: calls take(coordinates, value) for each component in order. Neither allocates nor
  /// changes the workspace.
  template <class Take>
  void compress(const Take& take) {
    await();
    const auto older = waiting_.array.sort();
    const auto newer = filling_.array.sort();
    const key_type* const keys = all_.keys().data();
    const T* const values = all_.values().data();
    const std::int64_t count = all_.size(), older_count = older.size(), newer_count = newer.size();
    std::int64_t n = 0, o = 0, f = 0;  // in the all array, the older and the newer accumulation array
    // Past its end, an array has a key after all others.
    const key_type none = detail::key_after_all<key_type>();
    while (o < older_count || (f < newer_count && n < count)) {
      const key_type here = n < count ? keys[n] : none;
      const key_type old = o < older_count ? static_cast<key_type>(older.key(o)) : none;
      const key_type young = f < newer_count ? static_cast<key_type>(newer.key(f)) : none;
      const key_type key = std::min(here, std::min(old, young));
      T sum{};
      bool has_sum = false;
      const auto sum_with = [&](const T& value) {
        sum = has_sum ? plus(sum, value) : value;
        has_sum = true;
      };
      if (here == key) sum_with(values[n++]);
      if (old == key) sum_with(older.value(o++));
      if (young == key) sum_with(newer.value(f++));
      take(keys_.unpack(key), sum);
    }
    for (; n < count; ++n) take(keys_.unpack(keys[n]), values[n]);
    for (; f < newer_count; ++f) take(keys_.unpack(newer.key(f)), newer.value(f));
  }

  /// All components in order, in place: the all array after the last merge.
  /// @throws MemoryError if there is no memory to merge them
  SortedComponents<key_type, T> finish() {
    merge();
    return {all_.keys(), all_.values()};
  }

  /// Empties the workspace, and keeps its memory.
  void clear() {
    await();
    waiting_.array.clear();
    filling_.array.clear();
    all_.clear();
    has_merged_ = false;
  }

  /// An upper bound in bytes after `adds` insertions.
  static std::int64_t most_bytes(const Policy& policy, const Extents<order>& extents, std::int64_t adds) {
    const AccumulationSettings& settings = policy.settings;
    const std::int64_t arrays = settings.pipelined ? 2 : 1;
    const auto cells = static_cast<double>(cells_of(extents));
    const auto bytes_of = [&](std::int64_t capacity) {
      return accumulation_type::bytes(policy, Keys(extents), capacity);
    };
    std::int64_t bound = arrays * bytes_of(settings.largest_capacity_for(adds, cells)) +
                         AllArray<key_type, T>::most_bytes(adds);
    // An array that grows is there twice while what it holds is copied.
    if (settings.growth.distinct) bound += bytes_of(settings.largest_distinct(adds - 1, cells));
    return settings.memory_limit > 0 ? std::min(settings.memory_limit, bound) : bound;
  }

  /// A memory limit that is enough for any insertions of at most `components` different coordinates, however
  /// often each is inserted.
  static std::int64_t enough_limit(const Policy& policy, const Extents<order>& extents,
                                   std::int64_t components) {
    return enough_limit(policy, Keys(extents), static_cast<double>(cells_of(extents)), components);
  }

 private:
  struct Accumulation {
    accumulation_type array;
    std::int64_t capacity = 0;
  };

  /// The accumulation arrays together take at most one part in so many of the memory limit.
  static constexpr std::int64_t share_of_arrays = 4;

  static std::int64_t enough_limit(const Policy& policy, const Keys& keys, double cells,
                                   std::int64_t components) {
    const AccumulationSettings& settings = policy.settings;
    const std::int64_t arrays = settings.pipelined ? 2 : 1;
    const std::int64_t all = AllArray<key_type, T>::most_bytes(components);
    constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();
    const std::int64_t largest =
        std::max(settings.capacity_for(components, cells), settings.largest_distinct(any_number, cells));
    const std::int64_t of_capacity = arrays * accumulation_type::bytes(policy, keys, largest);
    const std::int64_t of_least = arrays * accumulation_type::bytes(policy, keys, 1);
    // Accumulation arrays are made so small that they take a quarter of a limit, or hold one component.
    const std::int64_t others = share_of_arrays - 1;
    return all + std::min(of_capacity, std::max(of_least, (all + others - 1) / others));
  }

  /// Calls f(), which may exceed the memory limit, and then says what limit is enough.
  /// @param more  the number of components that are still to be inserted
  template <class F>
  void within_limit(std::int64_t more, const F& f) {
    try {
      f();
    } catch (const WorkspaceLimitError& error) {
      const std::int64_t components = all_.size() + waiting_.array.size() + filling_.array.size() + more;
      throw WorkspaceLimitError(
          text("a sparse workspace needs ", enough_limit(policy_, keys_, cells_, components),
               " bytes for the ", components,
               " components that it has gathered, and its memory limit allows ", error.limit(),
               ": raise memory_limit, or drain the workspace more often"),
          error.limit());
    }
  }

  bool is_pipelined() const { return static_cast<const AccumulationSettings&>(policy_.settings).pipelined; }

  [[gnu::noinline]] void make_room_for(const key_type key, const T value) {
    within_limit(1, [&] { make_room(); });
    ensure(filling_.array.insert(key, value), "an empty accumulation array takes a component");
  }

  /// Makes room in the accumulation array that is being filled.
  void make_room() {
    const AccumulationSettings& settings = policy_.settings;
    if (grows_distinct()) return;
    has_merged_ = has_merged_ || filling_.array.size() > 0;
    if (filling_.array.size() > 0 && is_pipelined()) {
      finish_waiting();
      // No smaller than the other, as if there were one.
      grow(waiting_, std::max(filling_.capacity, settings.capacity_for(all_.size(), cells_)));
      std::swap(filling_, waiting_);
      start_waiting();
    } else {
      // The state before the merge, as a second thread would see it.
      const std::int64_t capacity = settings.capacity_for(all_.size(), cells_);
      merge(filling_);
      grow(filling_, capacity);
    }
  }

  /// Makes room by growing the array that is being filled, if its components are nearly distinct and nothing
  /// has been merged yet.
  bool grows_distinct() {
    if constexpr (requires { filling_.array.grow(std::int64_t{}); }) {
      const AccumulationSettings& settings = policy_.settings;
      if (!settings.growth.distinct || has_merged_ || filling_.array.size() == 0) return false;
      const std::int64_t held = bytes(filling_.capacity),
                         wanted = AccumulationGrowth::after_distinct(filling_.capacity);
      if (wanted <= filling_.capacity || !may_take(wanted) || bytes(wanted) > budget_.left()) return false;
      if (filling_.array.distinct_share() < AccumulationGrowth::nearly_all) return false;
      budget_.take(bytes(wanted), 0, text("an accumulation array of ", wanted, " components"));
      try {
        filling_.array.grow(wanted);
      } catch (const std::bad_alloc&) {
        budget_.give_back(bytes(wanted));
        return false;
      } catch (const MemoryError&) {
        budget_.give_back(bytes(wanted));
        return false;
      }
      budget_.give_back(held);
      filling_.capacity = wanted;
      return true;
    } else {
      return false;
    }
  }

  /// Sorts and merges one accumulation array, and leaves it empty.
  void merge(Accumulation& accumulation) {
    if (accumulation.array.size() == 0) return;
    all_.merge(accumulation.array.sort(), budget_);
    accumulation.array.clear();
  }

  /// Lets the second thread merge the waiting array. If no thread can be made, that is done later.
  void start_waiting() {
    try {
      if (!thread_) thread_ = std::make_unique<detail::StageThread>();
    } catch (const std::system_error&) {
      return;
    } catch (const std::bad_alloc&) {
      return;
    }
    thread_->start(
        [](void* workspace) {
          auto& self = *static_cast<StagedWorkspace*>(workspace);
          self.merge(self.waiting_);
        },
        this);
  }

  /// Waits for the second thread.
  /// @return the exception that it threw, or none
  std::exception_ptr await() { return thread_ ? thread_->wait() : nullptr; }

  /// Waits until the waiting array is merged, and merges it here if the second thread has failed to.
  void finish_waiting() {
    if (const std::exception_ptr failure = await()) std::rethrow_exception(failure);
    merge(waiting_);
  }

  std::int64_t bytes(std::int64_t capacity) const {
    return capacity > 0 ? accumulation_type::bytes(policy_, keys_, capacity) : 0;
  }

  /// Whether an accumulation array may have a capacity: a share of the memory limit, if there is one.
  bool may_take(std::int64_t capacity) const {
    return budget_.limit() == 0 ||
           bytes(capacity) <= budget_.limit() / (share_of_arrays * (is_pipelined() ? 2 : 1));
  }

  /// Gives an empty accumulation array the capacity `wanted`, or as much of it as the memory limit allows. An
  /// array that has some capacity keeps it if there is no memory for more.
  void grow(Accumulation& accumulation, std::int64_t wanted) {
    while (wanted > 1 && !may_take(wanted)) wanted /= 2;
    const std::int64_t held = bytes(accumulation.capacity);
    if (wanted <= accumulation.capacity) return;
    if (held > 0 && bytes(wanted) > budget_.left() + held) return;
    budget_.take(bytes(wanted), held, text("an accumulation array of ", wanted, " components"));
    accumulation.capacity = 0;
    try {
      accumulation.array.resize(wanted);
    } catch (const std::bad_alloc&) {
      budget_.give_back(bytes(wanted));
      throw MemoryError(text("an accumulation array of ", wanted,
                             " components cannot be allocated, which takes ", bytes(wanted),
                             " bytes: choose a smaller capacity"));
    } catch (...) {
      budget_.give_back(bytes(wanted));
      throw;
    }
    accumulation.capacity = wanted;
  }

  Policy policy_;
  Keys keys_;
  MemoryBudget budget_;
  Accumulation filling_;
  Accumulation waiting_;  ///< merged by the second thread; empty if the workspace is not pipelined
  AllArray<key_type, T> all_;
  double cells_;             ///< the product of the extents
  bool has_merged_ = false;  ///< whether an array was merged, or will be, since the workspace was empty
  std::unique_ptr<detail::StageThread> thread_;  // last: its task uses the other members
};

/// The Workspace of insert-sort-merge: gathers values over `Order` variables of any extents, in any order,
/// and hands them out in ascending order of their coordinates, each once. Coordinates are compared as one
/// 64-bit number if the bits of all levels fit in it (PackedKeys), and level by level otherwise.
///
/// An insertion takes constant time, to which sorting and merging add O(log n) for n components. The memory
/// is that of `StagedWorkspace`: one or two accumulation arrays, and two all arrays.
/// @tparam Policy  an AccumulationPolicy
template <class Policy, class T, int Order>
class InsertSortMerge {
 public:
  static constexpr bool in_order = true;
  using packed_type = StagedWorkspace<Policy, PackedKeys<Order>, T>;
  using leveled_type = StagedWorkspace<Policy, LevelKeys<Order>, T>;

  /// Allocates nothing.
  /// @throws ScheduleError if the policy's settings make no sense
  InsertSortMerge(const Policy& policy, const Extents<Order>& extents) : stages_(make(policy, extents)) {}

  /// Adds `value` at the coordinates `at`.
  /// @throws MemoryError if there is no room and no memory for more; the value has then not been added, and
  /// earlier ones are still there
  SPOROS_HOST_INLINE void add(const Extents<Order>& at, const T& value) {
    if (auto* const packed = std::get_if<packed_type>(&stages_)) [[likely]]
      packed->add(at, value);
    else
      std::get_if<leveled_type>(&stages_)->add(at, value);
  }

  /// Calls f(stages) with the StagedWorkspace for the kind of keys in use, whose `add` does not have to check
  /// which kind it is: for loops that add many values.
  template <class F>
  void with_inserter(const F& f) {
    std::visit(f, stages_);
  }

  /// The StagedWorkspace for the kind of keys in use: PackedKeys if the extents fit, otherwise LevelKeys.
  template <ComponentKeys Keys>
  StagedWorkspace<Policy, Keys, T>& stages() {
    return std::get<StagedWorkspace<Policy, Keys, T>>(stages_);
  }

  /// Calls take(coordinates, value) for each coordinate, ascending, and empties the workspace. Allocates
  /// nothing. If `take` throws, the workspace keeps its contents.
  template <class Take>
  void drain(const Take& take) {
    with_inserter([&](auto& stages) {
      stages.compress(take);
      stages.clear();
    });
  }

  /// An upper bound in bytes after `adds` calls of `add`.
  static std::int64_t most_bytes(const Policy& policy, const Extents<Order>& extents, std::int64_t adds) {
    return PackedKeys<Order>::fit(extents) ? packed_type::most_bytes(policy, extents, adds)
                                           : leveled_type::most_bytes(policy, extents, adds);
  }

  /// A memory limit that is enough for insertions of at most `components` different coordinates.
  static std::int64_t enough_limit(const Policy& policy, const Extents<Order>& extents,
                                   std::int64_t components) {
    return PackedKeys<Order>::fit(extents) ? packed_type::enough_limit(policy, extents, components)
                                           : leveled_type::enough_limit(policy, extents, components);
  }

 private:
  using Stages = std::variant<packed_type, leveled_type>;

  static Stages make(const Policy& policy, const Extents<Order>& extents) {
    // Asked here, where the policy, which names this class, is complete.
    static_assert(AccumulationPolicy<Policy>,
                  "a policy of insert-sort-merge has what accumulation.hpp lists");
    if (PackedKeys<Order>::fit(extents))
      return Stages(std::in_place_type<packed_type>, policy, extents);
    else
      return Stages(std::in_place_type<leveled_type>, policy, extents);
  }

  Stages stages_;
};

}  // namespace sporos
