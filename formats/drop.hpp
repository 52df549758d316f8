// SPDX-License-Identifier: Apache-2.0
/// @file drop.hpp
/// A sparse tensor without its small entries, or without the zeros that it stores.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "assemble.hpp"
#include "entries_of.hpp"

namespace sporos {
namespace detail {

/// Whether |value| <= tolerance, exactly; false for a NaN.
template <class Value>
class AtMostInMagnitude {
 public:
  /// @throws RangeError for a tolerance that is negative or NaN
  explicit AtMostInMagnitude(double tolerance) : tolerance_(tolerance) {
    if (!(tolerance >= 0))
      throw RangeError(text("the tolerance of drop is ", tolerance,
                            ": it must be at least 0, since it is compared with magnitudes"));
  }

  bool operator()(const Value& value) const {
    if constexpr (is_complex_v<Value>) {
      return std::hypot(static_cast<double>(value.real()), static_cast<double>(value.imag())) <= tolerance_;
    } else if constexpr (std::is_integral_v<Value>) {
      // A double cannot hold every 64-bit integer, but it can hold their bounds, which are powers of 2.
      constexpr double beyond = 18446744073709551616.0;
      auto magnitude = static_cast<std::uint64_t>(value);
      if constexpr (std::is_signed_v<Value>)
        if (value < 0) magnitude = 0 - magnitude;
      return tolerance_ >= beyond || magnitude <= static_cast<std::uint64_t>(tolerance_);
    } else {
      return std::abs(static_cast<double>(value)) <= tolerance_;
    }
  }

 private:
  double tolerance_;
};

}  // namespace detail

/// The tensor without its small entries, dropped on the threads of a space instance; see below.
template <HostSpace Space, TensorValue Value, TensorFormat F>
Tensor<Value, F, Space> drop(const Space& space, const Tensor<Value, F, Space>& t, double tolerance = 0) {
  static_assert(!F::is_dense,
                "a dense tensor stores a value at every coordinate, so that nothing can be dropped from it: "
                "convert it first, as in drop(convert<CSR<>>(D), tolerance)");
  const detail::AtMostInMagnitude<Value> is_small(tolerance);
  if constexpr (F::is_dense)
    return t;
  else
    return assemble<F>(
        space, detail::entries_where(space, t, false, [&](const Value& value) { return !is_small(value); }));
}

/// The tensor in the same format without the entries whose magnitude is at most a tolerance: B stores A(c)
/// where |A(c)| > tolerance, and nothing else.
///
///     auto B = drop(A, 1e-12);
///     auto C = drop(A);          // without stored zeros, -0.0 among them
///
/// A NaN stays, whatever the tolerance. The magnitude of a complex number is its modulus, that of `true` is
/// 1, and 64-bit integers are compared without rounding. If a format stores a coordinate more than once, each
/// of the values is judged on its own. If it stores whole blocks, small values become zeros, and blocks
/// without any others are left out.
///
/// @param t          a tensor with a sparse level, in any space; not changed
/// @param tolerance  at least 0
/// @throws RangeError   for a tolerance that is negative or NaN
/// @throws FormatError  if a level needs a coordinate below each parent, and one has lost it
/// @throws MemoryError
/// Cost: two passes over the tensor, and one over what is left, which is held as entries in between. A tensor
/// on a device is copied to the host and back.
template <AnyTensor T>
T drop(const T& t, double tolerance = 0) {
  using Space = typename T::space_type;
  if constexpr (HostSpace<Space>)
    return drop(Space(), t, tolerance);
  else
    return drop(t.template move_to<Host>(), tolerance).template move_to<Space>();
}

}  // namespace sporos
