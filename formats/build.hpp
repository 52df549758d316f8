// SPDX-License-Identifier: Apache-2.0
/// @file build.hpp
/// Builds the levels of any format from entries in the order of its levels: counts positions, then writes
/// them, in parallel.
#pragma once

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
#include "keys.hpp"
#include "level_writer.hpp"
#include "structure.hpp"

namespace sporos {

namespace detail {

/// Builds a tensor of format F from a source of entries in the order of its levels.
///
/// A source has size(); key(e) for random access; visit(begin, end, visitor(key, value)) in order. It may
/// have values(), all values in order: where the tensor stores exactly these, it takes the array over.
template <HostSpace Space, TensorFormat F, class Source, int Words, TensorValue Value>
class Builder {
 public:
  using shape = Structure<F>;
  using packing_type = Packing<F, Words>;
  using key_type = Key<Words>;
  using tensor_type = Tensor<Value, F, Space>;
  static constexpr int levels = F::levels;
  static constexpr auto level_count = static_cast<std::size_t>(levels);
  static constexpr bool has_values = requires(const Source& source) { source.values(); };

  /// @param unique  whether each coordinate is known to occur once
  Builder(const Space& space, const Source& source, const packing_type& packing,
          const Extents<F::order>& extents, Duplicates duplicates, bool unique = false)
      : space_(space),
        source_(source),
        packing_(packing),
        extents_(extents),
        duplicates_(duplicates),
        unique_(unique) {}

  tensor_type build() {
    if (source_.size() == 0) return tensor_type(extents_);
    cut();
    if (!counts_are_known()) {
      for_each_chunk(space_, static_cast<std::int64_t>(pieces_.size()),
                     [&](std::int64_t piece) { count(pieces_[static_cast<std::size_t>(piece)]); });
      sum_counts();
    }
    reserve(std::make_index_sequence<level_count>{});
    for_each_chunk(space_, static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t at) {
      const Piece& piece = pieces_[static_cast<std::size_t>(at)];
      if constexpr (Words == 1)
        if (!found_duplicates_) return fill(piece);
      fill_merging(piece);  // handles every case; fill is the faster special case
    });
    return tensor_type(extents_, finish(), std::move(values_));
  }

 private:
  using counts_type = std::array<std::int64_t, level_count + 1>;
  using level_storage = typename tensor_type::level_storage;

  /// A part of the entries. It begins with a coordinate that differs from the last one of the part before.
  struct Piece {
    std::int64_t begin = 0, end = 0;
    /// Number of positions of each level, or of tuples of levels 0 to k where the level has none of its own;
    /// [levels] counts values. First those of this piece, then the sum over all pieces before it.
    counts_type counts{};
    std::int64_t duplicates = 0;
  };

  void cut() {
    const std::int64_t pieces = chunks_for(space_, source_.size(), 4);
    std::int64_t begin = 0;
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      std::int64_t end = chunk_bounds(source_.size(), piece, pieces).second;
      if (end <= begin) continue;
      if (duplicates_ != Duplicates::keep && !unique_)
        while (end < source_.size() && source_.key(end) == source_.key(end - 1)) ++end;
      pieces_.push_back({});
      pieces_.back().begin = begin;
      pieces_.back().end = begin = end;
    }
  }

  key_type before(std::int64_t e) const { return e == 0 ? source_.key(0).opposite() : source_.key(e - 1); }

  Boundaries<F, Words> boundaries() const { return {packing_, duplicates_ == Duplicates::keep}; }

  /// Whether every entry has a position of its own in each level that stores coordinates: then the counts are
  /// known where no coordinate occurs twice.
  static constexpr bool each_has_positions = [] {
    for (int k = 0; k < levels; ++k)
      if (!shape::full(k) && shape::depth[static_cast<std::size_t>(k)] != levels - 1) return false;
    return levels > 0;
  }();

  /// Whether the counts are known without counting; if so, fills them in.
  bool counts_are_known() {
    if constexpr (each_has_positions && !has_values)
      if (unique_) {
        for (auto& piece : pieces_) piece.counts.fill(piece.begin);
        totals_.fill(source_.size());
        return true;
      }
    return false;
  }

  void count(Piece& piece) const {
    counts_type counts{};
    const auto ends = boundaries();
    key_type previous = before(piece.begin);
    source_.visit(piece.begin, piece.end, [&](const key_type& key, const auto&) {
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        ((counts[K] += ends.template begins<static_cast<int>(K)>(key, previous)), ...);
      }(std::make_index_sequence<level_count>{});
      counts[level_count] += ends.template begins<levels>(key, previous);
      previous = key;
    });
    piece.counts = counts;
    piece.duplicates = piece.end - piece.begin - counts[level_count];
  }

  /// Turns the counts of the pieces into where each begins.
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
    while (source_.key(e) != source_.key(e - 1)) ++e;
    std::int64_t end = e + 1;
    while (end < source_.size() && source_.key(end) == source_.key(e)) ++end;
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
    if constexpr (has_values && !shape::padded)
      if (!found_duplicates_) {
        values_ = source_.values();
        return;
      }
    values_ = shape::padded ? zeroed_array<Value>("sporos::Tensor values", positions)
                            : make_array<Value>("sporos::Tensor values", positions);
  }

  template <int K>
  std::int64_t reserve_level(std::int64_t parents, std::int64_t extent) {
    constexpr auto k = static_cast<std::size_t>(K);
    using Level = typename F::template level<K>;
    auto& written = std::get<k>(written_);
    parents_[k] = parents;
    if constexpr (shape::full(K)) {
      written.extent = extent;
      return std::tuple_element_t<k, level_storage>::empty(parents, extent).size(parents);
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

  /// The levels, made from their segments.
  level_storage finish() {
    [[maybe_unused]] const auto level_extents = F::level_extents(extents_);
    level_storage levels;
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((std::get<K>(levels) = finish_level<static_cast<int>(K)>(level_extents[K])), ...);
    }(std::make_index_sequence<level_count>{});
    return levels;
  }
  template <int K>
  auto finish_level(std::int64_t extent) {
    constexpr auto k = static_cast<std::size_t>(K);
    using Storage = std::tuple_element_t<k, level_storage>;
    if constexpr (shape::full(K))
      return Storage::empty(parents_[k], extent);
    else
      return Storage::template from_segments<Space>(std::move(std::get<k>(written_)), parents_[k], extent);
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

  LevelWriter<F, Words> writer_of(const Piece& piece, const key_type& previous) const {
    LevelWriter<F, Words> writer(boundaries(), written_, piece.counts);
    if (piece.begin > 0) writer.resume(previous);
    return writer;
  }

  /// Writes the levels, and the values unless their array is taken over.
  void fill(const Piece& piece) {
    key_type previous = before(piece.begin);
    auto writer = writer_of(piece, previous);
    Value* const values = values_.data();
    source_.visit(piece.begin, piece.end, [&](const key_type& key, const auto& value) {
      const std::int64_t at = writer.append(key, previous);
      if constexpr (!has_values || shape::padded) values[at] = static_cast<Value>(value);
      previous = key;
    });
    if (piece.end == source_.size()) writer.close(parents_);
  }

  /// Writes the levels, and one value for each run of entries with the same coordinate.
  void fill_merging(const Piece& piece) {
    const auto ends = boundaries();
    key_type previous = before(piece.begin);
    auto writer = writer_of(piece, previous);
    Value* const values = values_.data();
    Accumulator<Value> run;
    std::int64_t at = -1;
    source_.visit(piece.begin, piece.end, [&](const key_type& key, const auto& value) {
      if (ends.template begins<levels>(key, previous)) {
        if (at >= 0) values[at] = run.value();
        at = writer.append(key, previous);
        run.start(static_cast<Value>(value));
      } else {
        run.add(static_cast<Value>(value), duplicates_);
      }
      previous = key;
    });
    values[at] = run.value();
    if (piece.end == source_.size()) writer.close(parents_);
  }

  const Space& space_;
  const Source& source_;
  const packing_type& packing_;
  Extents<F::order> extents_;
  Duplicates duplicates_;
  bool unique_;
  std::vector<Piece> pieces_;
  counts_type totals_{};
  bool found_duplicates_ = false;
  counts_type parents_{};
  WrittenLevels<F> written_;
  Array<Value> values_;
};

}  // namespace detail
}  // namespace sporos
