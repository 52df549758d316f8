// SPDX-License-Identifier: Apache-2.0
/// @file cublas_seconds.cpp
/// What cuBLAS's dense products are expected to take, beside measured times.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/kernels/gemm/cuda/cublas_seconds.hpp>

namespace sporos::gpu {
namespace {

double microseconds(CublasArithmetic arithmetic, std::int64_t m, std::int64_t n, std::int64_t k,
                    bool is_aligned = true) {
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n), inner = static_cast<double>(k);
  const double bytes = (arithmetic == CublasArithmetic::of_16_bits ? 2 : 4) *
                       (rows * inner + inner * columns + rows * columns);
  return cublas_seconds(arithmetic, rows, columns, inner, bytes, is_aligned) * 1e6;
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
                 in_tf32 = CublasArithmetic::in_tf32;
  for (const Measured& at :
       {Measured{of_16_bits, 512, 32, 512, 3.31}, Measured{of_16_bits, 2048, 512, 512, 4.55},
        Measured{of_16_bits, 512, 256, 2048, 5.69}, Measured{of_16_bits, 33288, 128, 512, 10.55},
        Measured{of_16_bits, 4096, 32, 4096, 9.65}, Measured{of_16_bits, 4096, 512, 4096, 24.24},
        Measured{of_16_bits, 4096, 4096, 4096, 185.6}, Measured{of_16_bits, 8192, 64, 8192, 37.2},
        Measured{of_16_bits, 11008, 4096, 11008, 1580}, Measured{of_floats, 512, 512, 512, 12.7},
        Measured{of_floats, 512, 2048, 2048, 96}, Measured{of_floats, 4096, 4096, 4096, 2674},
        Measured{in_tf32, 512, 2048, 2048, 21.6}, Measured{in_tf32, 4096, 4096, 4096, 344}}) {
    const double expected = microseconds(at.arithmetic, at.m, at.n, at.k);
    EXPECT_NEAR(expected, at.microseconds, 0.25 * at.microseconds) << at.m << ' ' << at.n << ' ' << at.k;
  }
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
