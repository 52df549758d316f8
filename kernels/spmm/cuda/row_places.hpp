// SPDX-License-Identifier: Apache-2.0
/// @file row_places.hpp
/// The rows of a matrix in the order of their lengths, longest first, so that neighbours finish at about the
/// same time.
#pragma once

#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include "../../cuda/launch.hpp"
#include "../../cuda/scan.hpp"

namespace sporos::gpu {

/// A row and where its nonzeros are, read by one load.
struct alignas(16) RowPlace {
  std::int32_t row;
  std::int32_t begin, end;
};

/// Loads a place, which nothing writes while the kernel runs.
__device__ __forceinline__ RowPlace load_place(const RowPlace* at) {
  const int4 words = __ldg(reinterpret_cast<const int4*>(at));
  return {words.x, words.y, words.z};
}

namespace detail {

/// Makes the keys by which rows are sorted: their lengths in units of four nonzeros. Rows with equal keys
/// stay in order, since their columns may be close together.
template <class Position>
__global__ __launch_bounds__(256) void row_keys_kernel(const Position* positions, std::int32_t rows,
                                                       std::uint16_t* keys, std::int32_t* numbers) {
  const auto row = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= rows) return;
  const auto fours = static_cast<std::int64_t>(positions[row + 1] - positions[row]) / 4;
  keys[row] = static_cast<std::uint16_t>(65535 - Kokkos::min(fours, std::int64_t{65535}));
  numbers[row] = row;
}

template <class Position>
__global__ __launch_bounds__(256) void row_places_kernel(const Position* positions, std::int32_t rows,
                                                         const std::int32_t* numbers, RowPlace* to) {
  const auto at = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= rows) return;
  const std::int32_t row = numbers[at];
  to[at] = {row, static_cast<std::int32_t>(positions[row]), static_cast<std::int32_t>(positions[row + 1])};
}

}  // namespace detail

/// The arrays used to sort rows.
struct RowSorting {
  std::uint16_t *keys = nullptr, *sorted_keys = nullptr;       ///< [rows]
  std::int32_t *numbers = nullptr, *sorted_numbers = nullptr;  ///< [rows]
  char* scratch = nullptr;
  std::size_t scratch_bytes = 0;

  static RowSorting lay_out(const Kokkos::Cuda& space, Layout& layout, std::int64_t rows) {
    RowSorting out;
    out.keys = layout.take<std::uint16_t>(rows);
    out.sorted_keys = layout.take<std::uint16_t>(rows);
    out.numbers = layout.take<std::int32_t>(rows);
    out.sorted_numbers = layout.take<std::int32_t>(rows);
    out.sort(space, rows);
    out.scratch = layout.take<char>(static_cast<std::int64_t>(out.scratch_bytes));
    return out;
  }
  /// Sorts stably by the lowest bits of the keys; without scratch it only sets `scratch_bytes`.
  void sort(const Kokkos::Cuda& space, std::int64_t rows, int bits = 16) {
    expect_success(cub::DeviceRadixSort::SortPairs(
                       scratch, scratch_bytes, static_cast<const std::uint16_t*>(keys), sorted_keys,
                       static_cast<const std::int32_t*>(numbers), sorted_numbers,
                       static_cast<std::int32_t>(rows), 0, bits, space.cuda_stream()),
                   "sort rows");
  }
};

/// The arrays used to pack rows, or windows of them, as steps: their counts and order.
struct StepPacking {
  std::int32_t* steps = nullptr;  ///< [rows]
  RowSorting sorting;             ///< arrays to sort rows
  char* scratch = nullptr;
  std::int64_t scratch_bytes = 0;

  /// @param rows  number of rows, or of windows
  static StepPacking lay_out(const Kokkos::Cuda& space, Layout& layout, std::int64_t rows) {
    StepPacking out;
    out.steps = layout.take<std::int32_t>(rows);
    out.sorting = RowSorting::lay_out(space, layout, rows);
    out.scratch_bytes = sizes_to_positions_bytes<std::int32_t, std::int32_t>(space, rows);
    out.scratch = layout.take<char>(out.scratch_bytes);
    return out;
  }
};

/// Finds the places of rows, in the order of the stream of `space`.
/// @param rows  number of rows; it and the number of nonzeros must be below 2^31
/// @param to    [rows]
template <class Position>
void find_row_places(const Kokkos::Cuda& space, const Position* positions, std::int64_t rows,
                     RowSorting sorting, RowPlace* to) {
  const auto count = static_cast<std::int32_t>(rows);
  launch(space, "sporos::row_keys", &detail::row_keys_kernel<Position>, Grid(ceil_div(rows, 256)), 256, 0,
         positions, count, sorting.keys, sorting.numbers);
  sorting.sort(space, rows);
  launch(space, "sporos::row_places", &detail::row_places_kernel<Position>, Grid(ceil_div(rows, 256)), 256, 0,
         positions, count, static_cast<const std::int32_t*>(sorting.sorted_numbers), to);
}

}  // namespace sporos::gpu
