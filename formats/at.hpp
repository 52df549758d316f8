// SPDX-License-Identifier: Apache-2.0
/// @file at.hpp
/// One value of a tensor by its coordinate.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "../core/tensor.hpp"
#include "../core/value.hpp"
#include "position.hpp"
#include "structure.hpp"

namespace sporos {
namespace detail {

/// Finds the positions with the given level coordinates, and sums their values.
template <TensorValue Value, TensorFormat F>
class Lookup {
 public:
  Lookup(const TensorView<Value, F>& view, const Extents<F::levels>& wanted) : view_(view), wanted_(wanted) {}

  accumulate_t<Value> sum() const {
    accumulate_t<Value> sum{};
    each([&](std::int64_t q) { sum = plus(sum, static_cast<accumulate_t<Value>>(view_.values[q])); });
    return sum;
  }
  /// Calls visit(position) for each position of the last level.
  template <class Visit>
  void each(const Visit& visit) const {
    if constexpr (F::is_dense)
      visit(position_of(view_, wanted_));
    else
      each_range<F::levels>([&](Bounds range) {
        for (std::int64_t q = range.begin; q < range.end; ++q) visit(q);
      });
  }
  /// Calls visit(range) for each range of positions of level Levels - 1 whose coordinates, down to that
  /// level, are the wanted ones.
  template <int Levels, class Visit>
  void each_range(const Visit& visit) const {
    search<0, Levels>(0, 1, visit);
  }

 private:
  /// Searches below the positions [begin, end) of level K - 1, all of which have the wanted coordinates.
  template <int K, int Levels, class Visit>
  void search(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    if constexpr (K == Levels) {
      visit(Bounds{begin, end});
    } else {
      using shape = Structure<F>;
      const auto& level = view_.template level<K>();
      const std::int64_t i = wanted_[static_cast<std::size_t>(K)];
      if constexpr (shape::full(K)) {
        for (std::int64_t p = begin; p < end; ++p) {
          const std::int64_t q = level.locate(p, i).position;
          search<K + 1, Levels>(q, q + 1, visit);
        }
      } else if constexpr (shape::segmented(K) && shape::unique(K) &&
                           Locatable<typename F::template level<K>::View>) {
        for (std::int64_t p = begin; p < end; ++p)
          if (const Located q = level.locate(p, i); q.found)
            search<K + 1, Levels>(q.position, q.position + 1, visit);
      } else if constexpr (shape::branchless(K)) {
        search_segment<K, Levels>({begin, end}, i, visit);
      } else {
        for (std::int64_t p = begin; p < end; ++p) search_segment<K, Levels>(level.pos_bounds(p), i, visit);
      }
    }
  }

  /// Descends from those positions of a segment that have coordinate i, found by bisection if they are in
  /// order.
  template <int K, int Levels, class Visit>
  void search_segment(Bounds segment, std::int64_t i, const Visit& visit) const {
    const auto& level = view_.template level<K>();
    if constexpr (in_order(K)) {
      const auto first_from = [&](std::int64_t least) {
        Bounds rest = segment;
        while (rest.begin < rest.end) {
          const std::int64_t middle = rest.begin + rest.size() / 2;
          if (level.coord_at(middle) < least)
            rest.begin = middle + 1;
          else
            rest.end = middle;
        }
        return rest.begin;
      };
      search<K + 1, Levels>(first_from(i), first_from(i + 1), visit);
    } else {
      for (std::int64_t q = segment.begin; q < segment.end; ++q)
        if (level.coord_at(q) == i) search<K + 1, Levels>(q, q + 1, visit);
    }
  }

  /// Whether coordinates ascend within one segment. For a branchless level, the levels above it count as
  /// well, up to the one that has the segments.
  static constexpr bool in_order(int k) {
    for (; k >= 0; --k) {
      if (!F::properties[static_cast<std::size_t>(k)].ordered) return false;
      if (!Structure<F>::branchless(k)) break;
    }
    return true;
  }

  TensorView<Value, F> view_;
  Extents<F::levels> wanted_;
};

}  // namespace detail

/// A(c): the value at a coordinate; 0 if none is stored, the sum if several are. Meant for single lookups;
/// loops belong in index notation.
///
///     const double a = at(A, {2, 1});
///
/// @throws ShapeError for a coordinate outside the extents
/// Cost: one lookup per level: O(1) for a dense level, a bisection for a compressed one, a scan of the
/// segment if coordinates are unordered.
template <AnyTensor T>
typename T::value_type at(const T& t, const Extents<T::order>& coordinate) {
  static_assert(
      HostSpace<typename T::space_type>,
      "at reads host memory: move the tensor there first, at(t.template move_to<Host>(), coordinate)");
  using F = typename T::format_type;
  for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
    if (coordinate[mode] < 0 || coordinate[mode] >= t.extents()[mode])
      throw ShapeError(text("coordinate ", coordinate_text(coordinate), " lies outside of ",
                            to_string(t.extents()), ": coordinates are counted from 0"));
  return static_cast<typename T::value_type>(
      detail::Lookup<typename T::value_type, F>(t.view(), F::level_coordinates(coordinate)).sum());
}

}  // namespace sporos
