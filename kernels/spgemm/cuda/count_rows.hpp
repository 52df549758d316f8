// SPDX-License-Identifier: Apache-2.0
/// @file count_rows.hpp
/// The first pass over rows of C = A B that fit in a hash table in shared memory: how many columns each row
/// has.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "balanced_products.hpp"
#include "column_table.hpp"
#include "row_config.hpp"

namespace sporos::gpu {

namespace detail {

/// The bytes of shared memory of one block of count_rows_kernel, and where its parts begin.
template <class Config, class Products>
struct CountShared {
  static constexpr std::int64_t products = 0;  // wide types first, so that each part is aligned
  static constexpr std::int64_t keys = products + Products::bytes * Config::rows;
  static constexpr std::int64_t totals = keys + sizeof(std::uint32_t) * Config::rows * Config::capacity;
  static constexpr std::int64_t bytes = totals + sizeof(int) * Config::rows;
};

/// sizes[row] = the number of columns of the row of C.
template <class Config, class MatrixA, class MatrixB>
__global__ __launch_bounds__(Config::threads) void count_rows_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in, std::int32_t* sizes) {
  using Products = BalancedProducts<Config::lanes, MatrixA, MatrixB>;
  using Shared = CountShared<Config, Products>;
  extern __shared__ __align__(16) char memory[];
  const RowTeam<Config> team(in, blockIdx.x);
  auto* const keys = reinterpret_cast<std::uint32_t*>(memory + Shared::keys);  // [rows, capacity]
  auto* const totals = reinterpret_cast<int*>(memory + Shared::totals);        // [rows]
  const ColumnTable<Config::capacity> table{keys + team.slot * Config::capacity};

  fill_table(team, table.keys, no_column);
  if (team.lane == 0) totals[team.slot] = 0;
  team.sync();
  int mine = 0;
  if (team.there)
    Products(in.a, in.b, memory + Shared::products + Products::bytes * team.slot)
        .template for_each<false>(team.row, in.products[team.row], team.lane,
                                  [&](std::uint32_t column, const auto&, const auto&, bool) {
                                    bool added = false;
                                    table.insert(column, added);
                                    mine += added ? 1 : 0;
                                  });
  if (mine > 0) ::atomicAdd(totals + team.slot, mine);
  team.sync();
  if (team.there && team.lane == 0) sizes[team.row] = totals[team.slot];
}

}  // namespace detail

/// sizes[row] = the number of columns, for each row of a bin; none may have more than Config::most_counted
/// products.
template <class Config, class MatrixA, class MatrixB>
void count_rows(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
                std::int32_t* sizes) {
  launch(space, "sporos::spgemm count", &detail::count_rows_kernel<Config, MatrixA, MatrixB>,
         ceil_div(rows.count, Config::rows), Config::threads,
         detail::CountShared<Config, detail::BalancedProducts<Config::lanes, MatrixA, MatrixB>>::bytes, rows,
         sizes);
}

}  // namespace sporos::gpu
