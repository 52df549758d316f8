// SPDX-License-Identifier: Apache-2.0
/// @file size_bound.hpp
/// Bounds on the number of positions of a sparse result, from the operands' patterns, before any loop runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../../core/operands.hpp"
#include "../nest/partition.hpp"

namespace sporos {

/// An upper bound on the number of distinct coordinates of the result's levels 0 to K at which an expression
/// is present, with the outermost variable restricted to a range.
///
/// - an operand with all of these variables, the outermost at its first level: its number of positions there
/// - L * R, L / R, or a function that is applied where both are present: the smaller bound
/// - L + R, or a function that is applied where either is present: the sum of both bounds
/// - f(E), -E, a sum of E over a variable: the bound of E
/// - anything else: unknown
///
/// `known` says, by type, whether there is a bound for all levels. Cost: O(1), or O(log nnz) if the outermost
/// level of an operand is sparse.
///
/// `least` is the smallest number of positions to expect: that of the largest term of a sum, that of the only
/// bounded factor of a product, and 0 if two bounded factors meet. It is only an estimate: an operand that
/// stores a coordinate twice gives fewer positions.
template <class Result, class E>
struct SizeBound {
  static constexpr bool known = false;
};

template <class Result, class TensorType, char... Names>
struct SizeBound<Result, Access<TensorType, Names...>> {
  using A = Access<TensorType, Names...>;

  /// The operand's last level that holds one of these variables; -1 if a variable is missing.
  static constexpr int last_level(int k) {
    int last = -1;
    for (int of = 0; of <= k; ++of) {
      int found = -1;
      for (int level = 0; level < A::level_names.size; ++level)
        if (A::level_names[level] == Result::level_names[of]) found = level;
      if (found < 0) return -1;
      last = std::max(last, found);
    }
    return last;
  }
  static constexpr bool known = [] {
    if constexpr (A::level_names.size == 0 || is_part_v<TensorType>)
      return false;
    else
      return A::level_names[0] == Result::level_names[0] && A::format::properties[0].ordered &&
             A::format::template expression<0>::part != DimensionPart::remainder &&
             last_level(Result::level_names.size - 1) >= 0;
  }();

  template <int K>
  static std::int64_t of(const A& access, const Bounds& outermost) {
    constexpr std::int64_t block = A::format::template expression<0>::block;
    const auto below = [&](std::int64_t c) {
      return detail::positions_below_coordinate<last_level(K)>(access.tensor(), c);
    };
    return below((outermost.end + block - 1) / block) - below(outermost.begin / block);
  }
  template <int K>
  static std::int64_t least(const A& access, const Bounds& outermost) {
    return of<K>(access, outermost);
  }
};

namespace detail {

template <class Result, class L, class R>
struct SmallerBound {
  using Left = SizeBound<Result, L>;
  using Right = SizeBound<Result, R>;
  static constexpr bool known = Left::known || Right::known;

  template <int K, class E>
  static std::int64_t of(const E& e, const Bounds& outermost) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    if constexpr (Left::known) least = std::min(least, Left::template of<K>(e.left, outermost));
    if constexpr (Right::known) least = std::min(least, Right::template of<K>(e.right, outermost));
    return least;
  }
  template <int K, class E>
  static std::int64_t least(const E& e, const Bounds& outermost) {
    if constexpr (Left::known && Right::known)
      return 0;
    else if constexpr (Left::known)
      return Left::template least<K>(e.left, outermost);
    else
      return Right::template least<K>(e.right, outermost);
  }
};

template <class Result, class L, class R>
struct SumOfBounds {
  static constexpr bool known = SizeBound<Result, L>::known && SizeBound<Result, R>::known;

  template <int K, class E>
  static std::int64_t of(const E& sum, const Bounds& outermost) {
    return SizeBound<Result, L>::template of<K>(sum.left, outermost) +
           SizeBound<Result, R>::template of<K>(sum.right, outermost);
  }
  template <int K, class E>
  static std::int64_t least(const E& sum, const Bounds& outermost) {
    return std::max(SizeBound<Result, L>::template least<K>(sum.left, outermost),
                    SizeBound<Result, R>::template least<K>(sum.right, outermost));
  }
};

/// Stands for an operand that does not bound its node.
struct WithoutBound {};

template <class Result, class Operand>
struct SameBound {
  static constexpr bool known = SizeBound<Result, Operand>::known;

  template <int K, class E>
  static std::int64_t of(const E& e, const Bounds& outermost) {
    return SizeBound<Result, Operand>::template of<K>(e.operand, outermost);
  }
  template <int K, class E>
  static std::int64_t least(const E& e, const Bounds& outermost) {
    return SizeBound<Result, Operand>::template least<K>(e.operand, outermost);
  }
};

}  // namespace detail

template <class Result, class L, class R>
struct SizeBound<Result, Product<L, R>> : detail::SmallerBound<Result, L, R> {};
template <class Result, class L, class R>
struct SizeBound<Result, Ratio<L, R>> : detail::SmallerBound<Result, L, R> {};
template <class Result, class E>
struct SizeBound<Result, Negation<E>> : detail::SameBound<Result, E> {};
template <class Result, class E, class F>
struct SizeBound<Result, Mapped<E, F>> : detail::SameBound<Result, E> {};
template <class Result, class E, char... Names>
struct SizeBound<Result, Reduction<E, Names...>> : detail::SameBound<Result, E> {};
template <class Result, class L, class R>
struct SizeBound<Result, Sum<L, R>> : detail::SumOfBounds<Result, L, R> {};
template <class Result, class L, class R, class F>
struct SizeBound<Result, Operands<L, R, Presence::all, F>> : detail::SmallerBound<Result, L, R> {};
template <class Result, class L, class R, class F>
struct SizeBound<Result, Operands<L, R, Presence::any, F>> : detail::SumOfBounds<Result, L, R> {};
template <class Result, class L, class R, class F>
struct SizeBound<Result, Operands<L, R, Presence::first, F>>
    : detail::SmallerBound<Result, L, detail::WithoutBound> {};
template <class Result, class L, class R, class F>
struct SizeBound<Result, Operands<L, R, Presence::second, F>>
    : detail::SmallerBound<Result, detail::WithoutBound, R> {};

}  // namespace sporos
