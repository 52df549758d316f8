// SPDX-License-Identifier: Apache-2.0
/// @file spgemm_rows.hpp
/// Rows of C = A B that fit a hash table in shared memory: counted, then summed and sorted.
#pragma once

#include <cstdint>
#include <type_traits>

#include "csr.hpp"
#include "launch.hpp"
#include "warp.hpp"

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
  static constexpr bool ranks = Lanes <= warp_size;  ///< short rows are sorted by counting what is smaller
  static_assert((Capacity & (Capacity - 1)) == 0 && Capacity >= 8, "a table has 2^n places, 8 at least");
  static_assert(Lanes >= 4, "a team fills a list up to whole fours");
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

/// Calls visit(column, value of A, value of B, alone) for the products of a row of A, by thread `lane` of a
/// team of `lanes`: as many threads on each row of B as it has entries on the average. Values are read where
/// `Values` says so. `alone` where the whole team, `Lanes` lanes of a warp at most, is on one row of B, whose
/// columns differ: then it waits for one another between visits.
template <int Lanes, bool Values, class MatrixA, class MatrixB, class Visit>
__device__ __forceinline__ void for_each_product(const MatrixA& a, const MatrixB& b, std::int64_t row,
                                                 std::int64_t products, int lane, int lanes,
                                                 const Visit& visit) {
  using A = std::remove_const_t<typename MatrixA::value_type>;
  using B = std::remove_const_t<typename MatrixB::value_type>;
  using PositionA = std::remove_const_t<typename MatrixA::position_type>;
  using PositionB = std::remove_const_t<typename MatrixB::position_type>;
  constexpr int widest = Lanes < warp_size ? Lanes : warp_size;
  const PositionA begin = a.positions[row];
  const PositionA end = a.positions[row + 1];
  const std::int64_t mean = products / static_cast<std::int64_t>(end - begin);
  int width = 1;
  while (width < widest && width * 2 <= mean + 1) width *= 2;
  const int groups = lanes / width;
  const bool alone = Lanes <= warp_size && groups == 1;
  const unsigned team =
      Lanes >= warp_size ? all_lanes : ((1u << Lanes % warp_size) - 1) << (lane_id() - lane_id() % widest);
  for (PositionA at = begin + static_cast<PositionA>(lane / width); at < end;
       at += static_cast<PositionA>(groups)) {
    const auto k = static_cast<std::int64_t>(a.coordinates[at]);
    const PositionB last = b.positions[k + 1];
    A x{};
    if constexpr (Values) x = a.values[at];
    if (Values && alone) {
      for (PositionB first = b.positions[k]; first < last; first += static_cast<PositionB>(widest)) {
        const PositionB q = first + static_cast<PositionB>(lane);
        if (q < last) visit(static_cast<std::uint32_t>(b.coordinates[q]), x, b.values[q], true);
        __syncwarp(team);
      }
    } else {
      for (PositionB q = b.positions[k] + static_cast<PositionB>(lane % width); q < last;
           q += static_cast<PositionB>(width))
        visit(static_cast<std::uint32_t>(b.coordinates[q]), x, Values ? b.values[q] : B{}, false);
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
  extern __shared__ char memory[];
  const RowTeam<Config> team;
  const ColumnTable<Config::capacity> table{reinterpret_cast<std::uint32_t*>(memory) +
                                            team.row * Config::capacity};  // [capacity]
  auto* const totals =
      reinterpret_cast<int*>(memory + sizeof(std::uint32_t) * Config::rows * Config::capacity);
  const std::int64_t member = static_cast<std::int64_t>(blockIdx.x) * Config::rows + team.row;
  const bool there = member < in.count;
  const std::int64_t row = there ? in.members[member] : 0;

  for (int at = team.lane; at < Config::capacity; at += Config::lanes) table.keys[at] = no_column;
  if (team.lane == 0) totals[team.row] = 0;
  team.sync();
  int mine = 0;
  if (there)
    for_each_product<Config::lanes, false>(in.a, in.b, row, in.products[row], team.lane, Config::lanes,
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

/// Columns and values of the rows of C, at C's positions.
template <class Config, class Compute, class MatrixA, class MatrixB, class MatrixC>
__global__ __launch_bounds__(Config::threads) void fill_rows_kernel(
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

  for (int at = team.lane; at < Config::capacity; at += Config::lanes) {
    table.keys[at] = no_column;
    values[at] = Compute{};
  }
  if (team.lane == 0) total = 0;
  team.sync();
  if (there)
    for_each_product<Config::lanes, true>(
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
  if constexpr (Config::ranks) {
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
