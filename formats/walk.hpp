// SPDX-License-Identifier: Apache-2.0
/// @file walk.hpp
/// Visits the stored values of a tensor, or any part of them, in storage order and with their coordinates.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../core/space.hpp"
#include "../core/tensor.hpp"
#include "structure.hpp"

namespace sporos::detail {

/// Reads the levels of a tensor in host memory between any two positions of the innermost level, so that
/// threads can take equal parts of the values however these are distributed over rows.
template <TensorValue Value, TensorFormat F>
class Walk {
 public:
  using shape = Structure<F>;
  static constexpr int levels = F::levels;
  static constexpr auto level_count = static_cast<std::size_t>(levels);

  template <HostSpace Space>
  explicit Walk(const Tensor<Value, F, Space>& t) : view_(t.view()), extents_(t.extents()) {
    positions_[0] = 1;
    t.for_each_level([&](auto k, const auto& storage) {
      constexpr auto at = static_cast<std::size_t>(decltype(k)::value);
      positions_[at + 1] = storage.size(positions_[at]);
    });
  }

  /// The number of positions of level k; for k = -1, that of the root, which is 1.
  std::int64_t positions(int k) const { return positions_[static_cast<std::size_t>(k + 1)]; }
  const auto& view() const { return view_; }

  /// Calls visitor(level_coordinates, q) for the positions q in [begin, end) of the innermost level,
  /// ascending.
  template <class Visitor>
  void visit_levels(std::int64_t begin, std::int64_t end, const Visitor& visitor) const {
    if (begin >= end) return;
    Range range;
    range[level_count] = {begin, end};
    find_ancestors(range, std::make_index_sequence<level_count>{});
    Extents<levels> at{};
    descend<0>(range, at, 0, visitor);
  }

  /// Calls visitor(coordinate, value) for the values at positions [begin, end) that lie inside the extents;
  /// blocks at the edge of a blocked format reach beyond them.
  template <class Visitor>
  void visit(std::int64_t begin, std::int64_t end, const Visitor& visitor) const {
    visit_levels(begin, end, [&](const Extents<levels>& at, std::int64_t q) {
      const Extents<F::order> coordinate = F::coordinate(at);
      if constexpr (F::is_blocked)
        for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
          if (coordinate[mode] >= extents_[mode]) return;
      visitor(coordinate, view_.values[q]);
    });
  }

  /// The parent, at level K - 1, of position q of level K.
  template <int K>
  std::int64_t parent_of(std::int64_t q) const {
    const auto& level = view_.template level<K>();
    if constexpr (shape::full(K)) {
      return q / level.coord_bounds(0).end;
    } else if constexpr (shape::branchless(K)) {
      return q;
    } else {
      std::int64_t begin = 0;
      std::int64_t end = positions(K - 1);
      while (begin < end) {
        const std::int64_t middle = begin + (end - begin) / 2;
        if (level.pos_bounds(middle).end <= q)
          begin = middle + 1;
        else
          end = middle;
      }
      return begin;
    }
  }

 private:
  /// The positions of each level that lead to the visited part; [k + 1] is for level k.
  using Range = std::array<Bounds, level_count + 1>;

  template <std::size_t... K>
  void find_ancestors(Range& range, std::index_sequence<K...>) const {
    ((find_parents<levels - 1 - static_cast<int>(K)>(range)), ...);
  }
  template <int K>
  void find_parents(Range& range) const {
    constexpr auto k = static_cast<std::size_t>(K);
    range[k] = {parent_of<K>(range[k + 1].begin), parent_of<K>(range[k + 1].end - 1) + 1};
  }

  template <int K, class Visitor>
  void descend(const Range& range, Extents<levels>& at, std::int64_t p, const Visitor& visitor) const {
    if constexpr (K == levels) {
      visitor(std::as_const(at), p);
    } else {
      constexpr auto k = static_cast<std::size_t>(K);
      const auto& level = view_.template level<K>();
      const Bounds part = range[k + 1];
      if constexpr (shape::full(K)) {
        const std::int64_t extent = level.coord_bounds(0).end;
        const std::int64_t end = std::min(part.end - p * extent, extent);
        for (std::int64_t i = std::max<std::int64_t>(part.begin - p * extent, 0); i < end; ++i) {
          at[k] = i;
          descend<K + 1>(range, at, p * extent + i, visitor);
        }
      } else {
        const Bounds all = level.pos_bounds(p);
        const std::int64_t end = std::min(all.end, part.end);
        for (std::int64_t q = std::max(all.begin, part.begin); q < end; ++q) {
          at[k] = static_cast<std::int64_t>(level.coord_at(q));
          descend<K + 1>(range, at, q, visitor);
        }
      }
    }
  }

  typename Tensor<Value, F>::view_type view_;
  Extents<F::order> extents_;
  std::array<std::int64_t, level_count + 1> positions_{};
};

template <class Value, class F, class Space>
Walk(const Tensor<Value, F, Space>&) -> Walk<Value, F>;

}  // namespace sporos::detail
