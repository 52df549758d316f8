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
/// Those for floats follow the same files' times; for doubles, 45e12 operations a second are assumed.
///
/// @param bytes       of the three matrices
/// @param is_aligned  whether their rows, or columns, begin at multiples of 16 bytes: otherwise cuBLAS takes
///                    kernels that load less at a time
inline double cublas_seconds(CublasArithmetic arithmetic, double m, double n, double k, double bytes,
                             bool is_aligned = true) {
  struct Rates {
    double flops;  ///< per second
    double step;   ///< seconds along k
  };
  constexpr Rates rates[] = {{730e12, 1.5e-9}, {400e12, 1e-8}, {51e12, 2.4e-8}, {45e12, 1.9e-8}};
  constexpr double launch = 2.8e-6, longest = 3000;  // along k
  constexpr double in_cache = 5e7, bytes_per_second = 4.2e12, bytes_per_second_in_cache = 6e12;
  constexpr double unaligned = 4;  // times as long
  const Rates& of = rates[static_cast<int>(arithmetic)];
  const double computing = 2 * m * n * k / of.flops;
  const double moving = bytes / (bytes < in_cache ? bytes_per_second_in_cache : bytes_per_second);
  const double work = std::cbrt(computing * computing * computing + moving * moving * moving);
  return launch + std::max(std::min(k, longest) * of.step, work * (is_aligned ? 1 : unaligned));
}

}  // namespace sporos::gpu
