// SPDX-License-Identifier: Apache-2.0
/// @file matrix_by_rows.hpp
/// A sparse matrix on the GPU, by rows as kernels need it: read in place if it is stored by rows, copied if
/// it is stored by columns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <cub/device/device_radix_sort.cuh>
#pragma GCC diagnostic pop

#include "../../../core/resources.hpp"
#include "operands.hpp"

namespace sporos::gpu {

namespace detail {

/// The index of the first of `count` ascending numbers that is larger than `wanted`.
template <class T>
KOKKOS_INLINE_FUNCTION std::int64_t first_above(const T* numbers, std::int64_t count, std::int64_t wanted) {
  std::int64_t low = 0, high = count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (static_cast<std::int64_t>(numbers[middle]) <= wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Writes the row of each entry and the entry's number; both are then sorted by row.
template <class Coordinate, class Number>
struct NumberEntries {
  const Coordinate* rows;
  Coordinate* to_rows;
  Number* to_numbers;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    to_rows[e] = rows[e];
    to_numbers[e] = static_cast<Number>(e);
  }
};

/// Writes columns and values of the entries in the order of their rows, and the entries' numbers.
template <class Source, class To, class Number>
struct WriteByRows {
  Source from;  ///< the matrix by columns, seen as a transpose: its rows are the columns
  To to;
  const Number* numbers;
  Number* to_numbers;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    using Coordinate = std::remove_const_t<typename To::coordinate_type>;
    const auto number = static_cast<std::int64_t>(numbers[e]);
    to.coordinates[e] = static_cast<Coordinate>(first_above(from.positions, from.rows + 1, number) - 1);
    to.values[e] = from.values[number];
    to_numbers[e] = numbers[e];
  }
};

/// Writes values in the order of the copy.
template <class Value, class Number>
struct WriteValuesByRows {
  const Value* from;
  Value* to;
  const Number* numbers;  ///< of the entries, by rows
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    to[e] = from[static_cast<std::int64_t>(numbers[e])];
  }
};

/// Writes where each row begins among entries sorted by row.
template <class Coordinate, class Position>
struct WriteRowPositions {
  const Coordinate* rows;  // [entries], sorted
  std::int64_t entries;
  Position* positions;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    positions[row] = static_cast<Position>(first_above(rows, entries, row - 1));
  }
};

/// The memory of a copy by rows, borrowed from the scratch memory of the stream.
struct CopyByRows {
  Array<char, Memory> memory;
};

}  // namespace detail

/// The rows of a matrix in CSR or CSC, or of its transpose, which has the same arrays.
///
/// A matrix by columns is copied, by a stable radix sort of its entries by row, which keeps each row's
/// columns in order. The copy keeps the entries' numbers: while the pattern stays the same, values alone are
/// copied again.
template <class T, bool Transposed>
class MatrixByRows {
  using Level = typename T::format_type::template level<1>;
  using Value = typename T::value_type;
  using Position = typename Level::position_type;
  using Coordinate = typename Level::coordinate_type;
  using Number = std::conditional_t<(sizeof(Position) > 4), std::int64_t, std::int32_t>;
  using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;

 public:
  using View = CsrView<Value, Position, Coordinate>;
  static constexpr bool is_copied = detail::is_by_rows<typename T::format_type> == Transposed;

  explicit MatrixByRows(const Resources<Kokkos::Cuda>& resources) : resources_(resources) {
    if constexpr (is_copied) copy_.emplace(resources_.scratch().template borrow<detail::CopyByRows>());
  }

  /// Reads the matrix as it is now, in the order of the stream: all of it the first time, later its values.
  /// @param matrix  with the same pattern each time; its arrays may be others
  /// @throws RangeError if the coordinates' type cannot hold the columns of the copy
  void read(const T& matrix) {
    if constexpr (!is_copied) {
      view_ = detail::csr_view<Transposed>(matrix);
    } else {
      const auto from = detail::csr_view<!Transposed>(matrix);
      if (view_) return read_values(from);
      Level::check_extent(from.rows);
      Layout layout(at_least(layout_of(matrix, Layout()).bytes(), (*copy_)->memory, "sporos::gpu by rows"));
      copied_ = layout_of(matrix, layout);
      auto workspace = resources_.scratch().template borrow<Workspace>();
      Layout of_sort(workspace->reserve(sort_of(matrix, Layout()).bytes()));
      sort(from, sort_of(matrix, of_sort));
    }
  }
  /// The rows, once read() was called; before that, only the sizes.
  View view(const T& matrix) const {
    if (view_) return *view_;
    View sizes = detail::csr_view<(Transposed != is_copied)>(matrix);
    if (is_copied) {
      std::swap(sizes.rows, sizes.columns);
      sizes.positions = nullptr;
      sizes.coordinates = nullptr;
      sizes.values = nullptr;
    }
    return sizes;
  }

  bool is_read() const { return view_.has_value(); }

  /// The seconds that read() is expected to take, the first time and again; 0 if nothing is copied.
  static double seconds_to_read(const T& matrix) {
    return is_copied ? 3e-5 + 2e-10 * static_cast<double>(matrix.nnz()) : 0;
  }
  static double seconds_to_read_again(const T& matrix) {
    return is_copied ? 2.5e-6 + 2e-11 * static_cast<double>(matrix.nnz()) : 0;
  }

  /// An upper bound on the bytes that read() allocates.
  static std::int64_t most_bytes(const T& matrix) {
    return is_copied ? with_room_to_grow(layout_of(matrix, Layout()).bytes()) +
                           with_room_to_grow(sort_of(matrix, Layout()).bytes())
                     : 0;
  }
  std::int64_t held_bytes() const {
    return copy_ ? static_cast<std::int64_t>((*copy_)->memory.extent(0)) : 0;
  }

 private:
  /// The arrays of the copy.
  struct Arrays {
    View to;
    Number* numbers;  ///< of its entries in the matrix
    std::int64_t all_bytes;
    std::int64_t bytes() const { return all_bytes; }
  };
  /// Those of the sort.
  struct SortArrays {
    Coordinate* rows[2];
    Number* numbers[2];
    char* scratch;
    std::size_t scratch_bytes;
    std::int64_t all_bytes;
    std::int64_t bytes() const { return all_bytes; }
  };

  static int bits_of(std::int64_t rows) {
    return std::max(
        1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(rows - 1, 0)))));
  }

  static Arrays layout_of(const T& matrix, Layout layout) {
    const auto from = detail::csr_view<!Transposed>(matrix);
    Arrays out{};
    out.to = {from.columns,
              from.rows,
              from.nonzeros,
              layout.template take<Position>(from.columns + 1),
              layout.template take<Coordinate>(from.nonzeros),
              layout.template take<Value>(from.nonzeros)};
    out.numbers = layout.template take<Number>(from.nonzeros);
    out.all_bytes = layout.bytes();
    return out;
  }
  static SortArrays sort_of(const T& matrix, Layout layout) {
    const auto from = detail::csr_view<!Transposed>(matrix);
    SortArrays out{};
    for (auto& rows : out.rows) rows = layout.template take<Coordinate>(from.nonzeros);
    for (auto& numbers : out.numbers) numbers = layout.template take<Number>(from.nonzeros);
    cub::DoubleBuffer<Coordinate> keys(out.rows[0], out.rows[1]);
    cub::DoubleBuffer<Number> values(out.numbers[0], out.numbers[1]);
    expect_success(cub::DeviceRadixSort::SortPairs(nullptr, out.scratch_bytes, keys, values, from.nonzeros, 0,
                                                   bits_of(from.columns)),
                   "sort");
    out.scratch = layout.template take<char>(static_cast<std::int64_t>(out.scratch_bytes));
    out.all_bytes = layout.bytes();
    return out;
  }

  template <class From>
  void sort(const From& from, SortArrays arrays) {
    const Kokkos::Cuda& space = resources_.space();
    Kokkos::parallel_for(
        "sporos::number entries", Range(space, 0, from.nonzeros),
        detail::NumberEntries<Coordinate, Number>{from.coordinates, arrays.rows[0], arrays.numbers[0]});
    cub::DoubleBuffer<Coordinate> rows(arrays.rows[0], arrays.rows[1]);
    cub::DoubleBuffer<Number> numbers(arrays.numbers[0], arrays.numbers[1]);
    if (from.nonzeros > 0)
      expect_success(
          cub::DeviceRadixSort::SortPairs(arrays.scratch, arrays.scratch_bytes, rows, numbers, from.nonzeros,
                                          0, bits_of(from.columns), space.cuda_stream()),
          "sort");
    Kokkos::parallel_for(
        "sporos::write by rows", Range(space, 0, from.nonzeros),
        detail::WriteByRows<From, View, Number>{from, copied_.to, numbers.Current(), copied_.numbers});
    Kokkos::parallel_for(
        "sporos::row positions", Range(space, 0, from.columns + 1),
        detail::WriteRowPositions<Coordinate, Position>{rows.Current(), from.nonzeros, copied_.to.positions});
    view_ = copied_.to;
  }
  template <class From>
  void read_values(const From& from) {
    Kokkos::parallel_for(
        "sporos::write values by rows", Range(resources_.space(), 0, from.nonzeros),
        detail::WriteValuesByRows<Value, Number>{from.values, copied_.to.values, copied_.numbers});
  }

  Resources<Kokkos::Cuda> resources_;
  std::optional<Scratch::Loan<detail::CopyByRows>> copy_;
  std::optional<View> view_;
  Arrays copied_{};
};

}  // namespace sporos::gpu
