// SPDX-License-Identifier: Apache-2.0
/// @file value_cast.hpp
/// Converts values from one type to another, and detects those that the new type cannot hold.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "../core/value.hpp"

namespace sporos {

/// Assigns `from` to `to` if the type of `to` can hold it: integers and bool must be exact, floating-point
/// numbers are rounded to nearest but must not become infinite, and a complex number becomes real only if its
/// imaginary part is 0. Returns whether it could.
template <TensorValue To, TensorValue From>
bool value_cast(const From& from, To& to) {
  if constexpr (std::same_as<To, From>) {
    to = from;
    return true;
  } else if constexpr (is_complex_v<From> && is_complex_v<To>) {
    typename To::value_type re{}, im{};
    const bool held = value_cast(from.real(), re) && value_cast(from.imag(), im);
    to = To(re, im);
    return held;
  } else if constexpr (is_complex_v<From>) {
    return from.imag() == 0 && value_cast(from.real(), to);
  } else if constexpr (is_complex_v<To>) {
    typename To::value_type re{};
    const bool held = value_cast(from, re);
    to = To(re, 0);
    return held;
  } else if constexpr (is_narrow_float_v<From>) {
    return value_cast(static_cast<float>(from), to);
  } else if constexpr (is_narrow_float_v<To>) {
    to = To(static_cast<float>(from));
    return std::isfinite(static_cast<float>(to)) || !std::isfinite(static_cast<double>(from));
  } else if constexpr (std::floating_point<To>) {
    to = static_cast<To>(from);
    if constexpr (std::floating_point<From>) return std::isfinite(to) || !std::isfinite(from);
    return true;
  } else if constexpr (std::same_as<To, bool>) {
    to = from != From{};
    return from == From{} || from == From{1};
  } else if constexpr (std::floating_point<From>) {
    // 2^(digits) is exact in any floating-point type, unlike the largest integer below it.
    const From limit = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (!(from < limit && from >= (std::is_signed_v<To> ? -limit : From{0})) || from != std::trunc(from))
      return false;
    to = static_cast<To>(from);
    return true;
  } else if constexpr (std::same_as<From, bool>) {
    to = static_cast<To>(from);
    return true;
  } else {
    to = static_cast<To>(from);
    return std::in_range<To>(from);
  }
}

/// A value as text, for messages and printing.
template <TensorValue Value>
std::string value_text(const Value& value) {
  if constexpr (is_complex_v<Value>) {
    const bool below = std::signbit(value.imag());
    return value_text(value.real()) + (below ? " - " : " + ") + value_text(std::abs(value.imag())) + "i";
  } else if constexpr (std::integral<Value>) {
    return std::to_string(value);
  } else {
    char buffer[32];
    const int length = std::snprintf(buffer, sizeof buffer, "%.6g", static_cast<double>(value));
    return {buffer, static_cast<std::size_t>(length)};
  }
}

}  // namespace sporos
