// SPDX-License-Identifier: Apache-2.0
/// @file spmv.hpp
/// y = A x on the GPU, A in CSR, balanced by rows and nonzeros together: config.hpp says how, and tile.hpp
/// what a block does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/once_per_device.hpp"
#include "../../cuda/warp.hpp"
#include "config.hpp"
#include "tile.hpp"

namespace sporos::gpu {

/// Device memory that a product works in. Products on one stream may share it.
struct SpmvWorkspace {
  Workspace arrivals;  ///< [tiles] blocks that have summed their part of a long row; zero between products
  Workspace parts;     ///< [tiles, 2] the sums of those parts
  Workspace starts;    ///< [tiles + 1] where tiles start, for a product without a plan

  std::int64_t size() const { return arrivals.size() + parts.size() + starts.size(); }
  void release() {
    arrivals.release();
    starts.release();
    parts.release();
  }
};

namespace detail {

template <class Config, class Compute, class Arguments>
__global__ __launch_bounds__(Config::threads,
                             Config::blocks) void spmv_kernel(const __grid_constant__ Arguments in,
                                                              std::int64_t nonzeros,
                                                              const SpmvTileStart* starts, Compute* parts,
                                                              int* arrivals) {
  using Tile = SpmvTile<Config, Compute, Arguments>;
  __shared__ alignas(64) char memory[sizeof(typename Tile::Shared)];
  Tile(in, nonzeros, *reinterpret_cast<typename Tile::Shared*>(memory), parts, arrivals)(blockIdx.x, starts);
}

template <class Config, class Arguments>
__global__ __launch_bounds__(Config::threads) void find_tiles_kernel(const __grid_constant__ Arguments in,
                                                                     std::int64_t tiles,
                                                                     SpmvTileStart* starts) {
  const std::int64_t tile =
      (static_cast<std::int64_t>(blockIdx.x) * Config::threads + threadIdx.x) / warp_size;
  if (tile > tiles) return;
  const SpmvTileStart found = find_tile<Config>(in, tile);
  if (lane_id() == 0) starts[tile] = found;
}

/// Calls run.operator()<Threads>() with the block size for a line of `places` places.
template <class Run>
void choose_spmv(std::int64_t places, const Run& run) {
  if (places < SpmvChoice::small_places)
    run.template operator()<SpmvChoice::small>();
  else
    run.template operator()<SpmvChoice::large>();
}

}  // namespace detail

/// The number of tiles of a product.
inline std::int64_t spmv_tiles(std::int64_t rows, std::int64_t nonzeros) {
  std::int64_t tiles = 0;
  detail::choose_spmv(rows + nonzeros,
                      [&]<int Threads>() { tiles = ceil_div(rows + nonzeros, SpmvTiling<Threads>::tile); });
  return tiles;
}

/// The most bytes that an SpmvWorkspace takes, for a product without a plan.
template <class Compute>
std::int64_t spmv_workspace_bytes(std::int64_t rows, std::int64_t nonzeros) {
  const std::int64_t tiles = spmv_tiles(rows, nonzeros);
  const std::int64_t bytes = tiles * static_cast<std::int64_t>(sizeof(int) + 2 * sizeof(Compute)) +
                             (rows + nonzeros >= SpmvChoice::planned_places
                                  ? (tiles + 1) * static_cast<std::int64_t>(sizeof(SpmvTileStart))
                                  : 0);
  return with_room_to_grow(bytes);
}

/// Makes a workspace large enough for a product with a plan.
template <class Compute>
void reserve_spmv(SpmvWorkspace& workspace, std::int64_t rows, std::int64_t nonzeros) {
  const std::int64_t tiles = spmv_tiles(rows, nonzeros);
  workspace.arrivals.reserve(tiles * static_cast<std::int64_t>(sizeof(int)));
  workspace.parts.reserve(2 * tiles * static_cast<std::int64_t>(sizeof(Compute)));
}

/// Finds where each tile of a matrix starts, for any number of products with matrices of that pattern.
///
/// @param starts  [spmv_tiles(rows, nonzeros) + 1]
template <class A, class X, class Y, class Position, class Coordinate>
void plan_spmv(const Kokkos::Cuda& space, const SpmvArguments<A, X, Y, Position, Coordinate>& arguments,
               std::int64_t nonzeros, SpmvTileStart* starts) {
  const std::int64_t tiles = spmv_tiles(arguments.rows, nonzeros);
  detail::choose_spmv(arguments.rows + nonzeros, [&]<int Threads>() {
    using Config = SpmvTiling<Threads>;
    launch(space, "sporos::spmv plan",
           &detail::find_tiles_kernel<Config, SpmvArguments<A, X, Y, Position, Coordinate>>,
           ceil_div((tiles + 1) * warp_size, Config::threads), Config::threads, 0, arguments, tiles, starts);
  });
}

/// y(i) = sum over j of A(i, j) x(j), with A in CSR, in the order of the stream of `space`.
///
/// @tparam Compute    the type in which products and sums are formed
/// @param nonzeros    the number of A's stored values
/// @param starts      [tiles + 1], from plan_spmv; null if the product has to find them
/// Cost: one kernel of (rows + nonzeros) / 1984 blocks; every array of A is read once.
template <class Compute, class A, class X, class Y, class Position, class Coordinate>
void spmv(const Kokkos::Cuda& space, const SpmvArguments<A, X, Y, Position, Coordinate>& arguments,
          std::int64_t nonzeros, SpmvWorkspace& workspace, const SpmvTileStart* starts = nullptr) {
  const std::int64_t tiles = spmv_tiles(arguments.rows, nonzeros);
  reserve_spmv<Compute>(workspace, arguments.rows, nonzeros);
  auto* const arrivals = reinterpret_cast<int*>(workspace.arrivals.memory().data());
  auto* const parts = reinterpret_cast<Compute*>(workspace.parts.memory().data());
  if (!starts && arguments.rows + nonzeros >= SpmvChoice::planned_places) {
    auto* const found = reinterpret_cast<SpmvTileStart*>(
        workspace.starts.reserve((tiles + 1) * static_cast<std::int64_t>(sizeof(SpmvTileStart))));
    plan_spmv(space, arguments, nonzeros, found);
    starts = found;
  }
  const auto start = [&]<int Threads, int Count>() {
    using Config = SpmvConfig<Threads, Count, sizeof(Compute)>;
    const auto kernel = &detail::spmv_kernel<Config, Compute, SpmvArguments<A, X, Y, Position, Coordinate>>;
    set_once_per_device(space, [&] { divide_memory(kernel, SpmvChoice::shared_kilobytes<Compute>); });
    launch(space, "sporos::spmv", kernel, tiles, Config::threads, 0, arguments, nonzeros, starts, parts,
           arrivals);
  };
  // A load takes as many nonzeros as make 16 bytes of the wider array, if both arrays are aligned for that.
  constexpr int wide = std::min(widest_pack<A>, widest_pack<Coordinate>);
  const bool packed = is_aligned<Pack<A, wide>>(arguments.values) &&
                      is_aligned<Pack<Coordinate, wide>>(arguments.coordinates);
  detail::choose_spmv(arguments.rows + nonzeros, [&]<int Threads>() {
    if (packed)
      start.template operator()<Threads, wide>();
    else
      start.template operator()<Threads, 1>();
  });
}

}  // namespace sporos::gpu
