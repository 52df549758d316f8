// SPDX-License-Identifier: Apache-2.0
/// @file spmv.hpp
/// y = A x on the GPU, A in CSR, balanced by rows and nonzeros together.
///
/// Row r stands at place r + positions[r] of a line on which each row and each nonzero takes one place. A
/// thread block gets one tile of that line: the rows that start in it, with all their nonzeros, so that
/// blocks differ by one row at most - except for a long row, whose nonzeros every tile that it crosses sums
/// up for itself; the last tile to finish adds the parts, in order, so that results do not vary from run to
/// run.
///
///     tile 0           tile 1           tile 2           tile 3
///     |r0··r1···r2·r3··|····r4·r5·······|················|·······r6··r7·|
///      rows 0 1 2 3     rows 4 5         part of row 5    part of row 5, rows 6 7
///
/// The line is that of Merrill and Garland, *Merge-based Parallel Sparse Matrix-Vector Multiplication* (SC
/// 2016), section 4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "launch.hpp"
#include "warp.hpp"

namespace sporos::cuda {

/// Shape of the SpMV kernel: `Count` nonzeros are loaded at once.
template <int Count>
struct SpmvConfig {
  static constexpr int threads = 256;
  static constexpr int blocks = 6;               ///< that a multiprocessor holds at once
  static constexpr int places = 8;               ///< of the line, a thread
  static constexpr int tile = threads * places;  ///< of the line, a block
  static constexpr int heavy_rounds = 32;  ///< a row longer than so many rounds of its lanes is the block's
  static constexpr std::int64_t planned_tiles =
      2000;  ///< from so many on, tiles are laid out by a kernel before
  static_assert(threads % warp_size == 0, "a block is made of whole warps");
  static constexpr int pack = Count;
  static_assert(tile < 32768, "offsets inside a tile are kept in 16 bits");
  static_assert(places % pack == 0, "a thread loads whole packs");
};

/// Where a tile starts: its first row, and that row's first nonzero.
struct SpmvTileStart {
  std::int64_t row;
  std::int64_t position;
};

/// y = A x, by address: A has `rows` rows.
template <class A, class X, class Y, class Position, class Coordinate>
struct SpmvArguments {
  std::int64_t rows;
  const Position* positions;      ///< [rows + 1]
  const Coordinate* coordinates;  ///< [nonzeros]
  const A* values;                ///< [nonzeros]
  const X* x;                     ///< [columns]
  Y* y;                           ///< [rows]
  bool accumulates = false;       ///< y += A x
};

/// What products share with those behind them, and only with those.
struct SpmvWorkspace {
  Workspace arrivals;  ///< how many tiles have summed their part of a long row; zero between products
  Workspace parts;     ///< the sums of those parts
  Workspace starts;    ///< of tiles, where no plan has them

  void release() {
    arrivals.release();
    starts.release();
    parts.release();
  }
};

namespace detail {

/// The sum of `x` over a block, in its first thread. `scratch` holds a value a warp.
template <int Threads, class T>
__device__ __forceinline__ T block_sum(T x, T* scratch) {
  constexpr int warps = Threads / warp_size;
  x = group_sum(x, warp_size);
  __syncthreads();
  if (lane_id() == 0) scratch[threadIdx.x / warp_size] = x;
  __syncthreads();
  T sum{};
  if (threadIdx.x == 0)
    for (int warp = 0; warp < warps; ++warp) sum = plus(sum, scratch[warp]);
  return sum;
}

/// The start of a tile, found by a warp.
template <class Config, class Arguments>
__device__ __forceinline__ SpmvTileStart find_tile(const Arguments& in, std::int64_t tile) {
  const std::int64_t place = tile * Config::tile;
  const std::int64_t row = warp_partition_point(
      0, in.rows, [&](std::int64_t r) { return r + static_cast<std::int64_t>(in.positions[r]) < place; });
  return {row, static_cast<std::int64_t>(in.positions[row])};
}

/// What a block of the SpMV kernel does with its tile.
template <class Config, class Compute, class Arguments>
class SpmvTile {
 public:
  using Coordinate = std::remove_const_t<std::remove_pointer_t<decltype(Arguments::coordinates)>>;
  using A = std::remove_const_t<std::remove_pointer_t<decltype(Arguments::values)>>;
  using Result = std::remove_pointer_t<decltype(Arguments::y)>;

  struct Shared {
    Compute products[Config::tile + Config::pack];  // [tile + pack]
    std::uint16_t offsets[Config::tile + 1];        // [rows of the tile + 1]
    std::uint16_t heavy[Config::tile / Config::heavy_rounds + 1];
    int heavy_count;
    Compute warp_sums[Config::threads / warp_size];
    SpmvTileStart starts[2];
    bool last;
  };

  __device__ SpmvTile(const Arguments& in, Shared& shared, Compute* parts, int* arrivals)
      : in_(in), shared_(shared), parts_(parts), arrivals_(arrivals) {}

  /// `starts` are those of all tiles; null where each block finds its own.
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
    // The row from an earlier tile that may reach into this one; looked at in the end, asked for now.
    const std::int64_t inherited =
        start.row > 0 ? static_cast<std::int64_t>(in_.positions[start.row - 1]) : start.position;
    // The last row that starts here: long, or so much of it behind the tile that the block sums it together.
    const bool crosses = end.position - start.position > Config::tile;
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

  /// The sum of the products in [begin, end), by the whole block, in its first thread.
  __device__ Compute sum_of(std::int64_t begin, std::int64_t end) {
    Compute sum{};
#pragma unroll 4
    for (std::int64_t q = begin + threadIdx.x; q < end; q += Config::threads) sum = plus(sum, product(q));
    return block_sum<Config::threads>(sum, shared_.warp_sums);
  }

  /// This tile's part of a row that crosses tiles. False, with nothing done, where the row is not long.
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
    sum = block_sum<Config::threads>(sum, shared_.warp_sums);
    if (threadIdx.x == 0) {
      store(row, sum);
      arrivals_[first_tile] = 0;  // as the next product expects it
    }
    return true;
  }

  /// Where a tile's part of a long row is kept: a tile may have two, the end of one and the start of another.
  __device__ static std::int64_t part_of(std::int64_t tile, std::int64_t first_tile) {
    return 2 * tile + (tile == first_tile ? 1 : 0);
  }

  /// `count` rows from `first` on with their `size` nonzeros, no more than a tile: products into shared
  /// memory, all loads before the first use, then summed by groups of lanes.
  __device__ void short_rows(std::int64_t first, int count, std::int64_t start, int size) {
    const int thread = static_cast<int>(threadIdx.x);
    constexpr int pack = Config::pack;
    constexpr int packs = Config::places / pack;
    using Columns = Pack<Coordinate, pack>;
    using Values = Pack<A, pack>;
    // From the pack that the first nonzero lies in: what comes before it there is computed, and not used.
    const int before = static_cast<int>(start % pack);
    const auto* const columns = reinterpret_cast<const Columns*>(in_.coordinates + (start - before));
    const auto* const values = reinterpret_cast<const Values*>(in_.values + (start - before));
    const int full = (before + size) / pack;  // packs that are used to the end
    std::int64_t offset = 0;
    if (thread <= count) offset = static_cast<std::int64_t>(in_.positions[first + thread]) - start;
    Columns column[packs];  // [packs, pack]
    Values value[packs];    // [packs, pack]
#pragma unroll
    for (int k = 0; k < packs; ++k) {
      const int at = k * Config::threads + thread;
      if (at < full) {
        column[k] = columns[at];
        value[k] = values[at];
      }
    }
    for (int row = thread; row <= count; row += Config::threads) {
      if (row != thread) offset = static_cast<std::int64_t>(in_.positions[first + row]) - start;
      shared_.offsets[row] = static_cast<std::uint16_t>(offset + before);
    }
    const auto* const x = in_.x;
#pragma unroll
    for (int k = 0; k < packs; ++k) {
      const int at = k * Config::threads + thread;
      if (at < full) {
        Pack<Compute, pack> term;  // [pack]
#pragma unroll
        for (int p = 0; p < pack; ++p)
          term.at[p] = times(static_cast<Compute>(value[k].at[p]), static_cast<Compute>(x[column[k].at[p]]));
        reinterpret_cast<Pack<Compute, pack>*>(shared_.products)[at] = term;
      }
    }
    // The rest: less than two packs.
    for (int q = full * pack + thread; q < before + size; q += Config::threads)
      shared_.products[q] = product(start - before + q);
    __syncthreads();
    int lanes = 1;
    const int mean = size / count;
    while (lanes < warp_size && lanes * 8 <= mean) lanes *= 2;
    sum_rows(first, count, lanes, [&](int q) { return shared_.products[q]; });
  }

  template <class Term>
  __device__ __forceinline__ void sum_rows(std::int64_t first, int count, int lanes, const Term& term) {
    const int group = static_cast<int>(threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int groups = Config::threads / lanes;
    for (int base = 0; base < count; base += groups) {
      const int row = base + group;
      const int begin = row < count ? shared_.offsets[row] : 0;
      const int end = row < count ? shared_.offsets[row + 1] : 0;
      const bool heavy = end - begin > Config::heavy_rounds * lanes;
      Compute sum{};
      if (!heavy) {
#pragma unroll 4
        for (int q = begin + lane; q < end; q += lanes) sum = plus(sum, term(q));
      }
      sum = group_sum(sum, lanes);
      if (lane == 0 && row < count) {
        if (heavy)
          shared_.heavy[::atomicAdd(&shared_.heavy_count, 1)] = static_cast<std::uint16_t>(row);
        else
          store(first + row, sum);
      }
    }
    __syncthreads();
    for (int at = 0; at < shared_.heavy_count; ++at) {
      const int row = shared_.heavy[at];
      Compute sum{};
      for (int q = shared_.offsets[row] + static_cast<int>(threadIdx.x); q < shared_.offsets[row + 1];
           q += Config::threads)
        sum = plus(sum, term(q));
      sum = block_sum<Config::threads>(sum, shared_.warp_sums);
      if (threadIdx.x == 0) store(first + row, sum);
    }
  }

  __device__ __forceinline__ void store(std::int64_t row, const Compute& sum) const {
    in_.y[row] = static_cast<Result>(in_.accumulates ? plus(static_cast<Compute>(in_.y[row]), sum) : sum);
  }

  const Arguments& in_;
  Shared& shared_;
  Compute* parts_;
  int* arrivals_;
};

template <class Config, class Compute, class Arguments>
__global__ __launch_bounds__(Config::threads,
                             Config::blocks) void spmv_kernel(const __grid_constant__ Arguments in,
                                                              const SpmvTileStart* starts, Compute* parts,
                                                              int* arrivals) {
  using Tile = SpmvTile<Config, Compute, Arguments>;
  __shared__ alignas(64) char memory[sizeof(typename Tile::Shared)];
  Tile(in, *reinterpret_cast<typename Tile::Shared*>(memory), parts, arrivals)(blockIdx.x, starts);
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

}  // namespace detail

/// The number of tiles of a product.
inline std::int64_t spmv_tiles(std::int64_t rows, std::int64_t nonzeros) {
  return ceil_div(rows + nonzeros, SpmvConfig<1>::tile);
}

/// Where each tile of a matrix starts: `starts` [tiles + 1], for products with that pattern, as often as
/// wanted.
template <class A, class X, class Y, class Position, class Coordinate>
void plan_spmv(const Kokkos::Cuda& space, const SpmvArguments<A, X, Y, Position, Coordinate>& arguments,
               std::int64_t nonzeros, SpmvTileStart* starts) {
  using Config = SpmvConfig<1>;
  const std::int64_t tiles = spmv_tiles(arguments.rows, nonzeros);
  launch(space, "sporos::spmv plan",
         &detail::find_tiles_kernel<Config, SpmvArguments<A, X, Y, Position, Coordinate>>,
         ceil_div((tiles + 1) * warp_size, Config::threads), Config::threads, 0, arguments, tiles, starts);
}

/// y(i) = sum over j of A(i, j) x(j), with A in CSR, in the order of the stream of `space`.
///
/// @tparam Compute    the type that products and sums are formed in
/// @param nonzeros    the number of A's stored values
/// @param starts      of the tiles, from plan_spmv; null where the product is to find them
/// Cost: one kernel of (rows + nonzeros) / 2048 blocks; every array of A is read once.
template <class Compute, class A, class X, class Y, class Position, class Coordinate>
void spmv(const Kokkos::Cuda& space, const SpmvArguments<A, X, Y, Position, Coordinate>& arguments,
          std::int64_t nonzeros, SpmvWorkspace& workspace, const SpmvTileStart* starts = nullptr) {
  const std::int64_t tiles = spmv_tiles(arguments.rows, nonzeros);
  auto* const arrivals =
      reinterpret_cast<int*>(workspace.arrivals.reserve(tiles * static_cast<std::int64_t>(sizeof(int))));
  auto* const parts = reinterpret_cast<Compute*>(
      workspace.parts.reserve(2 * tiles * static_cast<std::int64_t>(sizeof(Compute))));
  if (!starts && tiles >= SpmvConfig<1>::planned_tiles) {
    auto* const found = reinterpret_cast<SpmvTileStart*>(
        workspace.starts.reserve((tiles + 1) * static_cast<std::int64_t>(sizeof(SpmvTileStart))));
    plan_spmv(space, arguments, nonzeros, found);
    starts = found;
  }
  const auto start = [&]<int Count>() {
    using Config = SpmvConfig<Count>;
    launch(space, "sporos::spmv",
           &detail::spmv_kernel<Config, Compute, SpmvArguments<A, X, Y, Position, Coordinate>>, tiles,
           Config::threads, 0, arguments, starts, parts, arrivals);
  };
  // As many nonzeros a load as make 16 bytes of the wider array, where both arrays are aligned for that.
  constexpr int wide = std::min(widest_pack<A>, widest_pack<Coordinate>);
  if (is_aligned<Pack<A, wide>>(arguments.values) &&
      is_aligned<Pack<Coordinate, wide>>(arguments.coordinates))
    start.template operator()<wide>();
  else
    start.template operator()<1>();
}

}  // namespace sporos::cuda
