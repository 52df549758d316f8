// SPDX-License-Identifier: Apache-2.0
/// @file level_writer.hpp
/// Writes the levels of a tensor as segments, from keys in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../core/inline.hpp"
#include "keys.hpp"
#include "structure.hpp"

namespace sporos::detail {

/// Tells, from a key and the previous one, which levels begin a new position.
/// @tparam MayBeWide  see Packing
template <TensorFormat F, bool MayBeWide>
class Boundaries {
 public:
  using shape = Structure<F>;
  static constexpr int levels = F::levels;

  Boundaries(const Packing<F>& packing, bool keeps_duplicates) : packing_(packing), keep_(keeps_duplicates) {}

  /// The coordinate of level K.
  template <int K>
  SPOROS_HOST_INLINE std::int64_t coordinate(Key key) const {
    return packing_.template coordinate<K, MayBeWide>(key);
  }

  /// Whether a key begins a new position of level K, or, for K = levels, a new value.
  template <int K>
  SPOROS_HOST_INLINE bool begins(Key key, Key previous) const {
    if constexpr (levels == 0) {
      return key != previous;
    } else if constexpr (K == levels) {
      return keep_ || packing_.template differ<levels - 1, MayBeWide>(key, previous);
    } else {
      constexpr int depth = shape::depth[static_cast<std::size_t>(K)];
      if constexpr (depth == levels - 1 && shape::keeps_duplicates && !shape::full(K))
        if (keep_) return true;
      return packing_.template differ<depth, MayBeWide>(key, previous);
    }
  }

 private:
  Packing<F> packing_;
  bool keep_;
};

/// A full level: nothing is written for it, but its extent is needed to find positions.
struct UnwrittenLevel {
  std::int64_t extent = 0;
};

template <class L>
struct WrittenLevelOf {
  using type = SegmentsOf<L>;
};
template <class L>
  requires(L::properties.full)
struct WrittenLevelOf<L> {
  using type = UnwrittenLevel;
};
/// The arrays that a level is written to.
template <class L>
using WrittenLevel = typename WrittenLevelOf<L>::type;

/// Writes segments in ascending order of (parent, coordinate).
template <class SegmentsType>
struct SegmentAppender {
  typename SegmentsType::position_type* positions = nullptr;
  typename SegmentsType::coordinate_type* coordinates = nullptr;

  SegmentAppender() = default;
  explicit SegmentAppender(const SegmentsType& segments)
      : positions(segments.positions.data()), coordinates(segments.coordinates.data()) {}

  SPOROS_HOST_INLINE void append_coordinate(std::int64_t q, std::int64_t i) const {
    coordinates[q] = static_cast<typename SegmentsType::coordinate_type>(i);
  }
  SPOROS_HOST_INLINE void end_segment(std::int64_t p, std::int64_t end) const {
    positions[p + 1] = static_cast<typename SegmentsType::position_type>(end);
  }
};
template <>
struct SegmentAppender<UnwrittenLevel> : UnwrittenLevel {
  SegmentAppender() = default;
  explicit SegmentAppender(const UnwrittenLevel& level) : UnwrittenLevel(level) {}
};

template <class F, class Sequence>
struct WrittenLevelsOf;
template <class F, std::size_t... K>
struct WrittenLevelsOf<F, std::index_sequence<K...>> {
  using levels = std::tuple<WrittenLevel<typename F::template level<static_cast<int>(K)>>...>;
  using appenders =
      std::tuple<SegmentAppender<WrittenLevel<typename F::template level<static_cast<int>(K)>>>...>;
};
/// The arrays that the levels of F are written to.
template <class F>
using WrittenLevels =
    typename WrittenLevelsOf<F, std::make_index_sequence<static_cast<std::size_t>(F::levels)>>::levels;

/// Writes the levels from some position on. It holds copies of everything that it works with, so that
/// compilers keep them in registers while it writes.
template <TensorFormat F, bool MayBeWide>
class LevelWriter {
 public:
  using shape = Structure<F>;
  static constexpr int levels = F::levels;
  static constexpr auto level_count = static_cast<std::size_t>(levels);
  using sequence = std::make_index_sequence<level_count>;
  using counts_type = std::array<std::int64_t, level_count + 1>;

  /// @param written  the arrays that the levels are written to, with room
  /// @param next     the position that each segmented level appends at
  LevelWriter(const Boundaries<F, MayBeWide>& boundaries, const WrittenLevels<F>& written,
              const counts_type& next)
      : boundaries_(boundaries),
        appenders_([&]<std::size_t... K>(std::index_sequence<K...>) {
          return appenders_type(
              typename std::tuple_element<K, appenders_type>::type(std::get<K>(written))...);
        }(sequence{})),
        next_(next) {}

  /// Reopens the segments that the previous key left open.
  void resume(Key key) {
    std::int64_t p = 0;
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((p = resume_level<static_cast<int>(K)>(key, p)), ...);
    }(sequence{});
  }

  /// Writes the coordinates of a key and returns the position of its value.
  SPOROS_HOST_INLINE std::int64_t append(Key key, Key previous) { return append_from<0>(key, previous, 0); }

  /// Ends the last segments, and the empty ones of all later parents.
  /// @param parents  the number of parents of each level
  void close(const counts_type& parents) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (close_level<static_cast<int>(K)>(parents[K]), ...);
    }(sequence{});
  }

 private:
  using appenders_type = typename WrittenLevelsOf<F, sequence>::appenders;

  /// Whether several keys have the same position in level K. Only the first of them writes it, since another
  /// thread may handle the others.
  template <int K>
  static constexpr bool is_shared = [] {
    for (int k = K + 1; k < levels; ++k)
      if (!shape::branchless(k)) return true;
    return false;
  }();

  template <int K>
  std::int64_t resume_level(Key key, std::int64_t p) {
    constexpr auto k = static_cast<std::size_t>(K);
    if constexpr (shape::full(K)) return p * std::get<k>(appenders_).extent + coordinate<K>(key);
    if constexpr (shape::branchless(K)) return p;
    parent_[k] = p;
    return next_[k] - 1;
  }

  template <int K>
  SPOROS_HOST_INLINE std::int64_t append_from(Key key, Key previous, std::int64_t p) {
    if constexpr (K == levels) {
      return p;
    } else {
      constexpr auto k = static_cast<std::size_t>(K);
      auto& appender = std::get<k>(appenders_);
      const std::int64_t i = coordinate<K>(key);
      if constexpr (shape::full(K)) {
        return append_from<K + 1>(key, previous, p * appender.extent + i);
      } else if constexpr (shape::branchless(K)) {
        if (!is_shared<K> || boundaries_.template begins<K>(key, previous)) appender.append_coordinate(p, i);
        return append_from<K + 1>(key, previous, p);
      } else {
        if (boundaries_.template begins<K>(key, previous)) {
          if (p != parent_[k]) close_level<K>(p);
          appender.append_coordinate(next_[k]++, i);
        }
        return append_from<K + 1>(key, previous, next_[k] - 1);
      }
    }
  }

  /// Ends the open segment of level K, and the empty segments of the parents up to p.
  template <int K>
  SPOROS_HOST_INLINE void close_level(std::int64_t p) {
    if constexpr (shape::segmented(K)) {
      constexpr auto k = static_cast<std::size_t>(K);
      const std::int64_t end = next_[k];
      for (std::int64_t parent = parent_[k]; parent < p; ++parent)
        std::get<k>(appenders_).end_segment(parent, end);
      parent_[k] = p;
    }
  }

  template <int K>
  SPOROS_HOST_INLINE std::int64_t coordinate(Key key) const {
    return boundaries_.template coordinate<K>(key);
  }

  Boundaries<F, MayBeWide> boundaries_;
  appenders_type appenders_;
  counts_type next_;
  counts_type parent_{};
};

}  // namespace sporos::detail
