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
/// A is read past the first cache of a multiprocessor, by whole lines of the caches, so that this cache is
/// x's, and shared memory takes no more than it needs for the same reason: products first, the rows' offsets
/// behind them.
///
/// The line is that of Merrill and Garland, *Merge-based Parallel Sparse Matrix-Vector Multiplication* (SC
/// 2016), section 4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::cuda {

/// How the line is cut for blocks of `Threads` threads.
template <int Threads>
struct SpmvTiling {
  static constexpr int threads = Threads;
  static constexpr int places = 8;                   ///< of the line, a thread
  static constexpr int capacity = threads * places;  ///< nonzeros that a block loads at once
  static constexpr int aligned = 32;                 ///< it starts to load at a multiple of so many nonzeros
  static constexpr int tile = capacity - 2 * aligned;  ///< of the line, a block
};

/// Shape of the SpMV kernel: `Threads` threads a block, `Count` nonzeros of A a load, products of `Bytes`
/// bytes.
template <int Threads, int Count, int Bytes>
struct SpmvConfig : SpmvTiling<Threads> {
  using Tiling = SpmvTiling<Threads>;
  /// Threads that the registers of a multiprocessor are divided among. With fewer registers loads wait for
  /// one another; with more of them there are too few threads.
  static constexpr int resident = Bytes <= 4 ? 1536 : 1280;
  static constexpr int blocks = resident / Threads;
  static constexpr int pack = Count;
  static constexpr int heavy_rounds = 32;  ///< a row longer than so many rounds of its lanes is the block's
  static_assert(Threads % warp_size == 0, "a block is made of whole warps");
  static_assert(Tiling::capacity < 65536, "offsets inside a tile are kept in 16 bits");
  static_assert(Tiling::aligned % pack == 0 && pack <= 8 && Tiling::places % pack == 0,
                "a thread loads whole packs");
};

/// What the shape of a product is chosen by.
struct SpmvChoice {
  static constexpr int large = 256;  ///< threads a block
  static constexpr int small = 128;  ///< the same where the large blocks would not fill the GPU
  static constexpr std::int64_t small_places = 1'500'000;    ///< of the line, that do not
  static constexpr std::int64_t planned_places = 4'000'000;  ///< from so many on, a kernel finds tiles first
  /// Kilobytes of a multiprocessor's memory for products; the rest keeps x. Wide values need both more.
  template <class Compute>
  static constexpr int shared_kilobytes = sizeof(Compute) <= 4 ? 32 : 64;
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

  using Offset = std::uint16_t;
  /// Bytes of a product in shared memory, as counted, and of all products with the rows' offsets behind them.
  static constexpr int unit = static_cast<int>(std::max(sizeof(Compute), sizeof(Offset)));
  static constexpr int room = unit * Config::capacity;

  struct Shared {
    alignas(16) unsigned char products[room];
    Offset heavy[Config::capacity / Config::heavy_rounds + 1];
    int heavy_count;
    Compute warp_sums[Config::threads / warp_size];
    SpmvTileStart starts[2];
    bool last;
  };

  __device__ SpmvTile(const Arguments& in, std::int64_t nonzeros, Shared& shared, Compute* parts,
                      int* arrivals)
      : in_(in), nonzeros_(nonzeros), shared_(shared), parts_(parts), arrivals_(arrivals) {}

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
    // The last row that starts here: long, or so much of it behind the tile that there is no room for it, and
    // the block sums it together.
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

  /// `count` rows from `first` on with their `size` nonzeros, which find room: products into shared memory,
  /// all loads before the first use, then summed by groups of lanes.
  __device__ void short_rows(std::int64_t first, int count, std::int64_t start, int size) {
    const int thread = static_cast<int>(threadIdx.x);
    constexpr int pack = Config::pack;
    constexpr int packs = Config::places / pack;
    using Columns = Pack<Coordinate, pack>;
    using Values = Pack<A, pack>;
    // From a line of the caches on; what comes before the first nonzero, and behind the last, is not used.
    const int before = static_cast<int>(start % Config::aligned);
    const std::int64_t base = start - before;
    const int total = before + size;
    const auto* const columns = reinterpret_cast<const Columns*>(in_.coordinates + base);
    const auto* const values = reinterpret_cast<const Values*>(in_.values + base);
    const int begin = before / pack;
    const int end = static_cast<int>(::min(static_cast<std::int64_t>((total + pack - 1) / pack),
                                           (nonzeros_ - base) / pack));  // behind the packs that are there
    auto* const products = reinterpret_cast<Compute*>(shared_.products);
    constexpr int whole = pack > 1 ? pack : 2;  // so that offsets are aligned where products have one byte
    auto* const offsets = reinterpret_cast<Offset*>(products + (total + whole - 1) / whole * whole);
    std::int64_t offset = 0;
    if (thread <= count) offset = static_cast<std::int64_t>(in_.positions[first + thread]) - base;
    Columns column[packs];  // [packs, pack]
    Values value[packs];    // [packs, pack]
    if (begin < end) {
#pragma unroll
      for (int k = 0; k < packs; ++k) {
        // Threads with no pack of their own load one that others have: no branch keeps loads from each other.
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
    // Behind the last whole pack of the matrix.
    for (int q = end * pack + thread; q < total; q += Config::threads) products[q] = product(base + q);
    __syncthreads();
    int lanes = 1;
    while (lanes < warp_size && lanes * 2 * count <= Config::threads) lanes *= 2;
    sum_rows(first, count, lanes, offsets, products);
  }

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
      sum = block_sum<Config::threads>(sum, shared_.warp_sums);
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

/// Calls run.operator()<Threads>() with the threads a block of a product of so many places.
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

/// Where each tile of a matrix starts: `starts` [tiles + 1], for products with that pattern, as often as
/// wanted.
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
/// @tparam Compute    the type that products and sums are formed in
/// @param nonzeros    the number of A's stored values
/// @param starts      of the tiles, from plan_spmv; null where the product is to find them
/// Cost: one kernel of (rows + nonzeros) / 1984 blocks; every array of A is read once.
template <class Compute, class A, class X, class Y, class Position, class Coordinate>
void spmv(const Kokkos::Cuda& space, const SpmvArguments<A, X, Y, Position, Coordinate>& arguments,
          std::int64_t nonzeros, SpmvWorkspace& workspace, const SpmvTileStart* starts = nullptr) {
  const std::int64_t tiles = spmv_tiles(arguments.rows, nonzeros);
  auto* const arrivals =
      reinterpret_cast<int*>(workspace.arrivals.reserve(tiles * static_cast<std::int64_t>(sizeof(int))));
  auto* const parts = reinterpret_cast<Compute*>(
      workspace.parts.reserve(2 * tiles * static_cast<std::int64_t>(sizeof(Compute))));
  if (!starts && arguments.rows + nonzeros >= SpmvChoice::planned_places) {
    auto* const found = reinterpret_cast<SpmvTileStart*>(
        workspace.starts.reserve((tiles + 1) * static_cast<std::int64_t>(sizeof(SpmvTileStart))));
    plan_spmv(space, arguments, nonzeros, found);
    starts = found;
  }
  const auto start = [&]<int Threads, int Count>() {
    using Config = SpmvConfig<Threads, Count, sizeof(Compute)>;
    const auto kernel = &detail::spmv_kernel<Config, Compute, SpmvArguments<A, X, Y, Position, Coordinate>>;
    static const bool divided = (divide_memory(kernel, SpmvChoice::shared_kilobytes<Compute>), true);
    (void)divided;
    launch(space, "sporos::spmv", kernel, tiles, Config::threads, 0, arguments, nonzeros, starts, parts,
           arrivals);
  };
  // As many nonzeros a load as make 16 bytes of the wider array, where both arrays are aligned for that.
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

}  // namespace sporos::cuda
