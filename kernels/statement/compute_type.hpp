// SPDX-License-Identifier: Apache-2.0
/// @file compute_type.hpp
/// The type in which a statement computes: wide enough for its result and every operand.
#pragma once

#include <type_traits>

#include "../../core/expression.hpp"
#include "../../core/semiring.hpp"
#include "../../core/value.hpp"

namespace sporos {

namespace detail {

template <class A, class B>
struct Wider {
  using type = std::common_type_t<A, B>;
};
template <class A, class B>
  requires(is_complex_v<A> || is_complex_v<B>)
struct Wider<A, B> {
  template <class T>
  struct RealOf {
    using type = T;
  };
  template <class T>
  struct RealOf<Kokkos::complex<T>> {
    using type = T;
  };
  using type = Kokkos::complex<std::common_type_t<typename RealOf<A>::type, typename RealOf<B>::type>>;
};
template <>
struct Wider<bool, bool> {
  using type = bool;
};

template <class First, class... Rest>
struct WidestOf {
  using type = First;
};
template <class First, class Second, class... Rest>
struct WidestOf<First, Second, Rest...> : WidestOf<typename Wider<First, Second>::type, Rest...> {};

template <class Result, class Operands, class Scalars>
struct ComputeOf;
template <class Result, class... Operands, class... Scalars>
struct ComputeOf<Result, TypeList<Operands...>, TypeList<Scalars...>> {
  using tensors = typename WidestOf<accumulate_t<typename Result::value_type>,
                                    accumulate_t<typename Operands::value_type>...>::type;
  // Next to float tensors, an integer or double literal is meant as a float: scalars widen the type only if
  // it cannot represent them at all.
  template <class Scalar>
  static constexpr bool widens = (is_complex_v<Scalar> && !is_complex_v<tensors>) ||
                                 (std::is_floating_point_v<Scalar> && std::is_integral_v<tensors>);
  using type = typename WidestOf<tensors, std::conditional_t<widens<Scalars>, Scalars, tensors>...>::type;
};

}  // namespace detail

/// The common type of the result's and the operands' accumulation types; complex if any of them is.
template <class Result, class Right>
using compute_t = typename detail::ComputeOf<Result, accesses_of<Right>, scalars_of<Right>>::type;

/// The same, with the operations of a semiring.
template <class Result, class Right, class Ring>
using compute_over_t = std::conditional_t<std::is_same_v<Ring, Arithmetic>, compute_t<Result, Right>,
                                          SemiringElement<compute_t<Result, Right>, Ring>>;

}  // namespace sporos
