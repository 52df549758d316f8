// SPDX-License-Identifier: Apache-2.0
/// @file k_major_parts.hpp
/// A k-major copy of a dense matrix, made part by part by the kernel that reads it.
///
/// Copying is limited by memory, multiplying by the multiprocessors, so the copy costs little if warps that
/// would otherwise be idle make it. Parts are handed out in the order in which they are needed, to warps that
/// are already running, so that none waits for a block that has not started.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/ptx.hpp"
#include "../../cuda/warp.hpp"
#include "k_major_traits.hpp"

namespace sporos::gpu {

/// The copy: its source, its destination and how far it has got.
template <class T>
struct KMajorParts {
  const T* from = nullptr;  ///< [m, k], rows aligned to 16 bytes; null if there is no copy
  T* to = nullptr;          ///< [k, stride]
  std::int64_t stride = 0;  ///< a multiple of 8, at least m
  KMajorOrder order;
  /// [size(order)], zero before the first run: the number of runs so far, of parts handed out, of warps that
  /// are done with them, and for each stage of a tile's rows, the number of parts that all runs have made.
  int* state = nullptr;

  static constexpr int counters = 3;
  static std::int64_t size(const KMajorOrder& order) {
    return counters + std::int64_t{order.row_tiles()} * order.stages();
  }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  /// Copies parts until none is left. Called by whole warps.
  __device__ __forceinline__ void copy() const {
    const auto claim = [&] { return lane_id() == 0 ? atomicAdd(state + 1, 1) : 0; };
    int next = claim();
    while (true) {
      const int at = __shfl_sync(~0u, next, 0);
      if (at >= order.parts()) return;
      next = claim();  // arrives while this part is copied
      const KMajorOrder::Part part = order[at];
      copy_part(part.row, part.column);
      ptx::fence_copies_from_global();
      __syncwarp();
      if (lane_id() == 0) ptx::add_release(made(part.row_tile, part.of_stage), 1);
    }
  }
  /// Waits until all parts of a stage are there for the copy engine. Called by a whole warp, each lane of
  /// which checks a different stage: a load from memory takes as long as a stage.
  /// @param ready  how many stages of these rows are known to be complete
  __device__ __forceinline__ void wait_for(int run, int row_tile, int of_stage, int& ready) const {
    const unsigned needed = (static_cast<unsigned>(run) + 1) * static_cast<unsigned>(order.parts_of_stage());
    const auto is_missing = [&](int at) {  // the counts wrap around at 2^32
      if (at >= order.stages()) return false;
      return static_cast<int>(static_cast<unsigned>(ptx::load_acquire(made(row_tile, at))) - needed) < 0;
    };
    while (of_stage >= ready) {
      const unsigned missing = __ballot_sync(~0u, is_missing(of_stage + lane_id()));
      ready = of_stage + (missing == 0 ? warp_size : __ffs(static_cast<int>(missing)) - 1);
      ptx::fence_copies_from_global();
    }
  }
  /// The number of this run; asked before `leave`.
  __device__ __forceinline__ int run() const { return ptx::load_acquire(state); }
  /// Called by one lane of each of `warps` warps when it is done with the copy; after the last, the next run
  /// can begin.
  __device__ __forceinline__ void leave(int warps) const {
    __threadfence();
    if (atomicAdd(state + 2, 1) + 1 < warps) return;
    state[1] = state[2] = 0;
    ptx::add_release(state, 1);
  }

 private:
  __device__ __forceinline__ int* made(int row_tile, int of_stage) const {
    return state + counters + row_tile * order.stages() + of_stage;
  }
  __device__ __forceinline__ void copy_part(int row_0, int column_0) const {
    using Tile = TransposedTile;
    constexpr int parts_of_32 = KMajorOrder::rows / 32;
    const int column = column_0 + lane_id() % 4 * 8;
    uint4 held[parts_of_32][4];  // [rows, columns]: a lane holds 8 columns of four rows of each 32
#pragma unroll
    for (int at = 0; at < parts_of_32; ++at)
#pragma unroll
      for (int matrix = 0; matrix < 4; ++matrix) {
        const int row = row_0 + at * 32 + Tile::row_of_matrix(matrix, lane_id() / 4);
        held[at][matrix] = make_uint4(0, 0, 0, 0);
        if (row < order.m && column < order.k)
          held[at][matrix] =
              *reinterpret_cast<const uint4*>(from + static_cast<std::int64_t>(row) * order.k + column);
      }
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const int to_column = column_0 + lane_id() / 8 * 8 + pair * 2 + lane_id() / 4 % 2;
      T* const to_row = to + static_cast<std::int64_t>(to_column) * stride;
#pragma unroll
      for (int at = 0; at < parts_of_32; ++at) {
        const int row = row_0 + at * 32 + lane_id() % 4 * 8;
        const auto of_pair = [&](int matrix) {
          const uint4& of = held[at][matrix];
          return ptx::transposed(pair == 0 ? of.x : pair == 1 ? of.y : pair == 2 ? of.z : of.w);
        };
        const uint4 out = make_uint4(of_pair(0), of_pair(1), of_pair(2), of_pair(3));
        if (to_column < order.k && row < stride) *reinterpret_cast<uint4*>(to_row + row) = out;
      }
    }
  }
#endif
};

}  // namespace sporos::gpu
