// SPDX-License-Identifier: Apache-2.0
/// @file compute_type.hpp
/// The type in which a statement computes: wide enough for its result and every operand.
#pragma once

#include <type_traits>

#include "../../core/expression.hpp"
#include "../../core/number_type.hpp"
#include "../../core/semiring.hpp"
#include "../../core/value.hpp"
#include "../../core/wider.hpp"

namespace sporos {

namespace detail {

template <class Result, class Values, class Scalars>
struct ComputeOf;
template <class Result, class... Values, class... Scalars>
struct ComputeOf<Result, TypeList<Values...>, TypeList<Scalars...>> {
  using tensors = typename WidestOf<accumulate_t<typename Result::value_type>, accumulate_t<Values>...>::type;
  using type = typename WithScalars<tensors, Scalars...>::type;
};

/// The types of the values of some accesses.
template <class... Accesses>
constexpr TypeList<typename Accesses::value_type...> value_types(TypeList<Accesses...>) {
  return {};
}

/// The common type of the result's and all operands' accumulation types.
template <class Result, class Right>
using widest_t =
    typename ComputeOf<Result, decltype(value_types(accesses_of<Right>{})), scalars_of<Right>>::type;

}  // namespace detail

/// The common type of the result's and the operands' accumulation types; complex if any of them is, except
/// for what stands inside functions whose values are real.
template <class Result, class Right>
using compute_t =
    typename detail::ComputeOf<Result, decltype(detail::computed_types<detail::TypesOf::tensors, Right>()),
                               decltype(detail::computed_types<detail::TypesOf::scalars, Right>())>::type;

/// Whether a statement computes with complex numbers if and only if its result has them.
template <class S>
inline constexpr bool is_complex_like_result =
    is_complex_v<compute_t<typename S::result_type, typename S::right_type>> ==
    is_complex_v<typename S::result_type::value_type>;

/// The type in which a statement computes with the operations of a semiring.
template <class Result, class Right, class Ring>
using compute_over_t = std::conditional_t<std::is_same_v<Ring, Arithmetic>, compute_t<Result, Right>,
                                          SemiringElement<detail::widest_t<Result, Right>, Ring>>;

}  // namespace sporos
