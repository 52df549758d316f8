// SPDX-License-Identifier: Apache-2.0
/// @file device.cpp
/// Asks the CUDA runtime for a GPU before Kokkos does.
#include "device.hpp"

#include <Kokkos_Core.hpp>
#include <sporos/core/error.hpp>

#include "command.hpp"

namespace sporos::tool {

#ifdef KOKKOS_ENABLE_CUDA
namespace {

/// The program has an image of this kernel if it has code for this GPU.
__global__ void any_kernel() {}

[[noreturn]] void refuse(cudaError_t reason) {
  throw UsageError(text("this program was built with CUDA, and no GPU runs it: ", cudaGetErrorString(reason),
                        "; a program built without CUDA (cmake --preset host) needs none"));
}

}  // namespace

void expect_device_to_start() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) refuse(error);
  if (count == 0) refuse(cudaErrorNoDevice);
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, any_kernel); error != cudaSuccess)
    refuse(error);
}
#else
void expect_device_to_start() {}
#endif

}  // namespace sporos::tool
