// SPDX-License-Identifier: Apache-2.0
/// @file wider.hpp
/// The value type that holds the values of several types.
#pragma once

#include <type_traits>

#include "value.hpp"

namespace sporos::detail {

/// The type of the real numbers that complex ones consist of.
template <class T>
struct RealTypeOf {
  using type = T;
};
template <class T>
struct RealTypeOf<Kokkos::complex<T>> {
  using type = T;
};

template <class A, class B>
struct Wider {
  using type = std::common_type_t<A, B>;
};
template <class A, class B>
  requires(is_complex_v<A> || is_complex_v<B>)
struct Wider<A, B> {
  using type =
      Kokkos::complex<std::common_type_t<typename RealTypeOf<A>::type, typename RealTypeOf<B>::type>>;
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

/// The type in which tensors of common type Tensors are computed with next to scalars. Next to float tensors,
/// an integer or double literal is meant as a float: scalars widen the type only if it cannot represent them
/// at all.
template <class Tensors, class... Scalars>
struct WithScalars {
  template <class Scalar>
  static constexpr bool widens = (is_complex_v<Scalar> && !is_complex_v<Tensors>) ||
                                 (std::is_floating_point_v<Scalar> && std::is_integral_v<Tensors>);
  using type = typename WidestOf<Tensors, std::conditional_t<widens<Scalars>, Scalars, Tensors>...>::type;
};

}  // namespace sporos::detail
