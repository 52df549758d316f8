// SPDX-License-Identifier: Apache-2.0
/// @file leaf.hpp
/// Leaf: an operand with some of its levels bound, and how it moves down as loops bind coordinates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "expression.hpp"

namespace sporos::stream {

/// The coordinates that the loops have bound so far, by depth of the loop.
template <int Loops>
struct Coordinates {
  std::int64_t at[Loops > 0 ? Loops : 1];
};

/// An operand of access type A with its levels 0 to K-1 bound.
///
/// Its position below the bound levels is `begin`; where the last bound level is not unique, the positions
/// [begin, end) all have the bound coordinates.
///
/// @tparam A        the access: which variable stands at which level
/// @tparam Compute  the type in which the statement computes; values are converted to it as they are read
template <class A, class Compute, int K>
struct Leaf {
  using access = A;
  using compute = Compute;
  using view_type = typename A::tensor_type::view_type;
  static constexpr int bound_levels = K;
  static constexpr int levels = A::format::levels;

  const view_type* view;
  std::int64_t begin;
  std::int64_t end;

  static constexpr LevelProperties next() { return A::format::properties[static_cast<std::size_t>(K)]; }
  /// Whether [begin, end) may be more than one position.
  static constexpr bool is_range = [] {
    if constexpr (K == 0)
      return false;
    else
      return !A::format::properties[static_cast<std::size_t>(K - 1)].unique;
  }();
};

/// Moves an operand down through all levels that the first `Depth` loops of `Order` have decided: full levels
/// of bound variables are located, and below the last level the value is read.
template <class Order, int Depth, class A, class Compute, int K, class Env>
SPOROS_INLINE auto advance(const Leaf<A, Compute, K>& leaf, const Env& env) {
  using L = Leaf<A, Compute, K>;
  if constexpr (K == L::levels) {
    if constexpr (L::is_range) {
      Compute sum = static_cast<Compute>(leaf.view->values[leaf.begin]);
      for (std::int64_t q = leaf.begin + 1; q < leaf.end; ++q)
        sum = plus(sum, static_cast<Compute>(leaf.view->values[q]));
      return Loaded<Compute>{sum};
    } else {
      return Loaded<Compute>{static_cast<Compute>(leaf.view->values[leaf.begin])};
    }
  } else {
    constexpr int loop = Order::names.find(A::level_names[K]);
    if constexpr (loop < Depth && L::next().full) {
      static_assert(!L::is_range,
                    "a full level below one that is not unique cannot be located: make the level unique");
      using Expression = typename A::format::template expression<K>;
      auto found = leaf.view->template level<K>().locate(leaf.begin, Expression::of(env.at[loop]));
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
template <class Order, int Depth, class Env>
SPOROS_INLINE Absent advance(Absent, const Env&) {
  return {};
}
template <class Order, int Depth, class T, class Env>
SPOROS_INLINE Loaded<T> advance(const Loaded<T>& loaded, const Env&) {
  return loaded;
}
template <class Order, int Depth, class E, class F, class Env>
SPOROS_INLINE auto advance(const Apply<E, F>& e, const Env& env) {
  return apply(advance<Order, Depth>(e.operand, env), e.function);
}
template <class Order, int Depth, class L, class R, class Env>
SPOROS_INLINE auto advance(const Add<L, R>& e, const Env& env) {
  return add(advance<Order, Depth>(e.left, env), advance<Order, Depth>(e.right, env));
}
template <class Order, int Depth, class L, class R, class Operation, class Env>
SPOROS_INLINE auto advance(const Mul<L, R, Operation>& e, const Env& env) {
  return combine<Operation>(advance<Order, Depth>(e.left, env), advance<Order, Depth>(e.right, env));
}

template <class Order, int Depth, class E, char... Names, class Env>
SPOROS_INLINE auto advance(const Reduce<E, Names...>& e, const Env& env) {
  return e.over(advance<Order, Depth>(e.operand, env));
}

/// Whether variables other than `own` are to be bound before an expression can be summed over its own.
template <class Order, int Depth, class E>
struct Waits {
  static constexpr bool besides(const NameList&) { return false; }
};
template <class Order, int Depth, class A, class Compute, int K>
struct Waits<Order, Depth, Leaf<A, Compute, K>> {
  static constexpr bool besides(const NameList& own) {
    for (int k = K; k < A::level_names.size; ++k)
      if (!own.contains(A::level_names[k]) && Order::names.find(A::level_names[k]) >= Depth) return true;
    return false;
  }
};
template <class Order, int Depth, class E, class F>
struct Waits<Order, Depth, Apply<E, F>> : Waits<Order, Depth, E> {};
template <class Order, int Depth, class L, class R>
struct Waits<Order, Depth, Add<L, R>> {
  static constexpr bool besides(const NameList& own) {
    return Waits<Order, Depth, L>::besides(own) || Waits<Order, Depth, R>::besides(own);
  }
};
template <class Order, int Depth, class L, class R, class Operation>
struct Waits<Order, Depth, Mul<L, R, Operation>> : Waits<Order, Depth, Add<L, R>> {};
template <class Order, int Depth, class E, char... Names>
struct Waits<Order, Depth, Reduce<E, Names...>> {
  static constexpr bool besides(const NameList& own) {
    NameList all = own;
    (all.push(Names), ...);
    return Waits<Order, Depth, E>::besides(all);
  }
};

/// Whether what an expression holds below the bound loops is known at run time only: because an operand's
/// next level stores coordinates of a variable that a loop has bound already, as in A(i, i), and is searched;
/// or because a sum inside the expression is formed here, whose terms may all be absent.
template <class Order, int Depth, class E>
struct Searches {
  static constexpr bool value = false;
};
template <class Order, int Depth, class A, class Compute, int K>
struct Searches<Order, Depth, Leaf<A, Compute, K>> {
  static constexpr bool value = [] {
    int k = K;
    while (k < A::level_names.size && Order::names.find(A::level_names[k]) < Depth) {
      if (!A::format::properties[static_cast<std::size_t>(k)].full) return true;
      ++k;
    }
    return false;
  }();
};
template <class Order, int Depth, class E, class F>
struct Searches<Order, Depth, Apply<E, F>> : Searches<Order, Depth, E> {};
template <class Order, int Depth, class L, class R>
struct Searches<Order, Depth, Add<L, R>> {
  static constexpr bool value = Searches<Order, Depth, L>::value || Searches<Order, Depth, R>::value;
};
template <class Order, int Depth, class L, class R, class Operation>
struct Searches<Order, Depth, Mul<L, R, Operation>> : Searches<Order, Depth, Add<L, R>> {};
template <class Order, int Depth, class E, char... Names>
struct Searches<Order, Depth, Reduce<E, Names...>> {
  static constexpr bool value =
      Searches<Order, Depth, E>::value || !Waits<Order, Depth, Reduce<E, Names...>>::besides({});
};

template <class E, char... Names, class F>
SPOROS_INLINE void sum_into(const Reduce<E, Names...>& e, const F& f);

/// The positions of coordinate c at the next level of an operand; empty where it is not stored. O(log of the
/// fiber).
template <class A, class Compute, int K>
SPOROS_INLINE Bounds search(const Leaf<A, Compute, K>& leaf, std::int64_t c) {
  using L = Leaf<A, Compute, K>;
  static_assert(L::next().ordered,
                "a level without order cannot be searched for a coordinate: convert the operand");
  const auto& level = leaf.view->template level<K>();
  Bounds all = L::is_range ? Bounds{leaf.begin, leaf.end} : level.pos_bounds(leaf.begin);
  const auto first_not_below = [&](std::int64_t wanted) SPOROS_INLINE_LAMBDA {
    std::int64_t low = all.begin;
    std::int64_t high = all.end;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (level.coord_at(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  return {first_not_below(c), first_not_below(c + 1)};
}

/// Calls f with what `advance` makes of an expression; levels that repeat a bound variable are searched, and
/// f is called with Absent in their place where they do not hold its coordinate.
template <class Order, int Depth, class E, class Env, class F>
SPOROS_INLINE void advance_into(const E& e, const Env& env, const F& f) {
  if constexpr (!Searches<Order, Depth, E>::value) {
    f(advance<Order, Depth>(e, env));
  } else if constexpr (requires { typename E::access; }) {
    using A = typename E::access;
    using Expression = typename A::format::template expression<E::bound_levels>;
    const std::int64_t c = Expression::of(env.at[Order::names.find(A::level_names[E::bound_levels])]);
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
  } else if constexpr (is_reduce<E>) {
    advance_into<Order, Depth>(e.operand, env, [&](const auto& x) SPOROS_INLINE_LAMBDA {
      const auto sum = e.over(x);
      if constexpr (Waits<Order, Depth, E>::besides({}) || is_absent<std::remove_cvref_t<decltype(x)>>)
        f(sum);
      else
        sum_into(sum, f);
    });
  } else if constexpr (requires { e.operand; }) {
    advance_into<Order, Depth>(e.operand, env,
                               [&](const auto& x) SPOROS_INLINE_LAMBDA { f(apply(x, e.function)); });
  } else {
    advance_into<Order, Depth>(e.left, env, [&](const auto& x) SPOROS_INLINE_LAMBDA {
      advance_into<Order, Depth>(e.right, env, [&](const auto& y) SPOROS_INLINE_LAMBDA {
        if constexpr (is_add<E>)
          f(add(x, y));
        else
          f(combine<typename E::operation>(x, y));
      });
    });
  }
}

/// Asks for what an operand that is full from its next level on holds at coordinate c of `Variable`, where
/// that is more than one element: the first of them, up to a few cache lines.
template <char Variable, class A, class Compute, int K>
SPOROS_INLINE void fetch(const Leaf<A, Compute, K>& leaf, std::int64_t c) {
  using L = Leaf<A, Compute, K>;
  constexpr bool rows = [] {
    constexpr auto k = static_cast<std::size_t>(K);
    if (K + 2 != L::levels || A::level_names[K] != Variable) return false;
    return A::format::properties[k].full && A::format::properties[k + 1].full;
  }();
  if constexpr (rows) {
    using Expression = typename A::format::template expression<K>;
    const std::int64_t row = leaf.view->template level<K>().locate(leaf.begin, Expression::of(c)).position;
    const auto& inner = leaf.view->template level<K + 1>();
    const auto* const values = leaf.view->values + inner.locate(row, 0).position;
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof *values);
    for (std::int64_t at = 0; at < 4; ++at) SPOROS_PREFETCH(values + at * line);
  }
}
template <char Variable, class E>
SPOROS_INLINE void fetch(const E& e, std::int64_t c) {
  if constexpr (requires { e.operand; }) {
    fetch<Variable>(e.operand, c);
  } else if constexpr (requires { e.left; }) {
    fetch<Variable>(e.left, c);
    fetch<Variable>(e.right, c);
  }
}

/// Whether an expression still waits for the variable.
template <class E>
struct Mentions {
  static constexpr bool of(char) { return false; }
};
template <class A, class Compute, int K>
struct Mentions<Leaf<A, Compute, K>> {
  static constexpr bool of(char variable) {
    for (int k = K; k < A::level_names.size; ++k)
      if (A::level_names[k] == variable) return true;
    return false;
  }
};
template <class E, class F>
struct Mentions<Apply<E, F>> : Mentions<E> {};
template <class L, class R>
struct Mentions<Add<L, R>> {
  static constexpr bool of(char variable) { return Mentions<L>::of(variable) || Mentions<R>::of(variable); }
};
template <class L, class R, class Operation>
struct Mentions<Mul<L, R, Operation>> : Mentions<Add<L, R>> {};
template <class E, char... Names>
struct Mentions<Reduce<E, Names...>> {
  static constexpr bool of(char variable) {
    return ((variable != Names) && ...) && Mentions<E>::of(variable);
  }
};

/// Whether an expression's stored coordinates decide where the variable's loop goes; else the loop runs over
/// the whole extent. A product iterates what one of its sides iterates, a sum only what both do.
template <class E>
struct Iterates {
  static constexpr bool of(char) { return false; }
};
template <class A, class Compute, int K>
struct Iterates<Leaf<A, Compute, K>> {
  static constexpr bool of(char variable) {
    if constexpr (K < Leaf<A, Compute, K>::levels)
      return A::level_names[K] == variable && !Leaf<A, Compute, K>::next().full;
    else
      return false;
  }
};
template <class E, class F>
struct Iterates<Apply<E, F>> : Iterates<E> {};
template <class E, char... Names>
struct Iterates<Reduce<E, Names...>> : Iterates<E> {};
template <class L, class R>
struct Iterates<Add<L, R>> {
  static constexpr bool of(char variable) { return Iterates<L>::of(variable) && Iterates<R>::of(variable); }
};
template <class L, class R, class Operation>
struct Iterates<Mul<L, R, Operation>> {
  static constexpr bool of(char variable) { return Iterates<L>::of(variable) || Iterates<R>::of(variable); }
};

/// Whether, in every sum inside the expression, all terms have the variable or none has.
template <class E>
struct ReducesWhole {
  static constexpr bool of(char) { return true; }
};
template <class E, class F>
struct ReducesWhole<Apply<E, F>> : ReducesWhole<E> {};
template <class L, class R, class Operation>
struct ReducesWhole<Mul<L, R, Operation>> {
  static constexpr bool of(char variable) {
    return ReducesWhole<L>::of(variable) && ReducesWhole<R>::of(variable);
  }
};
template <class L, class R>
struct ReducesWhole<Add<L, R>> {
  static constexpr bool of(char variable) {
    return Mentions<L>::of(variable) == Mentions<R>::of(variable) && ReducesWhole<Mul<L, R>>::of(variable);
  }
};
template <class E>
constexpr bool reduces_whole(char variable) {
  return ReducesWhole<E>::of(variable);
}

}  // namespace sporos::stream
