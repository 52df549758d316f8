// SPDX-License-Identifier: Apache-2.0
/// @file assemble.hpp
/// Tensors of any format from unordered entries, in parallel.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "../core/compiled_once.hpp"
#include "../core/entries.hpp"
#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "build.hpp"
#include "build_rows.hpp"
#include "chunks.hpp"
#include "duplicates.hpp"
#include "format_name.hpp"
#include "keyed_entries.hpp"
#include "keys.hpp"
#include "named.hpp"
#include "radix_sort.hpp"
#include "wide_keys.hpp"

namespace sporos {
namespace detail {

/// The largest coordinate of each level, given the largest coordinate of each mode.
template <TensorFormat F>
Extents<F::levels> largest_of_levels(const Extents<F::order>& largest) {
  Extents<F::order> shape{};
  for (std::size_t mode = 0; mode < shape.size(); ++mode) shape[mode] = largest[mode] + 1;
  return largest_coordinates<F>(shape);
}

/// How far a source is already in order.
struct Order {
  int levels_to_sort;  ///< number of outermost levels that are out of order; the levels below are in order
  bool unique;         ///< whether each coordinate occurs once
};

/// Sorts the entries of `source` and builds a tensor from them.
template <Order Given, TensorFormat F, TensorValue Value, HostSpace Space, class Source>
Tensor<Value, F, Space> sort_and_build(const Space& space, const Source& source, const Packing<F>& packing,
                                       const Extents<F::order>& extents, Duplicates duplicates) {
  const Key matter = packing.outermost(Given.levels_to_sort);
  if constexpr (is_row_format<F> && Given.levels_to_sort == 1 && Given.unique) {
    RowBuilder<F, Value> rows(space, packing, extents);
    if (rows.sort_few(source)) return rows.template tensor<Space>();
    auto parts = partition_by_leading_bits<Value>(space, source, packing.bits(), matter);
    if (rows.sort(parts)) return rows.template tensor<Space>();
    const StableSort<Value> sorted(space, std::move(parts), matter);
    return Builder<F, Value>(space, sorted, packing, extents, duplicates).template build<Space>();
  } else {
    const StableSort<Value> sorted(
        space, partition_by_leading_bits<Value>(space, source, packing.bits(), matter), matter);
    return Builder<F, Value>(space, sorted, packing, extents, duplicates).template build<Space>();
  }
}

/// The entries that a user gives, with keys packed as they are read.
template <TensorFormat F, TensorValue Value>
class PackedEntries final : public KeyedEntries<Value> {
 public:
  PackedEntries(const Entries<Value, F::order>& entries, const Packing<F>& packing)
      : packing_(packing), values_(entries.values.data()), count_(entries.size()) {
    for (std::size_t mode = 0; mode < coordinates_.size(); ++mode)
      coordinates_[mode] = entries.coordinates[mode].data();
  }

  std::int64_t size() const override { return count_; }
  typename KeyedEntries<Value>::Block read(std::int64_t begin, std::int64_t end,
                                           typename KeyedEntries<Value>::Buffer& buffer) const override {
    const std::int64_t count = std::min(end - begin, KeyedEntries<Value>::most);
    const Packing<F> packing = packing_;  // copies, which writing cannot change
    const auto coordinates = coordinates_;
    for (std::int64_t e = 0; e < count; ++e) {
      Extents<F::order> coordinate{};
      for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
        coordinate[mode] = coordinates[mode][begin + e];
      buffer.keys[e] = packing.pack(coordinate);
    }
    return {buffer.keys, values_ + begin, count};
  }

 private:
  Packing<F> packing_;
  std::array<const std::int64_t*, static_cast<std::size_t>(F::order)> coordinates_;
  const Value* values_;
  std::int64_t count_;
};

/// What a first pass over the entries finds.
template <int Order>
struct EntriesSurvey {
  std::array<std::uint64_t, static_cast<std::size_t>(Order)>
      largest{};       ///< per mode; negative coordinates appear as huge ones
  bool sorted = true;  ///< whether the entries are in the order of the format
  bool unique = true;  ///< whether each coordinate occurs once, if the entries are sorted

  void merge(const EntriesSurvey& other) {
    for (std::size_t mode = 0; mode < largest.size(); ++mode)
      largest[mode] = std::max(largest[mode], other.largest[mode]);
    sorted = sorted && other.sorted;
    unique = unique && other.unique;
  }
};

template <TensorFormat F, HostSpace Space, class Value>
EntriesSurvey<F::order> survey(const Space& space, const Entries<Value, F::order>& entries) {
  constexpr auto order = static_cast<std::size_t>(F::order);
  std::array<const std::int64_t*, order> coordinates;
  for (std::size_t mode = 0; mode < order; ++mode) coordinates[mode] = entries.coordinates[mode].data();
  const auto level_coordinates = [&](std::int64_t e) {
    Extents<F::order> coordinate{};
    for (std::size_t mode = 0; mode < order; ++mode) coordinate[mode] = coordinates[mode][e];
    return F::level_coordinates(coordinate);
  };
  const auto most = largest_coordinates<F>(entries.extents);
  const bool is_narrow = Packing<F>::fits(most);
  const Packing<F> packing(is_narrow ? most : Extents<F::levels>{});
  const auto compare = [&](std::int64_t from, std::int64_t to, EntriesSurvey<F::order>& part) {
    bool descends = false;
    bool repeats = false;
    for (std::int64_t e = from; e < to; ++e) {
      if (is_narrow) {
        const auto before = packing.pack_levels(level_coordinates(e - 1));
        const auto here = packing.pack_levels(level_coordinates(e));
        descends |= here < before;
        repeats |= here == before;
      } else {
        const auto before = level_coordinates(e - 1);
        const auto here = level_coordinates(e);
        descends |= here < before;
        repeats |= here == before;
      }
    }
    part.sorted = !descends;
    part.unique = part.unique && !repeats;
  };
  const std::int64_t chunks = chunks_for(space, entries.size());
  std::vector<EntriesSurvey<F::order>> found(static_cast<std::size_t>(chunks));
  for_each_chunk(space, chunks, [&](std::int64_t chunk) {
    const auto [begin, end] = chunk_bounds(entries.size(), chunk, chunks);
    EntriesSurvey<F::order> part;
    // In blocks small enough to stay in cache from one mode to the next.
    constexpr std::int64_t block = 2048;
    for (std::int64_t from = begin; from < end; from += block) {
      const std::int64_t to = std::min(from + block, end);
      for (std::size_t mode = 0; mode < order; ++mode) {
        std::uint64_t largest = part.largest[mode];
        for (std::int64_t e = from; e < to; ++e)
          largest = std::max(largest, static_cast<std::uint64_t>(coordinates[mode][e]));
        part.largest[mode] = largest;
      }
      if (part.sorted) compare(std::max<std::int64_t>(from, 1), to, part);
    }
    found[static_cast<std::size_t>(chunk)] = part;
  });
  for (const auto& part : found) found[0].merge(part);
  return found[0];
}

/// Throws ShapeError, naming the first coordinate outside the extents.
template <int Order, class Value>
void refuse_coordinate_outside(const Entries<Value, Order>& entries) {
  for (std::int64_t e = 0; e < entries.size(); ++e)
    for (std::size_t mode = 0; mode < entries.coordinates.size(); ++mode) {
      const std::int64_t i = entries.coordinates[mode](static_cast<std::size_t>(e));
      if (i < 0 || i >= entries.extents[mode])
        throw ShapeError(text("entry ", e, " stands at ", coordinate_text(entries.coordinate(e)),
                              ", outside of ", to_string(entries.extents), ": its coordinate ", i,
                              " of mode ", mode, " must be at least 0 and less than ",
                              entries.extents[mode]));
    }
}

/// Throws unless the arrays of the entries have the same length.
template <int Order, class Value>
void expect_whole(const Entries<Value, Order>& entries) {
  for (std::size_t mode = 0; mode < entries.coordinates.size(); ++mode)
    if (entries.coordinates[mode].extent(0) != entries.values.extent(0))
      throw ShapeError(text("the entries have ", entries.values.extent(0), " values, but ",
                            entries.coordinates[mode].extent(0), " coordinates of mode ", mode,
                            ": one of each is needed for each entry"));
}

/// Assembles entries whose coordinates fit in a key.
template <TensorFormat F, HostSpace Space, TensorValue Value>
Tensor<Value, F, Space> assemble_packed(const Space& space, const Entries<Value, F::order>& entries,
                                        const Extents<F::levels>& largest,
                                        const EntriesSurvey<F::order>& seen, Duplicates duplicates) {
  const Packing<F> packing(largest);
  const PackedEntries<F, Value> packed(entries, packing);
  const KeyedEntries<Value>& source = packed;  // so that what follows is compiled once for all lists
  if (seen.sorted)
    return Builder<F, Value>(space, source, packing, entries.extents, duplicates, seen.unique)
        .template build<Space>();
  return sort_and_build<Order{F::levels, false}, F, Value>(space, source, packing, entries.extents,
                                                           duplicates);
}

/// Assembles entries whose coordinates do not fit in a key.
template <TensorFormat F, HostSpace Space, TensorValue Value>
Tensor<Value, F, Space> assemble_wide(const Space& space, const Entries<Value, F::order>& entries,
                                      const Extents<F::levels>& largest, Duplicates duplicates) {
  const std::int64_t count = entries.size();
  LevelCoordinates coordinates(F::levels, count);
  for_each_chunk(space, chunks_for(space, count), [&](std::int64_t chunk) {
    const auto [begin, end] = chunk_bounds(count, chunk, chunks_for(space, count));
    for (std::int64_t e = begin; e < end; ++e) {
      const auto at = F::level_coordinates(entries.coordinate(e));
      for (std::size_t k = 0; k < at.size(); ++k) coordinates.of_level(k)[e] = at[k];
    }
  });
  const auto values = make_array<Value>("sporos::Tensor values", count);
  {
    const ScratchArray<std::int64_t> room(count);
    const std::span<std::int64_t> numbers(room.data(), static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    WideSort(space, coordinates, largest).sort(numbers);
    coordinates.reorder(space, numbers);
    for (std::int64_t e = 0; e < count; ++e) values.data()[e] = entries.values.data()[room.data()[e]];
  }
  const Packing<F> packing(coordinates.template arrays<F::levels>());
  return Builder<F, Value>(space, NumberedEntries<Value>(values), packing, entries.extents, duplicates)
      .template build<Space>();
}

/// Throws FormatError if duplicates are to be kept in a format that stores each coordinate once.
template <TensorFormat F>
void expect_place_for(Duplicates duplicates) {
  if (duplicates == Duplicates::keep && !Structure<F>::keeps_duplicates)
    throw FormatError(text("format ", format_name<F>(),
                           " stores each coordinate once and cannot keep duplicates: choose "
                           "another policy, or a format that is not unique, such as COO<2, ModeOrder<0, 1>, "
                           "std::int64_t, std::int32_t, false>"));
}

/// The most scratch memory, in bytes, that assembling `count` entries takes besides the entries and the
/// tensor: two lists of keys and values, or what assemble_wide takes, and the counts of a radix sort.
template <TensorFormat F, TensorValue Value>
std::int64_t assemble_bytes(const Extents<F::order>& extents, std::int64_t count) {
  const auto largest = largest_coordinates<F>(extents);
  constexpr std::int64_t of_value = sizeof(Value);
  const std::int64_t of_entry =
      Packing<F>::fits(largest) ? 2 * (8 + of_value) : 8 * F::levels + 40 + of_value;
  return count * of_entry + (std::int64_t{4} << 20);
}

}  // namespace detail

/// The tensor of some entries, assembled on the threads of a space instance; see below.
template <TensorFormat F, HostSpace Space, TensorValue Value>
[[gnu::noinline]] Tensor<Value, F, Space> assemble(const Space& space,
                                                   const Entries<Value, F::order>& entries,
                                                   Duplicates duplicates = default_duplicates<F>) {
  expect_kokkos();
  expect_valid_extents(entries.extents);
  detail::expect_whole(entries);
  detail::expect_place_for<F>(duplicates);
  if (entries.size() == 0) return Tensor<Value, F, Space>(entries.extents);
  const auto seen = detail::survey<F>(space, entries);
  Extents<F::order> largest_coordinate{};
  for (std::size_t mode = 0; mode < entries.extents.size(); ++mode) {
    if (seen.largest[mode] >= static_cast<std::uint64_t>(entries.extents[mode]))
      detail::refuse_coordinate_outside(entries);
    largest_coordinate[mode] = static_cast<std::int64_t>(seen.largest[mode]);
  }
  const auto largest = detail::largest_of_levels<F>(largest_coordinate);
  return detail::Packing<F>::fits(largest)
             ? detail::assemble_packed<F>(space, entries, largest, seen, duplicates)
             : detail::assemble_wide<F>(space, entries, largest, duplicates);
}

/// The tensor whose value at each coordinate is the sum of the entries there: A(c) = sum of values[e] over
/// the entries e with coordinates[e] = c. Entries may come in any order. The result does not depend on the
/// number of threads.
///
///     auto A = assemble<CSR<>>(Entries<double, 2>({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, 7.0}, {{2, 1}, 1.0}}));
///
/// @tparam F          format of the result; any composition of levels
/// @tparam Space      where the result lives; assembled on the host
/// @param entries     coordinates and values; not changed
/// @param duplicates  what to do with entries at the same coordinate
/// @throws ShapeError   for a coordinate outside the extents, naming the entry
/// @throws FormatError  for a duplicate under Duplicates::error, naming the coordinate; if F cannot hold the
///                      entries (several coordinates below one parent of a Singleton); for the max of complex
///                      values
/// @throws RangeError   if F's index types cannot hold an extent or the number of nonzeros
/// @throws MemoryError  if a dense level needs more memory than there is
///
/// Cost: entries already in the order of F's levels take one counting pass and one writing pass. Others are
/// radix-sorted first: partitioned by the leading bits of the packed coordinates, then each part sorted in
/// cache, with scratch memory for two keys and two values per entry.
template <TensorFormat F, ExecutionSpace Space = Host, TensorValue Value>
Tensor<Value, F, Space> assemble(const Entries<Value, F::order>& entries,
                                 Duplicates duplicates = default_duplicates<F>) {
  expect_kokkos();
  if constexpr (HostSpace<Space>)
    return assemble<F>(Space(), entries, duplicates);
  else
    return assemble<F>(Host(), entries, duplicates).template move_to<Space>();
}

#define SPOROS_ASSEMBLE_AS(EXTERN, Value, ...)                                         \
  EXTERN template Tensor<Value, __VA_ARGS__, Host> assemble<__VA_ARGS__, Host, Value>( \
      const Host&, const Entries<Value, __VA_ARGS__::order>&, Duplicates);
#define SPOROS_ASSEMBLE(EXTERN, Value)      \
  SPOROS_ASSEMBLE_AS(EXTERN, Value, CSR<>)  \
  SPOROS_ASSEMBLE_AS(EXTERN, Value, CSC<>)  \
  SPOROS_ASSEMBLE_AS(EXTERN, Value, COO<2>) \
  SPOROS_ASSEMBLE_AS(EXTERN, Value, CSF<3>)
SPOROS_DECLARE_COMPILED(SPOROS_ASSEMBLE)

}  // namespace sporos
