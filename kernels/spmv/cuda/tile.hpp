// SPDX-License-Identifier: Apache-2.0
/// @file tile.hpp
/// What one thread block of y = A x does with its tile.
///
/// The block loads the nonzeros of the rows that start in its tile, puts their products into shared memory,
/// and lets groups of lanes add up one row each. Only the last of these rows may be too long for the room
/// there: the whole block sums it, either alone or, if it crosses further tiles, together with their blocks,
/// each of which sums its own part.
///
/// A is read around the L1 cache, by whole cache lines, so that this cache is left to x. For the same reason
/// shared memory takes no more than it needs: first products, then the rows' offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../cuda/warp.hpp"
#include "config.hpp"

namespace sporos::gpu::detail {

/// What a block of the SpMV kernel does with its tile.
template <class Config, class Compute, class Arguments>
class SpmvTile {
 public:
  using Coordinate = std::remove_const_t<std::remove_pointer_t<decltype(Arguments::coordinates)>>;
  using A = std::remove_const_t<std::remove_pointer_t<decltype(Arguments::values)>>;
  using Result = std::remove_pointer_t<decltype(Arguments::y)>;

  using Offset = std::uint16_t;
  /// The bytes that a product counts for in shared memory, and those of all products and the rows' offsets
  /// after them.
  static constexpr int unit = static_cast<int>(std::max(sizeof(Compute), sizeof(Offset)));
  static constexpr int room = unit * Config::capacity;

  struct Shared {
    alignas(16) unsigned char products[room];  ///< products of short rows, then their offsets
    Offset heavy[Config::capacity / Config::heavy_rounds + 1];  ///< [heavy_count], short rows for the block
    int heavy_count;
    Compute warp_sums[Config::threads / warp_size];
    SpmvTileStart starts[2];  ///< starts of this tile and the next
    bool last;                ///< whether this block is the last to finish a part of a long row
  };

  __device__ SpmvTile(const Arguments& in, std::int64_t nonzeros, Shared& shared, Compute* parts,
                      int* arrivals)
      : in_(in), nonzeros_(nonzeros), shared_(shared), parts_(parts), arrivals_(arrivals) {}

  /// Computes a tile. `starts` are those of all tiles; if null, each block finds its own.
  __device__ void operator()(std::int64_t tile, const SpmvTileStart* starts) {
    if (threadIdx.x == 0) shared_.heavy_count = 0;
    SpmvTileStart start;
    SpmvTileStart end;
    if (starts) {
      start = starts[tile];
      end = starts[tile + 1];
    } else {
      const int warp = static_cast<int>(threadIdx.x) / warp_size;
      if (warp < 2) {
        const SpmvTileStart found = find_tile<Config>(in_, tile + warp);
        if (lane_id() == 0) shared_.starts[warp] = found;
      }
      __syncthreads();
      start = shared_.starts[0];
      end = shared_.starts[1];
    }
    // A row of an earlier tile may reach into this one. It is summed last, but its bounds are loaded now.
    const std::int64_t inherited =
        start.row > 0 ? static_cast<std::int64_t>(in_.positions[start.row - 1]) : start.position;
    // Whether the last row that starts here is too long for all products to fit: the whole block sums it.
    const std::int64_t size = end.position - start.position;
    const bool crosses =
        size > Config::tile || (Config::aligned + Config::pack + size) * unit +
                                       (end.row - start.row + 1) * static_cast<int>(sizeof(Offset)) >
                                   room;
    const std::int64_t rows = end.row - start.row - (crosses ? 1 : 0);
    if (rows > 0)
      short_rows(
          start.row, static_cast<int>(rows), start.position,
          static_cast<int>((crosses ? static_cast<std::int64_t>(in_.positions[end.row - 1]) : end.position) -
                           start.position));
    if (crosses) {
      const std::int64_t begin = in_.positions[end.row - 1];
      if (!long_row(end.row - 1, begin, end.position, tile)) {
        const Compute sum = sum_of(begin, end.position);
        if (threadIdx.x == 0) store(end.row - 1, sum);
      }
    }
    if (start.row > 0) long_row(start.row - 1, inherited, start.position, tile);
  }

 private:
  __device__ __forceinline__ Compute product(std::int64_t q) const {
    return times(static_cast<Compute>(in_.values[q]), static_cast<Compute>(in_.x[in_.coordinates[q]]));
  }

  /// The sum of `x` over the block, in its first thread. cub::BlockReduce is not used: with it in the kernel,
  /// products of doubles take up to 6 % longer on an H200, even if no row needs it.
  __device__ __forceinline__ Compute block_sum(Compute x) const {
    x = group_sum(x, warp_size);
    __syncthreads();  // an earlier sum may still be read
    if (lane_id() == 0) shared_.warp_sums[threadIdx.x / warp_size] = x;
    __syncthreads();
    Compute sum{};
    if (threadIdx.x == 0)
      for (int warp = 0; warp < Config::threads / warp_size; ++warp) sum = plus(sum, shared_.warp_sums[warp]);
    return sum;
  }

  /// The sum of the products in [begin, end), computed by the whole block, in its first thread.
  __device__ Compute sum_of(std::int64_t begin, std::int64_t end) {
    Compute sum{};
#pragma unroll 4
    for (std::int64_t q = begin + threadIdx.x; q < end; q += Config::threads) sum = plus(sum, product(q));
    return block_sum(sum);
  }

  /// Sums this tile's part of a row that crosses tiles. Returns false, having done nothing, if the row is not
  /// long.
  __device__ bool long_row(std::int64_t row, std::int64_t begin, std::int64_t end, std::int64_t tile) {
    const std::int64_t first_tile = (row + begin) / Config::tile;
    if (row + end <= (first_tile + 2) * Config::tile) return false;
    const std::int64_t last_tile = (row + end - 1) / Config::tile;
    if (last_tile < tile) return true;
    const std::int64_t from = tile * Config::tile - row;
    const std::int64_t to = from + Config::tile;
    const Compute part = sum_of(from > begin ? from : begin, to < end ? to : end);
    const int tiles = static_cast<int>(last_tile - first_tile) + 1;
    if (threadIdx.x == 0) {
      parts_[part_of(tile, first_tile)] = part;
      __threadfence();
      shared_.last = ::atomicAdd(arrivals_ + first_tile, 1) == tiles - 1;
    }
    __syncthreads();
    if (!shared_.last) return true;
    __threadfence();
    Compute sum{};
    for (std::int64_t t = first_tile + threadIdx.x; t <= last_tile; t += Config::threads)
      sum = plus(sum, load_fresh(parts_ + part_of(t, first_tile)));
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
      store(row, sum);
      arrivals_[first_tile] = 0;  // as the next product expects
    }
    return true;
  }

  /// Where a tile's part of a long row is kept. A tile may have two parts, the end of one row and the start
  /// of another.
  __device__ static std::int64_t part_of(std::int64_t tile, std::int64_t first_tile) {
    return 2 * tile + (tile == first_tile ? 1 : 0);
  }

  /// Computes `count` rows from `first` on, with `size` nonzeros in total from nonzero `start` on, whose
  /// products fit in shared memory. All nonzeros are loaded before the first is used.
  __device__ void short_rows(std::int64_t first, int count, std::int64_t start, int size) {
    const int thread = static_cast<int>(threadIdx.x);
    constexpr int pack = Config::pack;
    constexpr int packs = Config::places / pack;
    using Columns = Pack<Coordinate, pack>;
    using Values = Pack<A, pack>;
    // Loads start at a cache line; what they bring from before the first nonzero and after the last is not
    // used.
    const int before = static_cast<int>(start % Config::aligned);
    const std::int64_t base = start - before;
    const int total = before + size;
    const auto* const columns = reinterpret_cast<const Columns*>(in_.coordinates + base);
    const auto* const values = reinterpret_cast<const Values*>(in_.values + base);
    const int begin = before / pack;
    const int end = static_cast<int>(::min(static_cast<std::int64_t>((total + pack - 1) / pack),
                                           (nonzeros_ - base) / pack));  // past the packs that exist
    auto* const products = reinterpret_cast<Compute*>(shared_.products);
    constexpr int whole = pack > 1 ? pack : 2;  // so that offsets are aligned even after products of one byte
    auto* const offsets = reinterpret_cast<Offset*>(products + (total + whole - 1) / whole * whole);
    std::int64_t offset = 0;
    if (thread <= count)
      offset = static_cast<std::int64_t>(in_.positions[first + thread]) - base;  // [threads rows]
    Columns column[packs];                                                       // [packs, pack]
    Values value[packs];                                                         // [packs, pack]
    if (begin < end) {
#pragma unroll
      for (int k = 0; k < packs; ++k) {
        // Threads without a pack of their own load another thread's, so that no branch delays the next load.
        const int at = ::max(::min(k * Config::threads + thread, end - 1), begin);
        column[k] = load_once(columns + at);
        value[k] = load_once(values + at);
      }
    }
    for (int row = thread; row <= count; row += Config::threads) {
      if (row != thread) offset = static_cast<std::int64_t>(in_.positions[first + row]) - base;
      offsets[row] = static_cast<Offset>(offset);
    }
    const auto* const x = in_.x;
    if (begin < end) {
      Pack<Compute, pack> term[packs];  // [packs, pack]
#pragma unroll
      for (int k = 0; k < packs; ++k)
#pragma unroll
        for (int p = 0; p < pack; ++p)
          term[k].at[p] =
              times(static_cast<Compute>(value[k].at[p]), static_cast<Compute>(x[column[k].at[p]]));
#pragma unroll
      for (int k = 0; k < packs; ++k) {
        const int at = k * Config::threads + thread;
        if (at >= begin && at < end) reinterpret_cast<Pack<Compute, pack>*>(products)[at] = term[k];
      }
    }
    // The nonzeros after the last whole pack of the matrix.
    for (int q = end * pack + thread; q < total; q += Config::threads) products[q] = product(base + q);
    __syncthreads();
    int lanes = 1;
    while (lanes < warp_size && lanes * 2 * count <= Config::threads) lanes *= 2;
    sum_rows(first, count, lanes, offsets, products);
  }

  /// Sums the products of `count` rows in shared memory, with `lanes` threads per row. A row that is much
  /// longer than the others is left to the whole block.
  __device__ __forceinline__ void sum_rows(std::int64_t first, int count, int lanes, const Offset* offsets,
                                           const Compute* products) {
    const int group = static_cast<int>(threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int groups = Config::threads / lanes;
    for (int base = 0; base < count; base += groups) {
      const int row = base + group;
      const int begin = row < count ? offsets[row] : 0;
      const int end = row < count ? offsets[row + 1] : 0;
      const bool heavy = end - begin > Config::heavy_rounds * lanes;
      Compute sum{};
      if (!heavy) {
#pragma unroll 4
        for (int q = begin + lane; q < end; q += lanes) sum = plus(sum, products[q]);
      }
      sum = group_sum(sum, lanes);
      if (lane == 0 && row < count) {
        if (heavy)
          shared_.heavy[::atomicAdd(&shared_.heavy_count, 1)] = static_cast<Offset>(row);
        else
          store(first + row, sum);
      }
    }
    __syncthreads();
    for (int at = 0; at < shared_.heavy_count; ++at) {
      const int row = shared_.heavy[at];
      Compute sum{};
      for (int q = offsets[row] + static_cast<int>(threadIdx.x); q < offsets[row + 1]; q += Config::threads)
        sum = plus(sum, products[q]);
      sum = block_sum(sum);
      if (threadIdx.x == 0) store(first + row, sum);
    }
  }

  __device__ __forceinline__ void store(std::int64_t row, const Compute& sum) const {
    in_.y[row] = static_cast<Result>(in_.accumulates ? plus(static_cast<Compute>(in_.y[row]), sum) : sum);
  }

  const Arguments& in_;
  std::int64_t nonzeros_;
  Shared& shared_;
  Compute* parts_;
  int* arrivals_;
};

}  // namespace sporos::gpu::detail
