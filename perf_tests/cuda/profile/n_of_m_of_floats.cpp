// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_of_floats.cpp
/// N:M products in float: split in halfs on tensor cores, and on CUDA cores.
#include "n_of_m.hpp"

namespace sporos::perf {

void profile_n_of_m_of_floats() {
  if (!is_profiled("n_of_m/float/")) return;
  const auto a = random_matrix<float>(profiled_extent, profiled_extent, 1),
             b = random_matrix<float>(profiled_extent, profiled_extent, 2);
  profile_n_of_m<gpu::NmByGathering, float, 16, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, float, 12, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, float, 8, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByGathering, float, 4, 32>("float/tensor_cores", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 16, 32>("float/cuda_cores", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 12, 32>("float/cuda_cores", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 8, 32>("float/cuda_cores", a, b);
  profile_n_of_m<gpu::NmByBlocks, float, 4, 32>("float/cuda_cores", a, b);
  profile_cublas("n_of_m/float/cublas", a, b, CUBLAS_COMPUTE_32F_PEDANTIC);
}

}  // namespace sporos::perf
