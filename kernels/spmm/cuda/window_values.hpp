// SPDX-License-Identifier: Apache-2.0
/// @file window_values.hpp
/// A sparse matrix packed for tensor cores: cut into windows of 8, 16 or 32 rows. Each window has its
/// distinct columns, in steps of as many as an instruction sums over (window_mma.hpp), and the values of its
/// rows there, zeros included.
///
/// With windows of 2 rows and steps of 4 columns, where letters mark nonzeros:
///
///     row 0   a . . b . . c .        window 0   step 0   columns 0 2 3 6   values  0: a 0 b c   1: d e f 0
///     row 1   d . e f . . . g                   step 1   columns 7 7 7 7   values  0: 0 0 0 0   1: g 0 0 0
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/scan.hpp"
#include "../../cuda/warp.hpp"
#include "row_places.hpp"
#include "window_columns.hpp"
#include "window_mma.hpp"

namespace sporos::gpu {

inline constexpr int window_heights[] = {8, 16, 32};  ///< rows per window
inline constexpr int window_packing_threads = 128;    ///< per block, which finds one window

/// The windows of a matrix.
template <class T>
struct ValueWindows {
  static constexpr int columns = WindowMma<T>::k;  ///< per step

  int rows = window_heights[0];  ///< per window
  std::int64_t windows = 0;
  std::int32_t* first = nullptr;   ///< [windows + 1]: the first step of each
  RowPlace* places = nullptr;      ///< [windows], with their steps; those with most steps first
  std::int32_t* column = nullptr;  ///< [steps, columns]; the last one is repeated if there are fewer
  T* values = nullptr;             ///< [steps, rows, columns]

  /// The arrays for the windows of a matrix.
  /// @param steps  of all windows, or more
  static ValueWindows lay_out(Layout& layout, int rows, std::int64_t rows_of_matrix, std::int64_t steps) {
    ValueWindows out;
    out.rows = rows;
    out.windows = ceil_div(rows_of_matrix, rows);
    out.values = layout.take<T>(steps * rows * columns);
    out.column = layout.take<std::int32_t>(steps * columns);
    out.places = layout.take<RowPlace>(out.windows);
    out.first = layout.take<std::int32_t>(out.windows + 1);
    return out;
  }
  static constexpr std::int64_t bytes_of_step(int rows) {
    return columns * (4 + std::int64_t{sizeof(T)} * rows);
  }
};

/// How many warps share a window, for windows in the order of their places: those with most steps come first
/// and are shared by most warps.
struct WindowParts {
  static constexpr int classes = 4;
  static constexpr int most_warps = 1 << (classes - 1);
  std::int32_t windows[classes] = {};  ///< shared by 1, 2, 4 and 8 warps

  /// All windows by the same number of warps: 1, 2, 4 or 8.
  static WindowParts equal(int warps, std::int64_t windows) {
    WindowParts out;
    for (int bits = 0; bits < classes; ++bits)
      if (warps == 1 << bits) out.windows[bits] = static_cast<std::int32_t>(windows);
    return out;
  }
  /// The most warps that share a window.
  int most() const {
    int bits = classes - 1;
    while (bits > 0 && windows[bits] == 0) --bits;
    return 1 << bits;
  }
  std::int64_t warps() const {
    std::int64_t out = 0;
    for (int bits = 0; bits < classes; ++bits) out += std::int64_t{windows[bits]} << bits;
    return out;
  }
  /// How many blocks of most_warps warps they take; windows of one block are shared by equally many warps.
  std::int64_t blocks() const {
    std::int64_t out = 0;
    for (int bits = 0; bits < classes; ++bits)
      out += ceil_div(std::int64_t{windows[bits]} << bits, std::int64_t{most_warps});
    return out;
  }
};

/// How many steps the windows of each height have, in total and at most, and how many windows have 2^b steps
/// or more but fewer than 2^(b + 1).
struct ValueWindowCounts {
  static constexpr int heights = 3, sizes = 16;
  static_assert(sizeof(window_heights) == heights * sizeof(int));
  static_assert(most_window_columns / 8 < 1 << sizes);
  std::int32_t steps[heights], most[heights], windows[heights][sizes];

  static constexpr int of(int rows) { return rows == 8 ? 0 : rows == 16 ? 1 : 2; }

  /// Windows of 2^size steps or more are shared by two warps, of twice as many by four, of four times as many
  /// by eight.
  /// @param size  at least 2: windows are sorted by their steps in units of four
  WindowParts parts_from(int size, int rows, std::int64_t all_windows) const {
    WindowParts out;
    auto left = static_cast<std::int32_t>(all_windows);
    for (int b = size; b < sizes; ++b) {
      const std::int32_t count = windows[of(rows)][b];
      out.windows[b - size + 1 < WindowParts::classes ? b - size + 1 : WindowParts::classes - 1] += count;
      left -= count;
    }
    out.windows[0] = left;
    return out;
  }
};

namespace detail {

/// The windows of a matrix that is a CsrView.
template <class A>
using WindowsOf = ValueWindows<std::remove_const_t<typename A::value_type>>;

/// Returns how many steps the window of this block has to its first thread; all threads of the block call it.
template <class A>
__device__ __forceinline__ int count_steps_of_window(const A& a, int rows, int words,
                                                     std::uint32_t* are_there) {
  mark_columns_of_window(a, rows, words, are_there);
  const int columns = count_columns<window_packing_threads>(words, are_there);
  return (columns + WindowsOf<A>::columns - 1) / WindowsOf<A>::columns;
}

/// Counts the steps of each window; each block takes a window.
/// @param steps  [windows]
template <class A>
__global__ __launch_bounds__(window_packing_threads) void window_steps_kernel(A a, int rows, int words,
                                                                              std::int32_t* steps) {
  extern __shared__ std::uint32_t are_there[];  // [words]
  const int count = count_steps_of_window(a, rows, words, are_there);
  if (threadIdx.x == 0) steps[blockIdx.x] = count;
}

/// Counts the steps of windows of each height; each block takes a window.
template <class A>
__global__ __launch_bounds__(window_packing_threads) void count_window_steps_kernel(A a, int words,
                                                                                    ValueWindowCounts* all) {
  extern __shared__ std::uint32_t are_there[];  // [words]
  const int height = static_cast<int>(blockIdx.y), rows = window_heights[0] << height;
  if (std::int64_t{blockIdx.x} * rows >= a.rows) return;
  const int count = count_steps_of_window(a, rows, words, are_there);
  if (threadIdx.x != 0 || count == 0) return;
  atomicAdd(&all->steps[height], count);
  atomicMax(&all->most[height], count);
  atomicAdd(&all->windows[height][31 - __clz(count)], 1);
}

/// Writes the columns and values of each window; each block takes a window.
template <class A>
__global__ __launch_bounds__(window_packing_threads) void fill_windows_kernel(A a, int words,
                                                                              WindowsOf<A> to) {
  using Values = std::remove_pointer_t<decltype(to.values)>;
  constexpr int columns_of_step = WindowsOf<A>::columns;
  extern __shared__ std::uint32_t are_there[];                              // [words]
  auto* const before = reinterpret_cast<std::int32_t*>(are_there + words);  // [words], columns before each
  const std::int64_t first = to.first[blockIdx.x], end = to.first[blockIdx.x + 1];
  if (first == end) return;
  const int thread = static_cast<int>(threadIdx.x);
  Values* const values = to.values + first * to.rows * columns_of_step;
  for (std::int64_t at = thread; at < (end - first) * to.rows * columns_of_step; at += window_packing_threads)
    values[at] = Values{};
  mark_columns_of_window(a, to.rows, words, are_there);
  count_columns_before<window_packing_threads>(words, are_there, before);
  std::int32_t* const columns = to.column + first * columns_of_step;
  const int last = before[words - 1] + __popc(are_there[words - 1]) - 1;
  for (int at = thread; at < words; at += window_packing_threads) {
    int number = before[at];
    for (std::uint32_t left = are_there[at]; left != 0; left &= left - 1, ++number) {
      const int column = at * 32 + __ffs(static_cast<int>(left)) - 1;
      columns[number] = column;
      if (number == last)
        for (int pad = number + 1; pad % columns_of_step != 0; ++pad) columns[pad] = column;
    }
  }
  const std::int64_t first_row = std::int64_t{blockIdx.x} * to.rows;
  for (int r = thread / warp_size; r < to.rows; r += window_packing_threads / warp_size) {
    if (first_row + r >= a.rows) break;
    const auto begin = static_cast<std::int64_t>(a.positions[first_row + r]),
               end_of_row = static_cast<std::int64_t>(a.positions[first_row + r + 1]);
    for (std::int64_t q = begin + lane_id(); q < end_of_row; q += warp_size) {
      const int number = number_of_column(static_cast<std::uint32_t>(a.coordinates[q]), are_there, before);
      values[(number / columns_of_step * to.rows + r) * std::int64_t{columns_of_step} +
             number % columns_of_step] = a.values[q];
    }
  }
}

}  // namespace detail

/// Starts counting the steps of a matrix in windows of each height.
/// @param a   by rows, with at most most_window_columns columns
/// @param to  zeros, in the GPU's memory
template <class A>
void start_counting_window_steps(const Kokkos::Cuda& space, const A& a, ValueWindowCounts* to) {
  static_assert(window_heights[1] == window_heights[0] * 2 && window_heights[2] == window_heights[0] * 4);
  const std::int64_t words = ceil_div(a.columns, 32);
  launch(space, "sporos::count_window_steps", &detail::count_window_steps_kernel<A>,
         Grid(ceil_div(a.rows, window_heights[0]), ValueWindowCounts::heights), window_packing_threads,
         words * 4, a, static_cast<int>(words), to);
}

/// Writes the columns and values of a matrix whose windows are known, in the order of the stream of `space`.
template <class A>
void fill_windows(const Kokkos::Cuda& space, const A& a, const detail::WindowsOf<A>& to) {
  const std::int64_t words = ceil_div(a.columns, 32);
  launch(space, "sporos::fill_windows", &detail::fill_windows_kernel<A>, Grid(to.windows),
         window_packing_threads, words * 8, a, static_cast<int>(words), to);
}

/// Finds the windows of a matrix and writes its columns and values.
template <class A>
void pack_windows(const Kokkos::Cuda& space, const A& a, const detail::WindowsOf<A>& to,
                  const StepPacking& in) {
  const std::int64_t words = ceil_div(a.columns, 32);
  launch(space, "sporos::window_steps", &detail::window_steps_kernel<A>, Grid(to.windows),
         window_packing_threads, words * 4, a, to.rows, static_cast<int>(words), in.steps);
  sizes_to_positions(space, to.windows, in.steps, to.first, nullptr, in.scratch, in.scratch_bytes);
  find_row_places(space, static_cast<const std::int32_t*>(to.first), to.windows, in.sorting, to.places);
  fill_windows(space, a, to);
}

}  // namespace sporos::gpu
