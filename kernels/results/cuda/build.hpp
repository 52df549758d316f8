// SPDX-License-Identifier: Apache-2.0
/// @file build.hpp
/// Builds the levels of a format from sorted entries in the memory of a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "../../../core/tensor.hpp"
#include "../../../formats/build.hpp"
#include "../../../formats/structure.hpp"
#include "../../../formats/wide_keys.hpp"
#include "../../cuda/scan.hpp"
#include "../../nest/nest_run.hpp"
#include "sorted_entries.hpp"

namespace sporos::gpu {

namespace detail {

/// Whether the levels of F can be built on a GPU: those that are not full can be built in any space, store
/// only coordinates of entries, and either are segments or have one coordinate below each position of
/// segments.
template <TensorFormat F>
inline constexpr bool builds_on_device = []<std::size_t... K>(std::index_sequence<K...>) {
  using Shape = sporos::detail::Structure<F>;
  bool each = true;
  int segments_reach = -1;  // the depth of the segments above
  const auto look = [&]<int Level>(std::integral_constant<int, Level>) {
    if (Shape::full(Level)) return;
    using L = typename F::template level<Level>;
    each = each && BuiltAnywhere<L> && !L::properties.padded;
    if (Shape::segmented(Level)) segments_reach = Shape::depth[static_cast<std::size_t>(Level)];
    if (Shape::branchless(Level)) each = each && Level <= segments_reach;
  };
  (look(std::integral_constant<int, static_cast<int>(K)>{}), ...);
  return each;
}(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});

/// 1 where an entry begins a new position of a level, that is, where it differs from the previous entry in
/// the words before the level's, or in the bits of the level's word from `shift` on.
template <int Words>
struct BeginsPosition {
  KeyWords<Words> keys;
  int word, shift;
  __host__ __device__ std::int64_t operator()(std::int64_t e) const {
    return e == 0 || keys.differ(e, e - 1, word, shift) ? 1 : 0;
  }
};

/// The positions of a full level: parent * extent + coordinate.
struct LocateInFull {
  const Key* keys;
  KeyBits bits;
  std::int64_t extent;
  bool below_root;
  std::int64_t* positions;  // [entries] before: of the parents; after: of this level

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    const std::int64_t parent = below_root ? 0 : positions[e];
    positions[e] = parent * extent + static_cast<std::int64_t>((keys[e] >> bits.shift) & bits.mask);
  }
};

/// Writes coordinates[position of e] = coordinate of e, for each entry e that begins a position. `ends[e]` is
/// its position plus 1.
template <class Coordinate>
struct WriteCoordinates {
  const Key* keys;
  KeyBits bits;
  const std::int64_t* ends;
  Coordinate* coordinates;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    if (e == 0 || ends[e] != ends[e - 1])
      coordinates[ends[e] - 1] = static_cast<Coordinate>((keys[e] >> bits.shift) & bits.mask);
  }
};

/// Writes where the segment of each parent begins: at the position of the first entry with this parent or a
/// later one.
template <class Position>
struct WritePositions {
  const std::int64_t* parents;  // [entries], ascending; null if the root is the parent of all
  const std::int64_t* ends;     // [entries]
  std::int64_t entries;
  Position* positions;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t parent) const {
    std::int64_t begin = 0, end = entries;
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if ((parents ? parents[middle] : 0) < parent)
        begin = middle + 1;
      else
        end = middle;
    }
    positions[parent] =
        static_cast<Position>(begin == entries ? (entries > 0 ? ends[entries - 1] : 0) : ends[begin] - 1);
  }
};

struct EndsToPositions {
  std::int64_t* ends;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const { --ends[e]; }
};

/// Writes values[position of e] = value of e, for each entry e.
template <class From, class To>
struct WriteValues {
  const From* from;
  const std::int64_t* positions;
  To* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    to[positions[e]] = static_cast<To>(from[e]);
  }
};

}  // namespace detail

/// Builds a tensor from sorted entries, each key once.
///
/// Level by level, from the root: an entry that differs from the previous one in the coordinates down to a
/// level begins a position there, so a scan numbers the positions. Levels are built from their segments once
/// all segments have been written.
///
/// @param layout  which bits of a key hold the coordinate of each level
template <TensorFormat F, class Value, class T>
  requires detail::builds_on_device<F>
class DeviceBuilder {
  using Shape = sporos::detail::Structure<F>;
  using Result = Tensor<Value, F, Kokkos::Cuda>;
  static constexpr auto level_count = static_cast<std::size_t>(F::levels);

 public:
  DeviceBuilder(const Kokkos::Cuda& space, StageMemory& memory, const EntryArrays<T, F::levels>& entries,
                const KeyLayout<F::levels>& layout, const Extents<F::order>& extents)
      : space_(space), memory_(memory), entries_(entries), layout_(layout), extents_(extents) {}

  Result build() {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      [[maybe_unused]] const auto level_extents = F::level_extents(extents_);
      // In braces, so that they are written in this order.
      std::tuple written{write<static_cast<int>(K)>(level_extents[K])...};
      const auto values = Shape::padded ? zeroed_array<Value, Memory>("sporos::Tensor values", parents_)
                                        : make_array<Value, Memory>("sporos::Tensor values", parents_);
      for_each("sporos::values", entries_.size,
               detail::WriteValues<T, Value>{entries_.values.data(), positions_, values.data()});
      space_.fence("sporos::gpu::build");
      return Result(extents_, typename Result::level_storage(std::get<K>(written).template level<K>()...),
                    values);
    }(std::make_index_sequence<level_count>{});
  }

 private:
  /// What a level is built from.
  template <class Of>
  struct Written {
    Of segments;
    std::int64_t parents, extent;

    template <std::size_t K>
    auto level() {
      using Storage = std::tuple_element_t<K, typename Result::level_storage>;
      if constexpr (Shape::full(static_cast<int>(K)))
        return Storage::empty(parents, extent);
      else
        return Storage::template from_segments<Kokkos::Cuda>(std::move(segments), parents, extent);
    }
  };

  /// Writes the segments of level K, and finds the positions of the entries in it.
  template <int K>
  auto write(std::int64_t extent) {
    using Level = typename F::template level<K>;
    const KeyBits& bits = layout_.bits[K];
    const Key* const keys = entries_.keys[layout_.word[K]].data();
    const std::int64_t parents = parents_;
    if constexpr (Shape::full(K)) {
      const bool below_root = positions_ == nullptr;
      if (below_root) positions_ = other_positions();
      for_each("sporos::locate", entries_.size,
               detail::LocateInFull{keys, bits, extent, below_root, positions_});
      parents_ = checked_product(parents, extent, "the positions of a result");
      return Written<std::monostate>{{}, parents, extent};
    } else if constexpr (Shape::branchless(K)) {
      using Coordinate = typename Level::coordinate_type;
      Level::check_extent(extent);
      SegmentsOf<Level, Memory> segments;
      segments.coordinates = make_array<Coordinate, Memory>("sporos::coordinates", parents);
      std::int64_t* const ends = numbered<K>();
      for_each("sporos::coordinates", entries_.size,
               detail::WriteCoordinates<Coordinate>{keys, bits, ends, segments.coordinates.data()});
      return Written<decltype(segments)>{std::move(segments), parents, extent};
    } else {
      using Position = typename Level::position_type;
      using Coordinate = typename Level::coordinate_type;
      Level::check_extent(extent);
      std::int64_t* const ends = numbered<K>();
      const std::int64_t count = entries_.size > 0 ? read_back(space_, ends + entries_.size - 1) : 0;
      narrow<Position>(count, "the number of positions of a level");
      Segments<Position, Coordinate, Memory> segments{
          make_array<Position, Memory>("sporos::positions", parents + 1),
          make_array<Coordinate, Memory>("sporos::coordinates", count)};
      for_each("sporos::coordinates", entries_.size,
               detail::WriteCoordinates<Coordinate>{keys, bits, ends, segments.coordinates.data()});
      for_each("sporos::positions", parents + 1,
               detail::WritePositions<Position>{positions_, ends, entries_.size, segments.positions.data()});
      for_each("sporos::ends", entries_.size, detail::EndsToPositions{ends});
      positions_ = ends;
      parents_ = count;
      return Written<decltype(segments)>{std::move(segments), parents, extent};
    }
  }

  /// For each entry, its position in level K plus 1.
  template <int K>
  std::int64_t* numbered() {
    constexpr int depth = Shape::depth[static_cast<std::size_t>(K)];
    std::int64_t* const ends = other_positions();
    if (entries_.size == 0) return ends;
    const auto begins = thrust::make_transform_iterator(
        thrust::make_counting_iterator(std::int64_t{0}),
        detail::BeginsPosition<F::levels>{entries_.words(layout_.words), layout_.word[depth],
                                          layout_.bits[depth].shift});
    detail::with_scratch(memory_, "scan", [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveScan(scratch, bytes, begins, ends, detail::AddSizes{}, entries_.size,
                                            space_.cuda_stream());
    });
    return ends;
  }
  /// Memory for a position of each entry, other than that of positions_.
  std::int64_t* other_positions() {
    const int other = positions_ != nullptr && positions_ == memory_.positions[0].data() ? 1 : 0;
    return at_least(entries_.size, memory_.positions[other], "sporos::gpu positions");
  }

  template <class Body>
  void for_each(const char* name, std::int64_t count, const Body& body) const {
    detail::for_each_entry(space_, name, count, body);
  }

  const Kokkos::Cuda& space_;
  StageMemory& memory_;
  const EntryArrays<T, F::levels>& entries_;
  const KeyLayout<F::levels>& layout_;
  const Extents<F::order> extents_;
  std::int64_t parents_ = 1;
  std::int64_t* positions_ = nullptr;  // [entries] in the level above; null below the root
};

namespace detail {

/// Builds a tensor on the host, from entries whose keys it copies there.
template <TensorFormat F, class Value, class T>
Tensor<Value, F, Kokkos::Cuda> build_on_host(const Kokkos::Cuda& space,
                                             const EntryArrays<T, F::levels>& entries,
                                             const KeyLayout<F::levels>& layout,
                                             const Extents<F::order>& extents) {
  const auto in_use = std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(entries.size));
  const auto converted = make_array<Value, Memory>("sporos::Tensor values", entries.size);
  for_each_entry(space, "sporos::values", entries.size,
                 sporos::detail::CopyValues<T, Value>{entries.values.data(), converted.data()});
  space.fence("sporos::gpu::build");
  const auto values = copy_array<Kokkos::HostSpace>(converted);
  const auto word = [&](int number) {
    const Array<Key, Memory> keys = Kokkos::subview(entries.keys[number], in_use);
    return copy_array<Kokkos::HostSpace>(keys);
  };
  const auto build = [&](const auto& source, const sporos::detail::Packing<F>& packing) {
    const sporos::detail::KeyedEntries<Value>& of = source;
    return sporos::detail::Builder<F, Value>(Host(), of, packing, extents, Duplicates::sum, true)
        .template build<Host>()
        .template move_to<Kokkos::Cuda>();
  };
  if (!layout.is_wide()) {
    const auto keys = word(0);
    return build(sporos::detail::ItemRun<Value>({keys.data(), values.data()}, entries.size),
                 sporos::detail::Packing<F>(sporos::detail::largest_coordinates<F>(extents)));
  }
  const sporos::detail::LevelCoordinates coordinates(F::levels, entries.size);
  for (int level = 0; level < F::levels; ++level) {
    const auto keys = word(layout.word[level]);
    std::int64_t* const to = coordinates.of_level(static_cast<std::size_t>(level));
    for (std::int64_t e = 0; e < entries.size; ++e)
      to[e] = layout.bits[level].of(keys(static_cast<std::size_t>(e)));
  }
  return build(sporos::detail::NumberedEntries<Value>(values),
               sporos::detail::Packing<F>(coordinates.template arrays<F::levels>()));
}

}  // namespace detail

/// Builds a tensor of any format: if its levels cannot be built on the GPU, the host builds them.
template <TensorFormat F, class Value, class T>
Tensor<Value, F, Kokkos::Cuda> build(const Kokkos::Cuda& space, StageMemory& memory,
                                     const EntryArrays<T, F::levels>& entries,
                                     const KeyLayout<F::levels>& layout, const Extents<F::order>& extents) {
  if (entries.size == 0) return Tensor<Value, F, Kokkos::Cuda>(extents);
  if constexpr (detail::builds_on_device<F>)
    return DeviceBuilder<F, Value, T>(space, memory, entries, layout, extents).build();
  else
    return detail::build_on_host<F, Value>(space, entries, layout, extents);
}

}  // namespace sporos::gpu
