// SPDX-License-Identifier: Apache-2.0
/// @file activations.hpp
/// The activation functions of neural networks in index notation, `relu` and `gelu`. They are applied to
/// sums:
///
///     C(i, j) = relu(A(i, k) * B(k, j) + b(j))      the same as relu(sum(k, A(i, k) * B(k, j)) + b(j))
///
/// Other functions are applied to each term, before the variables that the result lacks are summed over.
/// Applying an activation to each term would be of no use. So a variable that occurs in its operand, but not
/// in the result, in an explicit sum around it or in another factor next to it, is summed over inside the
/// activation, term by term. Like the variable of an explicit sum, it must not occur anywhere else in the
/// statement.
///
/// In a number, `sum(relu(A(i, k) * x(k)))`, the sum around the activation takes all variables, so that none
/// is left to be summed inside: it adds up what relu makes of each product. What it makes of each sum is
/// `sum(relu(sum(k, A(i, k) * x(k))))`.
#pragma once

#include <Kokkos_Core.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

#include "map.hpp"
#include "sum.hpp"

namespace sporos {

/// max(x, 0); NaN for NaN. Maps zero to zero and keeps its sign.
struct Rectifier {
  static constexpr AtZero at_zero = AtZero::kept;
  static constexpr bool infix = false, sums_inside = true;
  static constexpr std::string_view name() { return "relu"; }
  static constexpr std::string_view functor() { return "Rectifier{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& x) const {
    static_assert(!is_complex_v<T>, "complex numbers are not ordered, so none of them is negative");
    if constexpr (is_complex_v<T>)
      return x;
    else
      return x < T{} ? T{} : x;
  }
};

/// x Φ(x) = x (1 + erf(x / √2)) / 2, where Φ is the distribution function of the normal distribution:
/// Hendrycks, Gimpel, *Gaussian Error Linear Units* (arXiv 1606.08415); exact, not their approximation by
/// tanh. NaN for NaN, 0 for -∞, ∞ for ∞. Maps zero to zero and keeps its sign.
struct GaussianErrorLinearUnit {
  static constexpr AtZero at_zero = AtZero::kept;
  static constexpr bool infix = false, sums_inside = true;
  static constexpr std::string_view name() { return "gelu"; }
  static constexpr std::string_view functor() { return "GaussianErrorLinearUnit{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& x) const {
    static_assert(std::is_floating_point_v<T>,
                  "gelu is no integer and of real numbers: compute in tensors of float or double");
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T root_of_half = static_cast<T>(0.707106781186547524400844362104849039L);
      const T twice = Kokkos::erfc(-x * root_of_half);  // subtracts no nearly equal numbers where x < 0
      return twice == T{} ? T{} : x * (twice / 2);      // x * twice may exceed all numbers
    } else {
      return x;
    }
  }
};

/// max(x, 0) of each element, or of each sum.
template <Expression E>
auto relu(const E& operand) {
  return Mapped(operand, Rectifier{});
}

/// x Φ(x) of each element, or of each sum.
template <Expression E>
auto gelu(const E& operand) {
  return Mapped(operand, GaussianErrorLinearUnit{});
}

namespace detail {

template <class E>
inline constexpr bool is_activation = false;
template <class E, class F>
inline constexpr bool is_activation<Mapped<E, F>> = requires { requires F::sums_inside; };

template <class E>
constexpr bool has_activation() {
  return is_activation<E> ||
         fold<E>([]<class... C>(TypeList<C...>) { return (has_activation<C>() || ... || false); });
}

/// Whether an expression applies a function F.
template <class F, class E>
constexpr bool applies() {
  if constexpr (requires { E::function; })
    if (std::is_same_v<decltype(E::function), F>) return true;
  return fold<E>([]<class... C>(TypeList<C...>) { return (applies<F, C>() || ... || false); });
}

constexpr NameList joined(NameList names, const NameList& others) {
  for (int at = 0; at < others.size; ++at) names.push_new(others[at]);
  return names;
}
/// `names`, followed by the variables that occur in E.
template <class E>
constexpr NameList and_variables_of(NameList names) {
  if constexpr (!has_children<E> && requires { E::names; }) names = joined(names, E::names);
  fold<E>([&]<class... C>(TypeList<C...>) { ((names = and_variables_of<C>(names)), ...); });
  return names;
}
/// The free variables of E that are not among `others`.
template <class E>
constexpr NameList variables_besides(const NameList& others) {
  NameList out;
  for (int at = 0; at < free_variables<E>().size; ++at)
    if (!others.contains(free_variables<E>()[at])) out.push_new(free_variables<E>()[at]);
  return out;
}

template <NameList Outside, class E>
auto with_sums_inside(const E& e);

/// The expression with each of its terms summed over the variables that do not occur outside it.
template <NameList Outside, class E>
auto summed_terms(const E& e) {
  if constexpr (E::is_sum) {
    return e.with(summed_terms<Outside>(e.left), summed_terms<Outside>(e.right));
  } else if constexpr (has_one_child<E> && E::factors > 0) {  // -E
    return e.with(summed_terms<Outside>(e.operand));
  } else {
    auto term = with_sums_inside<Outside>(e);
    constexpr NameList names = variables_besides<decltype(term)>(Outside);
    if constexpr (names.size == 0)
      return term;
    else
      return [&]<int... At>(std::integer_sequence<int, At...>) {
        return reduction<names[At]...>(term);
      }(std::make_integer_sequence<int, names.size>{});
  }
}

/// The expression with its activations applied to sums.
/// @tparam Outside  the variables of the result, of sums around the expression, and of factors next to it
template <NameList Outside, class E>
auto with_sums_inside(const E& e) {
  if constexpr (!has_activation<E>())
    return e;
  else if constexpr (is_activation<E>)
    return e.with(summed_terms<Outside>(e.operand));
  else if constexpr (is_reduction<E>)
    return e.with(with_sums_inside<joined(Outside, E::names)>(e.operand));
  else if constexpr (has_one_child<E>)
    return e.with(with_sums_inside<Outside>(e.operand));
  else if constexpr (E::is_sum)
    return e.with(with_sums_inside<Outside>(e.left), with_sums_inside<Outside>(e.right));
  else
    return e.with(with_sums_inside<and_variables_of<decltype(E::right)>(Outside)>(e.left),
                  with_sums_inside<and_variables_of<decltype(E::left)>(Outside)>(e.right));
}

}  // namespace detail

}  // namespace sporos
