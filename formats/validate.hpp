// SPDX-License-Identifier: Apache-2.0
/// @file validate.hpp
/// Whether the arrays of a tensor obey the rules of its format.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "chunks.hpp"
#include "format_name.hpp"
#include "structure.hpp"
#include "value_cast.hpp"
#include "walk.hpp"

namespace sporos {
namespace detail {

/// The first i in [0, count) for which broken(i) holds, or -1 if there is none; searches in parallel.
template <HostSpace Space, class Predicate>
std::int64_t first_broken(const Space& space, std::int64_t count, const Predicate& broken) {
  const std::int64_t chunks = chunks_for(space, count);
  std::vector<std::int64_t> found(static_cast<std::size_t>(chunks), -1);
  for_each_chunk(space, chunks, [&](std::int64_t chunk) {
    const auto [begin, end] = chunk_bounds(count, chunk, chunks);
    for (std::int64_t i = begin; i < end; ++i)
      if (broken(i)) {
        found[static_cast<std::size_t>(chunk)] = i;
        return;
      }
  });
  for (const std::int64_t i : found)
    if (i >= 0) return i;
  return -1;
}

/// Checks one tensor in host memory, level by level. Each check reads only what earlier ones have found
/// valid.
template <HostSpace Space, TensorValue Value, TensorFormat F>
class Validation {
 public:
  using shape = Structure<F>;
  static constexpr auto level_count = static_cast<std::size_t>(F::levels);

  Validation(const Space& space, const Tensor<Value, F, Space>& t)
      : space_(space), t_(t), view_(t.view()), extents_(F::level_extents(t.extents())) {}

  void run() {
    expect_valid_extents(t_.extents());
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (check_level<static_cast<int>(K)>(), ...);
      (check_order<static_cast<int>(K)>(), ...);
    }(std::make_index_sequence<level_count>{});
    if (t_.nnz() != positions_[level_count])
      throw FormatError(text("the values are ", t_.nnz(), ", but the levels of ", format_name<F>(), " have ",
                             positions_[level_count], " positions: there is one value for each"));
    if constexpr (F::is_blocked) check_rim();
  }

 private:
  template <int K>
  std::string name() const {
    return text("level ", K, " (", F::template level<K>::name(), ", ", F::template expression<K>::str(), ')');
  }
  std::int64_t& positions(int k) { return positions_[static_cast<std::size_t>(k + 1)]; }

  /// Lets the level check its own arrays, then checks that coordinates lie within the extent.
  template <int K>
  void check_level() {
    const auto& storage = t_.template level<K>();
    const std::int64_t parents = positions(K - 1);
    const std::int64_t extent = extents_[static_cast<std::size_t>(K)];
    const std::string fault = storage.fault(parents, extent, [this](std::int64_t count, const auto& broken) {
      return first_broken(space_, count, broken);
    });
    if (!fault.empty()) throw FormatError(text(name<K>(), ": ", fault));
    positions(K) = storage.size(parents);
    if constexpr (!shape::full(K)) {
      const auto& level = view_.template level<K>();
      const std::int64_t q = first_broken(space_, positions(K), [&](std::int64_t at) {
        const auto i = static_cast<std::int64_t>(level.coord_at(at));
        return i < 0 || i >= extent;
      });
      if (q >= 0)
        throw FormatError(text(name<K>(), ": the coordinate at position ", q, " is ",
                               static_cast<std::int64_t>(level.coord_at(q)),
                               ", but must be at least 0 and less than the extent ", extent));
    }
  }

  /// Checks order and uniqueness below each parent of a segmented level. What must be ordered or unique are
  /// the tuples of its coordinates and those of the branchless levels that continue it.
  template <int K>
  void check_order() const {
    if constexpr (shape::segmented(K)) {
      constexpr int last = shape::depth[static_cast<std::size_t>(K)];
      constexpr bool must_be_unique = shape::unique(last);
      const auto& level = view_.template level<K>();
      const std::int64_t p =
          first_broken(space_, positions_[static_cast<std::size_t>(K)], [&](std::int64_t at) {
            const Bounds segment = level.pos_bounds(at);
            for (std::int64_t q = segment.begin + 1; q < segment.end; ++q)
              if (compare<K, last>(q) != nothing) return true;
            if constexpr (must_be_unique && !all_ordered<K, last>) return repeated<K, last>(segment) >= 0;
            return false;
          });
      if (p < 0) return;
      const Bounds segment = level.pos_bounds(p);
      for (std::int64_t q = segment.begin + 1; q < segment.end; ++q)
        if (compare<K, last>(q) != nothing) refuse<K, last>(compare<K, last>(q), p, q);
      if constexpr (must_be_unique && !all_ordered<K, last>)
        refuse<K, last>(last + F::levels, p, repeated<K, last>(segment));
    }
  }

  static constexpr int nothing = -1;

  template <int K, int Last>
  static constexpr bool all_ordered = [] {
    for (int k = K; k <= Last; ++k)
      if (!F::properties[static_cast<std::size_t>(k)].ordered) return false;
    return true;
  }();

  /// Which rule the tuple at q breaks, compared with the previous one: k if level k decreases although it is
  /// ordered, k + F::levels if level k repeats a coordinate although it is unique, else `nothing`.
  template <int K, int Last>
  int compare(std::int64_t q) const {
    int found = nothing;
    bool open = true;
    [&]<std::size_t... Next>(std::index_sequence<Next...>) {
      (compare_level<K + static_cast<int>(Next)>(q, open, found), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(Last - K + 1)>{});
    return found;
  }
  template <int K>
  void compare_level(std::int64_t q, bool& open, int& found) const {
    if (!open) return;
    constexpr auto properties = F::properties[static_cast<std::size_t>(K)];
    const auto& level = view_.template level<K>();
    const auto before = static_cast<std::int64_t>(level.coord_at(q - 1));
    const auto here = static_cast<std::int64_t>(level.coord_at(q));
    open = before == here;
    if (here < before && properties.ordered) found = K;
    if (here == before && properties.unique) found = K + F::levels;
  }

  /// The position of a tuple that occurs twice in an unordered segment, or -1 if there is none.
  template <int K, int Last>
  std::int64_t repeated(Bounds segment) const {
    std::vector<std::int64_t> at(static_cast<std::size_t>(segment.size()));
    std::iota(at.begin(), at.end(), segment.begin);
    std::sort(at.begin(), at.end(),
              [&](std::int64_t a, std::int64_t b) { return tuple<K, Last>(a) < tuple<K, Last>(b); });
    for (std::size_t e = 1; e < at.size(); ++e)
      if (tuple<K, Last>(at[e - 1]) == tuple<K, Last>(at[e])) return std::max(at[e - 1], at[e]);
    return -1;
  }
  template <int K, int Last>
  auto tuple(std::int64_t q) const {
    return [&]<std::size_t... Next>(std::index_sequence<Next...>) {
      return std::array<std::int64_t, sizeof...(Next)>{
          static_cast<std::int64_t>(view_.template level<K + static_cast<int>(Next)>().coord_at(q))...};
    }(std::make_index_sequence<static_cast<std::size_t>(Last - K + 1)>{});
  }

  template <int K, int Last>
  [[noreturn]] void refuse(int rule, std::int64_t p, std::int64_t q) const {
    const bool repeats = rule >= F::levels;
    std::string message;
    [&]<std::size_t... Next>(std::index_sequence<Next...>) {
      ((rule % F::levels == K + static_cast<int>(Next)
            ? void(message = describe<K + static_cast<int>(Next)>(repeats, p, q))
            : void()),
       ...);
    }(std::make_index_sequence<static_cast<std::size_t>(Last - K + 1)>{});
    throw FormatError(message);
  }
  template <int K>
  std::string describe(bool repeats, std::int64_t p, std::int64_t q) const {
    const auto& level = view_.template level<K>();
    const auto here = static_cast<std::int64_t>(level.coord_at(q));
    if (repeats)
      return text(name<K>(), ": coordinate ", here, " at position ", q, " stands twice below parent ", p,
                  ", but the level is unique");
    return text(
        name<K>(), ": coordinate ", here, " at position ", q, " follows ",
        static_cast<std::int64_t>(level.coord_at(q - 1)), " below parent ", p,
        ", but the level is ordered: sort the coordinates, or choose a format whose level is not ordered");
  }

  /// Blocks at the edge reach beyond the extents: what is stored there must be padding, and zero.
  void check_rim() const {
    const Walk walk(t_);
    const auto outside = [&](const Extents<F::levels>& at) {
      const auto coordinate = F::coordinate(at);
      for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
        if (coordinate[mode] >= t_.extents()[mode]) return true;
      return false;
    };
    const std::int64_t chunks = chunks_for(space_, t_.nnz(), 4);
    std::vector<std::int64_t> found(static_cast<std::size_t>(chunks), -1);
    for_each_chunk(space_, chunks, [&](std::int64_t chunk) {
      const auto [begin, end] = chunk_bounds(t_.nnz(), chunk, chunks);
      auto& first = found[static_cast<std::size_t>(chunk)];
      walk.visit_levels(begin, end, [&](const Extents<F::levels>& at, std::int64_t q) {
        const bool stored = !shape::padded || !(t_.values().data()[q] == Value{});
        if (first < 0 && stored && outside(at)) first = q;
      });
    });
    for (const std::int64_t q : found)
      if (q >= 0)
        walk.visit_levels(q, q + 1, [&](const Extents<F::levels>& at, std::int64_t) {
          throw FormatError(text("the value ", value_text(t_.values().data()[q]), " at position ", q,
                                 " stands at ", coordinate_text(F::coordinate(at)), ", outside of ",
                                 to_string(t_.extents()),
                                 ": blocks that reach beyond the extents must hold zeros there"));
        });
  }

  const Space& space_;
  const Tensor<Value, F, Space>& t_;
  typename Tensor<Value, F, Space>::view_type view_;
  Extents<F::levels> extents_;
  std::array<std::int64_t, level_count + 1> positions_{
      1};  ///< [k + 1]: the number of positions of level k; [0]: the root's
};

}  // namespace detail

/// Checks a tensor on the threads of a space instance; see below.
template <HostSpace Space, TensorValue Value, TensorFormat F>
void validate(const Space& space, const Tensor<Value, F, Space>& t) {
  detail::Validation<Space, Value, F>(space, t).run();
}

/// Checks that the arrays of `t` obey the rules of its format: lengths match; positions begin at 0 and do not
/// decrease; coordinates lie within the extents, and are in order and unique if the levels promise it; each
/// position has one value; blocks that reach beyond the extents hold zeros there.
///
/// @throws FormatError naming level, position and what was found there
/// Cost: one parallel pass over all arrays, plus a sort of each segment if a level is unique but not ordered.
template <AnyTensor T>
void validate(const T& t) {
  if constexpr (HostSpace<typename T::space_type>)
    validate(typename T::space_type(), t);
  else
    validate(t.template move_to<Host>());
}

}  // namespace sporos
