// SPDX-License-Identifier: Apache-2.0
/// @file build.hpp
/// Builds the levels of any format from entries in the order of its levels: counts positions, then writes
/// them, in parallel.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "../core/value.hpp"
#include "chunks.hpp"
#include "duplicates.hpp"
#include "format_name.hpp"
#include "keyed_entries.hpp"
#include "keys.hpp"
#include "level_writer.hpp"
#include "structure.hpp"

namespace sporos {

namespace detail {

/// Builds the levels and values of a tensor of format F from entries in the order of its levels. If the
/// tensor stores exactly the values of the entries, it may take over their array.
/// @tparam Source  KeyedEntries, or a type with the same members but without virtual functions
template <TensorFormat F, TensorValue Value, class Source = KeyedEntries<Value>>
class Builder {
 public:
  using shape = Structure<F>;
  static constexpr int levels = F::levels;
  static constexpr auto level_count = static_cast<std::size_t>(levels);
  static constexpr bool lends_values = requires(const Source& source) { source.values(); };

  /// @param unique  whether each coordinate is known to occur once
  Builder(const HostThreads& threads, const Source& source, const Packing<F>& packing,
          const Extents<F::order>& extents, Duplicates duplicates, bool unique = false)
      : threads_(threads),
        source_(source),
        packing_(packing),
        extents_(extents),
        duplicates_(duplicates),
        unique_(unique) {}

  template <HostSpace Space>
  Tensor<Value, F, Space> build() {
    if (source_.size() == 0) return Tensor<Value, F, Space>(extents_);
    write();
    auto made = levels_of<Space>();  // before the values are used, which it may move
    return Tensor<Value, F, Space>(extents_, std::move(made), std::move(values_));
  }

 private:
  using counts_type = std::array<std::int64_t, level_count + 1>;

  /// A part of the entries. Its first coordinate differs from the last one of the previous part.
  struct Piece {
    std::int64_t begin = 0, end = 0;
    /// The number of positions of each level (of tuples of levels 0 to k, if level k has none of its own);
    /// [levels] counts values. At first for this piece alone, later summed over all pieces before it.
    counts_type counts{};
    std::int64_t duplicates = 0;
  };

  /// Writes the segments of the levels, and the values.
  void write() {
    cut();
    if (!counts_are_known()) {
      for_each_chunk(threads_, static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t at) {
        Piece& piece = pieces_[static_cast<std::size_t>(at)];
        packing_.is_wide() ? count<true>(piece) : count<false>(piece);
      });
      sum_counts();
    }
    reserve(std::make_index_sequence<level_count>{});
    for_each_chunk(threads_, static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t at) {
      const Piece& piece = pieces_[static_cast<std::size_t>(at)];
      if (packing_.is_wide())
        fill_merging<true>(piece);
      else if (found_duplicates_)
        fill_merging<false>(piece);
      else
        fill(piece);
    });
  }

  void cut() {
    const std::int64_t pieces = chunks_for(threads_, source_.size(), 4);
    std::int64_t begin = 0;
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      std::int64_t end = chunk_bounds(source_.size(), piece, pieces).second;
      if (end <= begin) continue;
      if (duplicates_ != Duplicates::keep && !unique_)
        while (end < source_.size() && repeats(end)) ++end;
      pieces_.push_back({});
      pieces_.back().begin = begin;
      pieces_.back().end = begin = end;
    }
  }

  Key before(std::int64_t e) const { return e == 0 ? no_key : source_.key(e - 1); }

  /// Whether entry e has the same coordinate as the previous one.
  bool repeats(std::int64_t e) const {
    return !Boundaries<F, true>(packing_, false).template begins<levels>(source_.key(e), source_.key(e - 1));
  }

  template <bool MayBeWide>
  Boundaries<F, MayBeWide> boundaries() const {
    return {packing_, duplicates_ == Duplicates::keep};
  }

  /// Whether every entry has its own position in each level that stores coordinates. The counts are then
  /// known if no coordinate occurs twice.
  static constexpr bool each_has_positions = [] {
    for (int k = 0; k < levels; ++k)
      if (!shape::full(k) && shape::depth[static_cast<std::size_t>(k)] != levels - 1) return false;
    return levels > 0;
  }();

  /// Whether the counts are known without counting; if so, fills them in.
  bool counts_are_known() {
    if constexpr (each_has_positions)
      if (unique_) {
        for (auto& piece : pieces_) piece.counts.fill(piece.begin);
        totals_.fill(source_.size());
        return true;
      }
    return false;
  }

  template <bool MayBeWide>
  void count(Piece& piece) const {
    counts_type counts{};
    const auto ends = boundaries<MayBeWide>();
    Key previous = before(piece.begin);
    source_.visit(piece.begin, piece.end, [&](Key key, const Value&) {
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        ((counts[K] += ends.template begins<static_cast<int>(K)>(key, previous)), ...);
      }(std::make_index_sequence<level_count>{});
      counts[level_count] += ends.template begins<levels>(key, previous);
      previous = key;
    });
    piece.counts = counts;
    piece.duplicates = piece.end - piece.begin - counts[level_count];
  }

  /// Turns the counts of the pieces into the positions at which they begin.
  void sum_counts() {
    std::int64_t duplicates = 0;
    for (auto& piece : pieces_) {
      for (std::size_t k = 0; k <= level_count; ++k) totals_[k] += std::exchange(piece.counts[k], totals_[k]);
      duplicates += piece.duplicates;
    }
    found_duplicates_ = duplicates > 0;
    if (!found_duplicates_) return;
    if (duplicates_ == Duplicates::error) refuse_duplicate();
    if constexpr (!has_order<Value>)
      if (duplicates_ == Duplicates::max)
        throw FormatError(
            text(value_name<Value>(),
                 " values have no order, so that none of several at one coordinate is the largest: "
                 "choose Duplicates::sum, last or error"));
  }

  [[noreturn]] void refuse_duplicate() const {
    std::int64_t e = 1;
    while (!repeats(e)) ++e;
    std::int64_t end = e + 1;
    while (end < source_.size() && repeats(end)) ++end;
    throw FormatError(text("coordinate ", coordinate_text(packing_.unpack(source_.key(e))), " stands ",
                           end - e + 1,
                           " times in the entries, and duplicates are refused: choose "
                           "Duplicates::sum, last or max where they are meant"));
  }

  template <std::size_t... K>
  void reserve(std::index_sequence<K...>) {
    [[maybe_unused]] const auto level_extents = F::level_extents(extents_);
    std::int64_t positions = 1;
    ((positions = reserve_level<static_cast<int>(K)>(positions, level_extents[K])), ...);
    if constexpr (lends_values && !shape::padded)
      if (const auto* values = source_.values(); values && !found_duplicates_) {
        values_ = *values;
        takes_values_ = true;
        return;
      }
    values_ = shape::padded ? zeroed_array<Value>("sporos::Tensor values", positions)
                            : make_array<Value>("sporos::Tensor values", positions);
  }

  template <int K>
  std::int64_t reserve_level(std::int64_t parents, std::int64_t extent) {
    constexpr auto k = static_cast<std::size_t>(K);
    using Level = typename F::template level<K>;
    using Storage = typename Level::template Storage<Kokkos::HostSpace>;
    auto& written = std::get<k>(written_);
    parents_[k] = parents;
    if constexpr (shape::full(K)) {
      written.extent = extent;
      return Storage::empty(parents, extent).size(parents);
    } else {
      Level::check_extent(extent);
      if constexpr (shape::branchless(K)) {
        expect_one_below_each<K>(parents);
        written = SegmentsOf<Level>::with_room_for_branchless(parents);
      } else {
        written = SegmentsOf<Level>::with_room(parents, totals_[k]);
      }
      return totals_[k];
    }
  }

  /// The levels, built from their segments.
  template <HostSpace Space>
  auto levels_of() {
    [[maybe_unused]] const auto level_extents = F::level_extents(extents_);
    typename Tensor<Value, F, Space>::level_storage made;
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((std::get<K>(made) = level_of<static_cast<int>(K), Space>(level_extents[K])), ...);
    }(std::make_index_sequence<level_count>{});
    return made;
  }
  template <int K, HostSpace Space>
  auto level_of(std::int64_t extent) {
    constexpr auto k = static_cast<std::size_t>(K);
    using Storage = std::tuple_element_t<k, typename Tensor<Value, F, Space>::level_storage>;
    if constexpr (shape::full(K)) {
      return Storage::empty(parents_[k], extent);
    } else if constexpr (F::properties[k].padded) {
      const auto& written = std::get<k>(written_);
      auto level = Storage::template from_segments<Space>(written, parents_[k], extent);
      move_values(written, parents_[k], level);
      return level;
    } else {
      return Storage::template from_segments<Space>(std::move(std::get<k>(written_)), parents_[k], extent);
    }
  }
  /// Moves the values below each coordinate of some segments to the position of that coordinate in a padded
  /// level.
  template <class SegmentsType, class Storage>
  void move_values(const SegmentsType& segments, std::int64_t parents, const Storage& level) {
    const auto count = static_cast<std::int64_t>(segments.coordinates.extent(0));
    const std::int64_t below = static_cast<std::int64_t>(values_.extent(0)) / count;  // of a coordinate
    const auto moved = zeroed_array<Value>(
        "sporos::Tensor values", checked_product(level.size(parents), below, "the values of a padded level"));
    for_each_chunk(threads_, chunks_for(threads_, parents), [&](std::int64_t chunk) {
      const auto [begin, end] = chunk_bounds(parents, chunk, chunks_for(threads_, parents));
      const auto view = level.view();
      const auto* const positions = segments.positions.data();
      for (std::int64_t p = begin; p < end; ++p)
        for (auto from = positions[p]; from < positions[p + 1]; ++from) {
          const std::int64_t to = view.locate(p, segments.coordinates.data()[from]).position;
          std::copy_n(values_.data() + from * below, below, moved.data() + to * below);
        }
    });
    values_ = moved;
  }

  /// Throws FormatError unless the entries have exactly one coordinate below each parent of a branchless
  /// level.
  template <int K>
  void expect_one_below_each(std::int64_t parents) const {
    constexpr auto k = static_cast<std::size_t>(K);
    const std::int64_t touched = K == 0 ? 1 : totals_[K == 0 ? 0 : k - 1];
    if (totals_[k] == parents && touched == parents) return;
    throw FormatError(text("level ", K, " of format ", format_name<F>(),
                           " holds exactly one coordinate below each of its ", parents,
                           " parents; the entries have ", totals_[k], " coordinates below ", touched,
                           " of them: make the level Compressed"));
  }

  template <bool MayBeWide>
  LevelWriter<F, MayBeWide> writer_of(const Piece& piece, Key previous) const {
    LevelWriter<F, MayBeWide> writer(boundaries<MayBeWide>(), written_, piece.counts);
    if (piece.begin > 0) writer.resume(previous);
    return writer;
  }

  /// Writes the levels, and the values unless their array is taken over, if no coordinate occurs twice.
  void fill(const Piece& piece) {
    Key previous = before(piece.begin);
    auto writer = writer_of<false>(piece, previous);
    Value* const values = values_.data();
    source_.visit(piece.begin, piece.end, [&, takes_values = takes_values_](Key key, const Value& value) {
      const std::int64_t at = writer.append(key, previous);
      if (!lends_values || !takes_values) values[at] = value;
      previous = key;
    });
    if (piece.end == source_.size()) writer.close(parents_);
  }

  /// Writes the levels, and one value for each run of entries with the same coordinate.
  template <bool MayBeWide>
  void fill_merging(const Piece& piece) {
    const auto ends = boundaries<MayBeWide>();
    Key previous = before(piece.begin);
    auto writer = writer_of<MayBeWide>(piece, previous);
    Value* const values = values_.data();
    Accumulator<Value> run;
    std::int64_t at = -1;
    source_.visit(piece.begin, piece.end, [&](Key key, const Value& value) {
      if (ends.template begins<levels>(key, previous)) {
        if (at >= 0) values[at] = run.value();
        at = writer.append(key, previous);
        run.start(value);
      } else {
        run.add(value, duplicates_);
      }
      previous = key;
    });
    values[at] = run.value();
    if (piece.end == source_.size()) writer.close(parents_);
  }

  HostThreads threads_;
  const Source& source_;
  const Packing<F>& packing_;
  Extents<F::order> extents_;
  Duplicates duplicates_;
  bool unique_;
  std::vector<Piece> pieces_;
  counts_type totals_{};
  bool found_duplicates_ = false;
  bool takes_values_ = false;
  counts_type parents_{};
  WrittenLevels<F> written_;
  Array<Value> values_;
};

}  // namespace detail
}  // namespace sporos
