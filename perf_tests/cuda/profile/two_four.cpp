// SPDX-License-Identifier: Apache-2.0
/// @file two_four.cpp
/// Layers with 2:4 sparse weights, y = x w^T in halfs, by both kernels, and by cuBLAS with the same weights
/// dense.
#include "profile.hpp"

namespace sporos::perf {

namespace {

void profile_layer(std::int64_t m, std::int64_t n, std::int64_t inner) {
  using namespace sporos::indices;
  const std::string tail = text("/", m, "x", n, "x", inner);
  const auto x = random_matrix<half>(m, inner, 1), unpruned = random_matrix<half>(n, inner, 2);
  const auto w = prune<TwoFour>(unpruned);
  const Matrix<half> y({m, n});
  const auto statement = assign(y(i, j), x(i, k) * w(j, k));
  auto by_groups_of_warps = plan(statement.use<gpu::TwoFourOnTensorCores>());
  profile("two_four/sporos" + tail, [&] { by_groups_of_warps.run(); });
  auto by_warps = plan(statement.use<gpu::TwoFourByWarps>());
  profile("two_four/sporos_by_warps" + tail, [&] { by_warps.run(); });
  const float one = 1, zero = 0;
  const auto rows = static_cast<int>(m), columns = static_cast<int>(n), sums = static_cast<int>(inner);
  profile("two_four/cublas" + tail, [&] {
    check(cublasGemmEx(cublas(), CUBLAS_OP_T, CUBLAS_OP_N, columns, rows, sums, &one,
                       unpruned.values().data(), CUDA_R_16F, sums, x.values().data(), CUDA_R_16F, sums, &zero,
                       y.values().data(), CUDA_R_16F, columns, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  });
}

}  // namespace

void profile_two_four() {
  if (!is_profiled("two_four/")) return;
  profile_layer(512, 11008, 4096);
  profile_layer(512, 4096, 4096);
}

}  // namespace sporos::perf
