// SPDX-License-Identifier: Apache-2.0
/// @file pack_and_copy.hpp
/// Packs and copies the operands of a product by blocks only if an earlier kernel says that it is needed: one
/// kernel of few blocks, which takes next to no time when it is not.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/cluster.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/transpose.hpp"
#include "chunks.hpp"
#include "k_major_traits.hpp"

namespace sporos::gpu {

/// How the dense factor is copied before a product by blocks.
template <class T>
struct NmDenseCopy {
  const T* from = nullptr;
  T* to = nullptr;          ///< null if A is read as it is stored
  bool transposes = false;  ///< whether `from` is row-major, [rows, k], and the copy k-major
  KMajorBatches stored{};   ///< the layout of `from`; if it is transposed, only `rows` and `k` matter
  std::int64_t stride = 0;  ///< from one line of the copy to the next
};

namespace detail {

template <class T>
__global__ __launch_bounds__(256) void pack_and_copy_kernel(const int* only_if, NmView<T> b,
                                                            NmChunkLayout layout, std::int64_t lines,
                                                            char* packed, NmDenseCopy<T> copy) {
#if __CUDA_ARCH__ >= 900
  ptx::wait_for_kernel_before();
#endif
  if (*only_if == 0) return;
  __shared__ T tile[32 * 33];
  const int warps = static_cast<int>(blockDim.x) / warp_size;
  for (std::int64_t line = std::int64_t{blockIdx.x} * warps + threadIdx.x / warp_size; line < lines;
       line += std::int64_t{gridDim.x} * warps)
    pack_line<T, T>(b, layout, line, packed);
  if (copy.to == nullptr) return;
  const KMajorBatches& from = copy.stored;
  if (copy.transposes) {
    const std::int64_t column_tiles = ceil_div(from.k, 32), tiles = ceil_div(from.rows, 32) * column_tiles;
    for (std::int64_t at = blockIdx.x; at < tiles; at += gridDim.x) {
      transpose_tile(from.rows, from.k, copy.from, StoreTransposed<T>{copy.to, copy.stride},
                     at / column_tiles * 32, at % column_tiles * 32, tile);
      __syncthreads();
    }
  } else {
    for (std::int64_t at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < from.k * copy.stride;
         at += std::int64_t{gridDim.x} * blockDim.x) {
      const std::int64_t row = at % copy.stride;
      copy.to[at] = row < from.rows * from.batches ? copy.from[from.place(at / copy.stride, row)] : T{};
    }
  }
}

}  // namespace detail

/// Packs B as `pack_chunks` does, and copies A, if *only_if is not zero by the end of the previous kernel.
template <class T>
void pack_and_copy(const Kokkos::Cuda& space, const int* only_if, const NmView<T>& b,
                   const NmChunkLayout& layout, char* packed, const NmDenseCopy<T>& copy) {
  const std::int64_t blocks = 2 * std::int64_t{space.cuda_device_prop().multiProcessorCount};
  launch_clusters(Begins::early, space, "sporos::pack_and_copy", &detail::pack_and_copy_kernel<T>, blocks, 1,
                  256, 0, only_if, b, layout, layout.lines(b.rows, b.columns), packed, copy);
}

}  // namespace sporos::gpu
