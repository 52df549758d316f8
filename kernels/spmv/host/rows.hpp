// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// y = A * x for rows of a sparse matrix, in the form that suits the processor and the matrix.
///
/// Values and coordinates are prefetched a few cache lines ahead, because the processor's own prefetching of
/// one stream does not use the full memory bandwidth. In every form, the sum of a row does not depend on how
/// the rows are divided among threads.
#pragma once

#include <cstdint>

#include "../../../core/compiled_once.hpp"
#include "../../host/sparse_rows.hpp"
#include "../../host/unrolled.hpp"
#include "lanes.hpp"
#include "products_first.hpp"
#include "row_sums.hpp"

/// Prefetches the cache line at an address that will be written soon.
#if defined(__GNUC__)
#define SPOROS_PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#else
#define SPOROS_PREFETCH_TO_WRITE(address) static_cast<void>(address)
#endif

namespace sporos::detail {

/// How rows are summed.
enum class SpmvForm {
  scalar,          ///< a row at a time, with scalar loads
  products_first,  ///< the products of a block of rows, with scalar loads, then the sum of each row
  gather_four,     ///< a row at a time, with gather instructions (AVX2)
  gather_eight     ///< eight rows at a time, with gather instructions (AVX-512)
};

template <class T, class Position, class Coordinate>
class SpmvRows {
 public:
  using Matrix = SparseRows<T, Position, Coordinate>;

  /// y[r] = the sum over row r of A's values times x, or y[r] plus it, for begin <= r < end.
  static void multiply(SpmvForm form, const Matrix& a, const T* x, T* y, std::int64_t begin, std::int64_t end,
                       bool accumulates);

 private:
  /// Gather instructions take signed coordinates of 32 or 64 bits.
  static constexpr bool in_registers =
      std::is_signed_v<Coordinate> && (sizeof(Coordinate) == 4 || sizeof(Coordinate) == 8);

  template <class Sum>
  static void one_at_a_time(const Matrix& a, const T* x, T* y, std::int64_t begin, std::int64_t end,
                            bool accumulates) {
    if (a.nnz() * static_cast<std::int64_t>(sizeof(T) + sizeof(Coordinate)) >= far_bytes)
      loop_over_rows<Sum, true>(a, x, y, begin, end, accumulates);
    else
      loop_over_rows<Sum, false>(a, x, y, begin, end, accumulates);
  }
  template <class Sum, bool Prefetches>
  [[gnu::noinline]] static void loop_over_rows(Matrix a, const T* x, T* y, std::int64_t begin,
                                               std::int64_t end, bool accumulates) {
    std::int64_t q = begin < end ? a.begin(begin) : 0;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t row_end = a.begin(row + 1);
      if constexpr (Prefetches) prefetch_row(a.values + q, a.coordinates + q);
      const T sum = Sum::template of<Prefetches>(a.values, a.coordinates, q, row_end, x);
      y[row] = accumulates ? y[row] + sum : sum;
      q = row_end;
    }
  }

#ifdef SPOROS_GATHERS_EIGHT
  /// Rows of up to eight nonzeros, which most rows of most matrices have, take a single step whatever their
  /// length; eight rows of up to four nonzeros may take one step together.
  [[gnu::noinline]] static void eight_at_a_time(Matrix a, const T* x, T* y, std::int64_t begin,
                                                std::int64_t end, bool accumulates) {
    using Sums = LaneSums<T, Coordinate>;
    if (begin >= end) return;
    std::int64_t q = a.begin(begin);
    const auto add_row = [&] SPOROS_INLINE_LAMBDA(Sums & sum, std::int64_t row) {
      const std::int64_t row_end = a.begin(row + 1);
      for (; q + 8 <= row_end; q += 8) {
        prefetch_row(a.values + q, a.coordinates + q);
        sum.add_eight(a.values + q, a.coordinates + q, x);
      }
      prefetch_row(a.values + q, a.coordinates + q);
      sum.add_rest(a.values + q, a.coordinates + q, row_end - q, x);
      q = row_end;
    };
    std::int64_t row = begin;
    for (; row + 8 <= end; row += 8) {
      SPOROS_PREFETCH_TO_WRITE(y + row + 64);
      if (Sums::store_short_rows(a.positions + row, a.values, a.coordinates, x, accumulates, y + row)) {
        q = a.begin(row + 8);
        prefetch_row(a.values + q, a.coordinates + q);
        continue;
      }
      Sums sums[8];
      unrolled<8>([&] SPOROS_INLINE_LAMBDA(auto r) { add_row(sums[r], row + r); });
      Sums::store(sums, 8, accumulates, y + row);
    }
    if (row < end) {
      Sums sums[8];
      for (std::int64_t r = 0; r < end - row; ++r) add_row(sums[r], row + r);
      Sums::store(sums, end - row, accumulates, y + row);
    }
  }
#endif
};

template <class T, class Position, class Coordinate>
[[gnu::noinline]] void SpmvRows<T, Position, Coordinate>::multiply(SpmvForm form, const Matrix& a, const T* x,
                                                                   T* y, std::int64_t begin, std::int64_t end,
                                                                   bool accumulates) {
  if constexpr (in_registers) {
#ifdef SPOROS_GATHERS_EIGHT
    if (form == SpmvForm::gather_eight) return eight_at_a_time(a, x, y, begin, end, accumulates);
#endif
#ifdef SPOROS_GATHERS_FOUR
    if (form == SpmvForm::gather_four)
      return one_at_a_time<GatheredRowSum<T, Coordinate>>(a, x, y, begin, end, accumulates);
#endif
  }
  if (form == SpmvForm::products_first)
    return ProductsFirst<T, Position, Coordinate>::multiply(a, x, y, begin, end, accumulates);
  one_at_a_time<ScalarRowSum<T, Coordinate>>(a, x, y, begin, end, accumulates);
}

#define SPOROS_SPMV_ROWS(EXTERN, Value) EXTERN template class SpmvRows<Value, std::int64_t, std::int32_t>;
SPOROS_DECLARE_COMPILED(SPOROS_SPMV_ROWS)

}  // namespace sporos::detail
