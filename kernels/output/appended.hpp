// SPDX-License-Identifier: Apache-2.0
/// @file appended.hpp
/// Results whose levels are written in ascending order: each chunk of the outermost loop appends to arrays of
/// its own, and the pieces are then joined.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../workspace/dense.hpp"
#include "../../workspace/grow_array.hpp"
#include "../loop_nest.hpp"

namespace sporos {

/// Whether values of a result are added up where they will be stored: in the dense blocks below the levels
/// that are appended. Elsewhere they come summed.
template <class Result>
inline constexpr bool adds_to_pieces =
    detail::appendable_levels<typename Result::format>() < Result::format::levels;

/// The piece of a result that one chunk of the outermost loop makes.
///
/// @tparam Value  the result's, or the type in which it is summed where the piece is added to
///
/// Positions are local to the piece; `ends` of a compressed level holds, for each local parent position,
/// where its coordinates end. Parents that were passed over are closed when the next one is.
template <class Result, class Value>
class AppendedPiece {
 public:
  using format = typename Result::format;
  static constexpr int levels = detail::appendable_levels<format>();
  static constexpr std::size_t last = static_cast<std::size_t>(levels - 1);

  template <int K>
  static constexpr bool full = format::template level<K>::properties.full;
  /// Levels from the first without uniqueness on repeat the coordinates: one each for every value.
  template <int K>
  static constexpr bool repeats = !full<K> && (!format::template level<K>::properties.unique ||
                                               format::template level<K>::properties.branchless);

  AppendedPiece(const Extents<format::order>& extents, const Bounds& outermost) : outermost_(outermost) {
    const auto level_extents = format::level_extents(extents);
    for (std::size_t k = 0; k < extents_.size(); ++k) extents_[k] = level_extents[k];
    for (std::size_t k = static_cast<std::size_t>(levels); k < extents_.size(); ++k) block_ *= extents_[k];
  }

  /// The loop over level K binds coordinate c.
  template <int K>
  void enter(std::int64_t c) {
    constexpr auto k = static_cast<std::size_t>(K);
    mark_[k] = values_.size();
    if constexpr (full<K>) {
      if constexpr (K == 0)
        position_[k] = c - outermost_.begin;
      else
        position_[k] = position_[k - 1] * extents_[k] + c;
    } else if constexpr (!repeats<K>) {
      position_[k] = coordinates<K>().size();
    }
    if constexpr (K == levels - 1 && has_block) {
      values_.extend(block_, Value{});
      written_ = false;
    }
  }

  /// The loop over level K is done with coordinate c: it is kept where something was appended below.
  template <int K>
  void leave(std::int64_t c) {
    constexpr auto k = static_cast<std::size_t>(K);
    if constexpr (K == levels - 1 && has_block) {
      if (written_)
        coordinates<K>().push(narrow_coordinate<K>(c));
      else
        values_.shrink_to(mark_[k]);
    }
    if constexpr (K < levels - 1) {
      if (values_.size() == mark_[k]) return;
      if constexpr (!full<K> && !repeats<K>) coordinates<K>().push(narrow_coordinate<K>(c));
      if constexpr (!repeats<K>) close<K + 1>(position_[k]);
    }
  }

  /// Appends a value below the last level.
  template <class Env>
  void push(const Env& env, std::int64_t c, const Value& value) {
    values_.push(value);
    push_repeated(env, std::make_index_sequence<last>{});
    coordinates<levels - 1>().push(narrow_coordinate<levels - 1>(c));
  }

  /// Adds to the dense block below the last appended level.
  void add_to_block(std::int64_t offset, const Value& value) {
    Value& at = values_[values_.size() - block_ + offset];
    at = plus(at, value);
    written_ = true;
  }

  /// Closes all parents; nothing is appended afterwards.
  void finish() { finish_from<0>(1); }

  template <int K>
  auto& coordinates() {
    return std::get<static_cast<std::size_t>(K)>(coordinates_);
  }
  template <int K>
  GrowArray<std::int64_t>& ends() {
    return ends_[static_cast<std::size_t>(K)];
  }
  GrowArray<Value>& values() { return values_; }
  /// The number of local positions of level K.
  std::int64_t positions(int k) const { return counts_[static_cast<std::size_t>(k)]; }

  static constexpr bool has_block = adds_to_pieces<Result>;

 private:
  template <std::size_t... K>
  static auto coordinate_arrays(std::index_sequence<K...>) {
    const auto array_of = []<int L>(std::integral_constant<int, L>) {
      if constexpr (full<L>)
        return std::tuple<>{};
      else
        return GrowArray<typename format::template level<L>::coordinate_type>{};
    };
    return std::tuple<decltype(array_of(std::integral_constant<int, static_cast<int>(K)>{}))...>{};
  }

  // Coordinates fit: the tensor's extents were checked against its coordinate types when it was made.
  template <int K>
  static auto narrow_coordinate(std::int64_t c) {
    return static_cast<typename format::template level<K>::coordinate_type>(c);
  }

  template <class Env, std::size_t... K>
  void push_repeated(const Env& env, std::index_sequence<K...>) {
    [[maybe_unused]] const auto push_level = [&]<int L>(std::integral_constant<int, L>) {
      if constexpr (repeats<L>) coordinates<L>().push(narrow_coordinate<L>(env.at[L]));
    };
    (push_level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
  }

  /// Ends the coordinates of level K below its parent's local position p, and those of all parents passed
  /// over.
  template <int K>
  void close(std::int64_t p) {
    if constexpr (!full<K> && !format::template level<K>::properties.branchless) {
      auto& ends = this->template ends<K>();
      const std::int64_t before = ends.size() ? ends[ends.size() - 1] : 0;
      if (p > ends.size()) ends.extend(p - ends.size(), before);
      ends.push(coordinates<K>().size());
    }
  }

  template <int K>
  void finish_from(std::int64_t parents) {
    if constexpr (K < levels) {
      if constexpr (full<K>) {
        counts_[static_cast<std::size_t>(K)] =
            K == 0 ? outermost_.size() : parents * extents_[static_cast<std::size_t>(K)];
      } else {
        counts_[static_cast<std::size_t>(K)] = coordinates<K>().size();
        if constexpr (!format::template level<K>::properties.branchless)
          if (ends<K>().size() < parents) close<K>(parents - 1);
      }
      finish_from<K + 1>(counts_[static_cast<std::size_t>(K)]);
    }
  }

  Bounds outermost_;
  std::array<std::int64_t, static_cast<std::size_t>(format::levels)> extents_{};
  std::array<std::int64_t, static_cast<std::size_t>(levels)> position_{};
  std::array<std::int64_t, static_cast<std::size_t>(levels)> mark_{};
  std::array<std::int64_t, static_cast<std::size_t>(levels)> counts_{};
  std::int64_t block_ = 1;
  bool written_ = false;
  decltype(coordinate_arrays(std::make_index_sequence<static_cast<std::size_t>(levels)>{})) coordinates_;
  std::array<GrowArray<std::int64_t>, static_cast<std::size_t>(levels)> ends_;
  GrowArray<Value> values_;
};

/// Adds into the dense workspace that gathers the innermost result variable.
template <class T, int Loop>
struct WorkspaceOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_located = true;
  static constexpr bool is_independent = false;  // neighbours share a word of the workspace's bitmap
  DenseWorkspace<T>* workspace;

  template <class Traits, int Depth, class Env>
  SPOROS_INLINE WorkspaceOutput bind(const Env&) const {
    return *this;
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    workspace->add(env.at[Loop], static_cast<T>(value));
  }
};

/// Appends to a piece of the result.
template <class Traits_, class Value, class Accumulate>
struct AppendedOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_located = false;
  static constexpr bool is_independent = false;
  using Piece = AppendedPiece<typename Traits_::result, Value>;
  using format = typename Piece::format;
  static constexpr auto level_names = Traits_::result::level_names;
  /// The depth of the loop over the innermost result variable.
  static constexpr int innermost = Traits_::order.find(level_names[level_names.size - 1]);

  Piece* piece;
  DenseWorkspace<Accumulate>* scatter;

  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    f(*this);
  }
  template <class Traits, int Depth, class Env>
  SPOROS_INLINE AppendedOutput bind(const Env& bound) const {
    if constexpr (Depth > 0 && Depth <= Traits::classification.prefix && Depth <= Piece::levels)
      piece->template enter<Depth - 1>(bound.at[Depth - 1]);
    return *this;
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t c) const {
    if constexpr (Depth < Traits_::classification.prefix && Depth < Piece::levels)
      piece->template leave<Depth>(c);
  }
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& bound) const {
    if constexpr (Piece::has_block)
      piece->add_to_block(
          block_offset(bound, std::make_index_sequence<static_cast<std::size_t>(format::levels)>{}),
          static_cast<Value>(value));
    else
      piece->push(bound, bound.at[innermost], static_cast<Value>(value));
  }

  WorkspaceOutput<Accumulate, innermost> workspace() const { return {scatter}; }
  template <class Workspace, class Env>
  void drain(const Workspace&, const Env& bound) const {
    scatter->drain(
        [&](std::int64_t c, const Accumulate& value) { piece->push(bound, c, static_cast<Value>(value)); });
  }

  std::array<std::int64_t, static_cast<std::size_t>(format::levels)> level_extents;

 private:
  template <class Env, std::size_t... K>
  std::int64_t block_offset(const Env& bound, std::index_sequence<K...>) const {
    std::int64_t offset = 0;
    ((offset =
          static_cast<int>(K) < Piece::levels
              ? 0
              : offset * level_extents[K] + bound.at[Traits_::order.find(level_names[static_cast<int>(K)])]),
     ...);
    return offset;
  }
};

/// Joins the pieces, in order, into the arrays of the result: offsets by a running sum, copies in parallel.
template <class Result, class PieceValue, class Space>
void join(const Result& result, std::vector<AppendedPiece<Result, PieceValue>>& pieces) {
  using Tensor = typename Result::tensor_type;
  using Value = typename Tensor::value_type;
  using Piece = AppendedPiece<Result, PieceValue>;
  using format = typename Piece::format;
  const auto count = static_cast<std::int64_t>(pieces.size());
  const auto each_piece = [&](const auto& body) {
    Kokkos::parallel_for("sporos::join",
                         Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>>(0, count), body);
  };
  const auto copy = []<class To>(const auto& from, To* to) {
    for (std::int64_t at = 0; at < from.size(); ++at) to[at] = static_cast<To>(from[at]);
  };
  const Extents<format::order> extents = result.tensor().extents();
  const auto level_extents = format::level_extents(extents);

  typename Tensor::level_storage levels;
  // Where each piece's positions of the level above begin; the root has one position that all share.
  std::vector<std::int64_t> parent_begin(pieces.size(), 0);
  std::int64_t parents = 1;
  const auto join_level = [&]<int K>(std::integral_constant<int, K>) {
    constexpr auto k = static_cast<std::size_t>(K);
    using L = typename format::template level<K>;
    auto& storage = std::get<k>(levels);
    if constexpr (K >= Piece::levels) {
      storage = std::tuple_element_t<k, typename Tensor::level_storage>::empty(1, level_extents[k]);
      parents *= level_extents[k];
    } else {
      std::vector<std::int64_t> begin(pieces.size());
      std::int64_t total = 0;
      for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        begin[piece] = total;
        total += pieces[piece].positions(K);
      }
      if constexpr (Piece::template full<K>) {
        storage = std::tuple_element_t<k, typename Tensor::level_storage>::empty(1, level_extents[k]);
      } else {
        storage.coordinates = make_array<typename L::coordinate_type>("sporos::coordinates", total);
        auto* coordinates = storage.coordinates.data();
        each_piece([&](std::int64_t piece) {
          const auto p = static_cast<std::size_t>(piece);
          copy(pieces[p].template coordinates<K>(), coordinates + begin[p]);
        });
        if constexpr (!L::properties.branchless) {
          using Position = typename L::position_type;
          narrow<Position>(total, "the number of stored coordinates of a level");
          storage.positions = make_array<Position>("sporos::positions", parents + 1);
          auto* positions = storage.positions.data();
          positions[0] = 0;
          if constexpr (K == 0)
            positions[1] = static_cast<Position>(total);
          else
            each_piece([&](std::int64_t piece) {
              const auto p = static_cast<std::size_t>(piece);
              const auto& ends = pieces[p].template ends<K>();
              for (std::int64_t at = 0; at < ends.size(); ++at)
                positions[parent_begin[p] + at + 1] = static_cast<Position>(begin[p] + ends[at]);
            });
        }
      }
      parent_begin = begin;
      parents = total;
    }
  };
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (join_level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(format::levels)>{});

  auto values = make_array<Value>("sporos::values", parents);
  std::vector<std::int64_t> begin(pieces.size());
  std::int64_t total = 0;
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    begin[piece] = total;
    total += pieces[piece].values().size();
  }
  ensure(total == parents, "the pieces of a result hold one value for each position of its last level");
  each_piece([&](std::int64_t piece) {
    const auto p = static_cast<std::size_t>(piece);
    copy(pieces[p].values(), values.data() + begin[p]);
  });
  result.tensor().replace(extents, std::move(levels), std::move(values));
}

}  // namespace sporos
