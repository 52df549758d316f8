// SPDX-License-Identifier: Apache-2.0
/// @file linear_sum.hpp
/// Expressions that are linear in a sum of terms, as -(L + R) or (L + R) * x are: the sum inside them, and
/// what its terms become.
#pragma once

#include "../../../core/inline.hpp"
#include "questions.hpp"

namespace sporos::stream {

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

}  // namespace sporos::stream
