// SPDX-License-Identifier: Apache-2.0
/// @file leaf.hpp
/// Leaf: an operand with some of its levels bound, how it moves down as loops bind variables, and the
/// questions that loops ask about the expression around it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../../core/inline.hpp"
#include "expression.hpp"
#include "function.hpp"

namespace sporos::stream {

/// The coordinates that the loops have bound so far, by the depth of their loops.
template <int Loops>
struct Coordinates {
  std::int64_t at[std::size_t{Loops > 0 ? Loops : 1}];
};

/// An operand of access type A with its levels 0 to K-1 bound.
///
/// Its position at level K-1 is `begin`; if that level is not unique, all positions in [begin, end) have the
/// bound coordinates.
///
/// @tparam A        the access: which variable each level has
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

  /// The properties of the next level.
  static constexpr LevelProperties next() { return A::format::properties[static_cast<std::size_t>(K)]; }
  /// Whether [begin, end) may be more than one position.
  static constexpr bool is_range = [] {
    if constexpr (K == 0)
      return false;
    else
      return !A::format::properties[static_cast<std::size_t>(K - 1)].unique;
  }();
  /// Whether the next level stores coordinates of the variable.
  static constexpr bool walks(char variable) {
    if constexpr (K < levels)
      return A::level_names[K] == variable && !next().full;
    else
      return false;
  }
};

template <class E>
concept AnyLeaf = requires { typename E::view_type; };

/// Whether level K of an operand is accessed at one coordinate, without a variable.
template <class A, int K>
inline constexpr bool is_fixed = A::level_names[K] == no_variable;

/// Whether the coordinates of a variable are counted from another one than the first coordinate of level K.
template <class A, int K>
constexpr bool is_shifted() {
  if constexpr (is_part_v<typename A::tensor_type>)
    return A::tensor_type::restricts(A::format::template expression<K>::mode);
  else
    return false;
}

/// The coordinate in level K of an operand that belongs to coordinate c of its variable.
template <class A, int K, class View>
SPOROS_INLINE std::int64_t level_coordinate(const View& view, std::int64_t c) {
  using Expression = typename A::format::template expression<K>;
  if constexpr (is_shifted<A, K>())
    return Expression::of(view.first[Expression::mode] + c);
  else
    return Expression::of(c);
}
/// The coordinate in level K of an operand that belongs to what the loops have bound.
template <class Order, class A, int K, class View, class Env>
SPOROS_INLINE std::int64_t bound_coordinate(const View& view, [[maybe_unused]] const Env& env) {
  if constexpr (is_fixed<A, K>)
    return level_coordinate<A, K>(view, 0);
  else
    return level_coordinate<A, K>(view, env.at[Order::names.find(A::level_names[K])]);
}

/// A stored value of an operand, in the type in which the statement computes. Padding is stored as 0, and
/// read as the zero of the semiring.
template <class A, class Compute>
SPOROS_INLINE Compute read(const typename A::value_type& value) {
  if constexpr (is_semiring_element_v<Compute> && A::format::stores_padding)
    if (value == typename A::value_type(0)) return Compute{};
  return static_cast<Compute>(value);
}

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

/// Whether an expression has the variable in a level that is not bound yet.
template <class E>
constexpr bool mentions(char variable) {
  if constexpr (AnyLeaf<E>) {
    for (int k = E::bound_levels; k < E::levels; ++k)
      if (E::access::level_names[k] == variable) return true;
    return false;
  } else if constexpr (is_zero<E>) {
    return E::waits_for(variable);
  } else {
    if constexpr (is_reduce<E>)
      if (E::operation_type::names.contains(variable)) return false;
    return fold<E>([&]<class... C>(TypeList<C...>) { return (mentions<C>(variable) || ...); });
  }
}

/// Whether loops from `Depth` on must bind variables other than `own` before an expression can be summed over
/// its own variables.
template <class Order, int Depth, class E>
constexpr bool waits(NameList own = {}) {
  if constexpr (is_zero<E>) {
    for (int at = 0; at < E::names.size; ++at)
      if (E::waits_for(E::names[at]) && !own.contains(E::names[at]) &&
          Order::names.find(E::names[at]) >= Depth)
        return true;
    return false;
  } else if constexpr (AnyLeaf<E>) {
    for (int k = E::bound_levels; k < E::levels; ++k) {
      const char variable = E::access::level_names[k];
      if (variable != no_variable && !own.contains(variable) && Order::names.find(variable) >= Depth)
        return true;
    }
    return false;
  } else {
    if constexpr (is_reduce<E>) own.push(E::operation_type::names);
    return fold<E>([&]<class... C>(TypeList<C...>) { return (waits<Order, Depth, C>(own) || ...); });
  }
}

/// Whether it is known only at run time what remains of an expression inside the bound loops. That is so if
/// an operand's next level is searched, because it stores coordinates of a variable that a loop has bound
/// already, as in A(i, i), or of none, as in A(i, 3); or if a sum inside the expression is computed here,
/// whose terms may all be absent.
template <class Order, int Depth, class E>
constexpr bool searches() {
  if constexpr (AnyLeaf<E>) {
    for (int k = E::bound_levels; k < E::levels; ++k) {
      const char variable = E::access::level_names[k];
      if (variable != no_variable && Order::names.find(variable) >= Depth) return false;
      if (!E::access::format::properties[static_cast<std::size_t>(k)].full) return true;
    }
    return false;
  } else {
    if constexpr (is_reduce<E> || is_complement_by_value<E>)
      if (!waits<Order, Depth, E>()) return true;
    return fold<E>([]<class... C>(TypeList<C...>) { return (searches<Order, Depth, C>() || ...); });
  }
}

/// Whether a node is present at exactly those coordinates of a variable at which its children are: either all
/// children that decide its presence mention the variable, or none does.
template <class E>
constexpr bool is_whole_in(char variable) {
  if constexpr (is_add<E> || has_presence<typename E::operation_type>) {
    const bool left = mentions<decltype(E::left)>(variable), right = mentions<decltype(E::right)>(variable);
    if (is_absent<decltype(E::left)> || is_absent<decltype(E::right)>) return true;
    return is_bounded_by(presence_of<typename E::operation_type>(), left, right) == (left || right);
  } else {
    return true;
  }
}

/// Whether the variable occurs, in every sum of terms inside the expression, in all terms or in none. A sum
/// over variables of its own counts as one number, whatever it contains.
template <class E>
constexpr bool reduces_whole(char variable) {
  if constexpr (is_reduce<E>)
    return true;
  else if constexpr (has_two_children<E>)
    return is_whole_in<E>(variable) && reduces_whole<decltype(E::left)>(variable) &&
           reduces_whole<decltype(E::right)>(variable);
  else
    return fold<E>([&]<class... C>(TypeList<C...>) { return (reduces_whole<C>(variable) && ...); });
}

/// Whether an expression is linear in a sum of terms inside it: the sum, its negative, or its product or
/// quotient with factors that lack the variable.
template <class E>
constexpr bool is_linear_in_sum(char variable) {
  if constexpr (is_add<E>)
    return true;
  else if constexpr (is_negation<E>)
    return is_linear_in_sum<decltype(E::operand)>(variable);
  else if constexpr (is_product<E> || is_quotient<E>)
    return (is_linear_in_sum<decltype(E::left)>(variable) && !mentions<decltype(E::right)>(variable)) ||
           (is_product<E> && is_linear_in_sum<decltype(E::right)>(variable) &&
            !mentions<decltype(E::left)>(variable));
  else
    return false;
}

/// Whether such an expression divides the sum. For integers, the quotient of a sum is not the sum of the
/// quotients.
template <class E>
constexpr bool divides_sum(char variable) {
  if constexpr (is_quotient<E>)
    return true;
  else if constexpr (is_negation<E>)
    return divides_sum<decltype(E::operand)>(variable);
  else if constexpr (is_product<E>)
    return mentions<decltype(E::left)>(variable) ? divides_sum<decltype(E::left)>(variable)
                                                 : divides_sum<decltype(E::right)>(variable);
  else
    return false;
}

/// Such an expression, with f(the sum) in place of the sum.
template <char Variable, class E, class F>
SPOROS_INLINE auto replace_sum(const E& e, const F& f) {
  if constexpr (is_add<E>)
    return f(e);
  else if constexpr (is_negation<E>)
    return e.operation(replace_sum<Variable>(e.operand, f));
  else if constexpr (mentions<decltype(E::left)>(Variable))
    return combine<typename E::operation_type>(replace_sum<Variable>(e.left, f), e.right);
  else
    return combine<typename E::operation_type>(e.left, replace_sum<Variable>(e.right, f));
}
/// The sum in such an expression.
template <char Variable, class E>
SPOROS_INLINE const auto& sum_in(const E& e) {
  if constexpr (is_add<E>)
    return e;
  else if constexpr (is_negation<E>)
    return sum_in<Variable>(e.operand);
  else if constexpr (mentions<decltype(E::left)>(Variable))
    return sum_in<Variable>(e.left);
  else
    return sum_in<Variable>(e.right);
}
/// The two terms that add up to such an expression: for example, -L and -R for -(L + R).
struct LeftTerm {
  template <class E>
  SPOROS_INLINE auto operator()(const E& sum) const {
    return sum.left;
  }
};
struct RightTerm {
  template <class E>
  SPOROS_INLINE auto operator()(const E& sum) const {
    return sum.right;
  }
};

/// Calls add(term) for each of these two terms.
template <char Variable, class E, class Add>
SPOROS_INLINE void for_both_terms(const E& e, const Add& add) {
  add(replace_sum<Variable>(e, LeftTerm{}));
  add(replace_sum<Variable>(e, RightTerm{}));
}

template <class Order, int Depth, class E, char... Names, class Env, class F>
SPOROS_INLINE void sum_into(const Unary<SumOver<Names...>, E>& e, const Env& env, const F& f);

/// The positions of coordinate c at the next level of an operand; empty if it is not stored. Takes time
/// logarithmic in the length of the fiber.
template <class A, class Compute, int K>
SPOROS_INLINE Bounds search(const Leaf<A, Compute, K>& leaf, std::int64_t c) {
  using L = Leaf<A, Compute, K>;
  static_assert(L::next().ordered,
                "a level without order cannot be searched for a coordinate: convert the operand");
  const auto& level = leaf.view->template level<K>();
  Bounds all = L::is_range ? Bounds{leaf.begin, leaf.end} : level.pos_bounds(leaf.begin);
  const auto first_not_below = [&] SPOROS_INLINE_LAMBDA(std::int64_t wanted) {
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

/// Prefetches the first cache lines of the row at coordinate c of `Variable`, in every operand whose next
/// level is full over that variable, with one more full level below.
template <char Variable, class A, class Compute, int K>
SPOROS_INLINE void fetch(const Leaf<A, Compute, K>& leaf, std::int64_t c) {
  using L = Leaf<A, Compute, K>;
  constexpr bool rows = [] {
    constexpr auto k = static_cast<std::size_t>(K);
    if (K + 2 != L::levels || A::level_names[K] != Variable) return false;
    return A::format::properties[k].full && A::format::properties[k + 1].full;
  }();
  if constexpr (rows) {
    const std::int64_t row =
        leaf.view->template level<K>().locate(leaf.begin, level_coordinate<A, K>(*leaf.view, c)).position;
    const auto& inner = leaf.view->template level<K + 1>();
    const auto* const values = leaf.view->values + inner.locate(row, 0).position;
    constexpr std::int64_t bytes_of_line = 64;
    constexpr std::int64_t lines = 4;  // the processor fetches the next ones by itself once these are read
    constexpr std::int64_t line = bytes_of_line / static_cast<std::int64_t>(sizeof *values);
    for (std::int64_t at = 0; at < lines; ++at) SPOROS_PREFETCH(values + at * line);
  }
}
template <char Variable, class E>
SPOROS_INLINE void fetch(const E& e, std::int64_t c) {
  if constexpr (has_one_child<E>) {
    fetch<Variable>(e.operand, c);
  } else if constexpr (has_two_children<E>) {
    fetch<Variable>(e.left, c);
    fetch<Variable>(e.right, c);
  }
}

}  // namespace sporos::stream
