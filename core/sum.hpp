// SPDX-License-Identifier: Apache-2.0
/// @file sum.hpp
/// Explicit sums, `sum(k, ...)`: which of them are loops of the statement, and which are numbers inside it.
///
/// An index variable that the result lacks is summed over, term by term, without a word: `y(i) = A(i, j) *
/// x(j)`. An explicit sum says where that happens where it matters:
///
///     s(i) = map(root, sum(j, A(i, j) * A(i, j)))             the root of a sum, not a sum of roots
///     y(i) = A(i, j) * x(j) / sum(k, A(i, k))                 divided by a sum
///     y(i) = sum(j, A(i, j)) * sum(k, B(i, k))                a product of sums, each over its own fiber
///     y(i) = sum(j, A(i, j) + b(i))                           b(i) once for each j
///
/// A sum whose place does not matter - a term, or the one sum among factors - is a loop of the statement like
/// any other, so that A(i, j) = sum(k, B(i, k) * C(k, j)) may run in any order. The others become a number as
/// soon as the loops have bound the rest of their variables.
#pragma once

#include <type_traits>

#include "expression.hpp"

namespace sporos {

namespace detail {

/// Whether a variable stands in an expression.
template <char Name, class E>
constexpr bool stands_in() {
  return [&]<class... A>(TypeList<A...>) { return (A::names.contains(Name) || ...); }(accesses_of<E>{});
}

/// Whether in every sum inside the expression all terms have the variable or none has.
template <class E>
struct InWholeSums {
  template <char Name>
  static constexpr bool of = true;
};
template <class L, class R>
struct InWholeSums<Product<L, R>> {
  template <char Name>
  static constexpr bool of = InWholeSums<L>::template of<Name> && InWholeSums<R>::template of<Name>;
};
template <class L, class R>
struct InWholeSums<Ratio<L, R>> : InWholeSums<L> {};
template <class E>
struct InWholeSums<Negation<E>> : InWholeSums<E> {};
template <class L, class R>
struct InWholeSums<Sum<L, R>> {
  template <char Name>
  static constexpr bool of =
      stands_in<Name, L>() == stands_in<Name, R>() && InWholeSums<Product<L, R>>::template of<Name>;
};

/// The number of explicit sums among the factors of an expression.
template <class E>
inline constexpr int sums_among_factors = 0;
template <class E, char... Names>
inline constexpr int sums_among_factors<Reduction<E, Names...>> = 1;
template <class E>
inline constexpr int sums_among_factors<Negation<E>> = sums_among_factors<E>;
template <class L, class R>
inline constexpr int sums_among_factors<Ratio<L, R>> = sums_among_factors<L>;
template <class L, class R>
inline constexpr int sums_among_factors<Product<L, R>> = sums_among_factors<L> + sums_among_factors<R>;

template <class E>
inline constexpr bool is_sum_of_terms = false;
template <class L, class R>
inline constexpr bool is_sum_of_terms<Sum<L, R>> = true;

/// Where an explicit sum stands.
enum class SumPlace {
  term,    ///< the statement's right side, or a term of it
  factor,  ///< the one explicit sum in a product
  inside   ///< where sums of other terms must stay outside
};

/// Takes those explicit sums out of an expression at `Place` that are loops of the statement.
template <SumPlace Place>
struct WithoutLoopSums {
  template <SumPlace Below>
  using at = WithoutLoopSums<Below>;
  static constexpr SumPlace inside = SumPlace::inside;

  template <class TensorType, char... Names>
  static auto of(const Access<TensorType, Names...>& access) {
    return access;
  }
  template <class T>
  static auto of(const Literal<T>& literal) {
    return literal;
  }
  template <class L, class R>
  static auto of(const Product<L, R>& product) {
    constexpr bool one = sums_among_factors<Product<L, R>> == 1;
    constexpr SumPlace below = Place != inside && one ? SumPlace::factor : inside;
    return Product(at<below>::of(product.left), at<below>::of(product.right));
  }
  template <class L, class R>
  static auto of(const Sum<L, R>& sum) {
    constexpr SumPlace below = Place == SumPlace::term ? SumPlace::term : inside;
    return Sum(at<below>::of(sum.left), at<below>::of(sum.right));
  }
  template <class L, class R>
  static auto of(const Ratio<L, R>& ratio) {
    constexpr SumPlace below = Place == inside ? inside : SumPlace::factor;
    return Ratio(at<below>::of(ratio.left), at<inside>::of(ratio.right));
  }
  template <class E>
  static auto of(const Negation<E>& negation) {
    const auto operand = at<Place>::of(negation.operand);
    return Negation<std::remove_const_t<decltype(operand)>>(operand);
  }
  template <class E, class F>
  static auto of(const Mapped<E, F>& mapped) {
    return Mapped(at<inside>::of(mapped.operand), mapped.function);
  }
  template <class E, char... Names>
  static auto of(const Reduction<E, Names...>& reduction) {
    constexpr bool whole = (InWholeSums<E>::template of<Names> && ...);
    constexpr bool is_loop =
        whole && (Place == SumPlace::term || (Place == SumPlace::factor && !is_sum_of_terms<E>));
    if constexpr (is_loop) {
      return of(reduction.operand);
    } else {
      const auto operand = at<inside>::of(reduction.operand);
      return Reduction<std::remove_const_t<decltype(operand)>, Names...>(operand);
    }
  }
};

/// The variables of explicit sums that are left in an expression.
template <class E>
struct SummedNames {
  static constexpr NameList names{};
};
template <class L, class R>
struct SummedNames<Product<L, R>> {
  static constexpr NameList names = [] {
    NameList out = SummedNames<L>::names;
    for (int at = 0; at < SummedNames<R>::names.size; ++at) out.push(SummedNames<R>::names[at]);
    return out;
  }();
};
template <class L, class R>
struct SummedNames<Sum<L, R>> : SummedNames<Product<L, R>> {};
template <class L, class R>
struct SummedNames<Ratio<L, R>> : SummedNames<Product<L, R>> {};
template <class E>
struct SummedNames<Negation<E>> : SummedNames<E> {};
template <class E, class F>
struct SummedNames<Mapped<E, F>> : SummedNames<E> {};
template <class E, char... Names>
struct SummedNames<Reduction<E, Names...>> {
  static constexpr NameList names = [] {
    NameList out = SummedNames<E>::names;
    (out.push(Names), ...);
    return out;
  }();
};

/// The number of accesses that a variable stands in.
template <char Name, class... A>
constexpr int accesses_with(TypeList<A...>) {
  return (0 + ... + (A::names.contains(Name) ? 1 : 0));
}

/// Whether the variables of every explicit sum in E stand, in the whole right side, inside that sum alone.
template <class Whole, class E>
inline constexpr bool sums_own_their_variables = true;
template <class Whole, class L, class R>
inline constexpr bool sums_own_their_variables<Whole, Product<L, R>> =
    sums_own_their_variables<Whole, L> && sums_own_their_variables<Whole, R>;
template <class Whole, class L, class R>
inline constexpr bool sums_own_their_variables<Whole, Sum<L, R>> =
    sums_own_their_variables<Whole, Product<L, R>>;
template <class Whole, class L, class R>
inline constexpr bool sums_own_their_variables<Whole, Ratio<L, R>> =
    sums_own_their_variables<Whole, Product<L, R>>;
template <class Whole, class E>
inline constexpr bool sums_own_their_variables<Whole, Negation<E>> = sums_own_their_variables<Whole, E>;
template <class Whole, class E, class F>
inline constexpr bool sums_own_their_variables<Whole, Mapped<E, F>> = sums_own_their_variables<Whole, E>;
template <class Whole, class E, char... Names>
inline constexpr bool sums_own_their_variables<Whole, Reduction<E, Names...>> =
    ((accesses_with<Names>(accesses_of<Whole>{}) == accesses_with<Names>(accesses_of<E>{})) && ...) &&
    sums_own_their_variables<Whole, E>;

}  // namespace detail

/// The sum of an expression over index variables: `sum(k, B(i, k) * C(k, j))`, `sum(j, k, T(i, j, k))`.
/// Every summed variable stands in the expression and nowhere outside of it.
template <char First, Expression E>
auto sum(Index<First>, const E& operand) {
  static_assert(detail::stands_in<First, E>(), "the variable of a sum stands in what is summed");
  return Reduction<E, First>(operand);
}
template <char First, char Second, Expression E>
auto sum(Index<First>, Index<Second>, const E& operand) {
  static_assert(detail::stands_in<First, E>() && detail::stands_in<Second, E>(),
                "the variables of a sum stand in what is summed");
  return Reduction<E, First, Second>(operand);
}
template <char First, char Second, char Third, Expression E>
auto sum(Index<First>, Index<Second>, Index<Third>, const E& operand) {
  static_assert(
      detail::stands_in<First, E>() && detail::stands_in<Second, E>() && detail::stands_in<Third, E>(),
      "the variables of a sum stand in what is summed");
  return Reduction<E, First, Second, Third>(operand);
}

}  // namespace sporos
