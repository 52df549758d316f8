// SPDX-License-Identifier: Apache-2.0
/// @file convert.hpp
/// Converts a tensor to another format, or to another value type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/tensor.hpp"
#include "assemble.hpp"
#include "build.hpp"
#include "chunks.hpp"
#include "entries_of.hpp"
#include "keyed_entries.hpp"
#include "keys.hpp"
#include "radix_sort.hpp"
#include "structure.hpp"
#include "transpose_rows.hpp"
#include "value_cast.hpp"
#include "walk.hpp"

namespace sporos {
namespace detail {

/// The stored values of a tensor, with keys for the levels of another format: like KeyedEntries, but without
/// virtual functions, since a walk through levels is slow to interrupt.
template <TensorFormat To, TensorValue Value, TensorFormat From>
struct StoredEntries {
  static constexpr bool is_exact = !Structure<From>::padded && !From::is_blocked;
  const Walk<Value, From>& walk;
  const Packing<To>& packing;
  std::int64_t count;

  std::int64_t size() const { return count; }
  Key key(std::int64_t e) const {
    Key out = no_key;
    visit(e, e + 1, [&](Key key, const Value&) { out = key; });
    return out;
  }
  template <class Visitor>
  void visit(std::int64_t begin, std::int64_t end, const Visitor& visitor) const {
    const Packing<To> own = packing;  // a copy, which the visitor's writes cannot change
    walk.visit(begin, end, [&](const Extents<From::order>& coordinate, const Value& value) {
      if constexpr (Structure<From>::padded)
        if (value == Value{}) return;
      visitor(own.pack(coordinate), value);
    });
  }
};

/// Whether the storage order of `From` is the order of the levels of `To`.
template <class From, class To>
inline constexpr bool same_order = false;
template <class DimensionMap, class... FromLevels, class... ToLevels>
inline constexpr bool same_order<Format<DimensionMap, FromLevels...>, Format<DimensionMap, ToLevels...>> =
    Format<DimensionMap, FromLevels...>::is_ordered;

/// The number of outermost levels of `To` by which values in the storage order of `From` must be stably
/// sorted; the remaining modes are then in the right order as well.
template <TensorFormat From, TensorFormat To>
inline constexpr int levels_to_sort = [] {
  if constexpr (!From::is_blocked && !To::is_blocked && From::is_ordered) {
    for (int count = 0; count < To::levels; ++count) {
      // To's levels met in order so far, walking From's levels other than the first `count`.
      int seen = count;
      for (int mode : From::mode_of_level) {
        bool first = false;
        for (int k = 0; k < count; ++k)
          first = first || To::mode_of_level[static_cast<std::size_t>(k)] == mode;
        if (first) continue;
        if (To::mode_of_level[static_cast<std::size_t>(seen)] != mode) break;
        ++seen;
      }
      if (seen == To::levels) return count;
    }
  }
  return To::levels;
}();

/// Writes every value directly to its place: for a dense result, if each coordinate occurs once.
template <TensorFormat To, HostSpace Space, TensorValue Value, TensorFormat From>
Tensor<Value, To, Space> scatter(const Space& space, const Tensor<Value, From, Space>& t) {
  Tensor<Value, To, Space> out(t.extents());
  const Walk walk(t);
  const auto extents = To::level_extents(t.extents());
  const std::int64_t chunks = chunks_for(space, t.nnz(), 4);
  for_each_chunk(space, chunks, [&](std::int64_t chunk) {
    const auto [begin, end] = chunk_bounds(t.nnz(), chunk, chunks);
    walk.visit(begin, end, [&](const Extents<From::order>& coordinate, const Value& value) {
      const auto at = To::level_coordinates(coordinate);
      std::int64_t q = 0;
      for (std::size_t k = 0; k < at.size(); ++k) q = q * extents[k] + at[k];
      out.values().data()[q] = value;
    });
  });
  return out;
}

/// Converts a tensor whose coordinates fit in a key.
template <TensorFormat To, HostSpace Space, TensorValue Value, TensorFormat From>
Tensor<Value, To, Space> convert_packed(const Space& space, const Tensor<Value, From, Space>& t,
                                        const Extents<To::levels>& largest, Duplicates duplicates) {
  const Walk walk(t);
  const Packing<To> packing(largest);
  const StoredEntries<To, Value, From> source{walk, packing, t.nnz()};
  if constexpr (same_order<From, To> && !Structure<From>::padded)
    return Builder<To, Value, StoredEntries<To, Value, From>>(space, source, packing, t.extents(), duplicates,
                                                              From::is_unique)
        .template build<Space>();
  else
    return sort_and_build<Order{levels_to_sort<From, To>, From::is_unique}, To, Value>(
        space, source, packing, t.extents(), duplicates);
}

}  // namespace detail

/// The same tensor in format `To`, converted on the threads of a space instance; see below.
template <TensorFormat To, HostSpace Space, TensorValue Value, TensorFormat From>
Tensor<Value, To, Space> convert(const Space& space, const Tensor<Value, From, Space>& t,
                                 Duplicates duplicates = default_duplicates<To>) {
  static_assert(To::order == From::order,
                "convert keeps the modes of a tensor: the formats must be of the same order");
  detail::expect_place_for<To>(duplicates);
  if constexpr (std::is_same_v<To, From> && From::is_unique) {
    return t.clone();
  } else if constexpr (To::is_dense && From::is_unique) {
    return detail::scatter<To>(space, t);
  } else {
    if (t.nnz() == 0) return Tensor<Value, To, Space>(t.extents());
    if constexpr (detail::are_transposed_rows<From, To>)
      if (auto made = detail::transpose_rows<To>(space, t)) return *made;
    auto largest = t.extents();
    for (auto& extent : largest) --extent;
    const auto of_levels = detail::largest_of_levels<To>(largest);
    if (detail::Packing<To>::fits(of_levels))
      return detail::convert_packed<To>(space, t, of_levels, duplicates);
    return detail::assemble_wide<To>(space, entries(space, t), of_levels, duplicates);
  }
}

/// The same tensor in format `To`: B(c) = A(c) for every coordinate c. Sparse formats leave out the zeros of
/// a dense level or block, and keep those that a sparse format stores.
///
///     auto B = convert<CSC<>>(A);
///
/// @param duplicates  what to do with coordinates that occur more than once, as in formats that are not
/// unique
/// @throws what assemble throws
/// Cost: a deep copy for the same format. A counting and a writing pass if the order of modes is the same,
/// and between CSR and CSC if neighbouring rows have neighbouring columns or the matrix fits in the caches.
/// Otherwise a radix sort by those outer modes that are out of order.
template <TensorFormat To, TensorValue Value, TensorFormat From, ExecutionSpace Space>
Tensor<Value, To, Space> convert(const Tensor<Value, From, Space>& t,
                                 Duplicates duplicates = default_duplicates<To>) {
  static_assert(To::order == From::order,
                "convert keeps the modes of a tensor: the formats must be of the same order");
  if constexpr (HostSpace<Space>)
    return convert<To>(Space(), t, duplicates);
  else if constexpr (std::is_same_v<To, From> && From::is_unique)
    return t.clone();
  else
    return convert<To>(t.template move_to<Host>(), duplicates).template move_to<Space>();
}

/// The same tensor in format `To` with values of type `NewValue`, converted on the threads of a space
/// instance; see below.
template <TensorFormat To, TensorValue NewValue, HostSpace Space, TensorValue Value, TensorFormat From>
  requires(!std::is_same_v<NewValue, Value>)
Tensor<NewValue, To, Space> convert(const Space& space, const Tensor<Value, From, Space>& t,
                                    Duplicates duplicates = default_duplicates<To>) {
  auto values = make_array<NewValue>("sporos::Tensor values", t.nnz());
  const std::int64_t chunks = detail::chunks_for(space, t.nnz());
  std::vector<std::int64_t> refused(static_cast<std::size_t>(chunks), -1);
  detail::for_each_chunk(space, chunks, [&](std::int64_t chunk) {
    const auto [begin, end] = detail::chunk_bounds(t.nnz(), chunk, chunks);
    for (std::int64_t q = begin; q < end; ++q)
      if (!value_cast(t.values().data()[q], values.data()[q])) {
        refused[static_cast<std::size_t>(chunk)] = q;
        return;
      }
  });
  for (const std::int64_t q : refused)
    if (q >= 0)
      detail::Walk(t).visit(q, q + 1, [](const Extents<From::order>& coordinate, const Value& value) {
        throw RangeError(text("value ", value_text(value), " at ", coordinate_text(coordinate),
                              " cannot be held as ", value_name<NewValue>(), ": convert to a wider type"));
      });
  return convert<To>(space, Tensor<NewValue, From, Space>(t.extents(), t.levels(), values), duplicates);
}

/// The same tensor in format `To` with values of type `NewValue`: `convert<CSR<>, float>(A)`.
/// @throws RangeError for a value that the type cannot hold (see value_cast), naming its coordinate
template <TensorFormat To, TensorValue NewValue, TensorValue Value, TensorFormat From, ExecutionSpace Space>
  requires(!std::is_same_v<NewValue, Value>)
Tensor<NewValue, To, Space> convert(const Tensor<Value, From, Space>& t,
                                    Duplicates duplicates = default_duplicates<To>) {
  if constexpr (HostSpace<Space>)
    return convert<To, NewValue>(Space(), t, duplicates);
  else
    return convert<To, NewValue>(t.template move_to<Host>(), duplicates).template move_to<Space>();
}

}  // namespace sporos
