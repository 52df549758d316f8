// SPDX-License-Identifier: Apache-2.0
/// @file sum.hpp
/// Explicit sums, `sum(k, ...)`: which of them are loops of the statement, and which are numbers inside it.
///
/// An index variable that the result lacks is summed over, term by term: `y(i) = A(i, j) * x(j)`. An explicit
/// sum says where to sum, if that matters:
///
///     s(i) = map(root, sum(j, A(i, j) * A(i, j)))             the root of a sum, not a sum of roots
///     y(i) = A(i, j) * x(j) / sum(k, A(i, k))                 divided by a sum
///     y(i) = sum(j, A(i, j)) * sum(k, B(i, k))                a product of sums, each over its own fiber
///     y(i) = sum(j, A(i, j) + b(i))                           b(i) once for each j
///     double s = sum(x(i) * y(i))                             over all variables: a number
///
/// A sum whose place does not matter (a term, or the only sum among factors) is a loop of the statement like
/// any other, so that A(i, j) = sum(k, B(i, k) * C(k, j)) may run in any order. The others become numbers as
/// soon as the loops have bound their remaining variables.
#pragma once

#include <cstddef>
#include <utility>

#include "expression.hpp"
#include "number_type.hpp"

namespace sporos {

namespace detail {

/// The number of accesses in an expression that contain a variable.
template <class E>
constexpr int accesses_with(char variable) {
  return [&]<class... A>(TypeList<A...>) {
    return (0 + ... + (A::names.contains(variable) ? 1 : 0));
  }(accesses_of<E>{});
}

template <class E>
inline constexpr bool is_reduction = false;
template <class E, char... Names>
inline constexpr bool is_reduction<Reduction<E, Names...>> = true;

/// Whether a variable occurs in an expression, even if only in zeros.
template <class E>
constexpr bool contains_variable(char variable) {
  if constexpr (!has_children<E> && requires { E::names; })
    return E::names.contains(variable);
  else
    return fold<E>(
        [&]<class... C>(TypeList<C...>) { return (contains_variable<C>(variable) || ... || false); });
}

/// Whether the variable occurs in all terms or in none of every sum over whose terms a sum over the variable
/// has to distribute; likewise for the operands of a function that is applied where either is present.
template <class E>
constexpr bool in_whole_sums(char variable) {
  return fold<E>([&]<class... C>(TypeList<C...>) {
    if constexpr (E::is_sum) {
      const std::size_t terms = (0 + ... + (accesses_with<C>(variable) > 0 ? 1 : 0));
      return (terms == 0 || terms == sizeof...(C)) && (in_whole_sums<C>(variable) && ...);
    } else if constexpr (has_presence<E>) {
      const bool in[] = {contains_variable<C>(variable)...};
      return is_bounded_by(E::presence, in[0], in[1]) == (in[0] || in[1]) &&
             (in_whole_sums<C>(variable) && ...);
    } else if constexpr (sizeof...(C) == 1 && E::factors == 0) {
      return ((!has_presence<C> || in_whole_sums<C>(variable)) && ...);
    } else {
      [[maybe_unused]] int at = 0;
      return ((at++ >= E::factors || in_whole_sums<C>(variable)) && ...);
    }
  });
}

/// The number of explicit sums among the factors of an expression.
template <class E>
constexpr int sums_among_factors() {
  if constexpr (is_reduction<E>)
    return 1;
  else
    return fold<E>([]<class... C>(TypeList<C...>) {
      const int sums[] = {sums_among_factors<C>()..., 0};
      int count = 0;
      for (int at = 0; at < E::factors; ++at) count += sums[at];
      return count;
    });
}

/// Where an explicit sum stands.
enum class SumPlace {
  term,    ///< the statement's right side, or a term of it
  factor,  ///< the one explicit sum in a product
  inside   ///< elsewhere: the sum cannot become a loop of the statement
};

/// Where a child of E stands, given where E stands and whether E is linear in the child.
template <class E>
constexpr SumPlace place_below(SumPlace place, bool is_factor) {
  if (E::is_sum && place == SumPlace::term) return place;
  if (!is_factor || place == SumPlace::inside || sums_among_factors<E>() > 1) return SumPlace::inside;
  return has_one_child<E> ? place : SumPlace::factor;
}

/// Whether a node is an explicit sum that, in its place, is a loop of the statement.
template <class E>
constexpr bool is_loop_sum([[maybe_unused]] SumPlace place) {
  if constexpr (is_reduction<E>) {
    using Operand = decltype(E::operand);
    for (int at = 0; at < E::names.size; ++at)
      if (!in_whole_sums<Operand>(E::names[at])) return false;
    return place == SumPlace::term || (place == SumPlace::factor && !Operand::is_sum);
  } else {
    return false;
  }
}

/// The expression, which stands at `Place`, with each explicit sum that is a loop of the statement replaced
/// by its operand.
template <SumPlace Place, class E>
auto without_loop_sums(const E& e) {
  if constexpr (is_loop_sum<E>(Place)) {
    return without_loop_sums<Place>(e.operand);
  } else if constexpr (has_one_child<E>) {
    return e.with(without_loop_sums<place_below<E>(Place, E::factors > 0)>(e.operand));
  } else if constexpr (has_two_children<E>) {
    return e.with(without_loop_sums<place_below<E>(Place, E::factors > 0)>(e.left),
                  without_loop_sums<place_below<E>(Place, E::factors > 1)>(e.right));
  } else {
    return e;
  }
}

/// The variables of the explicit sums in an expression.
template <class E>
constexpr NameList summed_names() {
  NameList out = fold<E>([]<class... C>(TypeList<C...>) {
    NameList all;
    (all.push(summed_names<C>()), ...);
    return all;
  });
  if constexpr (is_reduction<E>) out.push(E::names);
  return out;
}

/// Whether the variables of every explicit sum in E occur nowhere in the right side but inside that sum.
template <class Whole, class E = Whole>
constexpr bool sums_own_their_variables() {
  if constexpr (is_reduction<E>)
    for (int at = 0; at < E::names.size; ++at)
      if (accesses_with<Whole>(E::names[at]) != accesses_with<E>(E::names[at])) return false;
  return fold<E>([]<class... C>(TypeList<C...>) { return (sums_own_their_variables<Whole, C>() && ...); });
}

template <char... Names, class E>
auto reduction(const E& operand) {
  static_assert(((accesses_with<E>(Names) > 0) && ...), "the variables of a sum stand in what is summed");
  return Reduction<E, Names...>(operand);
}

}  // namespace detail

/// The sum of an expression over index variables: `sum(k, B(i, k) * C(k, j))`, `sum(j, k, T(i, j, k))`.
/// Every summed variable occurs in the expression and nowhere outside it.
template <char First, Expression E>
auto sum(Index<First>, const E& operand) {
  return detail::reduction<First>(operand);
}
template <char First, char Second, Expression E>
auto sum(Index<First>, Index<Second>, const E& operand) {
  return detail::reduction<First, Second>(operand);
}
template <char First, char Second, char Third, Expression E>
auto sum(Index<First>, Index<Second>, Index<Third>, const E& operand) {
  return detail::reduction<First, Second, Third>(operand);
}

/// The sum of an expression over all its index variables, which is a number: `double s = sum(x(i) * y(i))`.
/// It is computed each time a number is expected; inside another expression, it is a part of that.
template <Expression E>
auto sum(const E& operand) {
  constexpr NameList names = detail::free_variables<E>();
  if constexpr (names.size == 0)
    return operand;
  else
    return [&]<int... At>(std::integer_sequence<int, At...>) {
      return detail::reduction<names[At]...>(operand);
    }(std::make_integer_sequence<int, names.size>{});
}

}  // namespace sporos
