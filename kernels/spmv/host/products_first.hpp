// SPDX-License-Identifier: Apache-2.0
/// @file products_first.hpp
/// SpMV by blocks of rows: first the products of all elements of a block, then the sum of each row.
///
/// If row lengths vary, a loop over the elements of a short row mispredicts a branch, which takes longer than
/// the row itself. Here the loop that loads elements of the vector is as long as a block, and a short row is
/// summed without a branch, by masked loads of its products from the cache. All vector elements are loaded by
/// scalar instructions, since gather instructions are slow on many processors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../../core/inline.hpp"
#include "../../host/lane_sums.hpp"
#include "../../host/packet.hpp"
#include "../../host/sparse_rows.hpp"
#include "../../host/unrolled.hpp"
#include "row_sums.hpp"

namespace sporos::detail {

/// Loads four numbers and sets all but the first `count` to zero, whatever is in memory.
/// @param count  0 to 4
template <class T>
SPOROS_HOST_INLINE void load_first(Packet<T, 4>& lanes, const T* from, std::int64_t count) {
#ifdef SPOROS_VECTOR_EXTENSION
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  static constexpr std::array<Bits, 8> all_then_none{-1, -1, -1, -1, 0, 0, 0, 0};
  Packet<Bits, 4> bits, mask;
  std::memcpy(&bits.v, from, sizeof bits.v);
  mask.load(all_then_none.data() + 4 - count, 0);
  bits.v &= mask.v;
  std::memcpy(&lanes.v, &bits.v, sizeof bits.v);
#else
  for (int lane = 0; lane < 4; ++lane) lanes.set(lane, lane < count ? from[lane] : T{});
#endif
}

/// Sums rows in four lanes, each of which adds every fourth product, in order.
template <class T, class Position, class Coordinate>
class ProductsFirst {
 public:
  using Matrix = SparseRows<T, Position, Coordinate>;

  /// y[r] = the sum over row r of A's values times x, or y[r] plus it, for begin <= r < end.
  static void multiply(const Matrix& a, const T* x, T* y, std::int64_t begin, std::int64_t end,
                       bool accumulates) {
    // If rows are longer, more of them fit into two masked loads and avoid a branch.
    constexpr std::int64_t row_of_two_loads = 6;
    const bool is_far = a.nnz() * static_cast<std::int64_t>(sizeof(T) + sizeof(Coordinate)) >= far_bytes;
    const bool takes_two = a.nnz() >= row_of_two_loads * a.rows;
    const auto loop = is_far ? (takes_two ? loop_over_blocks<2, true> : loop_over_blocks<1, true>)
                             : (takes_two ? loop_over_blocks<2, false> : loop_over_blocks<1, false>);
    loop(a, x, y, begin, end, accumulates);
  }

 private:
  static constexpr int lanes = 4, rows_at_once = 8;
  static constexpr std::int64_t rows_in_block = 2 * rows_at_once;
  /// Few enough to stay in the cache, and enough that most blocks of short rows with one long row fit.
  static constexpr std::int64_t most_products = 2048;
  using Sum = Packet<T, lanes>;

  /// @tparam Loads  the least number of masked loads per row
  template <int Loads, bool Prefetches>
  SPOROS_HOST_KERNEL static void loop_over_blocks(Matrix a, const T* x, T* y, std::int64_t begin,
                                                  std::int64_t end, bool accumulates) {
    T products[static_cast<std::size_t>(most_products +
                                        lanes * Loads)];  // masked loads read past the last one
    const std::int64_t all = a.begin(a.rows);
    for (std::int64_t row = begin; row < end; row += rows_in_block) {
      const std::int64_t rows = std::min(rows_in_block, end - row);
      const std::int64_t first = a.begin(row), count = a.begin(row + rows) - first;
      if (rows < rows_in_block || count > most_products) {
        loop_over_rows<Loads, Prefetches>(a, x, y, row, row + rows, accumulates, products);
        continue;
      }
      form_products<Prefetches>(a, first, count, all - first, x, products);
      for (std::int64_t r = row; r < row + rows_in_block; r += rows_at_once) {
        Sum sums[rows_at_once];
        unrolled<rows_at_once>([&] SPOROS_INLINE_LAMBDA(auto n) {
          add_up<Loads>(sums[n], products + (a.begin(r + n) - first), a.length(r + n));
        });
        store(sums, rows_at_once, accumulates, y + r);
      }
    }
  }

  /// products[t] = the product of element first + t, for t < count and possibly for the next three; no more
  /// elements are read than the `left` that exist.
  template <bool Prefetches>
  SPOROS_HOST_INLINE static void form_products(const Matrix& a, std::int64_t first, std::int64_t count,
                                               std::int64_t left, const T* x, T* products) {
    const T* const values = a.values + first;
    const Coordinate* const coordinates = a.coordinates + first;
    const std::int64_t end_of_fours = std::min(count, left - (lanes - 1));
    std::int64_t t = 0;
    for (; t < end_of_fours; t += lanes) {
      if constexpr (Prefetches) prefetch_row(values + t, coordinates + t);
      Sum some;
      load_products(some, values + t, coordinates + t, x);
      some.store(products + t, 0);
    }
    for (; t < count; ++t) products[t] = values[t] * x[coordinates[t]];
  }
  SPOROS_HOST_INLINE static void load_products(Sum& some, const T* values, const Coordinate* coordinates,
                                               const T* x) {
    Sum elements;
    load_elements(elements, x, coordinates);
    some.load(values, 0);
    some.multiply(elements);
  }

  /// sum = the products of a row, each in its lane.
  template <int Loads>
  SPOROS_HOST_INLINE static void add_up(Sum& sum, const T* products, std::int64_t count) {
    if (count > Loads * lanes) {
      sum.load(products, 0);
      return add(sum, products + lanes, count - lanes);
    }
    load_first(sum, products, Loads == 1 ? count : std::min<std::int64_t>(count, lanes));
    unrolled<Loads - 1>([&] SPOROS_INLINE_LAMBDA(auto n) {
      constexpr std::int64_t before = (n + 1) * lanes;
      Sum some;
      load_first(some, products + before, std::clamp<std::int64_t>(count - before, 0, lanes));
      sum.add(some);
    });
  }
  /// sum += `count` > 0 products, each in its lane.
  SPOROS_HOST_INLINE static void add(Sum& sum, const T* products, std::int64_t count) {
    Sum some;
    std::int64_t t = 0;
    for (; t + lanes < count; t += lanes) {
      some.load(products + t, 0);
      sum.add(some);
    }
    load_first(some, products + t, count - t);
    sum.add(some);
  }

  /// Computes the last rows, and those of a block with too many products, row by row. The sums are the same,
  /// because a row's products are formed in memory here as well: compilers would fuse products in registers
  /// with additions.
  template <int Loads, bool Prefetches>
  SPOROS_HOST_KERNEL static void loop_over_rows(const Matrix& a, const T* x, T* y, std::int64_t begin,
                                                std::int64_t end, bool accumulates, T* products) {
    const std::int64_t all = a.begin(a.rows);
    for (std::int64_t row = begin; row < end; row += rows_at_once) {
      Sum sums[rows_at_once] = {};
      const std::int64_t rows = std::min<std::int64_t>(rows_at_once, end - row);
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t first = a.begin(row + r), row_end = a.begin(row + r + 1);
        std::int64_t count = std::min(most_products, row_end - first);
        form_products<Prefetches>(a, first, count, all - first, x, products);
        Sum sum;
        add_up<Loads>(sum, products, count);
        for (std::int64_t q = first + count; q < row_end; q += count) {
          count = std::min(most_products, row_end - q);
          form_products<Prefetches>(a, q, count, all - q, x, products);
          add(sum, products, count);
        }
        sums[r] = sum;
      }
      store(sums, rows, accumulates, y + row);
    }
  }

  /// to[n] = the sum of the lanes of sums[n], or to[n] plus it, for n < count.
  SPOROS_HOST_INLINE static void store(Sum (&sums)[rows_at_once], std::int64_t count, bool accumulates,
                                       T* to) {
    if (count == rows_at_once && !accumulates) return sum_lanes(sums, to);
    T of_rows[rows_at_once];
    sum_lanes(sums, of_rows);
    for (std::int64_t n = 0; n < count; ++n) to[n] = accumulates ? to[n] + of_rows[n] : of_rows[n];
  }
};

}  // namespace sporos::detail
