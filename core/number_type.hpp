// SPDX-License-Identifier: Apache-2.0
/// @file number_type.hpp
/// The types that count where an expression is computed, and the type of an expression that is a number.
#pragma once

#include <cstdint>
#include <type_traits>

#include "expression.hpp"
#include "value.hpp"
#include "wider.hpp"

namespace sporos {

namespace detail {

template <class... T>
constexpr auto real_types(TypeList<T...>) {
  return TypeList<typename RealTypeOf<T>::type...>{};
}

/// The types of the tensors of an expression, or of its scalars, as they count towards the type in which it
/// is computed: complex ones count as real inside a function whose values are real.
enum class TypesOf { tensors, scalars };
template <class E>
inline constexpr bool is_real_of = false;
template <class E>
inline constexpr bool is_real_of<RealOf<E>> = true;
template <TypesOf Which, class E>
constexpr auto computed_types() {
  if constexpr (is_real_of<E>) {
    return []<class Of>(RealOf<Of>*) {
      return real_types(computed_types<Which, Of>());
    }(static_cast<E*>(nullptr));
  } else if constexpr (AnyAccess<E>) {
    return std::conditional_t<Which == TypesOf::tensors, TypeList<typename E::value_type>, TypeList<>>{};
  } else if constexpr (AnyLiteral<E>) {
    return std::conditional_t<Which == TypesOf::scalars, TypeList<typename E::value_type>, TypeList<>>{};
  } else {
    constexpr auto of_children =
        fold<E>([]<class... C>(TypeList<C...>) { return (TypeList<>{} + ... + computed_types<Which, C>()); });
    if constexpr (E::gives_real)
      return real_types(of_children);
    else
      return of_children;
  }
}
template <class... T>
constexpr bool any_is_complex(TypeList<T...>) {
  return (is_complex_v<T> || ...);
}

/// The type in which the children of a node E whose values are real are computed with, where the values
/// count in the type Compute.
template <class Compute, class E>
constexpr auto type_inside() {
  constexpr bool is_complex = fold<E>([]<class... C>(TypeList<C...>) {
    return any_is_complex((TypeList<>{} + ... + computed_types<TypesOf::tensors, C>())) ||
           any_is_complex((TypeList<>{} + ... + computed_types<TypesOf::scalars, C>()));
  });
  using Real = std::conditional_t<std::is_same_v<Compute, float>, float, double>;
  if constexpr (is_complex && std::is_arithmetic_v<Compute>)
    return std::type_identity<Kokkos::complex<Real>>{};
  else
    return std::type_identity<Compute>{};
}
template <class Compute, class E>
using type_inside_t = typename decltype(type_inside<Compute, E>())::type;

/// The type of the sum of values of type T: integers are summed in 64 bits, however narrow they are stored,
/// and 16-bit floats in float. The sum of bools is their logical or.
template <class T>
struct SumType {
  using type = accumulate_t<T>;
};
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
struct SumType<T> {
  using type = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
};

/// The value type of a node without index variables, derived from its children or its tensor.
template <class Values, class Scalars>
struct NumberTypeOf;
template <class... Values, class... Scalars>
struct NumberTypeOf<TypeList<Values...>, TypeList<Scalars...>> {
  using sums = typename SumType<typename WidestOf<accumulate_t<Values>...>::type>::type;
  using type = typename WithScalars<sums, Scalars...>::type;
};
template <class... Scalars>
struct NumberTypeOf<TypeList<>, TypeList<Scalars...>> {  // in refused notation
  using type = double;
};
template <class... Children>
struct NumberType
    : NumberTypeOf<decltype((TypeList<>{} + ... + computed_types<TypesOf::tensors, Children>())),
                   decltype((TypeList<>{} + ... + computed_types<TypesOf::scalars, Children>()))> {};
template <class Tensor>
  requires requires { typename Tensor::format_type; }
struct NumberType<Tensor> : SumType<typename Tensor::value_type> {};

}  // namespace detail

}  // namespace sporos
