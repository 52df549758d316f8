// SPDX-License-Identifier: Apache-2.0
/// @file sorted_entries.hpp
/// Keys and values in the memory of a GPU: sorted, merged and added up there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <cub/device/device_merge.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#pragma GCC diagnostic pop

#include "../../../core/value.hpp"
#include "../../../formats/keys.hpp"
#include "../../cuda/launch.hpp"

namespace sporos::gpu {

using sporos::detail::Key;

/// Keys and values, in two arrays on a GPU.
template <class T>
struct EntryArrays {
  Array<Key, Memory> keys;
  Array<T, Memory> values;
  std::int64_t size = 0;  ///< number of entries in use, from the front

  /// Makes room for `capacity` entries; if that takes larger arrays, their contents are lost.
  void reserve(std::int64_t capacity) {
    at_least(capacity, keys, "sporos::gpu keys");
    at_least(capacity, values, "sporos::gpu values");
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>(keys.extent(0)) * bytes_of_entry; }
  static constexpr std::int64_t bytes_of_entry = sizeof(Key) + sizeof(T);
};

/// The memory that the stages use besides entries, kept from one statement to the next.
struct StageMemory {
  Array<char, Memory> scratch;                 ///< scratch memory of CUB
  Array<std::int64_t, Memory> positions[2];    ///< positions of entries in a level, and in the one above
  Array<std::int64_t, Memory> counts, begins;  ///< the number of values of each chunk, and where they begin
  Array<std::int64_t, Memory> count;           ///< a single number

  std::int64_t bytes() const {
    std::int64_t numbers = 0;
    for (const auto* array : {&positions[0], &positions[1], &counts, &begins, &count})
      numbers += static_cast<std::int64_t>(array->extent(0));
    return static_cast<std::int64_t>(scratch.extent(0)) + 8 * numbers;
  }
};

namespace detail {

/// a + b, in the way that a statement adds values.
struct AddValues {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return plus(a, b);
  }
};

/// Whether an entry is the first with its key.
struct IsFirstOfKey {
  const Key* keys;
  __host__ __device__ bool operator()(std::int64_t e) const { return e == 0 || keys[e] != keys[e - 1]; }
};

/// Sums the entries with one key, in their order and on one thread: the same bits in every run.
template <class T>
struct AddUpInOrder {
  const Key* keys;
  const T* values;
  const std::int64_t* firsts;  // [count] the first entry of each key
  std::int64_t count, entries;
  Key* to_keys;
  T* to_values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    const std::int64_t end = n + 1 < count ? firsts[n + 1] : entries;
    T sum = values[firsts[n]];
    for (std::int64_t e = firsts[n] + 1; e < end; ++e) sum = plus(sum, values[e]);
    to_keys[n] = keys[firsts[n]];
    to_values[n] = sum;
  }
};

/// Calls call(scratch, bytes) twice, as CUB requires: to learn how many bytes it needs, and then with these.
template <class Call>
void with_scratch(StageMemory& memory, const char* what, const Call& call) {
  std::size_t bytes = 0;
  expect_success(call(nullptr, bytes), what);
  char* const scratch = at_least(static_cast<std::int64_t>(bytes), memory.scratch, "sporos::gpu scratch");
  expect_success(call(static_cast<void*>(scratch), bytes), what);
}

}  // namespace detail

/// Sorts entries by key, stably. `spare` has the same capacity, and its contents are lost.
/// @param bits  number of bits of the keys in use
template <class T>
void sort_by_key(const Kokkos::Cuda& space, StageMemory& memory, EntryArrays<T>& entries,
                 EntryArrays<T>& spare, int bits) {
  if (entries.size == 0) return;
  cub::DoubleBuffer<Key> keys(entries.keys.data(), spare.keys.data());
  cub::DoubleBuffer<T> values(entries.values.data(), spare.values.data());
  detail::with_scratch(memory, "sort", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, entries.size, 0, bits > 0 ? bits : 1,
                                           space.cuda_stream());
  });
  spare.size = entries.size;
  if (keys.Current() != entries.keys.data()) std::swap(entries.keys, spare.keys);
  if (values.Current() != entries.values.data()) std::swap(entries.values, spare.values);
}

/// Adds up the sorted entries with the same key, and writes the sums to `to`, which has the same capacity.
/// @tparam InOrder  whether each sum is formed in the order of its entries, by one thread
template <bool InOrder, class T>
void add_up(const Kokkos::Cuda& space, StageMemory& memory, const EntryArrays<T>& entries,
            EntryArrays<T>& to) {
  std::int64_t* const count = at_least(1, memory.count, "sporos::gpu count");
  if constexpr (InOrder) {
    std::int64_t* const firsts = at_least(entries.size, memory.positions[0], "sporos::gpu positions");
    detail::with_scratch(memory, "select", [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceSelect::If(scratch, bytes, thrust::make_counting_iterator(std::int64_t{0}), firsts,
                                   count, entries.size, detail::IsFirstOfKey{entries.keys.data()},
                                   space.cuda_stream());
    });
    to.size = read_back(space, count);
    Kokkos::parallel_for("sporos::add up", Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, to.size),
                         detail::AddUpInOrder<T>{entries.keys.data(), entries.values.data(), firsts, to.size,
                                                 entries.size, to.keys.data(), to.values.data()});
  } else {
    detail::with_scratch(memory, "reduce", [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceReduce::ReduceByKey(scratch, bytes, entries.keys.data(), to.keys.data(),
                                            entries.values.data(), to.values.data(), count,
                                            detail::AddValues{}, entries.size, space.cuda_stream());
    });
    to.size = read_back(space, count);
  }
}

/// Merges two sorted lists into `to`; among entries with the same key, those of `first` come first.
template <class T>
void merge_by_key(const Kokkos::Cuda& space, StageMemory& memory, const EntryArrays<T>& first,
                  const EntryArrays<T>& second, EntryArrays<T>& to) {
  detail::with_scratch(memory, "merge", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceMerge::MergePairs(scratch, bytes, first.keys.data(), first.values.data(), first.size,
                                        second.keys.data(), second.values.data(), second.size, to.keys.data(),
                                        to.values.data(), {}, space.cuda_stream());
  });
  to.size = first.size + second.size;
}

}  // namespace sporos::gpu
