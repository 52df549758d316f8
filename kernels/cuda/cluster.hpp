// SPDX-License-Identifier: Apache-2.0
/// @file cluster.hpp
/// Clusters: thread blocks that run at the same time and read each other's shared memory. sm_90.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.hpp"

namespace sporos::gpu {

/// When a kernel may begin.
enum class Begins {
  behind,  ///< when everything started before it in its stream has ended
  /// while the previous kernel, which calls `ptx::let_next_kernel_begin`, is still running;
  /// `ptx::wait_for_kernel_before` waits for the end of that one
  early
};

/// How a grid of blocks in clusters is started, or one without clusters if they are to have 0 blocks.
struct ClusterLaunch {
  ClusterLaunch(const Kokkos::Cuda& space, const Grid& grid, int blocks_of_cluster, int threads,
                std::int64_t shared_bytes, Begins begins = Begins::behind) {
    unsigned count = 0;
    if (blocks_of_cluster > 0) {
      attributes[count].id = cudaLaunchAttributeClusterDimension;
      attributes[count++].val.clusterDim = {static_cast<unsigned>(blocks_of_cluster), 1, 1};
    }
    if (begins == Begins::early) {
      attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    config.gridDim = grid.size;
    config.blockDim = static_cast<unsigned>(threads);
    config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
    config.stream = space.cuda_stream();
    config.attrs = attributes;
    config.numAttrs = count;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;

  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};
};

/// Starts `kernel` as `launch` does, in clusters of `blocks_of_cluster` blocks, or without clusters if it is
/// 0.
template <class... Parameters, class... Arguments>
void launch_clusters(Begins begins, const Kokkos::Cuda& space, const char* name,
                     void (*kernel)(Parameters...), const Grid& grid, int blocks_of_cluster, int threads,
                     std::int64_t shared_bytes, const Arguments&... arguments) {
  if (grid.size.x == 0 || grid.size.y == 0) return;
  allow_shared_memory(name, kernel, shared_bytes);
  const ClusterLaunch launch(space, grid, blocks_of_cluster, threads, shared_bytes, begins);
  expect_success(cudaLaunchKernelEx(&launch.config, kernel, arguments...), name);
}

template <class... Parameters, class... Arguments>
void launch_clusters(const Kokkos::Cuda& space, const char* name, void (*kernel)(Parameters...),
                     const Grid& grid, int blocks_of_cluster, int threads, std::int64_t shared_bytes,
                     const Arguments&... arguments) {
  launch_clusters(Begins::behind, space, name, kernel, grid, blocks_of_cluster, threads, shared_bytes,
                  arguments...);
}

/// How many clusters of `blocks_of_cluster` blocks run at the same time.
template <class... Parameters>
int clusters_at_a_time(const Kokkos::Cuda& space, void (*kernel)(Parameters...), int blocks_of_cluster,
                       int threads, std::int64_t shared_bytes) {
  allow_shared_memory("the clusters of a kernel", kernel, shared_bytes);
  const ClusterLaunch launch(space, Grid(blocks_of_cluster), blocks_of_cluster, threads, shared_bytes);
  int count = 0;
  expect_success(cudaOccupancyMaxActiveClusters(&count, kernel, &launch.config), "the clusters of a kernel");
  return count;
}

namespace ptx {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Lets the next kernel of the stream begin as blocks of this one end, if it was started with
/// `Begins::early`.
__device__ __forceinline__ void let_next_kernel_begin() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
/// Waits for the previous kernel, if this one began before its end.
__device__ __forceinline__ void wait_for_kernel_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// Loads 16 bytes from the shared memory of one block of the cluster.
__device__ __forceinline__ float4 load_shared_of(std::uint32_t block, std::uint32_t at) {
  float4 out;
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n"
      "}"
      : "=f"(out.x), "=f"(out.y), "=f"(out.z), "=f"(out.w)
      : "r"(at), "r"(block)
      : "memory");
  return out;
}

/// The number of this block within its cluster, and the number of blocks in a cluster.
__device__ __forceinline__ int rank_in_cluster() {
  int out;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(out));
  return out;
}
__device__ __forceinline__ int blocks_of_cluster() {
  int out;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(out));
  return out;
}

/// Arrives at a barrier in the shared memory of another block of the cluster, at the same address as in this
/// one.
__device__ __forceinline__ void arrive_at(std::uint32_t block, std::uint32_t barrier) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(barrier),
      "r"(block)
      : "memory");
}
/// Copies the box of a matrix whose first element is (row, column) to the same address in the shared memory
/// of each block whose bit is set; the barrier at the same address in each counts the bytes.
__device__ __forceinline__ void copy_box_to(std::uint16_t blocks, std::uint32_t to, const CUtensorMap* matrix,
                                            int column, int row, std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(matrix), "r"(column), "r"(row), "r"(barrier), "h"(blocks)
      : "memory");
}

/// Copies a box of one of several matrices of one shape, which lie one after another.
__device__ __forceinline__ void copy_box_to(std::uint16_t blocks, std::uint32_t to,
                                            const CUtensorMap* matrices, int column, int row, int matrix,
                                            std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(matrices), "r"(column), "r"(row), "r"(matrix), "r"(barrier), "h"(blocks)
      : "memory");
}

/// Arrives at the barrier of the cluster and makes what this thread has written visible to those that wait.
__device__ __forceinline__ void arrive_in_cluster() {
  asm volatile("barrier.cluster.arrive.release;\n" ::: "memory");
}
/// Waits until all threads of the cluster that are still running have arrived.
__device__ __forceinline__ void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire;\n" ::: "memory");
}

#endif

}  // namespace ptx

}  // namespace sporos::gpu
