// SPDX-License-Identifier: Apache-2.0
/// @file linear_epilogue.hpp
/// Epilogues that vendors' libraries of matrix products compute: a factor, a bias for each row, a maximum.
#pragma once

#include <type_traits>
#include <utility>

#include "../../core/activations.hpp"
#include "../epilogue/epilogue.hpp"

namespace sporos {

/// The epilogue scale * sum + bias[row], or max(scale * sum + bias[row], 0), of sums in float.
template <class T>
struct LinearEpilogue {
  float scale = 1;
  const T* bias = nullptr;  ///< [rows of the sparse matrix]; null if there is none
  bool rectifies = false;
};

namespace detail {

template <class E>
inline constexpr bool is_scaled_sum = is_the_sum<E>;
template <class L, class R>
inline constexpr bool is_scaled_sum<stream::Binary<stream::Multiplication, L, R>> =
    (stream::is_loaded<L> && is_the_sum<R>) || (is_the_sum<L> && stream::is_loaded<R>);

template <class E, class T>
inline constexpr bool is_element_of_type = false;
template <class T, class Compute, int Order>
inline constexpr bool is_element_of_type<Element<T, Compute, Order>, T> = true;

/// Whether an epilogue's expression is scale * sum, or that and an element of an operand with values of type
/// T.
template <class E, class T>
inline constexpr bool is_biased_sum = is_scaled_sum<E>;
template <class L, class R, class T>
inline constexpr bool is_biased_sum<stream::Binary<stream::Addition, L, R>, T> =
    (is_scaled_sum<L> && is_element_of_type<R, T>) || (is_element_of_type<L, T> && is_scaled_sum<R>);

template <class E, class T>
inline constexpr bool is_rectified_sum = is_biased_sum<E, T>;
template <class E, class T>
inline constexpr bool is_rectified_sum<stream::Unary<stream::Function<Rectifier>, E>, T> =
    is_biased_sum<E, T>;

/// Whether all operands beside the factors of a product are vectors over the variable `row`.
template <class S>
constexpr bool has_vectors_over(char row) {
  return []<class... A>(TypeList<A...>, char variable) {
    return ((has_factor<typename S::result_type, A>() || (A::names.size == 1 && A::names[0] == variable)) &&
            ...);
  }(accesses_of<typename S::right_type>{}, row);
}

template <class E, class T>
void read_linear(const E& e, LinearEpilogue<T>& out) {
  if constexpr (stream::is_product<E>) {
    if constexpr (stream::is_loaded<decltype(E::left)>)
      out.scale = static_cast<float>(e.left.value);
    else
      out.scale = static_cast<float>(e.right.value);
  } else if constexpr (stream::is_add<E>) {
    read_linear(e.left, out);
    read_linear(e.right, out);
  } else if constexpr (is_element<E>) {
    out.bias = e.values;
  } else if constexpr (!is_the_sum<E>) {
    out.rectifies = true;
    read_linear(e.operand, out);
  }
}

}  // namespace detail

/// Whether the epilogue of a statement is a LinearEpilogue<T>, with a bias for each coordinate of the
/// variable `row` if it has one; it has `factors_of_sums`.
template <class T, class S>
constexpr bool has_linear_epilogue(char row) {
  using E = decltype(epilogue_of(std::declval<const S&>()));
  return detail::is_rectified_sum<decltype(E::expression), T> && std::is_same_v<typename E::compute, float> &&
         detail::has_vectors_over<S>(row);
}

/// The epilogue of a statement for which has_linear_epilogue<T, S>() is true.
template <class T, class S>
LinearEpilogue<T> linear_epilogue_of(const S& statement) {
  LinearEpilogue<T> out;
  detail::read_linear(epilogue_of(statement).expression, out);
  return out;
}

}  // namespace sporos
