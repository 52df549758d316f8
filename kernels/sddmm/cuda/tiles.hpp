// SPDX-License-Identifier: Apache-2.0
/// @file tiles.hpp
/// Sampled dense-dense products on tensor cores: A(i, j) = B(i, j) * (sum over k of C(i, k) D(j, k)), by
/// tiles of the dense product C D'. Only tiles in which B has nonzeros are computed (sampled_tiles.hpp).
///
/// A block computes one tile. The copy engine fetches 64 columns of C and D at a time, and groups of four
/// warps multiply them. Their sums go to shared memory, replacing the operands. There, each thread fetches
/// the sums of its nonzeros, multiplies them by B's values and stores them: neighbouring threads have
/// neighbouring nonzeros, so that values and results are read and written in whole cache lines. Several
/// blocks share a multiprocessor, so that one multiplies while another waits or stores.
///
/// A sum involves one row of C and one of D only, whatever else its tile contains: an infinite or NaN element
/// affects only the results that use it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/warp.hpp"
#include "../../cuda/wgmma_tile.hpp"
#include "sampled_tiles.hpp"

namespace sporos::gpu {

/// How a block computes a tile.
/// @tparam T     type of C and D, half or bfloat16
/// @tparam Size  rows and columns of a tile: 64 or 128
template <class T, int Size>
struct SddmmTileConfig {
  using value_type = T;
  static constexpr int size = Size;
  static constexpr int threads = Size / Wgmma::m * Wgmma::threads;  ///< four warps for every 64 rows
  static constexpr int blocks = Size == 128 ? 2 : 5;                ///< at least this many per multiprocessor
  static constexpr int stage_k = 64;
  using C = OperandLayout<Role::dense, Operand::a, T, true, Size, stage_k>;
  using D = OperandLayout<Role::dense, Operand::b, T, false, Size, stage_k>;  ///< stored by rows, transposed
  static constexpr int stage_bytes = C::bytes + D::bytes;
  static constexpr int most_stages = 3;
  static constexpr int pitch = Size + 8;  ///< floats from one row of sums to the next; avoids bank conflicts
  static constexpr int sums_bytes = Size * pitch * 4;
  static constexpr int batch = 8;  ///< nonzeros that a thread loads at the same time
  static_assert(Size == 64 || Size == 128, "a tile is one square of 64 or 128 rows and columns");

  static int stages(std::int64_t inner) {
    return static_cast<int>(std::min<std::int64_t>(most_stages, ceil_div(inner, stage_k)));
  }
  /// The bytes of the stages, or of the sums that replace them.
  static int bytes_of_stages(std::int64_t inner) { return std::max(stages(inner) * stage_bytes, sums_bytes); }
  static int shared_bytes(std::int64_t inner) {
    return Swizzle128::alignment + bytes_of_stages(inner) + most_stages * 16 + Size * 4;
  }
};

/// The arguments of the product.
/// @tparam E  the epilogue: a SampledEpilogue of float
template <class Value, class E>
struct SddmmTilesArguments {
  std::int64_t inner;   ///< at least 1
  int stages;           ///< number of stages in shared memory
  int bytes_of_stages;  ///< the barriers follow them
  SampledTiles tiles;   ///< those of B
  const Value* scale;   ///< [nonzeros], B's values
  Value* result;        ///< [nonzeros]
  E epilogue;
};

/// The dense operands as described to the copy engine: C is [rows, inner] and D [columns, inner].
struct SddmmMaps {
  CUtensorMap c, d;
};

namespace detail {

template <class Config, class Value, class E>
__global__ __launch_bounds__(Config::threads, Config::blocks) void sddmm_tiles_kernel(
    const __grid_constant__ SddmmTilesArguments<Value, E> in, const __grid_constant__ SddmmMaps maps) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = typename Config::value_type;
  extern __shared__ char memory[];
  if (blockIdx.x >= in.tiles.count()) return;
  const std::uint32_t stage_0 = (ptx::shared_address(memory) + Swizzle128::alignment - 1) /
                                Swizzle128::alignment * Swizzle128::alignment;
  char* const shared = memory + (stage_0 - ptx::shared_address(memory));
  const std::uint32_t full_0 = stage_0 + in.bytes_of_stages, empty_0 = full_0 + Config::most_stages * 8;
  auto* const sums_of_tile = reinterpret_cast<float*>(shared);  // [size, pitch]
  auto* const distances =
      reinterpret_cast<std::int32_t*>(shared + in.bytes_of_stages + Config::most_stages * 16);  // [size]
  const int thread = static_cast<int>(threadIdx.x);
  const int group = thread / Wgmma::threads;
  const SampledTiles::Tile tile = in.tiles.at(blockIdx.x);
  const int steps = static_cast<int>(ceil_div(in.inner, Config::stage_k));

  if (thread == 0) {
    ptx::prefetch(&maps.c);
    ptx::prefetch(&maps.d);
    for (int stage = 0; stage < in.stages; ++stage) {
      ptx::barrier_init(full_0 + stage * 8, 1);
      ptx::barrier_init(empty_0 + stage * 8, Config::threads);
    }
    ptx::fence_barrier_init();
  }
  __syncthreads();

  const auto copy = [&](int step, int stage) {
    const std::uint32_t at = stage_0 + stage * Config::stage_bytes, full = full_0 + stage * 8;
    const int k = step * Config::stage_k;
    ptx::arrive_expecting(full, Config::stage_bytes);
    copy_operand<typename Config::C>(at, &maps.c, tile.row_tile * Config::size, k, full);
    copy_operand<typename Config::D>(at + Config::C::bytes, &maps.d, tile.column_tile * Config::size, k,
                                     full);
  };
  if (thread == 0)
    for (int stage = 0; stage < in.stages; ++stage) copy(stage, stage);
  __syncwarp();

  // The places of the first nonzeros, and where rows begin, are loaded along with the operands.
  const std::uint16_t* const place = in.tiles.places + tile.first;
  std::uint16_t next[Config::batch];  // [batch nonzeros]
  const auto read_places = [&](int first) {
#pragma unroll
    for (int b = 0; b < Config::batch; ++b) {
      const int at = first + b * Config::threads + thread;
      next[b] = at < tile.count ? __ldg(place + at) : std::uint16_t{0};
    }
  };
  read_places(0);
  if (thread < Config::size)
    distances[thread] = __ldg(in.tiles.distances + std::int64_t{blockIdx.x} * Config::size + thread);

  float sums[Config::size / 2];  // [64, size] per group
#pragma unroll
  for (float& sum : sums) sum = 0;
  int stage = 0;
  std::uint32_t parity = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const std::uint32_t at = stage_0 + stage * Config::stage_bytes;
    const std::uint64_t c = Config::C::describe(at, group), d = Config::D::describe(at + Config::C::bytes);
    const auto multiply = [&](int step) {
      ptx::wgmma<T, Config::size, Config::C::is_transposed, Config::D::is_transposed>(
          sums, c + Config::C::step(step), d + Config::D::step(step));
    };
    constexpr int of_stage = Config::stage_k / Wgmma::k;
    const int left = static_cast<int>(ceil_div(in.inner, Wgmma::k)) - step * of_stage;
    ptx::wait(full_0 + stage * 8, parity);
    ptx::wgmma_fence();
    if (left >= of_stage) {
#pragma unroll
      for (int k = 0; k < of_stage; ++k) multiply(k);
    } else {
#pragma unroll 1
      for (int k = 0; k < left; ++k) multiply(k);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    if (step + in.stages < steps) {
      ptx::arrive(empty_0 + stage * 8);
      if (thread == 0) {
        ptx::wait(empty_0 + stage * 8, parity);
        copy(step + in.stages, stage);
      }
      __syncwarp();
    }
    if (++stage == in.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  __syncthreads();  // the contents of the stages are no longer needed

#pragma unroll
  for (int r = 0; r < Config::size / 2; r += 2) {
    const auto at = Wgmma::of_d(thread % Wgmma::threads, r);
    *reinterpret_cast<float2*>(sums_of_tile + (group * Wgmma::m + at.row) * Config::pitch + at.column) =
        make_float2(sums[r], sums[r + 1]);
  }
  __syncthreads();

  for (int first = 0; first < tile.count; first += Config::batch * Config::threads) {
    std::int32_t nonzero[Config::batch];  // [batch nonzeros]
    float scale[Config::batch];
    float sum[Config::batch];
    [[maybe_unused]] std::uint16_t place_of[Config::batch];  // for the epilogue
#pragma unroll
    for (int b = 0; b < Config::batch; ++b) {
      const int at = first + b * Config::threads + thread;
      if (at >= tile.count) continue;
      const int row = next[b] / Config::size, column = next[b] % Config::size;
      nonzero[b] = distances[row] + at;
      if constexpr (!E::is_identity) place_of[b] = next[b];
      scale[b] = static_cast<float>(in.scale[nonzero[b]]);
      sum[b] = sums_of_tile[row * Config::pitch + column];
    }
    read_places(first + Config::batch * Config::threads);
#pragma unroll
    for (int b = 0; b < Config::batch; ++b) {
      if (first + b * Config::threads + thread >= tile.count) continue;
      const float product = scale[b] * sum[b];
      if constexpr (E::is_identity)
        in.result[nonzero[b]] = static_cast<Value>(product);
      else
        in.result[nonzero[b]] = static_cast<Value>(
            in.epilogue(product, std::int64_t{tile.row_tile} * Config::size + place_of[b] / Config::size,
                        std::int64_t{tile.column_tile} * Config::size + place_of[b] % Config::size));
    }
  }
#endif
}

}  // namespace detail

/// A(i, j) = B(i, j) * sum over k of C(i, k) D(j, k), on B's pattern, in the order of the stream of `space`.
/// @param tiles  the tiles of B, of Config::size rows and columns
/// @param most   upper bound of the number of tiles
template <class Config, class Value, class E>
void sddmm_tiles(const Kokkos::Cuda& space, std::int64_t inner, const SampledTiles& tiles, std::int64_t most,
                 const Value* scale, const SddmmMaps& maps, const E& epilogue, Value* result) {
  const SddmmTilesArguments<Value, E> arguments{
      inner, Config::stages(inner), Config::bytes_of_stages(inner), tiles, scale, result, epilogue};
  launch(space, "sporos::sddmm_tiles", &detail::sddmm_tiles_kernel<Config, Value, E>, Grid(most),
         Config::threads, Config::shared_bytes(inner), arguments, maps);
}

}  // namespace sporos::gpu
