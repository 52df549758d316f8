// SPDX-License-Identifier: Apache-2.0
/// @file sorted_entries.hpp
/// Keys and values in the memory of a GPU: sorted, merged and added up there. Keys that fit in one word are
/// sorted by radix, longer ones by comparison.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <cub/device/device_merge.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#pragma GCC diagnostic pop

#include "../../../core/value.hpp"
#include "../../../formats/keys.hpp"
#include "../../cuda/launch.hpp"

namespace sporos::gpu {

using sporos::detail::Key;
using sporos::detail::KeyBits;

/// Which bits of which word of a key hold the coordinate of each level: the outermost level in the most
/// significant bits of the first word, as many levels in a word as its 63 bits hold.
template <int Levels>
struct KeyLayout {
  static_assert(Levels > 0);

  int words = 1;              ///< number of words of a key
  int word[Levels] = {};      ///< of each level
  KeyBits bits[Levels] = {};  ///< of each level, in its word
  int used_bits = 0;          ///< number of bits in use of a key's last word
  bool is_wide() const { return words > 1; }

  /// @param largest  the largest coordinate of each level
  explicit KeyLayout(const Extents<Levels>& largest) {
    words = 0;
    for (int first = 0, end; first < Levels; first = end, ++words) {
      used_bits = 0;
      for (end = first; end < Levels; ++end) {
        const int width = sporos::detail::bits_for(largest[static_cast<std::size_t>(end)]);
        if (used_bits + width > sporos::detail::key_bits) break;
        used_bits += width;
        word[end] = words;
        bits[end] = {0, width, (Key{1} << width) - 1};
      }
      for (int level = end - 1, shift = 0; level >= first; shift += bits[level--].width)
        bits[level].shift = shift;
    }
  }

  bool ends_word(int level) const { return level + 1 == Levels || word[level + 1] != word[level]; }
};

/// Keys of up to `Words` words, each word in an array of its own.
template <int Words>
struct KeyWords {
  const Key* of[Words];
  int count;  ///< number of words in use

  /// Whether keys e and f differ in their first `words` words, or in the bits of the next one from `shift`
  /// on.
  __host__ __device__ bool differ(std::int64_t e, std::int64_t f, int words, int shift) const {
    for (int word = 0; word < Words; ++word)
      if (word < words ? of[word][e] != of[word][f]
                       : word == words && (of[word][e] ^ of[word][f]) >> shift != 0)
        return true;
    return false;
  }
  __host__ __device__ bool differ(std::int64_t e, std::int64_t f) const { return differ(e, f, count - 1, 0); }

  /// Whether key e comes before key f of `others`.
  __host__ __device__ bool before(std::int64_t e, const KeyWords& others, std::int64_t f) const {
    for (int word = 0; word < Words; ++word)
      if (word < count && of[word][e] != others.of[word][f]) return of[word][e] < others.of[word][f];
    return false;
  }
};

/// Keys and values, in arrays on a GPU.
/// @tparam Words  the most words that a key may have
template <class T, int Words>
struct EntryArrays {
  Array<Key, Memory> keys[Words];  ///< an array for each word in use
  Array<T, Memory> values;
  std::int64_t size = 0;  ///< number of entries in use, from the front

  /// Makes room for `capacity` entries; if that takes larger arrays, their contents are lost.
  void reserve(std::int64_t capacity, int words) {
    for (int word = 0; word < words; ++word) at_least(capacity, keys[word], "sporos::gpu keys");
    at_least(capacity, values, "sporos::gpu values");
  }
  KeyWords<Words> words(int count) const {
    KeyWords<Words> out{{}, count};
    for (int word = 0; word < count; ++word) out.of[word] = keys[word].data();
    return out;
  }
  std::int64_t bytes() const {
    auto out = static_cast<std::int64_t>(values.extent(0) * sizeof(T));
    for (const auto& word : keys) out += static_cast<std::int64_t>(word.extent(0) * sizeof(Key));
    return out;
  }
  static constexpr std::int64_t bytes_of_entry(int words) {
    return words * static_cast<std::int64_t>(sizeof(Key)) + static_cast<std::int64_t>(sizeof(T));
  }
};

/// The memory that the stages use besides entries, kept from one statement to the next.
struct StageMemory {
  Array<char, Memory> scratch;                 ///< scratch memory of CUB
  Array<std::int64_t, Memory> positions[2];    ///< positions of entries in a level, and in the one above
  Array<std::int64_t, Memory> order;           ///< entries with keys of several words, in sorted order
  Array<std::int64_t, Memory> counts, begins;  ///< the number of values of each chunk, and where they begin
  Array<std::int64_t, Memory> count;           ///< a single number

  std::int64_t bytes() const {
    std::int64_t numbers = 0;
    for (const auto* array : {&positions[0], &positions[1], &order, &counts, &begins, &count})
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
template <int Words>
struct IsFirstOfKey {
  KeyWords<Words> keys;
  __host__ __device__ bool operator()(std::int64_t e) const { return e == 0 || keys.differ(e, e - 1); }
};

/// Sums the entries with one key, in their order and on one thread: the same bits in every run.
template <class T, int Words>
struct AddUpInOrder {
  KeyWords<Words> keys;
  const T* values;
  const std::int64_t* firsts;  // [count] the first entry of each key
  std::int64_t count, entries;
  Key* to_keys[Words];
  T* to_values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    const std::int64_t first = firsts[n], end = n + 1 < count ? firsts[n + 1] : entries;
    T sum = values[first];
    for (std::int64_t e = first + 1; e < end; ++e) sum = plus(sum, values[e]);
    for (int word = 0; word < Words; ++word)
      if (word < keys.count) to_keys[word][n] = keys.of[word][first];
    to_values[n] = sum;
  }
};

/// Compares entries by the words of their keys.
template <int Words>
struct ComesBefore {
  KeyWords<Words> keys;
  __host__ __device__ bool operator()(std::int64_t e, std::int64_t f) const {
    return keys.before(e, keys, f);
  }
};

/// Copies entry order[e] to place e.
template <class T, int Words>
struct Reorder {
  KeyWords<Words> keys;
  const T* values;
  const std::int64_t* order;
  Key* to_keys[Words];
  T* to_values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    const std::int64_t from = order[e];
    for (int word = 0; word < Words; ++word)
      if (word < keys.count) to_keys[word][e] = keys.of[word][from];
    to_values[e] = values[from];
  }
};

/// Copies each entry of a list to its place in the merged list: behind the entries of the other list whose
/// keys are less, or equal where the other list is the first.
template <class T, int Words>
struct PlaceMerged {
  KeyWords<Words> keys, others;
  const T* values;
  std::int64_t count_of_others;
  bool others_are_first;
  Key* to_keys[Words];
  T* to_values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    std::int64_t begin = 0, end = count_of_others;
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if (others_are_first ? !keys.before(e, others, middle) : others.before(middle, keys, e))
        begin = middle + 1;
      else
        end = middle;
    }
    for (int word = 0; word < Words; ++word)
      if (word < keys.count) to_keys[word][e + begin] = keys.of[word][e];
    to_values[e + begin] = values[e];
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

template <class Body>
void for_each_entry(const Kokkos::Cuda& space, const char* name, std::int64_t count, const Body& body) {
  Kokkos::parallel_for(
      name, Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>(space, 0, count), body);
}

/// A functor, with the arrays of `to` to write to.
template <class Body, class T, int Words>
Body writing_to(Body body, const EntryArrays<T, Words>& to) {
  for (int word = 0; word < Words; ++word) body.to_keys[word] = to.keys[word].data();
  body.to_values = to.values.data();
  return body;
}

/// Sorts entries with keys of several words, stably: their numbers by comparison, by which they are copied.
template <class T, int Words>
void sort_by_words(const Kokkos::Cuda& space, StageMemory& memory, EntryArrays<T, Words>& entries,
                   EntryArrays<T, Words>& spare, int words) {
  std::int64_t* const order = at_least(entries.size, memory.order, "sporos::gpu order");
  const KeyWords<Words> keys = entries.words(words);
  with_scratch(memory, "sort", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceMergeSort::StableSortKeysCopy(
        scratch, bytes, thrust::make_counting_iterator(std::int64_t{0}), order, entries.size,
        ComesBefore<Words>{keys}, space.cuda_stream());
  });
  for_each_entry(space, "sporos::reorder", entries.size,
                 writing_to(Reorder<T, Words>{keys, entries.values.data(), order, {}, nullptr}, spare));
  spare.size = entries.size;
  std::swap(entries, spare);
}

}  // namespace detail

/// Sorts entries by key, stably. `spare` has the same capacity, and its contents are lost.
template <class T, int Words>
void sort_by_key(const Kokkos::Cuda& space, StageMemory& memory, EntryArrays<T, Words>& entries,
                 EntryArrays<T, Words>& spare, const KeyLayout<Words>& layout) {
  if (entries.size == 0) return;
  if constexpr (Words > 1)
    if (layout.is_wide()) return detail::sort_by_words(space, memory, entries, spare, layout.words);
  cub::DoubleBuffer<Key> keys(entries.keys[0].data(), spare.keys[0].data());
  cub::DoubleBuffer<T> values(entries.values.data(), spare.values.data());
  detail::with_scratch(memory, "sort", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, entries.size, 0,
                                           std::max(layout.used_bits, 1), space.cuda_stream());
  });
  spare.size = entries.size;
  if (keys.Current() != entries.keys[0].data()) std::swap(entries.keys[0], spare.keys[0]);
  if (values.Current() != entries.values.data()) std::swap(entries.values, spare.values);
}

/// Adds up the sorted entries with the same key, and writes the sums to `to`, which has the same capacity.
/// @tparam InOrder  whether each sum is formed in the order of its entries, by one thread, as all sums are
///                  where keys have several words
template <bool InOrder, class T, int Words>
void add_up(const Kokkos::Cuda& space, StageMemory& memory, const EntryArrays<T, Words>& entries,
            EntryArrays<T, Words>& to, const KeyLayout<Words>& layout) {
  std::int64_t* const count = at_least(1, memory.count, "sporos::gpu count");
  if constexpr (!InOrder) {
    if (!layout.is_wide()) {
      detail::with_scratch(memory, "reduce", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::ReduceByKey(scratch, bytes, entries.keys[0].data(), to.keys[0].data(),
                                              entries.values.data(), to.values.data(), count,
                                              detail::AddValues{}, entries.size, space.cuda_stream());
      });
      to.size = read_back(space, count);
      return;
    }
  }
  if constexpr (InOrder || Words > 1) {
    const KeyWords<Words> keys = entries.words(layout.words);
    std::int64_t* const firsts = at_least(entries.size, memory.positions[0], "sporos::gpu positions");
    detail::with_scratch(memory, "select", [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceSelect::If(scratch, bytes, thrust::make_counting_iterator(std::int64_t{0}), firsts,
                                   count, entries.size, detail::IsFirstOfKey<Words>{keys},
                                   space.cuda_stream());
    });
    to.size = read_back(space, count);
    detail::for_each_entry(space, "sporos::add up", to.size,
                           detail::writing_to(
                               detail::AddUpInOrder<T, Words>{
                                   keys, entries.values.data(), firsts, to.size, entries.size, {}, nullptr},
                               to));
  }
}

/// Merges two sorted lists into `to`; among entries with the same key, those of `first` come first.
template <class T, int Words>
void merge_by_key(const Kokkos::Cuda& space, StageMemory& memory, const EntryArrays<T, Words>& first,
                  const EntryArrays<T, Words>& second, EntryArrays<T, Words>& to,
                  const KeyLayout<Words>& layout) {
  to.size = first.size + second.size;
  if constexpr (Words > 1) {
    if (layout.is_wide()) {
      const auto place = [&](const EntryArrays<T, Words>& list, const EntryArrays<T, Words>& other) {
        detail::for_each_entry(space, "sporos::merge", list.size,
                               detail::writing_to(detail::PlaceMerged<T, Words>{list.words(layout.words),
                                                                                other.words(layout.words),
                                                                                list.values.data(),
                                                                                other.size,
                                                                                &other == &first,
                                                                                {},
                                                                                nullptr},
                                                  to));
      };
      place(first, second);
      place(second, first);
      return;
    }
  }
  detail::with_scratch(memory, "merge", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceMerge::MergePairs(scratch, bytes, first.keys[0].data(), first.values.data(), first.size,
                                        second.keys[0].data(), second.values.data(), second.size,
                                        to.keys[0].data(), to.values.data(), {}, space.cuda_stream());
  });
}

}  // namespace sporos::gpu
