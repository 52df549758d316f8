// SPDX-License-Identifier: Apache-2.0
/// @file sampled_windows.hpp
/// The pattern of a sparse matrix by windows of 16 rows: the distinct columns of each window, in groups of 8,
/// and which of them each row has.
///
/// With windows of 2 rows and groups of 4 columns, where 0 marks nonzeros:
///
///     row 0   0 . . 0 . . 0 .        window 0   group 0   columns 0 2 3 6   masks  0: 1 . 1 1   1: 1 1 1 .
///     row 1   0 . 0 0 . . . 0                   group 1   columns 7         masks  0: .         1: 1
///
/// The nonzeros of a row in a group are neighbours in the matrix, in the order of the mask's bits. So are
/// those in neighbouring groups, and a warp that takes groups one after another keeps counting from where it
/// began.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/scan.hpp"
#include "../../cuda/warp.hpp"
#include "../../spmm/cuda/window_columns.hpp"

namespace sporos::gpu {

/// The windows of a matrix: 48 bytes for 8 columns of a window, and 80 bytes for every 32 columns.
struct SampledWindows {
  static constexpr int rows = 16;            ///< per window
  static constexpr int columns = 8;          ///< per group
  static constexpr int groups_of_piece = 4;  ///< the most groups that a warp takes

  struct alignas(16) Group {
    std::int32_t
        columns[SampledWindows::columns];      ///< ascending; the last one is repeated if there are fewer
    std::uint8_t masks[SampledWindows::rows];  ///< bit c of a row's mask: whether it has columns[c]
  };
  /// The part of a window that one warp computes.
  struct alignas(16) Piece {
    std::int32_t window;
    std::int32_t first;  ///< index of the first group
    std::int32_t count;  ///< number of groups
    std::int32_t unused;
    std::int32_t starts[SampledWindows::rows];  ///< each row's first nonzero in, or after, these groups
  };

  const std::int32_t* count = nullptr;  ///< number of pieces
  const Piece* pieces = nullptr;        ///< [*count], window by window
  const Group* groups = nullptr;
};

/// How many groups and pieces a matrix has.
struct SampledWindowCounts {
  std::int32_t groups = 0, pieces = 0;

  /// Upper bounds for a matrix with this many rows and nonzeros.
  static SampledWindowCounts most(std::int64_t rows, std::int64_t nonzeros) {
    const std::int64_t windows = std::min(ceil_div(rows, SampledWindows::rows), nonzeros);
    const std::int64_t groups = windows + nonzeros / SampledWindows::columns;
    return {static_cast<std::int32_t>(groups),
            static_cast<std::int32_t>(windows + groups / SampledWindows::groups_of_piece)};
  }
};

/// The arrays used while the windows are found.
struct SampledWindowRoom {
  static constexpr int threads = 128;

  std::int32_t* groups = nullptr;       ///< [windows]
  std::int32_t* pieces = nullptr;       ///< [windows]
  std::int32_t* first_group = nullptr;  ///< [windows + 1]
  std::int32_t* first_piece = nullptr;  ///< [windows + 1]
  char* scratch = nullptr;
  std::int64_t scratch_bytes = 0;

  static SampledWindowRoom lay_out(const Kokkos::Cuda& space, Layout& layout, std::int64_t rows) {
    SampledWindowRoom out;
    const std::int64_t windows = ceil_div(rows, SampledWindows::rows);
    out.groups = layout.take<std::int32_t>(windows);
    out.pieces = layout.take<std::int32_t>(windows);
    out.first_group = layout.take<std::int32_t>(windows + 1);
    out.first_piece = layout.take<std::int32_t>(windows + 1);
    out.scratch_bytes = sizes_to_positions_bytes<std::int32_t, std::int32_t>(space, windows);
    out.scratch = layout.take<char>(out.scratch_bytes);
    return out;
  }
};

/// Where find_sampled_windows() writes.
struct SampledWindowOutput {
  std::int32_t* count = nullptr;            ///< one number
  SampledWindows::Piece* pieces = nullptr;  ///< [most.pieces]
  SampledWindows::Group* groups = nullptr;  ///< [most.groups]
  SampledWindowCounts most;

  static SampledWindowOutput lay_out(Layout& layout, const SampledWindowCounts& most) {
    SampledWindowOutput out;
    out.count = layout.take<std::int32_t>(1);
    out.pieces = layout.take<SampledWindows::Piece>(most.pieces);
    out.groups = layout.take<SampledWindows::Group>(most.groups);
    out.most = most;
    return out;
  }
  SampledWindows view() const { return {count, pieces, groups}; }
};

namespace detail {

/// Counts the groups and pieces of each window; each block takes a window. If `all` is given, adds them up
/// there.
template <class A>
__global__ __launch_bounds__(SampledWindowRoom::threads) void count_sampled_windows_kernel(
    A a, int words, SampledWindowRoom to, SampledWindowCounts* all) {
  extern __shared__ std::uint32_t are_there[];  // [words]
  mark_columns_of_window(a, SampledWindows::rows, words, are_there);
  const int columns = count_columns<SampledWindowRoom::threads>(words, are_there);
  if (threadIdx.x != 0) return;
  const int groups = (columns + SampledWindows::columns - 1) / SampledWindows::columns;
  const int pieces = (groups + SampledWindows::groups_of_piece - 1) / SampledWindows::groups_of_piece;
  if (all != nullptr) {
    if (groups == 0) return;
    atomicAdd(&all->groups, groups);
    atomicAdd(&all->pieces, pieces);
  } else {
    to.groups[blockIdx.x] = groups;
    to.pieces[blockIdx.x] = pieces;
  }
}

/// Writes the groups and pieces of each window; each block takes a window.
template <class A>
__global__ __launch_bounds__(SampledWindowRoom::threads) void fill_sampled_windows_kernel(
    A a, int words, SampledWindowRoom in, SampledWindowOutput to) {
  extern __shared__ std::uint32_t are_there[];                              // [words]
  auto* const before = reinterpret_cast<std::int32_t*>(are_there + words);  // [words], columns before each
  const int groups = in.groups[blockIdx.x], pieces = in.pieces[blockIdx.x];
  if (groups == 0) return;
  mark_columns_of_window(a, SampledWindows::rows, words, are_there);
  count_columns_before<SampledWindowRoom::threads>(words, are_there, before);
  const int thread = static_cast<int>(threadIdx.x);
  SampledWindows::Group* const group = to.groups + in.first_group[blockIdx.x];
  SampledWindows::Piece* const piece = to.pieces + in.first_piece[blockIdx.x];
  const int last_number = before[words - 1] + __popc(are_there[words - 1]) - 1;
  for (int at = thread; at < words; at += SampledWindowRoom::threads) {
    int number = before[at];
    for (std::uint32_t left = are_there[at]; left != 0; left &= left - 1, ++number) {
      const int column = at * 32 + __ffs(static_cast<int>(left)) - 1;
      group[number / SampledWindows::columns].columns[number % SampledWindows::columns] = column;
      if (number == last_number)
        for (int pad = number + 1; pad % SampledWindows::columns != 0; ++pad)
          group[pad / SampledWindows::columns].columns[pad % SampledWindows::columns] = column;
    }
  }
  for (int p = thread; p < pieces; p += SampledWindowRoom::threads) {
    piece[p].window = static_cast<std::int32_t>(blockIdx.x);
    piece[p].first = in.first_group[blockIdx.x] + p * SampledWindows::groups_of_piece;
    piece[p].count = ::min(groups - p * SampledWindows::groups_of_piece, SampledWindows::groups_of_piece);
    piece[p].unused = 0;
  }

  // The group of a nonzero, and its column's bit there.
  const auto number_of = [&](std::int64_t q) {
    return number_of_column(static_cast<std::uint32_t>(a.coordinates[q]), are_there, before);
  };
  constexpr int of_piece = SampledWindows::columns * SampledWindows::groups_of_piece;
  const std::int64_t first_row = std::int64_t{blockIdx.x} * SampledWindows::rows;
  for (int r = thread / warp_size; r < SampledWindows::rows; r += SampledWindowRoom::threads / warp_size) {
    const bool is_there = first_row + r < a.rows;
    const auto begin = is_there ? static_cast<std::int64_t>(a.positions[first_row + r]) : 0,
               end = is_there ? static_cast<std::int64_t>(a.positions[first_row + r + 1]) : 0;
    if (begin == end) {
      for (int p = lane_id(); p < pieces; p += warp_size)
        piece[p].starts[r] = static_cast<std::int32_t>(begin);
      continue;
    }
    for (std::int64_t q = begin + lane_id(); q < end; q += warp_size) {
      const int number = number_of(q), previous = q == begin ? -1 : number_of(q - 1);
      const int its_group = number / SampledWindows::columns;
      if (previous < 0 || previous / SampledWindows::columns != its_group) {
        unsigned mask = 0;
        for (std::int64_t other = q; other < end; ++other) {
          const int its_number = other == q ? number : number_of(other);
          if (its_number / SampledWindows::columns != its_group) break;
          mask |= 1U << its_number % SampledWindows::columns;
        }
        group[its_group].masks[r] = static_cast<std::uint8_t>(mask);
      }
      for (int p = previous < 0 ? 0 : previous / of_piece + 1; p <= number / of_piece; ++p)
        piece[p].starts[r] = static_cast<std::int32_t>(q);
      if (q + 1 == end)
        for (int p = number / of_piece + 1; p < pieces; ++p)
          piece[p].starts[r] = static_cast<std::int32_t>(end);
    }
  }
}

}  // namespace detail

/// Counts the groups and pieces of a matrix, and waits for the result.
/// @param a   by rows, with at most most_window_columns columns
/// @param to  in the GPU's memory
template <class A>
SampledWindowCounts count_sampled_windows(const Kokkos::Cuda& space, const A& a, SampledWindowCounts* to) {
  const std::int64_t words = ceil_div(a.columns, 32);
  zero(space, to, 1);
  launch(space, "sporos::count_sampled_windows", &detail::count_sampled_windows_kernel<A>,
         Grid(ceil_div(a.rows, SampledWindows::rows)), SampledWindowRoom::threads, words * 4, a,
         static_cast<int>(words), SampledWindowRoom{}, to);
  return read_back(space, to);
}

/// Finds the windows of a matrix, in the order of the stream of `space`. The result does not depend on the
/// order in which threads run.
/// @param a  by rows, with fewer than 2^31 nonzeros and at most most_window_columns columns
template <class A>
void find_sampled_windows(const Kokkos::Cuda& space, const A& a, const SampledWindowRoom& room,
                          const SampledWindowOutput& to) {
  const std::int64_t windows = ceil_div(a.rows, SampledWindows::rows), words = ceil_div(a.columns, 32);
  launch(space, "sporos::count_sampled_windows", &detail::count_sampled_windows_kernel<A>, Grid(windows),
         SampledWindowRoom::threads, words * 4, a, static_cast<int>(words), room,
         static_cast<SampledWindowCounts*>(nullptr));
  sizes_to_positions(space, windows, room.groups, room.first_group, nullptr, room.scratch,
                     room.scratch_bytes);
  sizes_to_positions(space, windows, room.pieces, room.first_piece, nullptr, room.scratch,
                     room.scratch_bytes);
  expect_success(cudaMemcpyAsync(to.count, room.first_piece + windows, sizeof(std::int32_t),
                                 cudaMemcpyDeviceToDevice, space.cuda_stream()),
                 "the number of pieces");
  zero(space, to.groups, to.most.groups);
  launch(space, "sporos::fill_sampled_windows", &detail::fill_sampled_windows_kernel<A>, Grid(windows),
         SampledWindowRoom::threads, words * 8, a, static_cast<int>(words), room, to);
}

}  // namespace sporos::gpu
