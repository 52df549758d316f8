// SPDX-License-Identifier: Apache-2.0
/// @file piece.hpp
/// The piece of an appended result that one chunk of the outermost loop makes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/inline.hpp"
#include "../../core/tensor.hpp"
#include "../../workspace/classify.hpp"
#include "../../workspace/fixed_array.hpp"
#include "../../workspace/grow_array.hpp"

namespace sporos {

/// Whether a piece adds up values in place: in the dense blocks below the levels that are appended. Other
/// values are appended as complete sums.
template <class Result>
inline constexpr bool adds_to_pieces =
    detail::appendable_levels<typename Result::format>() < Result::format::levels;

/// The number of values in a dense block: the product of the extents below the first `appended` levels.
template <std::size_t Levels>
std::int64_t values_in_block(const std::array<std::int64_t, Levels>& level_extents, int appended) {
  return std::accumulate(level_extents.begin() + appended, level_extents.end(), std::int64_t{1},
                         std::multiplies<>());
}

/// The place of the value at the bound coordinates within its dense block: the levels below the first
/// `Appended` ones.
template <class Traits, int Appended, class Env, std::size_t Levels>
SPOROS_INLINE std::int64_t place_in_block(const Env& bound,
                                          const std::array<std::int64_t, Levels>& level_extents) {
  constexpr auto names = Traits::result::level_names;
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    std::int64_t place = 0;
    ((place = static_cast<int>(K) < Appended
                  ? 0
                  : place * level_extents[K] + bound.at[Traits::order.find(names[static_cast<int>(K)])]),
     ...);
    return place;
  }(std::make_index_sequence<Levels>{});
}

/// The piece of a result that one chunk of the outermost loop makes.
///
/// @tparam Value    the result's value type, or the type of the sums if the piece adds up values
/// @tparam Bounded  whether its arrays are in reserved room that suffices; otherwise they grow
///
/// It holds the Segments of each level that is not full, whatever the level later builds from them. Positions
/// are local to the piece; `ends` holds, for each local parent position, where its coordinates end. Parents
/// that were skipped are closed together with the next one.
template <class Result, class Value, bool Bounded>
class AppendedPiece {
 public:
  using format = typename Result::format;
  using value_type = Value;
  static constexpr bool bounded = Bounded;
  static constexpr int levels = detail::appendable_levels<format>();
  static constexpr std::size_t last = static_cast<std::size_t>(levels - 1);

  template <int K>
  static constexpr bool full = format::template level<K>::properties.full;
  /// From the first level without uniqueness on, levels store a coordinate for every value, repeated if
  /// necessary.
  template <int K>
  static constexpr bool repeats = !full<K> && (!format::template level<K>::properties.unique ||
                                               format::template level<K>::properties.branchless);
  /// Whether level K stores where the coordinates of each parent end.
  template <int K>
  static constexpr bool has_ends = !full<K> && !format::template level<K>::properties.branchless;

  /// The element types of a level's arrays.
  template <int K>
  static auto coordinate_of_level() {
    if constexpr (full<K>)
      return std::int64_t{};
    else
      return typename format::template level<K>::coordinate_type{};
  }
  template <int K>
  static auto position_of_level() {
    if constexpr (has_ends<K>)
      return typename format::template level<K>::position_type{};
    else
      return std::int64_t{};
  }
  template <int K>
  using coordinate_type = decltype(coordinate_of_level<K>());
  template <int K>
  using position_type = decltype(position_of_level<K>());

  template <class T>
  using ArrayOf = std::conditional_t<Bounded, FixedArray<T>, GrowArray<T>>;

  AppendedPiece(const Extents<format::order>& extents, const Bounds& outermost) : outermost_(outermost) {
    const auto level_extents = format::level_extents(extents);
    for (std::size_t k = 0; k < extents_.size(); ++k) extents_[k] = level_extents[k];
    block_ = values_in_block(extents_, levels);
  }

  /// Called when the loop over level K binds coordinate c.
  template <int K>
  SPOROS_HOST_INLINE void enter(std::int64_t c) {
    constexpr auto k = static_cast<std::size_t>(K);
    mark_[k] = count();
    if constexpr (full<K>) {
      if constexpr (K == 0)
        position_[k] = c - outermost_.begin;
      else
        position_[k] = position_[k - 1] * extents_[k] + c;
    } else if constexpr (!repeats<K>) {
      position_[k] = coordinates<K>().size();
    }
    if constexpr (K == levels - 1 && has_block) written_ = false;
  }

  /// Called when the loop over level K is done with coordinate c. The coordinate is kept if something was
  /// appended below it.
  template <int K>
  SPOROS_HOST_INLINE void leave(std::int64_t c) {
    constexpr auto k = static_cast<std::size_t>(K);
    if constexpr (K == levels - 1 && has_block) {
      if (written_) coordinates<K>().push(narrow_coordinate<K>(c));
    }
    if constexpr (K < levels - 1) {
      if (count() == mark_[k]) return;
      if constexpr (!full<K> && !repeats<K>) coordinates<K>().push(narrow_coordinate<K>(c));
      if constexpr (!repeats<K>) close<K + 1>(position_[k]);
    }
  }

  /// Appends a value below the last level.
  template <class Env>
  SPOROS_HOST_INLINE void push(const Env& env, std::int64_t c, const Value& value) {
    if constexpr (counts_by_coordinates)
      values_[count()] = value;
    else
      values_.push(value);
    push_repeated(env, std::make_index_sequence<last>{});
    coordinates<levels - 1>().push(narrow_coordinate<levels - 1>(c));
  }

  /// Adds to the dense block below the last appended level. A block to which nothing is added takes no room,
  /// since the bound on the piece's values does not count it.
  SPOROS_HOST_INLINE void add_to_block(std::int64_t offset, const Value& value) {
    if (!written_) values_.extend(block_, Value{});
    written_ = true;
    Value& at = values_[values_.size() - block_ + offset];
    at = plus(at, value);
  }

  /// Closes all parents. Nothing may be appended after that.
  void finish() {
    if constexpr (counts_by_coordinates) values_.resize(count());
    finish_from<0>(1);
  }

  template <int K>
  auto& coordinates() {
    return std::get<static_cast<std::size_t>(K)>(coordinates_);
  }
  template <int K>
  auto& ends() {
    return std::get<static_cast<std::size_t>(K)>(ends_);
  }
  ArrayOf<Value>& values() { return values_; }
  /// The number of local positions of level K.
  std::int64_t positions(int k) const { return counts_[static_cast<std::size_t>(k)]; }

  static constexpr bool has_block = adds_to_pieces<Result>;

  /// The number of values that have been appended.
  std::int64_t size() const { return count(); }

 private:
  template <std::size_t... K>
  static auto all_coordinates(std::index_sequence<K...>)
      -> std::tuple<ArrayOf<coordinate_type<static_cast<int>(K)>>...>;
  template <std::size_t... K>
  static auto all_ends(std::index_sequence<K...>)
      -> std::tuple<ArrayOf<position_type<static_cast<int>(K)>>...>;
  using Levels = std::make_index_sequence<static_cast<std::size_t>(levels)>;

  // Coordinates fit: the tensor's extents were checked against its coordinate types when it was made.
  template <int K>
  static auto narrow_coordinate(std::int64_t c) {
    return static_cast<coordinate_type<K>>(c);
  }

  template <class Env, std::size_t... K>
  SPOROS_HOST_INLINE void push_repeated(const Env& env, std::index_sequence<K...>) {
    [[maybe_unused]] const auto push_level = [&]<int L>(std::integral_constant<int, L>) {
      if constexpr (repeats<L>) coordinates<L>().push(narrow_coordinate<L>(env.at[L]));
    };
    (push_level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
  }

  /// If the room suffices and each coordinate of the last level has one value, a single counter serves both.
  static constexpr bool counts_by_coordinates = Bounded && !has_block;
  SPOROS_HOST_INLINE std::int64_t count() const {
    if constexpr (counts_by_coordinates)
      return std::get<last>(coordinates_).size();
    else
      return values_.size();
  }

  /// Ends the coordinates of level K below the parent at local position p; parents skipped before it have
  /// none.
  template <int K>
  SPOROS_HOST_INLINE void close(std::int64_t p) {
    if constexpr (has_ends<K>) {
      auto& ends = this->template ends<K>();
      // If the type cannot hold a count, an error is raised when the pieces are joined.
      using Position = position_type<K>;
      if (p > ends.size()) ends.extend(p - ends.size(), ends.size() ? ends[ends.size() - 1] : Position{0});
      ends.push(static_cast<Position>(coordinates<K>().size()));
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
        if constexpr (has_ends<K>)
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
  decltype(all_coordinates(Levels{})) coordinates_;
  decltype(all_ends(Levels{})) ends_;
  ArrayOf<Value> values_;
};

}  // namespace sporos
