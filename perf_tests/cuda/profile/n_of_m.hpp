// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m.hpp
/// N:M products of 4096 x 4096 matrices for the profiler, M = 32, and cuBLAS's with the same matrix dense.
#pragma once

#include "profile.hpp"

namespace sporos::perf {

inline constexpr std::int64_t profiled_extent = 4096;

/// C = A B by candidate K, B packed once.
template <class K, class T, int N, int L>
void profile_n_of_m(const std::string& kernel, const Matrix<T>& a, const Matrix<T>& unpruned) {
  using namespace sporos::indices;
  const std::string name = text("n_of_m/", kernel, "/", N, ":32/L", L);
  if (!is_profiled(name)) return;
  const auto b = prune<NM<N, 32, L>>(unpruned);
  const Matrix<T> c({profiled_extent, profiled_extent});
  auto product = plan(assign(c(i, j), a(i, k) * b(k, j)).with_constant_operands().template use<K>());
  profile(name, [&] { product.run(); });
}

template <class T>
void profile_cublas(const std::string& name, const Matrix<T>& a, const Matrix<T>& b,
                    cublasComputeType_t compute) {
  if (!is_profiled(name)) return;
  constexpr cudaDataType type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_16F;
  constexpr int n = profiled_extent;
  const Matrix<T> c({n, n});
  const float one = 1, zero = 0;
  profile(name, [&] {
    check(cublasGemmEx(cublas(), CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b.values().data(), type, n,
                       a.values().data(), type, n, &zero, c.values().data(), type, n, compute,
                       CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  });
}

}  // namespace sporos::perf
