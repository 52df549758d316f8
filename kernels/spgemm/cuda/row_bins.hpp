// SPDX-License-Identifier: Apache-2.0
/// @file row_bins.hpp
/// Sorts rows into bins by how much work they are, so that each bin can have a kernel of suitable shape.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// Rows of few products are in the bins 0 to Few - 1 by their products, bin b of products[b - 1] + 1 to
/// products[b]; others in the next Hashed bins by their sizes, and in the bin `large` if they are larger than
/// all limits; those of more products than one block should take are in the last bin, `giant`. Empty rows are
/// in no bin.
template <int Few, int Hashed>
struct RowLimits {
  static constexpr int large = Few + Hashed;
  static constexpr int giant = large + 1;
  static constexpr int count = giant + 1;
  static constexpr std::int64_t most_products = 1 << 20;  ///< of a row that is not giant
  static constexpr std::int64_t products_per_column = 6;  ///< a row of more is treated as one of more columns
  std::int32_t products[Few];  ///< ascending, but for bins that take no rows, whose limit is 0
  std::int32_t sizes[Hashed];  ///< ascending
  bool large_for_products;     ///< whether many products may make a row large

  /// The least size of the rows of a Hashed bin, or of `large` after them.
  constexpr std::int64_t least(int bin) const { return bin == 0 ? 0 : sizes[bin - 1] + 1; }

  __device__ int bin_of(std::int64_t row_products, std::int64_t size) const {
    if (row_products == 0) return -1;
    if (row_products > most_products) return giant;
#pragma unroll
    for (int bin = 0; bin < Few; ++bin)
      if (row_products <= products[bin]) return bin;
    std::int64_t work = row_products / products_per_column;
    if (!large_for_products && work > sizes[Hashed - 1]) work = sizes[Hashed - 1];
    if (work < size) work = size;
#pragma unroll
    for (int bin = 0; bin < Hashed; ++bin)
      if (work <= sizes[bin]) return Few + bin;
    return large;
  }
};

/// How many rows each bin has, and how many of them are already in the list.
template <int Count>
struct BinCounts {
  unsigned long long count[Count];
  unsigned long long filled[Count];

  /// Where a bin starts in the list.
  KOKKOS_INLINE_FUNCTION std::int64_t start(int bin) const {
    std::int64_t at = 0;
    for (int before = 0; before < bin; ++before) at += static_cast<std::int64_t>(count[before]);
    return at;
  }
};

namespace detail {

template <class Limits, class Size>
__global__ void count_bins_kernel(std::int64_t rows, const std::int64_t* products, const Size* sizes,
                                  const __grid_constant__ Limits limits, BinCounts<Limits::count>* bins) {
  __shared__ int mine[Limits::count];
  if (threadIdx.x < Limits::count) mine[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int bin = row < rows ? limits.bin_of(products[row], sizes[row]) : -1;
  if (bin >= 0) ::atomicAdd(mine + bin, 1);
  __syncthreads();
  if (threadIdx.x < Limits::count && mine[threadIdx.x] > 0)
    ::atomicAdd(bins->count + threadIdx.x, static_cast<unsigned long long>(mine[threadIdx.x]));
}

template <class Limits, class Size>
__global__ void fill_bins_kernel(std::int64_t rows, const std::int64_t* products, const Size* sizes,
                                 const __grid_constant__ Limits limits, BinCounts<Limits::count>* bins,
                                 std::int32_t* members) {
  __shared__ int mine[Limits::count];
  __shared__ std::int64_t start[Limits::count];
  if (threadIdx.x < Limits::count) mine[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int bin = row < rows ? limits.bin_of(products[row], sizes[row]) : -1;
  const int slot = bin >= 0 ? ::atomicAdd(mine + bin, 1) : 0;
  __syncthreads();
  if (threadIdx.x < Limits::count && mine[threadIdx.x] > 0) {
    std::int64_t at = bins->start(static_cast<int>(threadIdx.x));
    at += static_cast<std::int64_t>(
        ::atomicAdd(bins->filled + threadIdx.x, static_cast<unsigned long long>(mine[threadIdx.x])));
    start[threadIdx.x] = at;
  }
  __syncthreads();
  if (bin >= 0) members[start[bin] + slot] = static_cast<std::int32_t>(row);
}

}  // namespace detail

/// Lists rows bin by bin in `members` and counts them in `bins`, which must be zero before. Within a bin,
/// rows are in no particular order: a block counts its own rows in shared memory and reserves a range of each
/// bin.
///
/// @param products  [rows]
/// @param sizes     [rows]
/// @param members   [rows]
template <class Limits, class Size>
void sort_into_bins(const Kokkos::Cuda& space, std::int64_t rows, const std::int64_t* products,
                    const Size* sizes, const Limits& limits, BinCounts<Limits::count>* bins,
                    std::int32_t* members) {
  launch(space, "sporos::count bins", &detail::count_bins_kernel<Limits, Size>, ceil_div(rows, 256), 256, 0,
         rows, products, sizes, limits, bins);
  launch(space, "sporos::fill bins", &detail::fill_bins_kernel<Limits, Size>, ceil_div(rows, 256), 256, 0,
         rows, products, sizes, limits, bins, members);
}

}  // namespace sporos::gpu
