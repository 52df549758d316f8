// SPDX-License-Identifier: Apache-2.0
/// @file build.hpp
/// The levels of any format from entries in the order of its levels: count positions, then write them, in
/// parallel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "../core/value.hpp"
#include "chunks.hpp"
#include "keys.hpp"
#include "structure.hpp"

namespace sporos {

/// What `assemble` does with entries of equal coordinates.
enum class Duplicates {
  sum,    ///< adds the values, in the order of the entries; `or` for bool
  last,   ///< the last entry wins
  max,    ///< the largest value wins
  error,  ///< FormatError
  keep    ///< each stays, in the order of the entries: for formats that are not unique
};

/// sum, or keep where the format admits that.
template <TensorFormat F>
inline constexpr Duplicates default_duplicates =
    detail::Structure<F>::keeps_duplicates ? Duplicates::keep : Duplicates::sum;

namespace detail {

/// Whether values can be compared: complex ones cannot.
template <class Value>
inline constexpr bool has_order = !is_complex_v<Value>;

/// The value of a run of entries of equal coordinates.
template <class Value>
class Accumulator {
 public:
  using sum_type = accumulate_t<Value>;

  void start(Value value) { sum_ = static_cast<sum_type>(value); }
  void add(Value value, Duplicates duplicates) {
    const auto x = static_cast<sum_type>(value);
    if (duplicates == Duplicates::sum) {
      sum_ = plus(sum_, x);
    } else if (duplicates == Duplicates::last) {
      sum_ = x;
    } else if constexpr (has_order<Value>) {
      if (sum_ < x) sum_ = x;
    }
  }
  Value value() const { return static_cast<Value>(sum_); }

 private:
  sum_type sum_{};
};

/// Builds a tensor of format F from a source of entries in the order of its levels.
///
/// A source has size(); key(e) for random access; visit(begin, end, visitor(key, value)) in order.
template <HostSpace Space, TensorFormat F, class Source, int Words, TensorValue Value>
class Builder {
 public:
  using shape = Structure<F>;
  using packing_type = Packing<F, Words>;
  using key_type = Key<Words>;
  using tensor_type = Tensor<Value, F, Space>;
  static constexpr int levels = F::levels;
  static constexpr auto level_count = static_cast<std::size_t>(levels);

  Builder(const Source& source, const packing_type& packing, const Extents<F::order>& extents,
          Duplicates duplicates)
      : source_(source), packing_(packing), extents_(extents), duplicates_(duplicates) {}

  tensor_type build() {
    if (source_.size() == 0) return tensor_type(extents_);
    cut();
    for_each_chunk<Space>(static_cast<int>(pieces_.size()),
                          [&](int piece) { count(pieces_[static_cast<std::size_t>(piece)]); });
    sum_counts();
    reserve(std::make_index_sequence<level_count>{});
    for_each_chunk<Space>(static_cast<int>(pieces_.size()),
                          [&](int piece) { fill(pieces_[static_cast<std::size_t>(piece)]); });
    return tensor_type(extents_, std::move(levels_), std::move(values_));
  }

 private:
  using counts_type = std::array<std::int64_t, level_count + 1>;

  /// A part of the entries that begins with a coordinate of its own.
  struct Piece {
    std::int64_t begin = 0, end = 0;
    /// Positions of each segmented level, tuples of levels 0 to k for the others; [levels] has the values.
    /// First of this piece, then of all pieces in front of it.
    counts_type counts{};
    counts_type segment{};  ///< where the segment begins that is open at the piece's end, then begin; or -1
    std::int64_t duplicates = 0;
  };

  void cut() {
    const int pieces = chunks_for<Space>(source_.size(), 4);
    std::int64_t begin = 0;
    for (int piece = 0; piece < pieces; ++piece) {
      std::int64_t end = chunk_bounds(source_.size(), piece, pieces).second;
      if (end <= begin) continue;
      if (duplicates_ != Duplicates::keep)
        while (end < source_.size() && source_.key(end) == source_.key(end - 1)) ++end;
      pieces_.push_back({});
      pieces_.back().begin = begin;
      pieces_.back().end = begin = end;
    }
  }

  /// Whether an entry begins a new position of level K. (K = levels: a new value.)
  template <int K>
  bool begins(const key_type& key, const key_type& previous) const {
    if constexpr (levels == 0) {
      return key.word[0] != previous.word[0];
    } else if constexpr (K == levels) {
      return duplicates_ == Duplicates::keep || packing_.template differ<levels - 1>(key, previous);
    } else {
      constexpr int depth = shape::depth[static_cast<std::size_t>(K)];
      if constexpr (depth == levels - 1 && shape::keeps_duplicates && !shape::full(K))
        if (duplicates_ == Duplicates::keep) return true;
      return packing_.template differ<depth>(key, previous);
    }
  }

  key_type before(std::int64_t e) const { return e == 0 ? source_.key(0).opposite() : source_.key(e - 1); }

  void count(Piece& piece) const {
    counts_type counts{};
    counts_type segment;
    segment.fill(-1);
    key_type previous = before(piece.begin);
    source_.visit(piece.begin, piece.end, [&](const key_type& key, const auto&) {
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        (count_level<static_cast<int>(K)>(key, previous, counts, segment), ...);
      }
      (std::make_index_sequence<level_count>{});
      counts[level_count] += begins<levels>(key, previous);
      previous = key;
    });
    piece.counts = counts;
    piece.segment = segment;
    piece.duplicates = piece.end - piece.begin - counts[level_count];
  }

  template <int K>
  void count_level(const key_type& key, const key_type& previous, counts_type& counts,
                   counts_type& segment) const {
    constexpr auto k = static_cast<std::size_t>(K);
    if constexpr (shape::segmented(K) && K > 0)
      if (begins<K - 1>(key, previous)) segment[k] = counts[k];
    counts[k] += begins<K>(key, previous);
  }

  /// From the counts of the pieces to where each begins.
  void sum_counts() {
    counts_type open{};
    std::int64_t duplicates = 0;
    for (auto& piece : pieces_) {
      for (std::size_t k = 0; k <= level_count; ++k) {
        const std::int64_t begin = totals_[k];
        totals_[k] += std::exchange(piece.counts[k], begin);
        const std::int64_t opened = piece.segment[k];
        piece.segment[k] = open[k];
        if (opened >= 0) open[k] = begin + opened;
      }
      duplicates += piece.duplicates;
    }
    if (duplicates == 0) return;
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
    values_ = shape::padded ? zeroed_array<Value>("sporos::Tensor values", positions)
                            : make_array<Value>("sporos::Tensor values", positions);
  }

  template <int K>
  std::int64_t reserve_level(std::int64_t parents, std::int64_t extent) {
    constexpr auto k = static_cast<std::size_t>(K);
    auto& storage = std::get<k>(levels_);
    using storage_type = std::remove_reference_t<decltype(storage)>;
    std::int64_t positions = totals_[k];
    if constexpr (shape::full(K)) {
      storage = storage_type::with_room(parents, 0, extent);
      positions = storage.size(parents);
    } else {
      if constexpr (shape::branchless(K)) expect_one_below_each<K>(parents);
      storage = storage_type::with_room(parents, positions, extent);
    }
    parents_[k] = parents;
    return positions;
  }

  /// A branchless level holds one coordinate below each parent: throws FormatError where there are more or
  /// none.
  template <int K>
  void expect_one_below_each(std::int64_t parents) const {
    constexpr auto k = static_cast<std::size_t>(K);
    const std::int64_t touched = K == 0 ? 1 : totals_[K == 0 ? 0 : k - 1];
    if (totals_[k] == parents && touched == parents) return;
    throw FormatError(text("level ", K, " of format ", F::str(),
                           " holds exactly one coordinate below each of its ", parents,
                           " parents; the entries have ", totals_[k], " coordinates below ", touched,
                           " of them: make the level Compressed"));
  }

  struct State {
    counts_type next;      ///< the position that a segmented level appends at
    counts_type parent{};  ///< the parent whose segment is open
    counts_type segment;   ///< where that segment begins
  };

  void fill(const Piece& piece) {
    State state{.next = piece.counts, .segment = piece.segment};
    key_type previous = before(piece.begin);
    if (piece.begin > 0) resume(state, previous, std::make_index_sequence<level_count>{});
    Accumulator<Value> run;
    std::int64_t at = -1;
    source_.visit(piece.begin, piece.end, [&](const key_type& key, const auto& value) {
      if (begins<levels>(key, previous)) {
        if (at >= 0) values_.data()[at] = run.value();
        at = append(state, key, previous, std::make_index_sequence<level_count>{});
        run.start(static_cast<Value>(value));
      } else {
        run.add(static_cast<Value>(value), duplicates_);
      }
      previous = key;
    });
    values_.data()[at] = run.value();
    if (piece.end == source_.size()) close(state, std::make_index_sequence<level_count>{});
  }

  /// The parents whose segments are open in front of a piece: those of the entry before it.
  template <std::size_t... K>
  void resume(State& state, const key_type& key, std::index_sequence<K...>) const {
    [[maybe_unused]] std::int64_t p = 0;
    ((p = resume_level<static_cast<int>(K)>(state, key, p)), ...);
  }
  template <int K>
  std::int64_t resume_level(State& state, const key_type& key, std::int64_t p) const {
    constexpr auto k = static_cast<std::size_t>(K);
    if constexpr (shape::full(K))
      return std::get<k>(levels_).view().insert(p, packing_.template coordinate<K>(key));
    if constexpr (shape::branchless(K)) return p;
    state.parent[k] = p;
    return state.next[k] - 1;
  }

  /// Writes the coordinates of an entry and returns the position of its value.
  template <std::size_t... K>
  std::int64_t append(State& state, const key_type& key, const key_type& previous,
                      std::index_sequence<K...>) const {
    std::int64_t p = 0;
    ((p = append_level<static_cast<int>(K)>(state, key, previous, p)), ...);
    return p;
  }
  template <int K>
  std::int64_t append_level(State& state, const key_type& key, const key_type& previous,
                            std::int64_t p) const {
    constexpr auto k = static_cast<std::size_t>(K);
    const auto& storage = std::get<k>(levels_);
    const std::int64_t i = packing_.template coordinate<K>(key);
    if constexpr (shape::full(K)) {
      return storage.view().insert(p, i);
    } else if constexpr (shape::branchless(K)) {
      storage.appender().append_coord(p, i);
      return p;
    } else {
      if (begins<K>(key, previous)) {
        if (p != state.parent[k]) close_level<K>(state, p);
        storage.appender().append_coord(state.next[k]++, i);
      }
      return state.next[k] - 1;
    }
  }

  /// Ends the open segment and those, empty, of the parents up to p.
  template <int K>
  void close_level(State& state, std::int64_t p) const {
    constexpr auto k = static_cast<std::size_t>(K);
    if constexpr (shape::segmented(K)) {
      const auto appender = std::get<k>(levels_).appender();
      const std::int64_t end = state.next[k];
      for (std::int64_t parent = state.parent[k]; parent < p; ++parent)
        appender.append_bounds(parent, std::exchange(state.segment[k], end), end);
      state.parent[k] = p;
    }
  }
  template <std::size_t... K>
  void close(State& state, std::index_sequence<K...>) const {
    (close_level<static_cast<int>(K)>(state, parents_[K]), ...);
  }

  const Source& source_;
  const packing_type& packing_;
  Extents<F::order> extents_;
  Duplicates duplicates_;
  std::vector<Piece> pieces_;
  counts_type totals_{};
  counts_type parents_{};
  typename tensor_type::level_storage levels_;
  Array<Value> values_;
};

}  // namespace detail
}  // namespace sporos
