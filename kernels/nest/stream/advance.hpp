// SPDX-License-Identifier: Apache-2.0
/// @file advance.hpp
/// How the operands of an expression move down as loops bind its variables, until numbers are left.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "function.hpp"
#include "leaf.hpp"
#include "questions.hpp"

namespace sporos::stream {

/// Moves the operands of an expression down through all levels that the first `Depth` loops of `Order`
/// determine: full levels of bound variables are located, and below the last level the value is read.
template <class Order, int Depth, class A, class Compute, int K, class Env>
SPOROS_INLINE auto advance(const Leaf<A, Compute, K>& leaf, const Env& env) {
  using L = Leaf<A, Compute, K>;
  if constexpr (K == L::levels) {
    Compute sum = read<A, Compute>(leaf.view->values[leaf.begin]);
    if constexpr (L::is_range)
      for (std::int64_t q = leaf.begin + 1; q < leaf.end; ++q)
        sum = plus(sum, read<A, Compute>(leaf.view->values[q]));
    return Loaded<Compute>{sum};
  } else {
    constexpr int loop = Order::names.find(A::level_names[K]);
    if constexpr ((loop < Depth || is_fixed<A, K>) && L::next().full) {
      static_assert(!L::is_range,
                    "a full level below one that is not unique cannot be located: make the level unique");
      auto found =
          leaf.view->template level<K>().locate(leaf.begin, bound_coordinate<Order, A, K>(*leaf.view, env));
      return advance<Order, Depth>(Leaf<A, Compute, K + 1>{leaf.view, found.position, found.position + 1},
                                   env);
    } else {
      static_assert(
          loop >= Depth,
          "an index variable stands twice in one access of a sparse tensor: take its diagonal first");
      return leaf;
    }
  }
}
template <class Order, int Depth, class E, class Env>
SPOROS_INLINE auto advance(const E& e, const Env& env) {
  if constexpr (has_one_child<E>)
    return e.operation(advance<Order, Depth>(e.operand, env));
  else if constexpr (has_two_children<E>)
    return combine<typename E::operation_type>(advance<Order, Depth>(e.left, env),
                                               advance<Order, Depth>(e.right, env));
  else if constexpr (is_zero<E>)
    return E::template bind<Order, Depth>();
  else
    return e;
}

/// The expression with all operands below those first levels that have one coordinate; only its type is used.
template <class E>
auto below_coordinates(const E& e) {
  if constexpr (AnyLeaf<E>) {
    using A = typename E::access;
    if constexpr (E::bound_levels == E::levels)
      return Loaded<typename E::compute>{};
    else if constexpr (is_fixed<A, E::bound_levels>)
      return below_coordinates(Leaf<A, typename E::compute, E::bound_levels + 1>{e.view, e.begin, e.end});
    else
      return e;
  } else if constexpr (has_one_child<E>) {
    return e.operation(below_coordinates(e.operand));
  } else if constexpr (has_two_children<E>) {
    return combine<typename E::operation_type>(below_coordinates(e.left), below_coordinates(e.right));
  } else {
    return e;
  }
}

template <class Order, int Depth, class E, char... Names, class Env, class F>
SPOROS_INLINE void sum_into(const Unary<SumOver<Names...>, E>& e, const Env& env, const F& f);

/// Calls f with the expression moved down as `advance` does, and further: levels that repeat a bound variable
/// are searched, and an operand becomes Absent if such a level does not store its coordinate; sums whose
/// other variables are bound become numbers, and complements whose variables are all bound become 1 or
/// Absent.
template <class Order, int Depth, class E, class Env, class F>
SPOROS_INLINE void advance_into(const E& e, const Env& env, const F& f) {
  if constexpr (!searches<Order, Depth, E>()) {
    f(advance<Order, Depth>(e, env));
  } else if constexpr (AnyLeaf<E>) {
    using A = typename E::access;
    const std::int64_t c = bound_coordinate<Order, A, E::bound_levels>(*e.view, env);
    using Below = Leaf<A, typename E::compute, E::bound_levels + 1>;
    if constexpr (E::next().full) {
      auto found = e.view->template level<E::bound_levels>().locate(e.begin, c);
      advance_into<Order, Depth>(Below{e.view, found.position, found.position + 1}, env, f);
    } else {
      Bounds found = search(e, c);
      if (found.begin < found.end)
        advance_into<Order, Depth>(Below{e.view, found.begin, found.end}, env, f);
      else
        f(Absent{});
    }
  } else if constexpr (has_one_child<E>) {
    advance_into<Order, Depth>(e.operand, env, [&] SPOROS_INLINE_LAMBDA(const auto& x) {
      auto node = e.operation(x);
      if constexpr (is_reduce<decltype(node)> && !waits<Order, Depth, E>())
        sum_into<Order, Depth>(node, env, f);
      else
        f(node);
    });
  } else {
    advance_into<Order, Depth>(e.left, env, [&] SPOROS_INLINE_LAMBDA(const auto& x) {
      advance_into<Order, Depth>(e.right, env, [&] SPOROS_INLINE_LAMBDA(const auto& y) {
        auto node = combine<typename E::operation_type>(x, y);
        if constexpr (is_undecided<decltype(node)>)
          decide(node, f);
        else
          f(node);
      });
    });
  }
}

}  // namespace sporos::stream
