// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_of_halfs.cpp
/// N:M products in half: on tensor cores.
#include "n_of_m.hpp"

namespace sporos::perf {

void profile_n_of_m_of_halfs() {
  if (!is_profiled("n_of_m/half/")) return;
  const ProductShape shape;
  const auto a = random_matrix<half>(shape.m, shape.k, 1), b = random_matrix<half>(shape.k, shape.n, 2);
  profile_n_of_m<gpu::NmByGathering, half, 16, 32>("half/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, half, 12, 32>("half/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, half, 8, 32>("half/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, half, 4, 32>("half/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, half, 16, 128>("half/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, half, 8, 128>("half/tensor_cores", a, b);
  profile_cublas("n_of_m/half/cublas", a, b, CUBLAS_COMPUTE_32F);

  const auto few = random_matrix<half>(256, shape.k, 1);
  profile_n_of_m<gpu::NmByGathering, half, 16, 32, ColumnMajor>("half/tensor_cores_by_columns", few, b);
  profile_n_of_m<gpu::NmByGathering, half, 8, 32, ColumnMajor>("half/tensor_cores_by_columns", few, b);
  profile_n_of_m<gpu::NmByGathering, half, 4, 32, ColumnMajor>("half/tensor_cores_by_columns", few, b);
  profile_cublas("n_of_m/half/cublas", few, b, CUBLAS_COMPUTE_32F);
}

}  // namespace sporos::perf
