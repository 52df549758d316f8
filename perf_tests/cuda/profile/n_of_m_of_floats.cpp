// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_of_floats.cpp
/// N:M products in float: split in halfs on tensor cores, and on CUDA cores.
#include "n_of_m.hpp"

namespace sporos::perf {

namespace {

/// Few tiles: by the candidate that a plan chooses there, and by the other.
void profile_small(const ProductShape& shape) {
  const auto a = random_matrix<float>(shape.m, shape.k, 1), b = random_matrix<float>(shape.k, shape.n, 2);
  profile_n_of_m<gpu::NmByGathering, float, 16, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, float, 4, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 16, 32, ColumnMajor>("float/cuda_cores_by_columns", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 4, 32, ColumnMajor>("float/cuda_cores_by_columns", a, b);
  profile_cublas("n_of_m/float/cublas", a, b, CUBLAS_COMPUTE_32F_PEDANTIC);
}

}  // namespace

void profile_n_of_m_of_floats() {
  if (!is_profiled("n_of_m/float/")) return;
  const ProductShape shape;
  const auto a = random_matrix<float>(shape.m, shape.k, 1), b = random_matrix<float>(shape.k, shape.n, 2);
  profile_n_of_m<gpu::NmByGathering, float, 16, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, float, 12, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, float, 8, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, float, 4, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 16, 32>("float/cuda_cores", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 12, 32>("float/cuda_cores", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 8, 32>("float/cuda_cores", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 4, 32>("float/cuda_cores", a, b);
  profile_cublas("n_of_m/float/cublas", a, b, CUBLAS_COMPUTE_32F_PEDANTIC);
  for (const std::int64_t extent : {512, 1024, 2048}) profile_small({512, extent, extent});
  profile_small({256, 4096, 4096});
}

}  // namespace sporos::perf
