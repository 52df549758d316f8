// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m.hpp
/// N:M products for the profiler, M = 32, and cuBLAS's with the same matrix dense.
#pragma once

#include "profile.hpp"

namespace sporos::perf {

/// The extents of a product: C is m x n, and k is summed over.
struct ProductShape {
  std::int64_t m = 4096, n = 4096, k = 4096;

  /// Empty if m = n = k = 4096, since the names of those cases have no shape.
  std::string name() const { return m == 4096 ? "" : text("/", m, "x", n, "x", k); }
};

/// C = A B by candidate K, B packed once.
/// @tparam Layout  of A
template <class K, class T, int N, int L, class Layout = RowMajor>
void profile_n_of_m(const std::string& kernel, const Matrix<T>& a, const Matrix<T>& unpruned) {
  using namespace sporos::indices;
  const ProductShape shape{a.extent(0), unpruned.extent(1), a.extent(1)};
  const std::string name = text("n_of_m/", kernel, "/", N, ":32/L", L, shape.name());
  if (!is_profiled(name)) return;
  const auto b = prune<NM<N, 32, L>>(unpruned);
  const auto laid_out = convert<DenseMatrix<Layout>>(a);
  const Matrix<T> c({shape.m, shape.n});
  auto product = plan(assign(c(i, j), laid_out(i, k) * b(k, j)).with_constant_operands().template use<K>());
  profile(name, [&] { product.run(); });
}

template <class T>
void profile_cublas(const std::string& kernel, const Matrix<T>& a, const Matrix<T>& b,
                    cublasComputeType_t compute) {
  const ProductShape shape{a.extent(0), b.extent(1), a.extent(1)};
  const std::string name = kernel + shape.name();
  if (!is_profiled(name)) return;
  constexpr cudaDataType type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_16F;
  const auto m = static_cast<int>(shape.m), n = static_cast<int>(shape.n), k = static_cast<int>(shape.k);
  const Matrix<T> c({m, n});
  const float one = 1, zero = 0;
  profile(name, [&] {
    check(cublasGemmEx(cublas(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b.values().data(), type, n,
                       a.values().data(), type, k, &zero, c.values().data(), type, n, compute,
                       CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  });
}

}  // namespace sporos::perf
