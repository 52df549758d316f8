// SPDX-License-Identifier: Apache-2.0
/// @file padded_row_values.hpp
/// A sparse matrix packed for CUDA cores: each row in steps of four nonzeros, which are loaded at once, the
/// last one padded, and rows in the order of their lengths.
///
///     row 0   a . b . . c . d      step 0   columns 0 2 5 7   values a b c d
///     row 1   . e . . . . . .      step 1   columns 1 1 1 1   values e 0 0 0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/scan.hpp"
#include "row_counts.hpp"
#include "row_places.hpp"

namespace sporos::gpu {

/// The rows of a matrix.
template <class T>
struct PaddedRows {
  static constexpr int of_step = RowSteps::of_step;  ///< nonzeros

  std::int32_t* columns = nullptr;  ///< [steps, 4]; the last one of a row is repeated
  T* values = nullptr;              ///< [steps, 4]
  std::int32_t* first = nullptr;    ///< [rows + 1]: the first step of each row
  RowPlace* places = nullptr;       ///< [rows], with their steps; those with most steps first

  /// @param steps  of all rows, or more
  static PaddedRows lay_out(Layout& layout, std::int64_t rows, std::int64_t steps) {
    PaddedRows out;
    out.columns = layout.take<std::int32_t>(steps * of_step);
    out.values = layout.take<T>(steps * of_step);
    out.first = layout.take<std::int32_t>(rows + 1);
    out.places = layout.take<RowPlace>(rows);
    return out;
  }
};

namespace detail {

inline constexpr int padded_row_threads = 256;

/// Writes how many steps rows have, and the keys by which they are sorted: those with most steps have 0.
template <class A>
__global__ __launch_bounds__(padded_row_threads) void row_steps_kernel(A a, std::int32_t most,
                                                                       std::int32_t* steps,
                                                                       std::uint16_t* keys,
                                                                       std::int32_t* numbers) {
  const std::int64_t row = std::int64_t{blockIdx.x} * padded_row_threads + threadIdx.x;
  if (row >= a.rows) return;
  const std::int32_t of_row = steps_of_row(a, row);
  steps[row] = of_row;
  keys[row] = static_cast<std::uint16_t>(::min(most, 65535) - ::min(of_row, 65535));
  numbers[row] = static_cast<std::int32_t>(row);
}

/// Eight lanes write the values of a row and, the first time, its columns and a place.
/// @param numbers  [rows], by steps; null if columns and places are written already
template <class A, class T>
__global__ __launch_bounds__(padded_row_threads) void fill_padded_rows_kernel(A a, PaddedRows<T> to,
                                                                              const std::int32_t* numbers) {
  constexpr int lanes = 8, of_step = PaddedRows<T>::of_step;
  const std::int64_t row = (std::int64_t{blockIdx.x} * padded_row_threads + threadIdx.x) / lanes;
  if (row >= a.rows) return;
  if (numbers != nullptr && threadIdx.x % lanes == 0) {
    const std::int32_t number = numbers[row];
    to.places[row] = {number, to.first[number], to.first[number + 1]};
  }
  const auto begin = static_cast<std::int64_t>(a.positions[row]),
             count = static_cast<std::int64_t>(a.positions[row + 1]) - begin;
  const std::int64_t slots = (count + of_step - 1) / of_step * of_step,
                     first = std::int64_t{to.first[row]} * of_step;
  for (std::int64_t e = threadIdx.x % lanes; e < slots; e += lanes) {
    if (numbers != nullptr)
      to.columns[first + e] = static_cast<std::int32_t>(a.coordinates[begin + (e < count ? e : count - 1)]);
    to.values[first + e] = e < count ? a.values[begin + e] : T{};
  }
}

}  // namespace detail

/// Writes the values of a matrix whose steps are known, in the order of the stream of `space`.
/// @param numbers  of the rows, by steps, to write columns and places as well
template <class A, class T>
void fill_padded_rows(const Kokkos::Cuda& space, const A& a, const PaddedRows<T>& to,
                      const std::int32_t* numbers = nullptr) {
  launch(space, "sporos::fill_padded_rows", &detail::fill_padded_rows_kernel<A, T>,
         Grid(ceil_div(a.rows * 8, detail::padded_row_threads)), detail::padded_row_threads, 0, a, to,
         numbers);
}

/// Finds the steps of a matrix and writes its columns and values.
/// @param most  steps of a row
template <class A, class T>
void pad_rows_of_matrix(const Kokkos::Cuda& space, const A& a, const PaddedRows<T>& to, StepPacking in,
                        std::int32_t most) {
  launch(space, "sporos::row_steps", &detail::row_steps_kernel<A>,
         Grid(ceil_div(a.rows, detail::padded_row_threads)), detail::padded_row_threads, 0, a, most, in.steps,
         in.sorting.keys, in.sorting.numbers);
  sizes_to_positions(space, a.rows, in.steps, to.first, nullptr, in.scratch, in.scratch_bytes);
  in.sorting.sort(space, a.rows, std::min<int>(16, std::bit_width(static_cast<unsigned>(most))));
  fill_padded_rows(space, a, to, in.sorting.sorted_numbers);
}

}  // namespace sporos::gpu
