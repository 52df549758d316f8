// SPDX-License-Identifier: Apache-2.0
/// @file packet.hpp
/// Small vectors of numbers that one instruction computes with, and transposition of rows into such vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../core/inline.hpp"
#include "../../core/value.hpp"
#include "../../core/wider.hpp"

#if defined(__GNUC__)
#define SPOROS_VECTOR_EXTENSION 1
#endif
#if defined(__FMA__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA) && defined(__aarch64__)
#include <arm_neon.h>
#define SPOROS_NEON_FMA 1
#endif

namespace sporos::detail {

/// Bytes of the widest vector register of the processor that the code is compiled for.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

/// How many vector registers that processor has: a kernel must not keep more than this in registers.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int vector_registers = 32;
#else
inline constexpr int vector_registers = 16;
#endif

/// The type of the parts of a complex number; a real number has one part, itself.
template <class T>
using real_part_t = typename RealTypeOf<T>::type;

/// a * b + c, rounded once if the processor has an instruction for it. The instruction is requested by name:
/// compilers fuse some products and sums but not others, depending on the surrounding code, so that two
/// functions computing the same sum would give different bits.
template <class T>
SPOROS_HOST_INLINE T multiply_add(const T& a, const T& b, const T& c) {
  if constexpr (is_complex_v<T>) {
    using Real = typename T::value_type;
    const Real re = multiply_add<Real>(a.real(), b.real(), -a.imag() * b.imag());
    const Real im = multiply_add<Real>(a.real(), b.imag(), a.imag() * b.real());
    return T(c.real() + re, c.imag() + im);
  }
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  else if constexpr (std::is_same_v<T, double>)
    return __builtin_fma(a, b, c);
  else if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
#endif
  else
    return a * b + c;
}

#ifdef SPOROS_VECTOR_EXTENSION
/// sum = a * b + sum in each lane of vectors of T. Vectors are passed by address, because compilers warn
/// about functions that return one when the target processor lacks such registers.
template <class T, class Vector>
SPOROS_HOST_INLINE void add_product_of_lanes(const Vector& a, const Vector& b, Vector& sum) {
#ifdef __FMA__
  constexpr bool is_double = std::is_same_v<T, double>;
  if constexpr (!is_double && !std::is_same_v<T, float>)
    sum += a * b;
  else if constexpr (sizeof(Vector) == 16 && is_double)
    sum = _mm_fmadd_pd(a, b, sum);
  else if constexpr (sizeof(Vector) == 16)
    sum = _mm_fmadd_ps(a, b, sum);
  else if constexpr (sizeof(Vector) == 32 && is_double)
    sum = _mm256_fmadd_pd(a, b, sum);
  else if constexpr (sizeof(Vector) == 32)
    sum = _mm256_fmadd_ps(a, b, sum);
#ifdef __AVX512F__
  else if constexpr (sizeof(Vector) == 64 && is_double)
    sum = _mm512_fmadd_pd(a, b, sum);
  else if constexpr (sizeof(Vector) == 64)
    sum = _mm512_fmadd_ps(a, b, sum);
#endif
  else
    for (std::size_t lane = 0; lane < sizeof(Vector) / sizeof(T); ++lane)
      sum[lane] = multiply_add<T>(a[lane], b[lane], sum[lane]);
#elif defined(SPOROS_NEON_FMA)
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
    // Registers have 16 bytes; longer vectors use several.
    typedef T Part __attribute__((vector_size(16)));
    constexpr std::size_t parts = sizeof(Vector) / sizeof(Part);
    if constexpr (parts == 0) {
      for (std::size_t lane = 0; lane < sizeof(Vector) / sizeof(T); ++lane)
        sum[lane] = multiply_add<T>(a[lane], b[lane], sum[lane]);
    } else {
      Part x[parts], y[parts], z[parts];
      std::memcpy(x, &a, sizeof a);
      std::memcpy(y, &b, sizeof b);
      std::memcpy(z, &sum, sizeof sum);
      for (std::size_t part = 0; part < parts; ++part)
        if constexpr (std::is_same_v<T, double>)
          z[part] = vfmaq_f64(z[part], x[part], y[part]);
        else
          z[part] = vfmaq_f32(z[part], x[part], y[part]);
      std::memcpy(&sum, z, sizeof sum);
    }
  } else {
    sum += a * b;
  }
#else
  sum += a * b;
#endif
}
#endif

/// N numbers in one register.
template <class T, int N>
struct Packet {
#ifdef SPOROS_VECTOR_EXTENSION
  typedef T Vector __attribute__((vector_size(N * sizeof(T))));
#else
  struct Vector {
    T lane[N];
    T& operator[](int at) { return lane[at]; }
    const T& operator[](int at) const { return lane[at]; }
  };
#endif
  using value_type = T;
  Vector v;

  SPOROS_HOST_INLINE static Packet zero() { return Packet{}; }
  SPOROS_HOST_INLINE void set(int lane, T x) { v[lane] = x; }
  SPOROS_HOST_INLINE T get(int lane) const { return v[lane]; }

  /// Loads or stores N numbers at any address. Imaginary parts, if there are any, are stored `plane` numbers
  /// after the real ones.
  SPOROS_HOST_INLINE void load(const T* from, std::ptrdiff_t /*plane*/) { std::memcpy(&v, from, sizeof v); }
  SPOROS_HOST_INLINE void store(T* to, std::ptrdiff_t /*plane*/) const { std::memcpy(to, &v, sizeof v); }

  /// this += a * b, lane by lane.
  SPOROS_HOST_INLINE void add_product(const Packet& a, const Packet& b) {
#ifdef SPOROS_VECTOR_EXTENSION
    add_product_of_lanes<T>(a.v, b.v, v);
#else
    for (int lane = 0; lane < N; ++lane) v[lane] = multiply_add<T>(a.v[lane], b.v[lane], v[lane]);
#endif
  }
  /// this += a * b, the same b in every lane.
  SPOROS_HOST_INLINE void add_product(const Packet& a, T b) {
#ifdef SPOROS_VECTOR_EXTENSION
    add_product_of_lanes<T>(a.v, b - Vector{}, v);
#else
    for (int lane = 0; lane < N; ++lane) v[lane] = multiply_add<T>(a.v[lane], b, v[lane]);
#endif
  }
  /// this += a, lane by lane.
  SPOROS_HOST_INLINE void add(const Packet& a) {
#ifdef SPOROS_VECTOR_EXTENSION
    v += a.v;
#else
    for (int lane = 0; lane < N; ++lane) v[lane] += a.v[lane];
#endif
  }
  /// this *= a, lane by lane.
  SPOROS_HOST_INLINE void multiply(const Packet& a) {
#ifdef SPOROS_VECTOR_EXTENSION
    v *= a.v;
#else
    for (int lane = 0; lane < N; ++lane) v[lane] *= a.v[lane];
#endif
  }
  SPOROS_HOST_INLINE Packet operator-() const {
#ifdef SPOROS_VECTOR_EXTENSION
    return {-v};
#else
    Packet out;
    for (int lane = 0; lane < N; ++lane) out.v[lane] = -v[lane];
    return out;
#endif
  }
};

/// Whether a lane is NaN.
template <class T, int N>
SPOROS_HOST_INLINE bool has_nan(const Packet<T, N>& lanes) {
#if defined(__AVX512F__)
  if constexpr (sizeof(lanes.v) == 64 && std::is_same_v<T, double>)
    return _mm512_cmp_pd_mask(lanes.v, lanes.v, _CMP_UNORD_Q) != 0;
  else if constexpr (sizeof(lanes.v) == 64 && std::is_same_v<T, float>)
    return _mm512_cmp_ps_mask(lanes.v, lanes.v, _CMP_UNORD_Q) != 0;
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(lanes.v) == 32 && std::is_same_v<T, double>)
    return _mm256_movemask_pd(_mm256_cmp_pd(lanes.v, lanes.v, _CMP_UNORD_Q)) != 0;
  else if constexpr (sizeof(lanes.v) == 32 && std::is_same_v<T, float>)
    return _mm256_movemask_ps(_mm256_cmp_ps(lanes.v, lanes.v, _CMP_UNORD_Q)) != 0;
  else if constexpr (sizeof(lanes.v) == 16 && std::is_same_v<T, float>)
    return _mm_movemask_ps(_mm_cmp_ps(lanes.v, lanes.v, _CMP_UNORD_Q)) != 0;
#endif
  bool has = false;
  for (int lane = 0; lane < N; ++lane) has |= lanes.get(lane) != lanes.get(lane);
  return has;
}

/// Stores the sums of consecutive rows, or adds them to what is there.
template <class T, int N>
SPOROS_HOST_INLINE void store_sums(Packet<T, N> sums, bool accumulates, T* to) {
  if (accumulates) {
    Packet<T, N> before;
    before.load(to, 0);
    sums.add(before);
  }
  sums.store(to, 0);
}

/// Loads `count` numbers, fewer than there are lanes, and reads none past them; the other lanes become zero.
template <class T, int N>
SPOROS_HOST_INLINE void load_some(Packet<T, N>& lanes, const T* from, int count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(lanes.v) == 64 && std::is_same_v<T, double>) {
    lanes.v = _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), from);
    return;
  } else if constexpr (sizeof(lanes.v) == 64 && std::is_same_v<T, float>) {
    lanes.v = _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
    return;
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(lanes.v) == 32 && (std::is_same_v<T, double> || std::is_same_v<T, float>)) {
    alignas(32) static constexpr auto all_then_none = [] {
      std::array<std::int32_t, 16> bits{};
      for (std::size_t at = 0; at < 8; ++at) bits[at] = -1;
      return bits;
    }();
    const auto* const bits = all_then_none.data() + 8 - count * static_cast<int>(sizeof(T) / 4);
    const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits));
    if constexpr (std::is_same_v<T, double>)
      lanes.v = _mm256_maskload_pd(from, mask);
    else
      lanes.v = _mm256_maskload_ps(from, mask);
    return;
  }
#endif
  lanes = Packet<T, N>::zero();
  for (int lane = 0; lane < count; ++lane) lanes.set(lane, from[lane]);
}

template <class T, int N>
  requires is_complex_v<T>
struct Packet<T, N> {
  using value_type = T;
  using Real = typename T::value_type;
  using Part = Packet<Real, N>;
  Part re, im;

  SPOROS_HOST_INLINE static Packet zero() { return Packet{}; }
  SPOROS_HOST_INLINE void set(int lane, const T& x) {
    re.set(lane, x.real());
    im.set(lane, x.imag());
  }
  SPOROS_HOST_INLINE T get(int lane) const { return T(re.get(lane), im.get(lane)); }

  SPOROS_HOST_INLINE void load(const Real* from, std::ptrdiff_t plane) {
    re.load(from, 0);
    im.load(from + plane, 0);
  }
  SPOROS_HOST_INLINE void store(Real* to, std::ptrdiff_t plane) const {
    re.store(to, 0);
    im.store(to + plane, 0);
  }

  SPOROS_HOST_INLINE void add_product(const Packet& a, const Packet& b) { add_product_of(a, b.re, b.im); }
  SPOROS_HOST_INLINE void add_product(const Packet& a, const T& b) { add_product_of(a, b.real(), b.imag()); }

 private:
  /// @tparam Factor  a packet of real numbers, or one number
  template <class Factor>
  SPOROS_HOST_INLINE void add_product_of(const Packet& a, const Factor& b_re, const Factor& b_im) {
    Part re_product = Part::zero(), im_product = Part::zero();
    re_product.add_product(-a.im, b_im);
    re_product.add_product(a.re, b_re);
    im_product.add_product(a.im, b_re);
    im_product.add_product(a.re, b_im);
    re.add(re_product);
    im.add(im_product);
  }
};

/// A packet of one lane: the number itself.
template <class T>
struct LonePacket {
  using value_type = T;
  T v;
  SPOROS_HOST_INLINE void set(int, const T& x) { v = x; }
  SPOROS_HOST_INLINE T get(int) const { return v; }
};
template <class T>
struct Packet<T, 1> : LonePacket<T> {
  SPOROS_HOST_INLINE static Packet zero() { return Packet{}; }
  SPOROS_HOST_INLINE void add_product(const Packet& a, const T& b) {
    this->v = multiply_add<T>(a.v, b, this->v);
  }
};
template <class T>
  requires is_complex_v<T>
struct Packet<T, 1> : LonePacket<T> {
  SPOROS_HOST_INLINE static Packet zero() { return Packet{}; }
  SPOROS_HOST_INLINE void add_product(const Packet& a, const T& b) {
    this->v = multiply_add<T>(a.v, b, this->v);
  }
};

/// to[c * to_stride + r] = from[r * from_stride + c] for r < 4, c < 4.
template <class T>
SPOROS_HOST_INLINE void transpose_4x4(const T* from, std::ptrdiff_t from_stride, T* to,
                                      std::ptrdiff_t to_stride) {
#ifdef SPOROS_VECTOR_EXTENSION
  // Rows and columns are separate variables, because an array that a loop indexes would be kept in memory.
  typedef T Four __attribute__((vector_size(4 * sizeof(T))));
  Four row_0, row_1, row_2, row_3;
  std::memcpy(&row_0, from, sizeof(Four));
  std::memcpy(&row_1, from + from_stride, sizeof(Four));
  std::memcpy(&row_2, from + 2 * from_stride, sizeof(Four));
  std::memcpy(&row_3, from + 3 * from_stride, sizeof(Four));
  const Four low_01 = __builtin_shufflevector(row_0, row_1, 0, 4, 2, 6);
  const Four high_01 = __builtin_shufflevector(row_0, row_1, 1, 5, 3, 7);
  const Four low_23 = __builtin_shufflevector(row_2, row_3, 0, 4, 2, 6);
  const Four high_23 = __builtin_shufflevector(row_2, row_3, 1, 5, 3, 7);
  const Four column_0 = __builtin_shufflevector(low_01, low_23, 0, 1, 4, 5);
  const Four column_1 = __builtin_shufflevector(high_01, high_23, 0, 1, 4, 5);
  const Four column_2 = __builtin_shufflevector(low_01, low_23, 2, 3, 6, 7);
  const Four column_3 = __builtin_shufflevector(high_01, high_23, 2, 3, 6, 7);
  std::memcpy(to, &column_0, sizeof(Four));
  std::memcpy(to + to_stride, &column_1, sizeof(Four));
  std::memcpy(to + 2 * to_stride, &column_2, sizeof(Four));
  std::memcpy(to + 3 * to_stride, &column_3, sizeof(Four));
#else
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) to[c * to_stride + r] = from[r * from_stride + c];
#endif
}

template <class T>
inline constexpr bool transposes_in_registers = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

/// to[c * to_stride + r] = from[r * from_stride + c] for r < rows, c < columns. It is not inlined, since it
/// needs all registers for its addresses.
template <class T>
  requires transposes_in_registers<T>
SPOROS_HOST_KERNEL void transpose(const T* from, std::ptrdiff_t from_stride, std::ptrdiff_t rows,
                                  std::ptrdiff_t columns, T* to, std::ptrdiff_t to_stride) {
  std::ptrdiff_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    std::ptrdiff_t c = 0;
    for (; c + 4 <= columns; c += 4)
      transpose_4x4(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
    for (; c < columns; ++c)
      for (std::ptrdiff_t k = 0; k < 4; ++k) to[c * to_stride + r + k] = from[(r + k) * from_stride + c];
  }
  for (; r < rows; ++r)
    for (std::ptrdiff_t c = 0; c < columns; ++c) to[c * to_stride + r] = from[r * from_stride + c];
}

/// Transposes rows of values into columns of numbers of the accumulation type; real and imaginary parts go
/// into separate planes.
template <class Acc, class Value>
SPOROS_HOST_INLINE void rows_to_columns(const Value* from, std::ptrdiff_t from_stride, std::ptrdiff_t rows,
                                        std::ptrdiff_t columns, real_part_t<Acc>* to,
                                        std::ptrdiff_t to_stride, std::ptrdiff_t plane) {
  if constexpr (std::is_same_v<Acc, Value> && transposes_in_registers<Acc>) {
    transpose(from, from_stride, rows, columns, to, to_stride);
  } else {
    for (std::ptrdiff_t r = 0; r < rows; ++r)
      for (std::ptrdiff_t c = 0; c < columns; ++c) {
        const Acc x = static_cast<Acc>(from[r * from_stride + c]);
        if constexpr (is_complex_v<Acc>) {
          to[c * to_stride + r] = x.real();
          to[c * to_stride + r + plane] = x.imag();
        } else {
          to[c * to_stride + r] = x;
        }
      }
  }
}

/// Transposes such columns of numbers back into rows of values.
template <class Acc, class Value>
SPOROS_HOST_INLINE void columns_to_rows(const real_part_t<Acc>* from, std::ptrdiff_t from_stride,
                                        std::ptrdiff_t plane, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                        Value* to, std::ptrdiff_t to_stride) {
  if constexpr (std::is_same_v<Acc, Value> && transposes_in_registers<Acc>) {
    transpose(from, from_stride, columns, rows, to, to_stride);
  } else {
    for (std::ptrdiff_t r = 0; r < rows; ++r)
      for (std::ptrdiff_t c = 0; c < columns; ++c) {
        if constexpr (is_complex_v<Acc>)
          to[r * to_stride + c] =
              static_cast<Value>(Acc(from[c * from_stride + r], from[c * from_stride + r + plane]));
        else
          to[r * to_stride + c] = static_cast<Value>(from[c * from_stride + r]);
      }
  }
}

}  // namespace sporos::detail
