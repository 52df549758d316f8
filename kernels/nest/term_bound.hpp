// SPDX-License-Identifier: Apache-2.0
/// @file term_bound.hpp
/// How many values a statement's loops give to its result: an upper bound, found by running all loops but the
/// innermost one, or a count, for which that one runs as well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../core/extents.hpp"
#include "loop_nest.hpp"
#include "lower.hpp"
#include "stream/linear_sum.hpp"

namespace sporos::detail {

/// What a TermBound finds out about the innermost loop over the result's variables.
enum class Innermost {
  bounded,  ///< the most coordinates that its operands leave
  counted   ///< the number of coordinates at which there is a value
};

/// More values than any machine holds: larger bounds are given as this many, so that the bytes of so many
/// values of any kind fit in 64 bits.
inline constexpr std::int64_t most_terms = std::int64_t{1} << 50;

/// Computes the bound by running the statement's loops, the outermost one over its bounds, down to the loop
/// outside the last variable of the result, or down to the loop over that variable. No value is read.
/// @tparam Left  how many of the innermost loops over the result's variables to leave out: the bound is then
/// on
///               how often these begin
template <class Traits, Innermost Last = Innermost::bounded, int Left = 0>
class TermBound {
  static constexpr Classification classification = Traits::classification;
  /// The innermost loop over the result's variables that is not left out.
  static constexpr int innermost = classification.bound_depth - 1 - Left;
  static_assert(innermost >= 0);

 public:
  explicit TermBound(const typename Traits::bounds_type& bounds) : bounds_(bounds) {}

  template <class Source>
  std::int64_t of(const Source& source) {
    std::int64_t sum = 0;
    stream::advance_into<typename Traits::order_type, 0>(
        start_of(source), env_, [&](const auto& e) { sum = plus(sum, below<0>(e)); });
    return times(sum, times_added());
  }

  /// How often the innermost loop has begun, and how often it has found a value, if it was counted.
  std::int64_t begun() const { return begun_; }
  std::int64_t runs() const { return runs_; }

  /// The number of coordinates of the outer loops, as far as these are in the result's order, that have
  /// values below them, and the most values below one of them.
  std::int64_t blocks() const { return blocks_; }
  std::int64_t largest_block() const { return times(largest_block_, times_added()); }

  /// How often a workspace gathers a row of the result: at most this many rows are appended.
  std::int64_t gathered() const { return times(gathered_, times_added()); }

 private:
  static std::int64_t plus(std::int64_t a, std::int64_t b) { return std::min(a + b, most_terms); }
  static std::int64_t times(std::int64_t a, std::int64_t b) {
    return std::min(saturated_product(a, b), most_terms);
  }

  /// How often a sum may be added to the result: once for each strip of a variable that is summed over inside
  /// the loops over the result's own.
  std::int64_t times_added() const {
    std::int64_t all = 1;
    if constexpr (Traits::strips > 0)
      for (int at = 0; at < Traits::strips; ++at) {
        const Strip& strip = Traits::stripped.strips[at];
        bool is_summed = false;
        for (int v = 0; v < strip.variables.size; ++v)
          is_summed = is_summed || Traits::order.find(strip.variables[v]) >= classification.bound_depth;
        if (is_summed && strip.depth < classification.bound_depth) all = times(all, bounds_.strips[at].most);
      }
    return all;
  }

  /// What f() counts, for as many equal passes of a loop whose variable stands in no operand.
  template <class F>
  std::int64_t repeated(std::int64_t passes, const F& f) {
    const std::int64_t blocks = blocks_, begun = begun_, runs = runs_, gathered = gathered_;
    const std::int64_t added = f();
    const auto repeat = [&](std::int64_t& count, std::int64_t before) {
      count = plus(before, times(count - before, passes));
    };
    repeat(blocks_, blocks);
    repeat(begun_, begun);
    repeat(runs_, runs);
    repeat(gathered_, gathered);
    return times(added, passes);
  }

  template <int Depth, class E>
  std::int64_t below(const E& e) {
    if constexpr (Depth == classification.gathers_at()) {
      gathered_ = plus(gathered_, 1);
      return std::min(bounds_.extent[innermost], added_below<Depth>(e));
    } else if constexpr (classification.hoists && Depth == classification.prefix) {
      const std::int64_t added = added_below<Depth>(e);
      blocks_ += added > 0;
      largest_block_ = std::max(largest_block_, added);
      return added;
    } else {
      return added_below<Depth>(e);
    }
  }

  template <int Depth, class E>
  std::int64_t added_below(const E& e) {
    const std::int64_t added = added_from<Depth>(e);
    if constexpr (Depth == innermost && Last == Innermost::counted) {
      ++begun_;
      runs_ += added > 0;
    }
    return added;
  }

  template <int Depth, class E>
  std::int64_t added_from(const E& e) {
    if constexpr (stream::is_absent<E>) {
      return 0;
    } else if constexpr (Depth > innermost) {
      return 1;
    } else {
      constexpr char variable = Traits::order[Depth];
      constexpr bool mentions = stream::mentions<E>(variable);
      constexpr bool reduced = !Traits::is_result_variable(Depth);
      const std::int64_t extent = bounds_.extent[Depth];
      const Bounds range = Depth == 0 && !Traits::shares_strips ? bounds_.outermost : Bounds{0, extent};
      if constexpr (!mentions) {
        if (reduced && Depth == 0 && !bounds_.first_chunk) return 0;
        return repeated(reduced ? 1 : range.end - range.begin, [&] { return below<Depth + 1>(e); });
      } else if constexpr (reduced && stream::is_add<E>) {
        return plus(added_below<Depth>(e.left), added_below<Depth>(e.right));
      } else if constexpr (reduced && !stream::reduces_whole<E>(variable)) {
        std::int64_t sum = 0;
        stream::for_both_terms<variable>(
            e, [&](const auto& term) { sum = plus(sum, added_below<Depth>(term)); });
        return sum;
      } else if constexpr (Depth == innermost && Last == Innermost::bounded) {
        return std::min(stream::open<variable>(e, extent).most(extent), most_terms);
      } else {
        std::int64_t sum = 0;
        const auto stream = stream::open<variable>(e, extent);
        constexpr bool restrict = Depth == 0 && decltype(stream)::ordered;
        stream::for_each<restrict, false>(stream, range, [&](std::int64_t c, const auto& at) {
          if constexpr (!stream::is_absent<std::remove_cvref_t<decltype(at)>>) {
            env_.at[Depth] = c;
            stream::advance_into<typename Traits::order_type, Depth + 1>(
                at, env_, [&](const auto& advanced) { sum = plus(sum, below<Depth + 1>(advanced)); });
          }
        });
        return sum;
      }
    }
  }

  const typename Traits::bounds_type& bounds_;
  typename Traits::coordinates_type env_{};
  std::int64_t begun_ = 0, runs_ = 0;
  std::int64_t blocks_ = 0, largest_block_ = 0, gathered_ = 0;
};

}  // namespace sporos::detail
