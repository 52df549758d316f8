// SPDX-License-Identifier: Apache-2.0
/// @file spmv.hpp
/// y = A x on the GPU, A in CSR: one kernel, balanced by rows and nonzeros together, no preparation.
///
/// Row r stands at place r + positions[r] of a line on which each row and each nonzero takes one place. A
/// thread block gets one tile of that line: the rows that start in it, with all their nonzeros, so that blocks
/// differ by one row at most - except for a long row, whose nonzeros every tile that it crosses sums up for
/// itself; the last tile to finish adds the parts, in order, so that results do not vary from run to run.
///
///     tile 0           tile 1           tile 2           tile 3
///     |r0··r1···r2·r3··|····r4·r5·······|················|·······r6··r7·|
///      rows 0 1 2 3     rows 4 5         part of row 5    part of row 5, rows 6 7
///
/// The line is that of Merrill and Garland, *Merge-based Parallel Sparse Matrix-Vector Multiplication* (SC
/// 2016), section 4.
#pragma once

#include <cstdint>
#include <type_traits>

#include "launch.hpp"
#include "warp.hpp"

namespace sporos::cuda {

/// Shape of the SpMV kernel.
struct SpmvConfig {
  static constexpr int threads = 256;
  static constexpr int blocks = 6;                ///< that a multiprocessor holds at once
  static constexpr int places = 8;                ///< of the line, a thread
  static constexpr int tile = threads * places;   ///< of the line, a block
  static constexpr int staged_mean = 12;          ///< tiles of shorter rows stage products in shared memory
  static constexpr int heavy_rounds = 32;         ///< a row longer than so many rounds of its lanes is the block's
  static_assert(threads % warp_size == 0, "a block is made of whole warps");
  static_assert(tile < 32768, "offsets inside a tile are kept in 16 bits");
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
  Workspace parts;

  void release() {
    arrivals.release();
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

/// What a block of the SpMV kernel does with its tile.
template <class Config, class Compute, class Arguments>
class SpmvTile {
 public:
  using Coordinate = std::remove_const_t<std::remove_pointer_t<decltype(Arguments::coordinates)>>;
  using Result = std::remove_pointer_t<decltype(Arguments::y)>;

  struct Shared {
    Compute products[Config::tile];            // [tile]
    std::uint16_t offsets[Config::tile + 1];   // [rows of the tile + 1]
    std::uint16_t heavy[Config::tile / Config::heavy_rounds + 1];
    int heavy_count;
    Compute warp_sums[Config::threads / warp_size];
    std::int64_t rows[2];
    bool last;
  };

  __device__ SpmvTile(const Arguments& in, Shared& shared, Compute* parts, int* arrivals)
      : in_(in), shared_(shared), parts_(parts), arrivals_(arrivals) {}

  __device__ void operator()(std::int64_t tile) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    if (warp < 2) {
      const std::int64_t place = (tile + warp) * Config::tile;
      const std::int64_t row =
          warp_partition_point(0, in_.rows, [&](std::int64_t r) { return place_of(r) < place; });
      if (lane_id() == 0) shared_.rows[warp] = row;
    }
    if (threadIdx.x == 0) shared_.heavy_count = 0;
    __syncthreads();
    const std::int64_t first = shared_.rows[0];
    std::int64_t last = shared_.rows[1];
    // The row from an earlier tile that reaches into this one, where it is long.
    if (first > 0) long_row(first - 1, tile);
    if (first == last) return;
    // The last row that starts here: long, or so much of it behind the tile that the block sums it together.
    const std::int64_t start = in_.positions[first];
    const bool crosses = static_cast<std::int64_t>(in_.positions[last]) - start > Config::tile;
    if (crosses) {
      --last;
      if (!long_row(last, tile)) whole_row(last);
    }
    if (first < last) short_rows(first, static_cast<int>(last - first), start);
  }

 private:
  __device__ std::int64_t place_of(std::int64_t row) const {
    return row + static_cast<std::int64_t>(in_.positions[row]);
  }
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

  __device__ void whole_row(std::int64_t row) {
    const Compute sum = sum_of(in_.positions[row], in_.positions[row + 1]);
    if (threadIdx.x == 0) store(row, sum);
  }

  /// This tile's part of a row that crosses tiles. False, with nothing done, where the row is not long.
  __device__ bool long_row(std::int64_t row, std::int64_t tile) {
    const std::int64_t begin = in_.positions[row];
    const std::int64_t end = in_.positions[row + 1];
    const std::int64_t first_tile = (row + begin) / Config::tile;
    if (row + end <= (first_tile + 2) * Config::tile) return false;
    const std::int64_t last_tile = (row + end - 1) / Config::tile;
    if (last_tile < tile) return true;
    const std::int64_t from = tile * Config::tile - row;
    const std::int64_t to = from + Config::tile;
    const Compute part = sum_of(from > begin ? from : begin, to < end ? to : end);
    const int tiles = static_cast<int>(last_tile - first_tile) + 1;
    if (threadIdx.x == 0) {
      parts_[tile] = part;
      __threadfence();
      shared_.last = ::atomicAdd(arrivals_ + first_tile, 1) == tiles - 1;
    }
    __syncthreads();
    if (!shared_.last) return true;
    __threadfence();
    Compute sum{};
    for (std::int64_t t = first_tile + threadIdx.x; t <= last_tile; t += Config::threads)
      sum = plus(sum, load_fresh(parts_ + t));
    sum = block_sum<Config::threads>(sum, shared_.warp_sums);
    if (threadIdx.x == 0) {
      store(row, sum);
      arrivals_[first_tile] = 0;  // as the next product expects it
    }
    return true;
  }

  /// `count` rows from `first` on, their nonzeros no more than a tile, by groups of lanes.
  __device__ void short_rows(std::int64_t first, int count, std::int64_t start) {
    for (int row = static_cast<int>(threadIdx.x); row <= count; row += Config::threads)
      shared_.offsets[row] =
          static_cast<std::uint16_t>(static_cast<std::int64_t>(in_.positions[first + row]) - start);
    const int size = static_cast<int>(static_cast<std::int64_t>(in_.positions[first + count]) - start);
    const bool staged = size < Config::staged_mean * count;
    if (staged) stage(start, size);
    __syncthreads();
    int lanes = 1;
    const int mean = size / count;
    while (lanes < warp_size && lanes * 4 <= mean) lanes *= 2;
    if (staged)
      sum_rows(first, count, lanes, [&](int q) { return shared_.products[q]; });
    else
      sum_rows(first, count, lanes, [&](int q) { return product(start + q); });
  }

  /// The products of [start, start + size) into shared memory, all loads before the first use.
  __device__ __forceinline__ void stage(std::int64_t start, int size) {
    Compute factor[Config::places];
    Coordinate column[Config::places];
#pragma unroll
    for (int k = 0; k < Config::places; ++k) {
      const int q = k * Config::threads + static_cast<int>(threadIdx.x);
      if (q < size) {
        factor[k] = static_cast<Compute>(in_.values[start + q]);
        column[k] = in_.coordinates[start + q];
      }
    }
#pragma unroll
    for (int k = 0; k < Config::places; ++k) {
      const int q = k * Config::threads + static_cast<int>(threadIdx.x);
      if (q < size) shared_.products[q] = times(factor[k], static_cast<Compute>(in_.x[column[k]]));
    }
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
#pragma unroll 2
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
__global__ __launch_bounds__(Config::threads, Config::blocks) void spmv_kernel(const __grid_constant__ Arguments in, Compute* parts, int* arrivals) {
  using Tile = SpmvTile<Config, Compute, Arguments>;
  __shared__ alignas(16) char memory[sizeof(typename Tile::Shared)];
  Tile(in, *reinterpret_cast<typename Tile::Shared*>(memory), parts, arrivals)(blockIdx.x);
}

}  // namespace detail

/// y(i) = sum over j of A(i, j) x(j), with A in CSR, in the order of the stream of `space`.
///
/// @tparam Compute    the type that products and sums are formed in
/// @param nonzeros    the number of A's stored values
/// Cost: one kernel of (rows + nonzeros) / 2048 blocks; every array of A is read once.
template <class Compute, class A, class X, class Y, class Position, class Coordinate>
void spmv(const Kokkos::Cuda& space, const SpmvArguments<A, X, Y, Position, Coordinate>& arguments,
          std::int64_t nonzeros, SpmvWorkspace& workspace) {
  using Config = SpmvConfig;
  const std::int64_t tiles = ceil_div(arguments.rows + nonzeros, Config::tile);
  auto* const arrivals = reinterpret_cast<int*>(
      workspace.arrivals.reserve((tiles + 1) * static_cast<std::int64_t>(sizeof(int))));
  auto* const parts = reinterpret_cast<Compute*>(
      workspace.parts.reserve((tiles + 1) * static_cast<std::int64_t>(sizeof(Compute))));
  launch(space, "sporos::spmv",
         &detail::spmv_kernel<Config, Compute, SpmvArguments<A, X, Y, Position, Coordinate>>, tiles,
         Config::threads, 0, arguments, parts, arrivals);
}

}  // namespace sporos::cuda
