// SPDX-License-Identifier: Apache-2.0
/// @file cublas_seconds.hpp
/// How long a dense product by cuBLAS is expected to take; depends on numbers alone and is tested on the
/// host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../../../core/value.hpp"

namespace sporos::gpu {

/// What cuBLAS computes a product in.
enum class CublasArithmetic { of_16_bits, in_tf32, of_floats, of_doubles };

template <class T>
constexpr CublasArithmetic cublas_arithmetic(bool is_in_tf32 = false) {
  if (is_narrow_float_v<T>) return CublasArithmetic::of_16_bits;
  if (is_in_tf32) return CublasArithmetic::in_tf32;
  return std::is_same_v<T, float> || std::is_same_v<T, Kokkos::complex<float>> ? CublasArithmetic::of_floats
                                                                               : CublasArithmetic::of_doubles;
}

/// The seconds that cuBLAS takes for C [m, n] = A [m, k] B [k, n].
///
/// The constants for 16 bits fit the times on an H200 (perf_tests/results/cuda_spmm_peers_h200.json,
/// cuda_two_four_h200.json and cuda_n_of_m_h200.json) by least squares of relative errors, within 9 % (one
/// standard deviation of 64 shapes) and never further off than 25 %: starting, and the longer of walking
/// along k, which cuBLAS divides if it is long, and of computing and moving the matrices, which overlap.
/// If most of a factor is zero, large products of 16 bits take less time, as do the 98 % of zeros of
/// 8192 x 8192 (cuda_spmm_peers_h200.json). Those for floats and doubles fit times of the same shapes of
/// layers and random matrices, within 43 % and 13 %: cuBLAS divides few of the sums of floats, and fewer
/// operations run at the same time where a side of C is narrow.
///
/// @param bytes       of the three matrices
/// @param is_aligned  whether their rows, or columns, begin at multiples of 16 bytes: otherwise cuBLAS takes
///                    kernels that load less at a time
/// @param zeros       the part of a factor's elements that are zero
inline double cublas_seconds(CublasArithmetic arithmetic, double m, double n, double k, double bytes,
                             bool is_aligned = true, double zeros = 0) {
  struct Rates {
    double flops;      ///< per second
    double step;       ///< seconds along k
    double narrow;     ///< rows or columns of C, of as many of which half as many operations run at once
    double for_zeros;  ///< the part of the operations per second that a factor of zeros adds
  };
  constexpr Rates rates[] = {
      {730e12, 1.5e-9, 0, 0.2}, {400e12, 1e-8, 0, 0}, {51e12, 1.4e-8, 60, 0}, {66e12, 5.6e-9, 48, 0}};
  constexpr double launch = 2.8e-6, longest = 3000;  // along k
  constexpr double in_cache = 5e7, bytes_per_second = 4.2e12, bytes_per_second_in_cache = 6e12;
  constexpr double unaligned = 4;  // times as long
  const Rates& of = rates[static_cast<int>(arithmetic)];
  const double computing = 2 * m * n * k / (of.flops * (1 + of.for_zeros * zeros)) *
                           (1 + of.narrow / std::max(1.0, std::min(m, n)));
  const double moving = bytes / (bytes < in_cache ? bytes_per_second_in_cache : bytes_per_second);
  const double work = std::cbrt(computing * computing * computing + moving * moving * moving);
  return launch + std::max(std::min(k, longest) * of.step, work * (is_aligned ? 1 : unaligned));
}

}  // namespace sporos::gpu
