// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m.hpp
/// The N:M level: exactly N of M coordinates below each parent position, in a few bits each.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "../../core/array.hpp"
#include "../../core/error.hpp"
#include "../../core/extents.hpp"
#include "../../core/level.hpp"

namespace sporos {

/// N coordinates, ascending, out of a window of M below each parent p, at positions p * N to p * N + N - 1.
/// If a window has fewer than N entries, the level also stores coordinates without an entry, whose values are
/// zero.
///
///     rows of a matrix in windows of 4          root
///         . 5 . .   . . 6 7                     ├─ 0, window 0
///         8 . . .   . . . .                     │  ├─ 0: 0 (padding)
///                                               │  └─ 1: 5
///     2 of 4, indices                           ├─ 0, window 1
///         0 1   2 3                             │  ├─ 2: 6
///         0 1   0 1                             │  └─ 3: 7
///                                               ├─ 1, window 0
///                                               │  ├─ 0: 8
///                                               │  └─ 1: 0 (padding)
///                                               └─ 1, window 1
///                                                  ├─ 0: 0 (padding)
///                                                  └─ 1: 0 (padding)
///
/// The coordinates are metadata in the sense of Ma et al., *NM-SpMM* (arXiv 2503.01253), section II-B: `Bits`
/// bits each, for position q in byte q / (8 / Bits), from bit q % (8 / Bits) * Bits on.
///
/// @tparam N     number of coordinates that each window keeps
/// @tparam M     number of coordinates in a window: the extent of the level, at most 256
/// @tparam Bits  2, 4 or 8, enough for M - 1
template <int N, int M, int Bits = 8>
struct NofM {
  static_assert(1 <= N && N <= M && M <= 256, "N:M sparsity keeps N of M with 1 <= N <= M <= 256");
  static_assert((Bits == 2 || Bits == 4 || Bits == 8) && (1 << Bits) >= M,
                "an index of a window takes 2, 4 or 8 bits, enough for M - 1");

  using position_type = std::int64_t;
  using coordinate_type = std::uint8_t;
  static constexpr int kept = N;
  static constexpr int window = M;
  static constexpr LevelProperties properties{
      .ordered = true, .unique = true, .full = false, .branchless = false, .padded = true};

  static constexpr int in_byte = 8 / Bits;  ///< indices in a byte of metadata
  static constexpr unsigned mask = (1u << Bits) - 1;

  struct View {
    const std::uint8_t* indices = nullptr;

    KOKKOS_INLINE_FUNCTION Bounds pos_bounds(std::int64_t p) const { return {p * N, p * N + N}; }
    KOKKOS_INLINE_FUNCTION std::int64_t coord_at(std::int64_t q) const {
      if constexpr (Bits == 8)
        return indices[q];
      else
        return (static_cast<unsigned>(indices[q / in_byte]) >> (q % in_byte * Bits)) & mask;
    }
    /// Binary search among the N coordinates.
    KOKKOS_INLINE_FUNCTION Located locate(std::int64_t p, std::int64_t i) const {
      std::int64_t begin = p * N, end = p * N + N;
      while (begin < end) {
        const std::int64_t middle = begin + (end - begin) / 2;
        if (coord_at(middle) < i)
          begin = middle + 1;
        else
          end = middle;
      }
      return {begin, begin < p * N + N && coord_at(begin) == i};
    }
  };

  /// Bytes of metadata below `parents` windows.
  static std::int64_t index_bytes(std::int64_t parents) {
    return (checked_product(parents, N, "the positions of an N:M level") + in_byte - 1) / in_byte;
  }

  /// Writes the indices of a group of windows, which begins and ends at a byte.
  template <class SegmentsType>
  struct WriteGroup {
    static constexpr std::int64_t windows = 8;  ///< number of windows in a group

    SegmentsType segments;  // without arrays: every window is empty
    std::uint8_t* indices;
    std::int64_t parents;

    KOKKOS_FUNCTION void operator()(std::int64_t group) const {
      unsigned byte = 0;
      std::int64_t q = group * windows * N;
      for (std::int64_t p = group * windows; p < (group + 1) * windows && p < parents; ++p) {
        std::int64_t at = 0, end = 0;  // the entries that are left
        if (segments.positions.data() != nullptr) {
          at = segments.positions.data()[p];
          end = segments.positions.data()[p + 1];
        }
        // A coordinate is kept if it has an entry, or if the coordinates that have one leave room for it.
        std::int64_t room = N - (end - at);
        for (int i = 0; i < M && (at < end || room > 0); ++i) {
          const bool has_entry = at < end && segments.coordinates.data()[at] == i;
          if (!has_entry && room == 0) continue;
          has_entry ? ++at : --room;
          byte |= static_cast<unsigned>(i) << (q % in_byte * Bits);
          if (++q % in_byte == 0) {
            indices[q / in_byte - 1] = static_cast<std::uint8_t>(byte);
            byte = 0;
          }
        }
      }
      if (q % in_byte != 0) indices[q / in_byte] = static_cast<std::uint8_t>(byte);
    }
  };

  /// The first window with more than N entries.
  template <class SegmentsType>
  struct FindOverfull {
    SegmentsType segments;
    KOKKOS_FUNCTION void operator()(std::int64_t p, std::int64_t& first) const {
      const auto* const positions = segments.positions.data();
      if (positions[p + 1] - positions[p] > N && p < first) first = p;
    }
  };

  template <class MemorySpace>
  struct Storage {
    Array<std::uint8_t, MemorySpace> indices;

    View view() const { return {indices.data()}; }
    std::int64_t size(std::int64_t parents) const { return parents * N; }

    static Storage empty(std::int64_t parents, std::int64_t extent) {
      check_extent(extent);
      return made_of<typename MemorySpace::execution_space>(SegmentsOf<NofM, MemorySpace>{}, parents);
    }
    /// @throws FormatError if a window has more than N entries
    template <class Space>
    static Storage from_segments(const SegmentsOf<NofM, MemorySpace>& segments, std::int64_t parents,
                                 std::int64_t extent) {
      check_extent(extent);
      using Found = Kokkos::Min<std::int64_t>;
      std::int64_t first = parents;
      if (parents > 0)
        Kokkos::parallel_reduce("sporos::NofM",
                                Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, parents),
                                FindOverfull<SegmentsOf<NofM, MemorySpace>>{segments}, Found(first));
      if (first < parents)
        throw FormatError(text("window ", first, " of level ", name(), " has more than ", N, " of ", M,
                               " entries: choose those to keep with prune<...>(tensor)"));
      return made_of<Space>(segments, parents);
    }

    template <class Visitor>
    void for_each_array(Visitor&& visit) const {
      visit(Role::metadata, "indices", indices);
    }
    template <class OtherSpace>
    Storage<OtherSpace> copy_to() const {
      return {copy_array<OtherSpace>(indices)};
    }
    static std::int64_t most_bytes(std::int64_t parents, std::int64_t /*count*/, std::int64_t /*extent*/) {
      return index_bytes(parents);
    }
    static std::int64_t most_positions(std::int64_t parents, std::int64_t /*count*/,
                                       std::int64_t /*extent*/) {
      return checked_product(parents, N, "the positions of an N:M level");
    }

    static constexpr int array_count = 1;
    template <class Arrays>
    static Storage from_arrays(const Arrays& arrays, std::int64_t parents, std::int64_t /*extent*/) {
      return {arrays.template get<0, std::uint8_t>(index_bytes(parents))};
    }
    template <class First>
    std::string fault(std::int64_t parents, std::int64_t extent, const First&) const {
      if (extent != M) return text("it holds ", N, " of ", M, " coordinates, but its extent is ", extent);
      const auto held = static_cast<std::int64_t>(indices.extent(0));
      if (held == index_bytes(parents)) return "";
      return text("it has ", held, " bytes of indices, but ", parents, " windows take ",
                  index_bytes(parents));
    }

   private:
    template <class Space, class SegmentsType>
    static Storage made_of(const SegmentsType& segments, std::int64_t parents) {
      using Group = WriteGroup<SegmentsType>;
      const Storage out{make_array<std::uint8_t, MemorySpace>("sporos::NofM indices", index_bytes(parents))};
      const std::int64_t groups = (parents + Group::windows - 1) / Group::windows;
      Kokkos::parallel_for("sporos::NofM",
                           Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, groups),
                           Group{segments, out.indices.data(), parents});
      Kokkos::fence("sporos::NofM");
      return out;
    }
  };

  /// Throws RangeError unless the level has the extent of a window.
  static void check_extent(std::int64_t extent) {
    if (extent != M)
      throw RangeError(text("a level ", name(), " has the extent ", M, " of a window, not ", extent,
                            ": give it the dimension expression Remainder<d, ", M, ">"));
  }

  static std::string name() { return text(N, " of ", M, Bits == 8 ? "" : text(" in ", Bits, " bits")); }
};

namespace detail {

template <class L>
inline constexpr bool is_n_of_m = false;
template <int N, int M, int Bits>
inline constexpr bool is_n_of_m<NofM<N, M, Bits>> = true;

}  // namespace detail

}  // namespace sporos
