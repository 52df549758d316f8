// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// Rows of C = A B that fit a hash table in shared memory: counted, then summed and sorted.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::cuda {

/// Shape of a kernel over rows: `Lanes` threads and a table of `Capacity` columns for each row, `Rows` rows a
/// block.
template <int Lanes, int Rows, int Capacity>
struct RowConfig {
  static constexpr int lanes = Lanes;
  static constexpr int rows = Rows;
  static constexpr int capacity = Capacity;
  static constexpr int threads = Lanes * Rows;
  /// Columns that a row may have: the table stays half empty, and two of the largest fit a multiprocessor.
  static constexpr int most = Capacity <= 4096 ? Capacity / 2 : Capacity / 8 * 3;
  static constexpr int most_counted = Capacity / 4 * 3;  ///< the same where columns are only counted
  static constexpr bool in_warp = Lanes <= warp_size;
  /// Rows of a warp or less are sorted in registers, and short ones by counting what is smaller.
  static constexpr bool sorts = in_warp && Capacity >= 128;
  static constexpr int most_each = sorts ? most / Lanes : 1;  ///< columns that a lane sorts
  /// Blocks that a multiprocessor is to hold while it fills rows: it waits for memory, so occupancy counts
  /// for more than registers, as far as shared memory lets it.
  static constexpr int blocks = !in_warp ? 1 : sorts && Lanes < warp_size ? 5 : 8;
  static_assert((Capacity & (Capacity - 1)) == 0 && Capacity >= 8, "a table has 2^n places, 8 at least");
  static_assert(Lanes >= 4, "a team fills a list up to whole fours");
  static_assert(!sorts || most_each * Lanes == most, "the lanes of a row share its columns evenly");
  static_assert(Lanes <= warp_size || Rows == 1, "a row of more than a warp has its block alone");
  static_assert(threads <= 1024, "a block has 1024 threads at most");
};

namespace detail {

inline constexpr std::uint32_t no_column = 0xffffffffu;

/// The threads of one row, and what they wait for.
template <class Config>
struct RowTeam {
  int lane;
  int row;  ///< in the block

  __device__ RowTeam()
      : lane(static_cast<int>(threadIdx.x) % Config::lanes),
        row(static_cast<int>(threadIdx.x) / Config::lanes) {}

  __device__ __forceinline__ void sync() const {
    if constexpr (Config::lanes <= warp_size)
      __syncwarp();
    else
      __syncthreads();
  }
};

/// A set of columns: open addressing, linear probing.
template <int Capacity>
struct ColumnTable {
  std::uint32_t* keys;  // [Capacity]

  __device__ __forceinline__ static unsigned hash(std::uint32_t column) {
    return (column * 2654435769u) >> (32 - __builtin_ctz(Capacity));
  }
  /// The column's place; `added` where it was not there.
  __device__ __forceinline__ unsigned insert(std::uint32_t column, bool& added) const {
    unsigned at = hash(column);
    while (true) {
      const std::uint32_t found = ::atomicCAS(keys + at, no_column, column);
      if (found == no_column || found == column) {
        added = found == no_column;
        return at;
      }
      at = (at + 1) % Capacity;
    }
  }
  __device__ __forceinline__ unsigned find(std::uint32_t column) const {
    unsigned at = hash(column);
    while (keys[at] != column) at = (at + 1) % Capacity;
    return at;
  }
};

/// Sets a table's values in shared memory to `value`, by the threads of a row, 16 bytes at a time.
template <class Config, class T>
__device__ __forceinline__ void fill_table(const RowTeam<Config>& team, T* table, T value) {
  constexpr int wide = widest_pack<T>;
  static_assert(Config::capacity % wide == 0, "a table is made of whole packs");
  Pack<T, wide> pack;
#pragma unroll
  for (int k = 0; k < wide; ++k) pack.at[k] = value;
  for (int at = team.lane; at < Config::capacity / wide; at += Config::lanes)
    reinterpret_cast<Pack<T, wide>*>(table)[at] = pack;
}

/// How the products of a row are read.
enum class ProductsOf {
  columns,  ///< no values; each thread asks for its next row of B before it is through with the last
  values,   ///< with values
  lists     ///< with values; the lanes of a team ask for a row of B each, all at once, and pass them round
};

/// Calls visit(column, value of A, value of B, alone) for the products of a row of A, by thread `lane` of a
/// team of `lanes`: as many threads on each row of B as it has entries on the average. `alone` where the
/// whole team, `Lanes` lanes of a warp at most, is on one row of B, whose columns differ: then it waits for
/// one another between visits.
template <int Lanes, ProductsOf How, class MatrixA, class MatrixB, class Visit>
__device__ __forceinline__ void for_each_product(const MatrixA& a, const MatrixB& b, std::int64_t row,
                                                 std::int64_t products, int lane, int lanes,
                                                 const Visit& visit) {
  using A = std::remove_const_t<typename MatrixA::value_type>;
  using B = std::remove_const_t<typename MatrixB::value_type>;
  using PositionA = std::remove_const_t<typename MatrixA::position_type>;
  using PositionB = std::remove_const_t<typename MatrixB::position_type>;
  static_assert(How != ProductsOf::lists || Lanes <= warp_size, "values are passed round within a warp");
  constexpr int widest = Lanes < warp_size ? Lanes : warp_size;
  const PositionA begin = a.positions[row];
  const PositionA end = a.positions[row + 1];
  const std::int64_t mean = products / static_cast<std::int64_t>(end - begin);
  int width = 1;
  while (width < widest && width * 2 <= mean + 1) width *= 2;
  const int groups = lanes / width;
  const bool alone = How != ProductsOf::columns && Lanes <= warp_size && groups == 1;
  const unsigned team =
      Lanes >= warp_size ? all_lanes : ((1u << Lanes % warp_size) - 1) << (lane_id() - lane_id() % widest);
  const auto offset = static_cast<PositionB>(lane % width);

  if constexpr (How == ProductsOf::lists) {
    for (PositionA base = begin; base < end; base += static_cast<PositionA>(Lanes)) {
      const PositionA at = base + static_cast<PositionA>(lane);
      PositionB first{};
      PositionB last{};
      A x{};
      if (at < end) {
        const auto k = static_cast<std::int64_t>(a.coordinates[at]);
        first = b.positions[k];
        last = b.positions[k + 1];
        x = a.values[at];
      }
      const int count = end - base < static_cast<PositionA>(Lanes) ? static_cast<int>(end - base) : Lanes;
      for (int from = 0; from < count; from += groups) {
        const int of = from + lane / width;
        const PositionB row_end = shuffle_among(team, last, of, Lanes);
        const A factor = shuffle_among(team, x, of, Lanes);
        for (PositionB q = shuffle_among(team, first, of, Lanes) + offset; q < row_end;
             q += static_cast<PositionB>(width))
          visit(static_cast<std::uint32_t>(b.coordinates[q]), factor, b.values[q], alone);
        if (alone) __syncwarp(team);
      }
    }
  } else if constexpr (How == ProductsOf::columns) {
    PositionA at = begin + static_cast<PositionA>(lane / width);
    PositionB next{};
    PositionB next_end{};
    const auto ask = [&] {
      if (at >= end) return;
      const auto k = static_cast<std::int64_t>(a.coordinates[at]);
      next = b.positions[k];  // used as late as can be: what adds to it waits for it
      next_end = b.positions[k + 1];
    };
    ask();
    while (at < end) {
      PositionB q = next + offset;
      const PositionB row_end = next_end;
      at += static_cast<PositionA>(groups);
      ask();
      for (; q < row_end; q += static_cast<PositionB>(width))
        visit(static_cast<std::uint32_t>(b.coordinates[q]), A{}, B{}, false);
    }
  } else {
    for (PositionA at = begin + static_cast<PositionA>(lane / width); at < end;
         at += static_cast<PositionA>(groups)) {
      const auto k = static_cast<std::int64_t>(a.coordinates[at]);
      const PositionB row_end = b.positions[k + 1];
      const A x = a.values[at];
      if (alone) {
        for (PositionB first = b.positions[k]; first < row_end; first += static_cast<PositionB>(widest)) {
          const PositionB q = first + static_cast<PositionB>(lane);
          if (q < row_end) visit(static_cast<std::uint32_t>(b.coordinates[q]), x, b.values[q], true);
          __syncwarp(team);
        }
      } else {
        for (PositionB q = b.positions[k] + offset; q < row_end; q += static_cast<PositionB>(width))
          visit(static_cast<std::uint32_t>(b.coordinates[q]), x, b.values[q], false);
      }
    }
  }
}

template <class MatrixA, class MatrixB>
struct RowArguments {
  MatrixA a;
  MatrixB b;
  const std::int32_t* members;   ///< rows, of this bin
  std::int64_t count;            ///< of them
  const std::int64_t* products;  ///< [rows of A]
};

/// sizes[row] = the number of columns of the row of C.
template <class Config, class MatrixA, class MatrixB>
__global__ __launch_bounds__(Config::threads) void count_rows_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in, std::int32_t* sizes) {
  extern __shared__ __align__(16) char memory[];
  const RowTeam<Config> team;
  const ColumnTable<Config::capacity> table{reinterpret_cast<std::uint32_t*>(memory) +
                                            team.row * Config::capacity};  // [capacity]
  auto* const totals =
      reinterpret_cast<int*>(memory + sizeof(std::uint32_t) * Config::rows * Config::capacity);
  const std::int64_t member = static_cast<std::int64_t>(blockIdx.x) * Config::rows + team.row;
  const bool there = member < in.count;
  const std::int64_t row = there ? in.members[member] : 0;

  fill_table(team, table.keys, no_column);
  if (team.lane == 0) totals[team.row] = 0;
  team.sync();
  int mine = 0;
  if (there)
    for_each_product<Config::lanes, ProductsOf::columns>(
        in.a, in.b, row, in.products[row], team.lane, Config::lanes,
        [&](std::uint32_t column, const auto&, const auto&, bool) {
          bool added = false;
          table.insert(column, added);
          mine += added ? 1 : 0;
        });
  if (mine > 0) ::atomicAdd(totals + team.row, mine);
  team.sync();
  if (there && team.lane == 0) sizes[row] = totals[team.row];
}

/// The bytes of shared memory of one block of fill_rows_kernel, and where its parts are.
template <class Config, class Compute>
struct FillShared {
  static constexpr std::int64_t values = 0;  // [rows, capacity]
  static constexpr std::int64_t keys = values + sizeof(Compute) * Config::rows * Config::capacity;
  static constexpr std::int64_t list = keys + sizeof(std::uint32_t) * Config::rows * Config::capacity;
  static constexpr std::int64_t totals = list + sizeof(std::uint32_t) * Config::rows * Config::most;
  static constexpr std::int64_t bytes = totals + sizeof(int) * Config::rows;
};

/// Sorts `count` columns in shared memory, in place, by the threads of a row: bitonic, each merge with its
/// second half reversed first, so that all exchanges go one way and what lies behind the end may be thought
/// larger than any column.
template <class Config>
__device__ void sort_columns(const RowTeam<Config>& team, std::uint32_t* list, int count) {
  const auto exchange = [&](int low, int high) {
    if (high >= count) return;
    const std::uint32_t x = list[low];
    const std::uint32_t y = list[high];
    if (x > y) {
      list[low] = y;
      list[high] = x;
    }
  };
  for (int half = 1; half < count; half *= 2) {
    team.sync();
    for (int pair = team.lane; pair / half * half * 2 < count; pair += Config::lanes) {
      const int first = pair / half * half * 2;
      exchange(first + pair % half, first + 2 * half - 1 - pair % half);
    }
    for (int step = half / 2; step > 0; step /= 2) {
      team.sync();
      for (int pair = team.lane; pair / step * step * 2 < count; pair += Config::lanes) {
        const int low = pair / step * step * 2 + pair % step;
        exchange(low, low + step);
      }
    }
  }
  team.sync();
}

/// Sorts the columns that `Lanes` neighbouring lanes hold, `Each` a lane, one lane's behind the other's:
/// bitonic, each merge with its second half reversed first. All lanes of the warp call it.
template <int Lanes, int Each>
__device__ __forceinline__ void sort_in_warp(std::uint32_t (&column)[Each]) {
  const int lane = lane_id() % Lanes;
  const auto order = [](std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t smaller = min(low, high);
    high = max(low, high);
    low = smaller;
  };
#pragma unroll
  for (int size = 2; size <= Lanes * Each; size *= 2) {
    // Each column of a block of `size` with its mirror image.
    if (size <= Each) {
#pragma unroll
      for (int k = 0; k < Each; ++k) {
        const int other = k / size * size + size - 1 - k % size;
        if (k < other) order(column[k], column[other]);
      }
    } else {
      const int lanes = size / Each;
      const bool upper = (lane & (lanes / 2)) != 0;
      std::uint32_t theirs[Each];
#pragma unroll
      for (int k = 0; k < Each; ++k) theirs[k] = __shfl_xor_sync(all_lanes, column[Each - 1 - k], lanes - 1);
#pragma unroll
      for (int k = 0; k < Each; ++k)
        column[k] = upper ? max(column[k], theirs[k]) : min(column[k], theirs[k]);
    }
    // Then with the one `step` behind it.
#pragma unroll
    for (int step = size / 4; step > 0; step /= 2) {
      if (step < Each) {
#pragma unroll
        for (int k = 0; k < Each; ++k)
          if ((k & step) == 0) order(column[k], column[k + step]);
      } else {
        const bool upper = (lane & (step / Each)) != 0;
#pragma unroll
        for (int k = 0; k < Each; ++k) {
          const std::uint32_t theirs = __shfl_xor_sync(all_lanes, column[k], step / Each);
          column[k] = upper ? max(column[k], theirs) : min(column[k], theirs);
        }
      }
    }
  }
}

/// Columns and values of the rows of C, at C's positions.
template <class Config, class Compute, class MatrixA, class MatrixB, class MatrixC>
__global__ __launch_bounds__(Config::threads, Config::blocks) void fill_rows_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in, const __grid_constant__ MatrixC c) {
  using Shared = FillShared<Config, Compute>;
  using Value = typename MatrixC::value_type;
  using Coordinate = typename MatrixC::coordinate_type;
  extern __shared__ __align__(16) char memory[];
  const RowTeam<Config> team;
  auto* const values = reinterpret_cast<Compute*>(memory + Shared::values) + team.row * Config::capacity;
  const ColumnTable<Config::capacity> table{reinterpret_cast<std::uint32_t*>(memory + Shared::keys) +
                                            team.row * Config::capacity};  // [capacity]
  auto* const list = reinterpret_cast<std::uint32_t*>(memory + Shared::list) + team.row * Config::most;
  int& total = reinterpret_cast<int*>(memory + Shared::totals)[team.row];
  const std::int64_t member = static_cast<std::int64_t>(blockIdx.x) * Config::rows + team.row;
  const bool there = member < in.count;
  const std::int64_t row = there ? in.members[member] : 0;

  fill_table(team, table.keys, no_column);
  fill_table(team, values, Compute{});
  if (team.lane == 0) total = 0;
  team.sync();
  if (there)
    for_each_product < Config::lanes,
        Config::sorts&& Config::lanes<warp_size ? ProductsOf::lists : ProductsOf::values>(
            in.a, in.b, row, in.products[row], team.lane, Config::lanes,
            [&](std::uint32_t column, const auto& x, const auto& y, bool alone) {
              bool added = false;
              const unsigned place = table.insert(column, added);
              if (added) list[::atomicAdd(&total, 1)] = column;
              const Compute product = times(static_cast<Compute>(x), static_cast<Compute>(y));
              if (Config::lanes <= warp_size && alone)
                values[place] = plus(values[place], product);
              else
                atomic_add(values + place, product);
            });
  team.sync();
  const int count = there ? total : 0;
  const std::int64_t out = there ? static_cast<std::int64_t>(c.positions[row]) : 0;
  if constexpr (Config::sorts) {
    std::uint32_t mine[Config::most_each];  // [lanes, most_each]
#pragma unroll
    for (int k = 0; k < Config::most_each; ++k) {
      const int at = k * Config::lanes + team.lane;
      mine[k] = at < count ? list[at] : no_column;
    }
    sort_in_warp<Config::lanes>(mine);
    team.sync();
    // The list becomes that of the columns' places in the table, in order, so that neighbours are stored
    // together.
#pragma unroll
    for (int k = 0; k < Config::most_each; ++k) {
      const int at = team.lane * Config::most_each + k;
      if (at < count) list[at] = table.find(mine[k]);
    }
    team.sync();
    for (int at = team.lane; at < count; at += Config::lanes) {
      const std::uint32_t place = list[at];
      c.coordinates[out + at] = static_cast<Coordinate>(table.keys[place]);
      c.values[out + at] = static_cast<Value>(values[place]);
    }
  } else if constexpr (Config::in_warp) {
    // Four columns a load; what fills the last four up is larger than any column.
    if (team.lane < (4 - count % 4) % 4) list[count + team.lane] = no_column;
    team.sync();
    for (int at = team.lane; at < count; at += Config::lanes) {
      const std::uint32_t column = list[at];
      int rank = 0;
      for (int other = 0; other < count; other += 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(list + other);
        rank += (four.x < column ? 1 : 0) + (four.y < column ? 1 : 0) + (four.z < column ? 1 : 0) +
                (four.w < column ? 1 : 0);
      }
      c.coordinates[out + rank] = static_cast<Coordinate>(column);
      c.values[out + rank] = static_cast<Value>(values[table.find(column)]);
    }
  } else {
    sort_columns(team, list, count);
    for (int at = team.lane; at < count; at += Config::lanes) {
      const std::uint32_t column = list[at];
      c.coordinates[out + at] = static_cast<Coordinate>(column);
      c.values[out + at] = static_cast<Value>(values[table.find(column)]);
    }
  }
}

}  // namespace detail

/// sizes[row] = the number of columns of each row of a bin, none of more than Config::most_counted products.
template <class Config, class MatrixA, class MatrixB>
void count_rows(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
                std::int32_t* sizes) {
  launch(space, "sporos::spgemm count", &detail::count_rows_kernel<Config, MatrixA, MatrixB>,
         ceil_div(rows.count, Config::rows), Config::threads,
         static_cast<std::int64_t>(sizeof(std::uint32_t)) * Config::rows * Config::capacity +
             static_cast<std::int64_t>(sizeof(int)) * Config::rows,
         rows, sizes);
}

/// The rows of a bin, none of more than Config::most columns.
template <class Config, class Compute, class MatrixA, class MatrixB, class MatrixC>
void fill_rows(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
               const MatrixC& c) {
  launch(space, "sporos::spgemm fill", &detail::fill_rows_kernel<Config, Compute, MatrixA, MatrixB, MatrixC>,
         ceil_div(rows.count, Config::rows), Config::threads, detail::FillShared<Config, Compute>::bytes,
         rows, c);
}

}  // namespace sporos::cuda
