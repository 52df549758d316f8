// SPDX-License-Identifier: Apache-2.0
/// @file spgemm_rows.hpp
/// Rows of C = A B that fit a hash table in shared memory: counted, then summed and sorted.
#pragma once

#include <cstdint>

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
  static constexpr int most = Capacity / 2;  ///< columns that a row may have: the table stays half empty
  static constexpr int most_counted = Capacity / 4 * 3;  ///< the same where columns are only counted
  static constexpr bool ranks = Lanes <= warp_size;  ///< short rows are sorted by counting what is smaller
  static_assert((Capacity & (Capacity - 1)) == 0, "a table has 2^n places");
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
      : lane(static_cast<int>(threadIdx.x) % Config::lanes), row(static_cast<int>(threadIdx.x) / Config::lanes) {}

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

/// Calls visit(place in A, place in B) for each product of a row, spread over `lanes` threads: as many of them
/// on one row of B as it has entries on the average.
template <class MatrixA, class MatrixB, class Visit>
__device__ __forceinline__ void for_each_product(const MatrixA& a, const MatrixB& b, std::int64_t row,
                                                 std::int32_t products, int lane, int lanes, const Visit& visit) {
  const std::int64_t begin = a.positions[row];
  const std::int64_t end = a.positions[row + 1];
  const auto mean = static_cast<int>(products / (end - begin));
  int width = 1;
  while (width < warp_size && width < lanes && width * 2 <= mean + 1) width *= 2;
  const int groups = lanes / width;
  for (std::int64_t at = begin + lane / width; at < end; at += groups) {
    const auto k = static_cast<std::int64_t>(a.coordinates[at]);
    const auto last = static_cast<std::int64_t>(b.positions[k + 1]);
    for (std::int64_t q = static_cast<std::int64_t>(b.positions[k]) + lane % width; q < last; q += width)
      visit(at, q);
  }
}

template <class MatrixA, class MatrixB>
struct RowArguments {
  MatrixA a;
  MatrixB b;
  const std::int32_t* members;   ///< rows, of this bin
  std::int64_t count;            ///< of them
  const std::int32_t* products;  ///< [rows of A]
};

/// sizes[row] = the number of columns of the row of C.
template <class Config, class MatrixA, class MatrixB>
__global__ __launch_bounds__(Config::threads) void count_rows_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in, std::int32_t* sizes) {
  extern __shared__ char memory[];
  const RowTeam<Config> team;
  const ColumnTable<Config::capacity> table{reinterpret_cast<std::uint32_t*>(memory) +
                                            team.row * Config::capacity};          // [capacity]
  auto* const totals = reinterpret_cast<int*>(memory + sizeof(std::uint32_t) * Config::rows * Config::capacity);
  const std::int64_t member = static_cast<std::int64_t>(blockIdx.x) * Config::rows + team.row;
  const bool there = member < in.count;
  const std::int64_t row = there ? in.members[member] : 0;

  for (int at = team.lane; at < Config::capacity; at += Config::lanes) table.keys[at] = no_column;
  if (team.lane == 0) totals[team.row] = 0;
  team.sync();
  int mine = 0;
  if (there)
    for_each_product(in.a, in.b, row, in.products[row], team.lane, Config::lanes,
                     [&](std::int64_t, std::int64_t q) {
                       bool added = false;
                       table.insert(static_cast<std::uint32_t>(in.b.coordinates[q]), added);
                       mine += added ? 1 : 0;
                     });
  if (mine > 0) ::atomicAdd(totals + team.row, mine);
  team.sync();
  if (there && team.lane == 0) sizes[row] = totals[team.row];
}

/// The bytes of shared memory of one block of fill_rows_kernel, and where its parts are.
template <class Config, class Compute>
struct FillShared {
  static constexpr std::int64_t values = 0;                                        // [rows, capacity]
  static constexpr std::int64_t keys = values + sizeof(Compute) * Config::rows * Config::capacity;
  static constexpr std::int64_t list = keys + sizeof(std::uint32_t) * Config::rows * Config::capacity;
  static constexpr std::int64_t totals = list + sizeof(std::uint32_t) * Config::rows * Config::most;
  static constexpr std::int64_t bytes = totals + sizeof(int) * Config::rows;
};

/// Sorts `count` <= Most columns in shared memory, in place: bitonic, by the threads of a row.
template <class Config>
__device__ void sort_columns(const RowTeam<Config>& team, std::uint32_t* list, int count) {
  int padded = 2;
  while (padded < count) padded *= 2;
  for (int at = count + team.lane; at < padded; at += Config::lanes) list[at] = no_column;
  for (int size = 2; size <= padded; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      team.sync();
      for (int pair = team.lane; pair < padded / 2; pair += Config::lanes) {
        const int low = pair / step * step * 2 + pair % step;
        const int high = low + step;
        const bool ascending = (low & size) == 0;
        const std::uint32_t x = list[low];
        const std::uint32_t y = list[high];
        if ((x > y) == ascending) {
          list[low] = y;
          list[high] = x;
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
                                            team.row * Config::capacity};          // [capacity]
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
    for_each_product(in.a, in.b, row, in.products[row], team.lane, Config::lanes,
                     [&](std::int64_t at, std::int64_t q) {
                       bool added = false;
                       const auto column = static_cast<std::uint32_t>(in.b.coordinates[q]);
                       const unsigned place = table.insert(column, added);
                       if (added) list[::atomicAdd(&total, 1)] = column;
                       atomic_add(values + place, times(static_cast<Compute>(in.a.values[at]),
                                                        static_cast<Compute>(in.b.values[q])));
                     });
  team.sync();
  const int count = there ? total : 0;
  const std::int64_t out = there ? static_cast<std::int64_t>(c.positions[row]) : 0;
  if constexpr (Config::ranks) {
    for (int at = team.lane; at < count; at += Config::lanes) {
      const std::uint32_t column = list[at];
      int rank = 0;
      for (int other = 0; other < count; ++other) rank += list[other] < column ? 1 : 0;
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
void fill_rows(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows, const MatrixC& c) {
  launch(space, "sporos::spgemm fill", &detail::fill_rows_kernel<Config, Compute, MatrixA, MatrixB, MatrixC>,
         ceil_div(rows.count, Config::rows), Config::threads, detail::FillShared<Config, Compute>::bytes, rows,
         c);
}

}  // namespace sporos::cuda
