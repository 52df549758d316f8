// SPDX-License-Identifier: Apache-2.0
/// @file nmsparse.cpp
/// nmSPARSE's product for units of 32: C++14, which its headers ask for.
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#include <nmsparse_vw32.cuh>

namespace sporos {
namespace perf {

void multiply_by_nmsparse(int m, int n, int k, float kept_part, float* a, int* indices, float* values,
                          float* c) {
  nmsparse::nmsparseContext_t context;
  context.nmsparsePattern = nmsparse::VectorWise32;
  context.sparsity = 1.0f - kept_part;
  if (nmsparse::nmsparseSpMMVW32<float>(context, m, k, n, a, indices, values, c) != cudaSuccess)
    throw std::runtime_error("nmSPARSE");
}

}  // namespace perf
}  // namespace sporos
