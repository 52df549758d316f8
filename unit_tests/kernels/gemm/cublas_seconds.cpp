// SPDX-License-Identifier: Apache-2.0
/// @file cublas_seconds.cpp
/// What cuBLAS's dense products are expected to take, beside measured times.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/kernels/gemm/cuda/cublas_seconds.hpp>

namespace sporos::gpu {
namespace {

double microseconds(CublasArithmetic arithmetic, std::int64_t m, std::int64_t n, std::int64_t k,
                    bool is_aligned = true, double zeros = 0) {
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n), inner = static_cast<double>(k);
  const int of_element = arithmetic == CublasArithmetic::of_16_bits   ? 2
                         : arithmetic == CublasArithmetic::of_doubles ? 8
                                                                      : 4;
  const double bytes = of_element * (rows * inner + inner * columns + rows * columns);
  return cublas_seconds(arithmetic, rows, columns, inner, bytes, is_aligned, zeros) * 1e6;
}

/// Microseconds on an H200, from perf_tests/results/cuda_spmm_peers_h200.json, cuda_two_four_h200.json,
/// cuda_n_of_m_h200.json and cuda_n_of_m_layers_h200.json.
TEST(CublasSeconds, AreNearWhatWasMeasured) {
  struct Measured {
    CublasArithmetic arithmetic;
    std::int64_t m, n, k;
    double microseconds;
  };
  constexpr auto of_16_bits = CublasArithmetic::of_16_bits, of_floats = CublasArithmetic::of_floats,
                 of_doubles = CublasArithmetic::of_doubles, in_tf32 = CublasArithmetic::in_tf32;
  for (const Measured& at :
       {Measured{of_16_bits, 512, 32, 512, 3.31}, Measured{of_16_bits, 2048, 512, 512, 4.55},
        Measured{of_16_bits, 512, 256, 2048, 5.69}, Measured{of_16_bits, 33288, 128, 512, 10.55},
        Measured{of_16_bits, 4096, 32, 4096, 9.65}, Measured{of_16_bits, 4096, 512, 4096, 24.24},
        Measured{of_16_bits, 4096, 4096, 4096, 185.6}, Measured{of_16_bits, 8192, 64, 8192, 37.2},
        Measured{of_16_bits, 11008, 4096, 11008, 1580}, Measured{of_floats, 512, 512, 512, 12.7},
        Measured{of_floats, 512, 2048, 2048, 96}, Measured{of_floats, 4096, 4096, 4096, 2674},
        Measured{of_doubles, 512, 64, 512, 5.6}, Measured{of_doubles, 2048, 64, 512, 6},
        Measured{of_doubles, 512, 256, 2048, 14.4}, Measured{of_doubles, 4096, 64, 4096, 64},
        Measured{of_doubles, 4096, 256, 4096, 154}, Measured{in_tf32, 512, 2048, 2048, 21.6},
        Measured{in_tf32, 4096, 4096, 4096, 344}}) {
    const double expected = microseconds(at.arithmetic, at.m, at.n, at.k);
    EXPECT_NEAR(expected, at.microseconds, 0.25 * at.microseconds) << at.m << ' ' << at.n << ' ' << at.k;
  }
}

/// 8192 x 8192, of which 98 % are zeros.
TEST(CublasSeconds, AreFewerOfZeros) {
  const auto half = CublasArithmetic::of_16_bits;
  const double expected = microseconds(half, 8192, 256, 8192, true, 0.98);
  EXPECT_NEAR(expected, 44, 0.15 * 44);
  EXPECT_LT(expected, microseconds(half, 8192, 256, 8192));
}

TEST(CublasSeconds, GrowWithEverySize) {
  for (const auto arithmetic : {CublasArithmetic::of_16_bits, CublasArithmetic::in_tf32,
                                CublasArithmetic::of_floats, CublasArithmetic::of_doubles})
    for (std::int64_t size = 1; size < 65536; size *= 2) {
      const double at = microseconds(arithmetic, size, size, size);
      EXPECT_GE(microseconds(arithmetic, 2 * size, size, size), at);
      EXPECT_GE(microseconds(arithmetic, size, 2 * size, size), at);
      EXPECT_GE(microseconds(arithmetic, size, size, 2 * size), at);
      EXPECT_GE(microseconds(arithmetic, size, size, size, false), at);
    }
}

TEST(CublasSeconds, TypesHaveTheirArithmetic) {
  EXPECT_EQ(cublas_arithmetic<half>(), CublasArithmetic::of_16_bits);
  EXPECT_EQ(cublas_arithmetic<bfloat16>(true), CublasArithmetic::of_16_bits);
  EXPECT_EQ(cublas_arithmetic<float>(true), CublasArithmetic::in_tf32);
  EXPECT_EQ(cublas_arithmetic<float>(), CublasArithmetic::of_floats);
  EXPECT_EQ(cublas_arithmetic<Kokkos::complex<double>>(), CublasArithmetic::of_doubles);
}

}  // namespace
}  // namespace sporos::gpu
