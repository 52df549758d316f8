// SPDX-License-Identifier: Apache-2.0
/// @file slices.hpp
/// A sparse matrix in slices of rows of similar lengths, for products with vectors.
///
/// This is SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske, Bishop, "A Unified Sparse Matrix Data Format for
/// Efficient General Sparse Matrix-Vector Multiplication on Modern Processors with Wide SIMD Units", SIAM J.
/// Sci. Comput. 36(5), 2014, section 2): within windows of sigma rows, rows are sorted by length and cut into
/// slices of C. A slice stores the first elements of its rows one after another, then the second ones, and so
/// on, with padding for short rows, so that each row is summed in its own lane and nothing branches on its
/// length.
///
/// C is 8 where eight elements are gathered fast, else 4. Where gathering is slow, elements are loaded one by
/// one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

#include "../../../core/array.hpp"
#include "../../../core/pool.hpp"
#include "../../../core/space.hpp"
#include "../../../formats/chunks.hpp"
#include "../../host/packet.hpp"
#include "../../host/row_chunks.hpp"
#include "../../host/sparse_rows.hpp"
#include "form.hpp"
#include "lanes.hpp"
#include "row_sums.hpp"

namespace sporos::detail {

/// How slices are computed.
struct SliceForm {
  int rows;      ///< C
  bool gathers;  ///< whether elements are gathered, or loaded one by one
};
/// Those that were compiled.
inline constexpr std::array slice_forms{
#if defined(SPOROS_GATHERS_EIGHT)
    SliceForm{8, true},
#endif
#if defined(SPOROS_GATHERS_FOUR)
    SliceForm{4, true},
#endif
    SliceForm{4, false}};

/// The form for this processor: the most elements that are gathered at once, where that is fast.
inline SliceForm slice_form() { return gathers_slowly() ? slice_forms.back() : slice_forms.front(); }

inline constexpr std::int64_t rows_in_window = 512;  ///< sigma, a multiple of C
inline constexpr std::int64_t most_rows_in_slices = std::numeric_limits<std::uint32_t>::max();

/// The rows of a window of a matrix, the longest first.
class SortedWindow {
 public:
  /// @param begin,end  the window, at most rows_in_window rows
  template <class Matrix>
  SortedWindow(const Matrix& a, std::int64_t begin, std::int64_t end) : count_(end - begin) {
    const auto bucket = [&](std::int64_t row) {
      return static_cast<std::size_t>(longest - std::min(a.length(row), longest));
    };
    std::array<std::int64_t, longest + 2> begins{};
    for (std::int64_t row = begin; row < end; ++row) ++begins[bucket(row) + 1];
    const std::int64_t long_rows = begins[1];
    for (std::size_t at = 1; at < begins.size(); ++at) begins[at] += begins[at - 1];
    for (std::int64_t row = begin; row < end; ++row)
      rows_[static_cast<std::size_t>(begins[bucket(row)]++)] = static_cast<std::uint32_t>(row);
    std::sort(rows_.begin(), rows_.begin() + long_rows, [&](std::uint32_t left, std::uint32_t right) {
      const std::int64_t difference = a.length(left) - a.length(right);
      return difference != 0 ? difference > 0 : left < right;
    });
  }

  std::int64_t count() const { return count_; }
  /// The longest row but `number`; behind all rows, the shortest.
  std::uint32_t row(std::int64_t number) const {
    return rows_[static_cast<std::size_t>(std::min(number, count_ - 1))];
  }

 private:
  static constexpr std::int64_t longest = 63;  ///< rows with at least this many nonzeros share a bucket

  std::array<std::uint32_t, rows_in_window> rows_;
  std::int64_t count_;
};

/// Calls body(window, first_row) for each window of rows.
template <class Matrix, class Body>
void for_each_window(const HostThreads& threads, const Matrix& a, const Body& body) {
  const std::int64_t windows = (a.rows + rows_in_window - 1) / rows_in_window;
  for_each_part(threads, windows, chunks_for(threads, windows, 4),
                [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                  for (std::int64_t window = begin; window < end; ++window) {
                    const std::int64_t first = window * rows_in_window;
                    body(SortedWindow(a, first, std::min(first + rows_in_window, a.rows)), first);
                  }
                });
}

/// A matrix in slices.
template <class T, class Position, class Coordinate>
class Slices {
 public:
  using Matrix = SparseRows<T, Position, Coordinate>;

  explicit Slices(SliceForm form = slice_form()) : form_(form) {}

  /// The elements that the slices of a matrix hold, including padding. Cost: one pass over the positions.
  static std::int64_t padded_elements(const Matrix& a, int C = slice_form().rows) {
    std::int64_t sum = 0;
    for (std::int64_t first = 0; first < a.rows; first += rows_in_window) {
      const SortedWindow window(a, first, std::min(first + rows_in_window, a.rows));
      for (std::int64_t at = 0; at < window.count(); at += C) sum += C * a.length(window.row(at));
    }
    return sum;
  }
  /// The bytes of the slices of a matrix with this many rows and elements, including padding.
  static std::int64_t bytes(std::int64_t rows, std::int64_t padded, int C = slice_form().rows) {
    const std::int64_t slices = (rows + C - 1) / C;
    return array_bytes<std::int64_t>(slices + 1) + array_bytes<std::uint32_t>(slices * C) +
           array_bytes<Coordinate>(padded) + array_bytes<T>(padded);
  }

  bool is_empty() const { return ends_.extent(0) == 0; }
  std::int64_t bytes() const {
    return is_empty() ? 0
                      : bytes(static_cast<std::int64_t>(order_.extent(0)),
                              static_cast<std::int64_t>(values_.extent(0)), form_.rows);
  }

  /// The bytes of the slices of a matrix.
  static std::int64_t most_bytes(const Matrix& a) { return bytes(a.rows, padded_elements(a)); }

  /// Copies a matrix.
  void copy(const HostThreads& threads, const Matrix& a, bool /*is_deterministic*/) {
    const int C = form_.rows;
    const std::int64_t slices = slices_of(a.rows);
    const auto ends = pool().array<std::int64_t>("sporos::slices", slices + 1);
    const auto order = pool().array<std::uint32_t>("sporos::rows of slices", slices * C);
    ends.data()[0] = 0;
    for_each_window(threads, a, [&](const SortedWindow& window, std::int64_t first) {
      for (std::int64_t at = 0; at < window.count(); at += C) {
        ends.data()[(first + at) / C + 1] = C * a.length(window.row(at));
        for (int lane = 0; lane < C; ++lane) order.data()[first + at + lane] = window.row(at + lane);
      }
    });
    for (std::int64_t slice = 0; slice < slices; ++slice) ends.data()[slice + 1] += ends.data()[slice];
    const auto coordinates = pool().array<Coordinate>("sporos::coordinates of slices", ends.data()[slices]);
    const auto values = pool().array<T>("sporos::values of slices", ends.data()[slices]);
    for_each_part(threads, slices, chunks_for(threads, slices, 4),
                  [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                    for (std::int64_t slice = begin; slice < end; ++slice) {
                      std::uint32_t* const rows = order.data() + slice * C;
                      for (int lane = 0; lane < C; ++lane)
                        copy_row(a, rows[lane], (ends.data()[slice + 1] - ends.data()[slice]) / C, C,
                                 coordinates.data() + ends.data()[slice] + lane,
                                 values.data() + ends.data()[slice] + lane);
                      bool are_neighbours = true;
                      for (int lane = 1; lane < C; ++lane)
                        are_neighbours &= rows[lane] == rows[0] + static_cast<std::uint32_t>(lane);
                      if (are_neighbours) rows[1] = neighbours;
                    }
                  });
    ends_ = ends;
    order_ = order;
    coordinates_ = coordinates;
    values_ = values;
  }

  /// y = A * x, or y += A * x. The sum of a row is formed in the order of its elements.
  /// @param a  the matrix that was copied
  void multiply(const HostThreads& threads, const Matrix& a, const T* x, T* y, bool accumulates) const {
    // Shares the work as for a matrix whose rows are the slices.
    const SparseRows<T, std::int64_t, Coordinate> slices{slices_of(a.rows), a.columns, ends_.data(),
                                                         coordinates_.data(), values_.data()};
    const bool is_far = slices.nnz() * static_cast<std::int64_t>(sizeof(T) + sizeof(Coordinate)) >= far_bytes;
    for_each_row_chunk(threads, slices, 1, [&](std::int64_t begin, std::int64_t end) {
      if (is_far)
        multiply_chunk<true>(slices, a, x, y, begin, end, accumulates);
      else
        multiply_chunk<false>(slices, a, x, y, begin, end, accumulates);
    });
  }

  void explain(std::ostream& out, const Matrix& a) const {
    out << "  operands: A is copied once, in slices of " << form_.rows << " of " << rows_in_window
        << " rows sorted by length (" << padded_elements(a, form_.rows) - a.nnz() << " elements of padding)\n"
        << "  result: located, each row summed in a lane of its own\n";
  }

 private:
  /// In place of the second row of a slice whose rows are consecutive.
  static constexpr std::uint32_t neighbours = std::numeric_limits<std::uint32_t>::max();

  std::int64_t slices_of(std::int64_t rows) const { return (rows + form_.rows - 1) / form_.rows; }

  /// Padding has the row's last column, so that it reads nothing that the row does not, and the value zero.
  static void copy_row(const Matrix& a, std::int64_t row, std::int64_t length, int C, Coordinate* coordinates,
                       T* values) {
    const std::int64_t begin = a.begin(row), own = a.length(row);
    for (std::int64_t t = 0; t < length; ++t) {
      coordinates[t * C] = own > 0 ? a.coordinates[begin + std::min(t, own - 1)] : Coordinate{0};
      values[t * C] = t < own ? a.values[begin + t] : T{};
    }
  }

  template <bool Prefetches>
  void multiply_chunk(const SparseRows<T, std::int64_t, Coordinate>& slices, const Matrix& a, const T* x,
                      T* y, std::int64_t begin, std::int64_t end, bool accumulates) const {
    // Gather instructions take signed coordinates of 32 or 64 bits.
    constexpr bool are_gathered = std::is_signed_v<Coordinate> && sizeof(Coordinate) >= 4;
    const auto with = [&]<int C, bool Gathers>() {
      multiply_slices<C, Gathers, Prefetches>(slices, a, x, y, begin, end, accumulates);
    };
#if defined(SPOROS_GATHERS_EIGHT)
    if (form_.rows == 8) return with.template operator()<8, are_gathered>();
#endif
#if defined(SPOROS_GATHERS_FOUR)
    if (form_.gathers) return with.template operator()<4, are_gathered>();
#endif
    with.template operator()<4, false>();
  }

  template <int C, bool Gathers, bool Prefetches>
  [[gnu::noinline]] void multiply_slices(SparseRows<T, std::int64_t, Coordinate> slices, const Matrix& a,
                                         const T* __restrict x, T* __restrict y, std::int64_t begin,
                                         std::int64_t end, bool accumulates) const {
    for (std::int64_t slice = begin; slice < end; ++slice) {
      auto sums = Packet<T, C>::zero();
      const std::int64_t slice_end = slices.begin(slice + 1);
      for (std::int64_t q = slices.begin(slice); q < slice_end; q += C) {
        if constexpr (Prefetches) prefetch_row(slices.values + q, slices.coordinates + q);
        add_products<Gathers>(sums, slices.values + q, slices.coordinates + q, x);
      }
      // Padding multiplies zero by an element, which gives NaN if that is infinite or NaN: then the rows are
      // summed again without padding.
      const std::uint32_t* const rows = order_.data() + slice * C;
      const bool are_neighbours = rows[1] == neighbours;
      if (has_nan(sums)) [[unlikely]]
        for (int lane = 0; lane < C; ++lane)
          sums.set(lane, sum_of_row(a, are_neighbours ? rows[0] + lane : rows[lane], x));
      if (are_neighbours) {
        store_sums(sums, accumulates, y + rows[0]);
        continue;
      }
      const auto lanes = static_cast<int>(std::min<std::int64_t>(C, a.rows - slice * C));
      for (int lane = 0; lane < C; ++lane)
        if (lane < lanes) {
          T& to = y[rows[lane]];
          to = accumulates ? to + sums.get(lane) : sums.get(lane);
        }
    }
  }

  /// sums += values * x[coordinates], in each lane.
  template <bool Gathers, int C>
  SPOROS_HOST_INLINE static void add_products(Packet<T, C>& sums, const T* values,
                                              const Coordinate* coordinates, const T* x) {
    if constexpr (!Gathers) {
      Packet<T, C> factor, some;
      for (int lane = 0; lane < C; ++lane) factor.set(lane, x[coordinates[lane]]);
      some.load(values, 0);
      sums.add_product(some, factor);
    } else if constexpr (C == 4) {
#ifdef SPOROS_GATHERS_FOUR
      GatheredRowSum<T, Coordinate>::add_four(sums, values, coordinates, x);
#endif
    } else {
#ifdef SPOROS_GATHERS_EIGHT
      add_gathered(sums, values, coordinates, __mmask8{0xff}, x);
#endif
    }
  }

  SliceForm form_;
  HostArray<std::int64_t> ends_;       // [slices + 1]
  HostArray<std::uint32_t> order_;     // [slices][C], the row in each lane
  HostArray<Coordinate> coordinates_;  // [elements]
  HostArray<T> values_;                // [elements]
};

}  // namespace sporos::detail
