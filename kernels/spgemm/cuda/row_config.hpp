// SPDX-License-Identifier: Apache-2.0
/// @file row_config.hpp
/// The shape of a kernel over rows of C = A B that fit in a hash table in shared memory, and the kernel's
/// arguments.
#pragma once

#include <cstdint>

#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// `Lanes` threads and a table of `Capacity` columns for each row, `Rows` rows per block.
template <int Lanes, int Rows, int Capacity>
struct RowConfig {
  static constexpr int lanes = Lanes;        ///< per row
  static constexpr int rows = Rows;          ///< per block
  static constexpr int capacity = Capacity;  ///< columns that a row's table has places for
  static constexpr int threads = Lanes * Rows;
  /// The most columns that a row may have: the table stays half empty, and two of the largest fit a
  /// multiprocessor.
  static constexpr int most = Capacity <= 4096 ? Capacity / 2 : Capacity / 8 * 3;
  static constexpr int most_counted = Capacity / 2;  ///< the same if columns are only counted
  /// Whether the lanes of a warp sort a row in registers; otherwise a block sorts it by CUB's radix sort.
  static constexpr bool in_warp = Lanes <= warp_size;
  static constexpr int each = most / Lanes;  ///< columns that a lane sorts
  /// Blocks that a multiprocessor should hold while it fills rows. The kernel waits for memory, so occupancy
  /// matters more than registers, as far as shared memory allows. If each row has a block to itself, shared
  /// memory has room for 1024 threads of the largest shape, so a thread may have 64 registers.
  static constexpr int blocks = in_warp ? (threads > 128 ? 6 : 8) : 1024 / threads;

  static_assert((Capacity & (Capacity - 1)) == 0 && Capacity >= 8, "a table has 2^n places, 8 at least");
  static_assert((Lanes & (Lanes - 1)) == 0, "a warp divides into teams of 2^n lanes");
  static_assert(each * Lanes == most, "the lanes of a row share its columns evenly");
  static_assert(in_warp || Rows == 1, "a row of more than a warp has its block alone");
  static_assert(threads <= 1024, "a block has 1024 threads at most");
};

namespace detail {

/// The arguments of the kernels over the rows of a bin.
template <class MatrixA, class MatrixB>
struct RowArguments {
  MatrixA a;
  MatrixB b;
  const std::int32_t* members;   ///< [count], the bin's rows
  std::int64_t count;            ///< number of these rows
  const std::int64_t* products;  ///< [rows of A]
};

/// This thread's place: its lane in the team of a row, the row's slot in the block, and the row among all
/// rows.
template <class Config>
struct RowTeam {
  int lane;              ///< within the team
  int slot;              ///< index of the row's part of shared memory
  bool there;            ///< false after the bin's last row
  std::int64_t row = 0;  ///< of A and C

  /// For the block-th block of a kernel over the rows of a bin.
  template <class Arguments>
  __device__ RowTeam(const Arguments& in, std::int64_t block)
      : lane(static_cast<int>(threadIdx.x) % Config::lanes),
        slot(static_cast<int>(threadIdx.x) / Config::lanes) {
    const std::int64_t member = block * Config::rows + slot;
    there = member < in.count;
    if (there) row = in.members[member];
  }

  __device__ __forceinline__ void sync() const {
    if constexpr (Config::in_warp)
      __syncwarp();
    else
      __syncthreads();
  }
};

}  // namespace detail

}  // namespace sporos::gpu
