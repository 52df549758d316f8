// SPDX-License-Identifier: Apache-2.0
/// @file value.hpp
/// The value types of tensors: arithmetic types, complex, bool, and 16-bit floats, which are computed in
/// float.
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <complex>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#if defined(__CUDA_ARCH__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace sporos {

/// IEEE binary16 as a storage type: converts to and from float (round to nearest, ties to even); arithmetic
/// is done in float. The host and a GPU, which has instructions for it, give the same bits, except that a NaN
/// may differ in sign and payload.
struct half {
  std::uint16_t bits = 0;

  half() = default;
  KOKKOS_INLINE_FUNCTION half(float x) : bits(from_float(x)) {}
  KOKKOS_INLINE_FUNCTION operator float() const { return to_float(bits); }

  KOKKOS_INLINE_FUNCTION static std::uint16_t from_float(float x) {
#if defined(__CUDA_ARCH__)
    return __half_as_ushort(__float2half_rn(x));
#else
    const auto u = Kokkos::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = (u >> 16) & 0x8000u;
    const std::uint32_t magnitude = u & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
    if (magnitude < 0x38800000u) {  // subnormal in binary16: a float addition rounds the shifted value
      const float shifted = Kokkos::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign | (Kokkos::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
    }
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
#endif
  }
  KOKKOS_INLINE_FUNCTION static float to_float(std::uint16_t h) {
#if defined(__CUDA_ARCH__)
    return __half2float(__ushort_as_half(h));
#else
    const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
    const std::uint32_t magnitude = h & 0x7fffu;
    if (magnitude >= 0x7c00u)  // infinity, NaN
      return Kokkos::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    if (magnitude < 0x400u) {  // zero, subnormal: magnitude * 2^-24
      const float value = static_cast<float>(magnitude) * 5.9604644775390625e-8f;
      return Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(value) | sign);
    }
    return Kokkos::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
#endif
  }
};

/// bfloat16 as a storage type: the upper half of a float, rounded to nearest, ties to even; arithmetic is
/// done in float. The host and a GPU give the same bits, except for NaN, as for half.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  KOKKOS_INLINE_FUNCTION bfloat16(float x) : bits(from_float(x)) {}
  KOKKOS_INLINE_FUNCTION operator float() const {
    return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

  KOKKOS_INLINE_FUNCTION static std::uint16_t from_float(float x) {
#if defined(__CUDA_ARCH__)
    return __bfloat16_as_ushort(__float2bfloat16_rn(x));
#else
    const auto u = Kokkos::bit_cast<std::uint32_t>(x);
    if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((u >> 16) | 0x40u);  // quiet NaN
    return static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
#endif
  }
};

template <class T>
inline constexpr bool is_complex_v = false;
template <class Real>
inline constexpr bool is_complex_v<Kokkos::complex<Real>> = true;
template <class Real>
inline constexpr bool is_complex_v<std::complex<Real>> = true;

template <class T>
inline constexpr bool is_narrow_float_v = std::same_as<T, half> || std::same_as<T, bfloat16>;

/// Whether T's + and * are those of a semiring (semiring.hpp), as are the numbers that statements over one
/// compute with.
template <class T>
inline constexpr bool is_semiring_element_v = false;

namespace detail {
template <class T>
inline constexpr bool is_tensor_value_v =
    std::is_arithmetic_v<T> || is_complex_v<T> || is_narrow_float_v<T> || is_semiring_element_v<T>;
}  // namespace detail

/// A type of value that a tensor can hold; const if the tensor is only read.
template <class T>
concept TensorValue = detail::is_tensor_value_v<std::remove_const_t<T>>;

/// The type in which sums of `T` are formed: float for the 16-bit floats, else T itself. The sum of bools is
/// their logical or.
template <class T>
using accumulate_t = std::conditional_t<is_narrow_float_v<T>, float, T>;

/// a + b as tensors add: in the accumulation type; for bool, or.
template <class T>
KOKKOS_INLINE_FUNCTION T plus(T a, T b) {
  if constexpr (std::same_as<T, bool>)
    return a || b;
  else
    return static_cast<T>(static_cast<accumulate_t<T>>(a) + static_cast<accumulate_t<T>>(b));
}

/// The name of a value type in messages and files: "double", "complex<float>", "bfloat16".
template <class T>
constexpr std::string_view value_name() {
  if constexpr (std::same_as<T, double>)
    return "double";
  else if constexpr (std::same_as<T, float>)
    return "float";
  else if constexpr (std::same_as<T, half>)
    return "half";
  else if constexpr (std::same_as<T, bfloat16>)
    return "bfloat16";
  else if constexpr (std::same_as<T, bool>)
    return "bool";
  else if constexpr (is_complex_v<T>)
    return sizeof(T) == 16 ? "complex<double>" : "complex<float>";
  else if constexpr (std::is_integral_v<T>) {
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 8)
      return is_signed ? "int64" : "uint64";
    else if constexpr (sizeof(T) == 4)
      return is_signed ? "int32" : "uint32";
    else if constexpr (sizeof(T) == 2)
      return is_signed ? "int16" : "uint16";
    else
      return is_signed ? "int8" : "uint8";
  } else
    return "value";
}

}  // namespace sporos
