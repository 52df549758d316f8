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
#include "../../cuda/scan.hpp"
#include "../../nest/nest_run.hpp"
#include "sorted_entries.hpp"

namespace sporos::gpu {

namespace detail {

using sporos::detail::KeyBits;

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
/// the bits from `shift` on.
struct BeginsPosition {
  const Key* keys;
  int shift;
  __host__ __device__ std::int64_t operator()(std::int64_t e) const {
    return e == 0 || (keys[e] ^ keys[e - 1]) >> shift != 0 ? 1 : 0;
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
/// @param packing  which bits of a key hold the coordinate of each level
template <TensorFormat F, class Value, class T>
  requires detail::builds_on_device<F>
class DeviceBuilder {
  using Shape = sporos::detail::Structure<F>;
  using Result = Tensor<Value, F, Kokkos::Cuda>;
  static constexpr auto level_count = static_cast<std::size_t>(F::levels);

 public:
  DeviceBuilder(const Kokkos::Cuda& space, StageMemory& memory, const EntryArrays<T>& entries,
                const sporos::detail::Packing<F>& packing, const Extents<F::order>& extents)
      : space_(space), memory_(memory), entries_(entries), packing_(packing), extents_(extents) {}

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
    const auto& bits = packing_.template bits_of<K>();
    const std::int64_t parents = parents_;
    if constexpr (Shape::full(K)) {
      const bool below_root = positions_ == nullptr;
      if (below_root) positions_ = other_positions();
      for_each("sporos::locate", entries_.size,
               detail::LocateInFull{entries_.keys.data(), bits, extent, below_root, positions_});
      parents_ = checked_product(parents, extent, "the positions of a result");
      return Written<std::monostate>{{}, parents, extent};
    } else if constexpr (Shape::branchless(K)) {
      using Coordinate = typename Level::coordinate_type;
      Level::check_extent(extent);
      SegmentsOf<Level, Memory> segments;
      segments.coordinates = make_array<Coordinate, Memory>("sporos::coordinates", parents);
      std::int64_t* const ends = numbered<K>();
      for_each("sporos::coordinates", entries_.size,
               detail::WriteCoordinates<Coordinate>{entries_.keys.data(), bits, ends,
                                                    segments.coordinates.data()});
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
               detail::WriteCoordinates<Coordinate>{entries_.keys.data(), bits, ends,
                                                    segments.coordinates.data()});
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
        detail::BeginsPosition{entries_.keys.data(), packing_.template bits_of<depth>().shift});
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
    Kokkos::parallel_for(
        name, Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>(space_, 0, count), body);
  }

  const Kokkos::Cuda& space_;
  StageMemory& memory_;
  const EntryArrays<T>& entries_;
  const sporos::detail::Packing<F>& packing_;
  const Extents<F::order> extents_;
  std::int64_t parents_ = 1;
  std::int64_t* positions_ = nullptr;  // [entries] in the level above; null below the root
};

/// Builds a tensor of any format: if its levels cannot be built on the GPU, the host builds them.
template <TensorFormat F, class Value, class T>
Tensor<Value, F, Kokkos::Cuda> build(const Kokkos::Cuda& space, StageMemory& memory,
                                     const EntryArrays<T>& entries, const sporos::detail::Packing<F>& packing,
                                     const Extents<F::order>& extents) {
  if (entries.size == 0) return Tensor<Value, F, Kokkos::Cuda>(extents);
  if constexpr (detail::builds_on_device<F>) {
    return DeviceBuilder<F, Value, T>(space, memory, entries, packing, extents).build();
  } else {
    const auto whole = std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(entries.size));
    const auto converted = make_array<Value, Memory>("sporos::Tensor values", entries.size);
    Kokkos::parallel_for("sporos::values", Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, entries.size),
                         sporos::detail::CopyValues<T, Value>{entries.values.data(), converted.data()});
    space.fence("sporos::gpu::build");
    const Array<Key, Memory> in_use = Kokkos::subview(entries.keys, whole);
    const auto keys = copy_array<Kokkos::HostSpace>(in_use);
    const auto values = copy_array<Kokkos::HostSpace>(converted);
    const sporos::detail::ItemRun<Value> run({keys.data(), values.data()}, entries.size);
    const sporos::detail::KeyedEntries<Value>& source = run;
    return sporos::detail::Builder<F, Value>(Host(), source, packing, extents, Duplicates::sum, true)
        .template build<Host>()
        .template move_to<Kokkos::Cuda>();
  }
}

}  // namespace sporos::gpu
