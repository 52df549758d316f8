// SPDX-License-Identifier: Apache-2.0
/// @file scale.hpp
/// `A(i, j) *= s` and `A(i, j) /= s`: multiply or divide the stored values of a tensor in place.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "error.hpp"
#include "few_steps.hpp"
#include "space.hpp"
#include "tensor.hpp"
#include "value.hpp"
#include "wider.hpp"

namespace sporos::detail {

enum class Scaling { multiply, divide };

template <class Value, class Compute, Scaling Operation>
struct ScaleValues {
  Value* values;
  Compute factor;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    const auto value = static_cast<Compute>(values[at]);
    values[at] = static_cast<Value>(Operation == Scaling::multiply ? value * factor : value / factor);
  }
};

/// The tensor that holds the values stored on this rank.
template <class T>
const auto& stored_here(const T& tensor) {
  if constexpr (is_distributed_v<T>)
    return tensor.local();
  else
    return tensor;
}

/// Multiplies or divides every stored value of a tensor by a number, in the type in which a statement would
/// compute it. Which coordinates are stored does not change.
/// @throws ExpressionError if integers are divided by 0
template <Scaling Operation, class T, class Scalar>
void scale(const T& tensor, const Scalar& factor) {
  using Value = typename T::value_type;
  using Compute = typename WithScalars<accumulate_t<Value>, Scalar>::type;
  constexpr bool is_of_bool = std::is_same_v<Value, bool>;
  constexpr bool becomes_complex = is_complex_v<Scalar> && !is_complex_v<Value>;
  constexpr bool becomes_fraction = std::is_integral_v<Value> && std::is_floating_point_v<Compute>;
  static_assert(!is_of_bool, "a tensor of bool is not scaled: bool tensors know * and + only");
  static_assert(!becomes_complex,
                "a real tensor times a complex number is complex: make the tensor one of Kokkos::complex");
  static_assert(is_of_bool || !becomes_fraction,
                "integers times a floating-point number are no integers: make the tensor one of double, with "
                "convert<F, double>(A), or write A(i, j) = A(i, j) * s to have them rounded towards zero");
  if constexpr (!is_of_bool && !becomes_complex && !becomes_fraction) {
    expect_kokkos();
    if constexpr (Operation == Scaling::divide && std::is_integral_v<Compute>)
      if (factor == Scalar{}) throw ExpressionError("a tensor of integers is divided by 0");
    const auto& here = stored_here(tensor);
    using Space = typename std::remove_cvref_t<decltype(here)>::space_type;
    for_each_element(
        Space(), "sporos::scale", here.nnz(),
        ScaleValues<Value, Compute, Operation>{here.values().data(), static_cast<Compute>(factor)});
  }
}

}  // namespace sporos::detail
