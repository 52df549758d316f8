// SPDX-License-Identifier: Apache-2.0
/// @file column_table.hpp
/// The columns of one row of C, as a hash table in shared memory.
#pragma once

#include <cstdint>

#include "../../cuda/warp.hpp"
#include "row_config.hpp"

namespace sporos::gpu::detail {

/// Marks a free place: larger than any column.
inline constexpr std::uint32_t no_column = 0xffffffffu;

/// A set of columns, with open addressing and linear probing. Free places hold no_column.
template <int Capacity>
struct ColumnTable {
  std::uint32_t* keys;  // [Capacity]

  /// Fibonacci hashing: the upper bits of the product with 2^32 over the golden ratio.
  __device__ __forceinline__ static unsigned hash(std::uint32_t column) {
    return (column * 2654435769u) >> (32 - __builtin_ctz(Capacity));
  }
  /// The column's place; sets `added` if it was not in the table.
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
  /// The place of a column that is in the table.
  __device__ __forceinline__ unsigned find(std::uint32_t column) const {
    unsigned at = hash(column);
    while (keys[at] != column) at = (at + 1) % Capacity;
    return at;
  }
};

/// Sets a row's table in shared memory, [Config::capacity], to `value`, by the threads of the row, 16 bytes
/// at a time.
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

}  // namespace sporos::gpu::detail
