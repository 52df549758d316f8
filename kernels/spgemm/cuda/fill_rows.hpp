// SPDX-License-Identifier: Apache-2.0
/// @file fill_rows.hpp
/// The second pass over rows of C = A B that fit in a hash table in shared memory: their columns, in order,
/// and their values.
#pragma once

#include <cstdint>

#include <cub/block/block_radix_sort.cuh>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "balanced_products.hpp"
#include "column_table.hpp"
#include "row_config.hpp"
#include "sort_columns.hpp"

namespace sporos::gpu {

namespace detail {

/// The bytes of shared memory of one block of fill_rows_kernel, and where its parts begin.
template <class Config, class Compute, class Products>
struct FillShared {
  static constexpr std::int64_t products = 0;  // wide types first, so that each part is aligned
  static constexpr std::int64_t values = products + Products::bytes * Config::rows;
  static constexpr std::int64_t keys = values + sizeof(Compute) * Config::rows * Config::capacity;
  static constexpr std::int64_t list = keys + sizeof(std::uint32_t) * Config::rows * Config::capacity;
  static constexpr std::int64_t totals = list + sizeof(std::uint32_t) * Config::rows * Config::most;
  static constexpr std::int64_t bytes = totals + sizeof(int) * Config::rows;
};

/// One row of C in shared memory, while a team of threads sums it up, sorts it and stores it.
template <class Config, class Compute, class MatrixA, class MatrixB, class MatrixC>
class RowSum {
  using Products = BalancedProducts<Config::lanes, MatrixA, MatrixB>;
  using Shared = FillShared<Config, Compute, Products>;
  using Value = typename MatrixC::value_type;
  using Coordinate = typename MatrixC::coordinate_type;

 public:
  __device__ __forceinline__ RowSum(const RowTeam<Config>& team, char* memory)
      : team_(team),
        products_(memory + Shared::products + Products::bytes * team.slot),
        values_(reinterpret_cast<Compute*>(memory + Shared::values) + team.slot * Config::capacity),
        table_{reinterpret_cast<std::uint32_t*>(memory + Shared::keys) + team.slot * Config::capacity},
        list_(reinterpret_cast<std::uint32_t*>(memory + Shared::list) + team.slot * Config::most),
        total_(reinterpret_cast<int*>(memory + Shared::totals) + team.slot) {
    fill_table(team_, table_.keys, no_column);
    fill_table(team_, values_, Compute{});
    if (team_.lane == 0) *total_ = 0;
    team_.sync();
  }

  /// Adds the products of the row to the table.
  __device__ __forceinline__ void add_products(const RowArguments<MatrixA, MatrixB>& in) const {
    if (team_.there)
      Products(in.a, in.b, products_)
          .template for_each<true>(team_.row, in.products[team_.row], team_.lane,
                                   [&](std::uint32_t column, const auto& x, const auto& y, bool alone) {
                                     bool added = false;
                                     const unsigned place = table_.insert(column, added);
                                     if (added)
                                       list_[::atomicAdd(total_, 1)] = Config::in_warp ? column : place;
                                     const Compute product =
                                         times(static_cast<Compute>(x), static_cast<Compute>(y));
                                     if (Config::in_warp && alone)
                                       values_[place] = plus(values_[place], product);
                                     else
                                       atomic_add(values_ + place, product);
                                   });
    team_.sync();
  }

  /// Stores columns and values at C's positions, in the order of the columns.
  __device__ __forceinline__ void store(const MatrixC& c) const {
    const int count = team_.there ? *total_ : 0;
    const std::int64_t out = team_.there ? static_cast<std::int64_t>(c.positions[team_.row]) : 0;
    if constexpr (Config::in_warp)
      store_sorted_in_registers(c, out, count);
    else
      store_sorted_by_digits(c, out, count);
  }

 private:
  __device__ __forceinline__ void store_sorted_in_registers(const MatrixC& c, std::int64_t out,
                                                            int count) const {
    std::uint32_t mine[Config::each];  // [lanes, each]
#pragma unroll
    for (int k = 0; k < Config::each; ++k) {
      const int at = k * Config::lanes + team_.lane;
      mine[k] = at < count ? list_[at] : no_column;
    }
    sort_in_registers<Config::lanes>(mine);
    team_.sync();
    // The list now becomes that of the columns' places in the table, in column order, so that neighbours are
    // stored together.
#pragma unroll
    for (int k = 0; k < Config::each; ++k) {
      const int at = team_.lane * Config::each + k;
      if (at < count) list_[at] = table_.find(mine[k]);
    }
    team_.sync();
    for (int at = team_.lane; at < count; at += Config::lanes) {
      const std::uint32_t place = list_[at];
      c.coordinates[out + at] = static_cast<Coordinate>(table_.keys[place]);
      c.values[out + at] = static_cast<Value>(values_[place]);
    }
  }

  /// The list holds places in the table. Once columns and places are in registers, the sort reuses the memory
  /// of the table's keys and of the list after them.
  __device__ __forceinline__ void store_sorted_by_digits(const MatrixC& c, std::int64_t out,
                                                         int count) const {
    using Sort = cub::BlockRadixSort<std::uint32_t, Config::lanes, Config::each, std::uint16_t>;
    static_assert(
        sizeof(typename Sort::TempStorage) <= sizeof(std::uint32_t) * (Config::capacity + Config::most),
        "the sort finds room where keys and list were");
    static_assert(Config::capacity <= 65536, "places are sorted as 16 bits");
    std::uint32_t column[Config::each];  // [lanes, each]
    std::uint16_t place[Config::each];   // [lanes, each]
#pragma unroll
    for (int k = 0; k < Config::each; ++k) {
      const int at = k * Config::lanes + team_.lane;
      place[k] = at < count ? static_cast<std::uint16_t>(list_[at]) : 0;
      column[k] = at < count ? table_.keys[place[k]] : no_column;
    }
    team_.sync();
    // Enough bits to tell columns apart from each other and from no_column.
    const int bits = 32 - __clz(static_cast<int>(c.columns));
    Sort(*reinterpret_cast<typename Sort::TempStorage*>(table_.keys))
        .SortBlockedToStriped(column, place, 0, bits);
#pragma unroll
    for (int k = 0; k < Config::each; ++k) {
      const int at = k * Config::lanes + team_.lane;
      if (at < count) {
        c.coordinates[out + at] = static_cast<Coordinate>(column[k]);
        c.values[out + at] = static_cast<Value>(values_[place[k]]);
      }
    }
  }

  const RowTeam<Config>& team_;
  char* products_;
  Compute* values_;                      // [capacity], at the same places as the table's columns
  ColumnTable<Config::capacity> table_;  // [capacity]
  std::uint32_t* list_;                  // [most], the columns in the table
  int* total_;                           // their number
};

/// Writes columns and values of the rows of C, at C's positions.
template <class Config, class Compute, class MatrixA, class MatrixB, class MatrixC>
__global__ __launch_bounds__(Config::threads, Config::blocks) void fill_rows_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in, const __grid_constant__ MatrixC c) {
  extern __shared__ __align__(16) char memory[];
  const RowTeam<Config> team(in, blockIdx.x);
  const RowSum<Config, Compute, MatrixA, MatrixB, MatrixC> row(team, memory);
  row.add_products(in);
  row.store(c);
}

}  // namespace detail

/// Writes the rows of a bin; none may have more than Config::most columns.
template <class Config, class Compute, class MatrixA, class MatrixB, class MatrixC>
void fill_rows(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
               const MatrixC& c) {
  launch(
      space, "sporos::spgemm fill", &detail::fill_rows_kernel<Config, Compute, MatrixA, MatrixB, MatrixC>,
      ceil_div(rows.count, Config::rows), Config::threads,
      detail::FillShared<Config, Compute, detail::BalancedProducts<Config::lanes, MatrixA, MatrixB>>::bytes,
      rows, c);
}

}  // namespace sporos::gpu
