// SPDX-License-Identifier: Apache-2.0
/// @file level_stream.hpp
/// The streams of one operand: over the coordinates that its next level stores, or of values that are looked
/// up.
#pragma once

#include <cstdint>

#include "../../../core/index.hpp"
#include "leaf.hpp"

namespace sporos::stream {

/// The coordinates that the next level of one operand stores.
template <class A, class Compute, int K>
class LevelStream {
 public:
  using L = Leaf<A, Compute, K>;
  using Expression = typename A::format::template expression<K>;
  static constexpr bool iterates = true;
  static constexpr bool has_walks = true;
  static constexpr bool ordered = L::next().ordered;
  /// A level over d / block: each stored coordinate stands for `block` coordinates of the mode.
  static constexpr std::int64_t block = Expression::block;
  static constexpr bool looks_ahead = block == 1;
  static constexpr bool has_lattice = false;

  SPOROS_INLINE LevelStream(const L& leaf, std::int64_t extent) : view_(leaf.view), extent_(extent) {
    if constexpr (L::is_range) {
      static_assert(L::next().branchless, "below a level that is not unique stand singleton levels only");
      at_ = leaf.begin, end_ = leaf.end;
    } else {
      const Bounds bounds = level().pos_bounds(leaf.begin);
      at_ = bounds.begin, end_ = bounds.end;
    }
    if constexpr (is_shifted<A, K>()) {
      static_assert(ordered && block == 1, "a part of an unordered or blocked level: convert the operand");
      at_ = lower_bound(0), end_ = lower_bound(view_->count[Expression::mode]);
    }
    find_run();
  }

  /// Keeps only the coordinates in [begin, end), by binary search.
  SPOROS_INLINE void restrict_to(std::int64_t begin, std::int64_t end) {
    static_assert(ordered, "a level without order is walked whole");
    at_ = lower_bound(block == 1 ? begin : begin / block);
    end_ = lower_bound(block == 1 ? end : (end + block - 1) / block);
    if constexpr (block > 1) {
      extent_ = end;
      inside_ = at_ < end_ && coord_of(at_) * block < begin ? begin - coord_of(at_) * block : 0;
      if (at_ < end_ && coord() >= extent_) at_ = end_;
    }
    find_run();
  }

  /// An upper bound on the number of coordinates left, for a variable of the given extent.
  SPOROS_INLINE std::int64_t most(std::int64_t extent) const {
    const std::int64_t left = (end_ - at_) * block;
    return left < extent ? left : extent;
  }
  SPOROS_INLINE bool valid() const { return at_ < end_; }
  SPOROS_INLINE std::int64_t coord() const {
    if constexpr (block == 1)
      return coord_of(at_);
    else
      return coord_of(at_) * block + inside_;
  }
  SPOROS_INLINE void next() {
    if constexpr (block > 1) {
      if (++inside_ < block && coord() < extent_) return;
      inside_ = 0;
    }
    at_ = run_end();
    find_run();
  }

  /// A coordinate that is reached soon, or the last one.
  SPOROS_INLINE std::int64_t ahead() const {
    const std::int64_t at = at_ + places_ahead;
    return coord_of(at < end_ ? at : end_ - 1);
  }
  template <char Variable>
  SPOROS_INLINE void fetch(std::int64_t) const {}

  template <class F>
  SPOROS_INLINE void here(const F& f) const {
    f(Leaf<A, Compute, K + 1>{view_, at_, run_end()});
  }
  template <class F>
  SPOROS_INLINE void visit(std::int64_t c, const F& f) const {
    if (valid() && coord() == c)
      here(f);
    else
      f(Absent{});
  }
  SPOROS_INLINE void pass(std::int64_t c) {
    if (valid() && coord() == c) next();
  }
  /// Moves to the first coordinate that is at least c: by a few steps, then doubling strides and a binary
  /// search.
  SPOROS_INLINE void seek(std::int64_t c) {
    constexpr int few_steps = 8;  // taken before a search begins: most coordinates are that near
    for (int step = 0; step < few_steps; ++step) {
      if (!valid() || coord() >= c) return;
      next();
    }
    if constexpr (block == 1 && ordered) {
      if (!valid() || coord() >= c) return;
      std::int64_t stride = few_steps;
      std::int64_t low = at_;
      while (low + stride < end_ && coord_of(low + stride) < c) {
        low += stride;
        stride *= 2;
      }
      const std::int64_t end = end_;
      end_ = low + stride < end ? low + stride : end;
      at_ = low;
      at_ = lower_bound(c);
      end_ = end;
      find_run();
    } else {
      while (valid() && coord() < c) next();
    }
  }

 private:
  SPOROS_INLINE const auto& level() const { return view_->template level<K>(); }
  SPOROS_INLINE std::int64_t coord_of(std::int64_t q) const {
    std::int64_t first = 0;
    if constexpr (is_shifted<A, K>()) first = view_->first[Expression::mode];
    return level().coord_at(q) - first;
  }
  SPOROS_INLINE std::int64_t lower_bound(std::int64_t c) const {
    std::int64_t low = at_;
    std::int64_t high = end_;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (coord_of(middle) < c)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  /// A level that is not unique repeats coordinates: a run of equal coordinates is one step of the stream.
  SPOROS_INLINE void find_run() {
    if constexpr (!L::next().unique) {
      run_ = at_;
      if (at_ < end_) do
          ++run_;
        while (run_ < end_ && coord_of(run_) == coord_of(at_));
    }
  }
  SPOROS_INLINE std::int64_t run_end() const {
    if constexpr (L::next().unique)
      return at_ + 1;
    else
      return run_;
  }

  static constexpr std::int64_t places_ahead = 3;

  const typename L::view_type* view_;
  std::int64_t at_;
  std::int64_t end_;
  std::int64_t run_ = 0;
  std::int64_t inside_ = 0;
  std::int64_t extent_;
};

/// An expression that is present at every coordinate.
template <class E>
struct Free {
  static constexpr bool iterates = false;
  static constexpr bool has_walks = false;
  static constexpr bool ordered = true;
  static constexpr bool looks_ahead = false;
  static constexpr bool has_lattice = false;
  E expression;

  SPOROS_INLINE void restrict_to(std::int64_t, std::int64_t) {}
  SPOROS_INLINE std::int64_t most(std::int64_t extent) const { return extent; }
  SPOROS_INLINE void seek(std::int64_t) {}
  template <class F>
  SPOROS_INLINE void visit(std::int64_t, const F& f) const {
    f(expression);
  }
  template <char Variable>
  SPOROS_INLINE void fetch(std::int64_t c) const {
    stream::fetch<Variable>(expression, c);
  }
  SPOROS_INLINE void pass(std::int64_t) {}
};

}  // namespace sporos::stream
