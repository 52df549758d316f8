// SPDX-License-Identifier: Apache-2.0
/// @file block_diagonals.hpp
/// A sparse matrix whose nonzeros lie on few diagonals within each block of rows, for products with vectors.
///
/// After CRSD (Sun, Zhang, Wang, Zhang, Zhang, "Optimizing SpMV for Diagonal Sparse Matrices on GPU", ICPP
/// 2011, section III), adapted to vector registers: within a block of consecutive rows, the values of a
/// diagonal are adjacent, and so are the vector elements that they are multiplied by. Only one column has to
/// be read for a whole diagonal, and nothing is gathered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "../../../core/array.hpp"
#include "../../../core/error.hpp"
#include "../../../core/inline.hpp"
#include "../../../core/pool.hpp"
#include "../../../core/space.hpp"
#include "../../../formats/chunks.hpp"
#include "../../host/packet.hpp"
#include "../../host/row_chunks.hpp"
#include "../../host/sparse_rows.hpp"
#include "../../host/unrolled.hpp"
#include "form.hpp"
#include "row_sums.hpp"
#include "rows.hpp"

namespace sporos::detail {

/// A matrix stored as diagonals of blocks of rows. Blocks that would need much padding are not stored: their
/// rows are read from the matrix itself.
///
///     rows r to r + 3      columns of the diagonals    values (padded by 0)
///     a . . b . . .        r - 2   a c e g              block of four rows: 2 diagonals
///     . c . . d . .        r + 1   b d 0 h
///     . . e . . . .
///     . . . g . . h
template <class T, class Position, class Coordinate>
class BlockDiagonals {
 public:
  using Matrix = SparseRows<T, Position, Coordinate>;
  /// Four registers of 64 bytes, enough to hide the latency of an addition.
  static constexpr int rows_in_block = 256 / static_cast<int>(sizeof(T));
  /// The most elements, for each of its nonzeros, with which a block is still kept in diagonals.
  static constexpr double most_padding = 1.25;

  /// The fraction of nonzeros in blocks of few diagonals, estimated from a sample of the blocks.
  static double share_in_diagonals(const Matrix& a) {
    constexpr std::int64_t sampled = 256;
    const std::int64_t blocks = blocks_of(a.rows), step = std::max<std::int64_t>(1, blocks / sampled);
    std::int64_t in_diagonals = 0, all = 0;
    std::vector<std::int64_t> offsets;
    for (std::int64_t block = step / 2; block < blocks; block += step) {
      const std::int64_t nonzeros = nonzeros_of(a, block);
      all += nonzeros;
      if (find_diagonals(a, block, offsets)) in_diagonals += nonzeros;
    }
    return all > 0 ? static_cast<double>(in_diagonals) / static_cast<double>(all) : 0;
  }
  /// The most bytes that the copy of a matrix takes.
  static std::int64_t most_bytes(const Matrix& a) {
    const auto elements = static_cast<std::int64_t>(most_padding * static_cast<double>(a.nnz()));
    return array_bytes<std::int64_t>(blocks_of(a.rows) + 1) +
           array_bytes<std::int64_t>(elements / rows_in_block) + array_bytes<T>(elements);
  }

  bool is_empty() const { return ends_.extent(0) == 0; }
  std::int64_t bytes() const {
    return array_bytes<std::int64_t>(static_cast<std::int64_t>(ends_.extent(0) + columns_.extent(0))) +
           array_bytes<T>(static_cast<std::int64_t>(values_.extent(0)));
  }

  /// Copies a matrix.
  /// @param is_deterministic  whether all processes must choose the same form for summing the other rows
  void copy(const HostThreads& threads, const Matrix& a, bool is_deterministic) {
    form_ = spmv_form_for(a, is_deterministic);
    const std::int64_t blocks = blocks_of(a.rows), chunks = chunks_for(threads, a.nnz(), 4);
    const auto ends = pool().array<std::int64_t>("sporos::diagonals of blocks", blocks + 1);
    std::vector<std::vector<std::int64_t>> columns(static_cast<std::size_t>(chunks));
    for_each_part(threads, blocks, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
      std::vector<std::int64_t> offsets;
      auto& found = columns[static_cast<std::size_t>(chunk)];
      for (std::int64_t block = begin; block < end; ++block) {
        if (!find_diagonals(a, block, offsets)) offsets.clear();
        ends.data()[block + 1] = std::ssize(offsets);
        for (const std::int64_t offset : offsets) found.push_back(block * rows_in_block + offset);
      }
    });
    ends.data()[0] = 0;
    for (std::int64_t block = 0; block < blocks; ++block) ends.data()[block + 1] += ends.data()[block];
    const auto all_columns = pool().array<std::int64_t>("sporos::columns of diagonals", ends.data()[blocks]);
    const auto values = pool().array<T>("sporos::values of diagonals", ends.data()[blocks] * rows_in_block);
    for_each_part(threads, blocks, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
      const auto& found = columns[static_cast<std::size_t>(chunk)];
      std::copy(found.begin(), found.end(), all_columns.data() + ends.data()[begin]);
      for (std::int64_t block = begin; block < end; ++block)
        copy_block(a, block, all_columns.data() + ends.data()[block],
                   ends.data()[block + 1] - ends.data()[block],
                   values.data() + ends.data()[block] * rows_in_block);
    });
    ends_ = ends;
    columns_ = all_columns;
    values_ = values;
  }

  /// y = A * x, or y += A * x. The sum of a row in diagonals is formed in the order of its elements.
  /// @param a  the matrix that was copied
  void multiply(const HostThreads& threads, const Matrix& a, const T* x, T* y, bool accumulates) const {
    // Shares the work as for a matrix whose rows are the blocks, each with the nonzeros of its rows.
    const BlockRows blocks{blocks_of(a.rows), a};
    for_each_row_chunk(threads, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      multiply_blocks(a, x, y, begin, end, accumulates);
    });
  }

  void explain(std::ostream& out, const Matrix& a) const {
    out << "  operands: A is copied once, in diagonals of blocks of " << rows_in_block << " rows";
    if (!is_empty())
      out << text(" (",
                  std::count_if(ends_.data() + 1, ends_.data() + ends_.extent(0),
                                [before = std::int64_t{0}](std::int64_t end) mutable {
                                  return std::exchange(before, end) == end;
                                }),
                  " of ", blocks_of(a.rows), " blocks are rows of A)");
    out << "\n  result: located, each row summed in a lane of its own\n";
  }

 private:
  static std::int64_t blocks_of(std::int64_t rows) { return (rows + rows_in_block - 1) / rows_in_block; }
  static std::int64_t nonzeros_of(const Matrix& a, std::int64_t block) {
    return a.begin(std::min((block + 1) * rows_in_block, a.rows)) - a.begin(block * rows_in_block);
  }

  /// The blocks as rows of a matrix, to be shared among threads.
  struct BlockRows {
    std::int64_t rows;
    const Matrix& a;
    const T* values = nullptr;
    const Coordinate* coordinates = nullptr;

    std::int64_t nnz() const { return a.nnz(); }
    std::int64_t begin(std::int64_t block) const { return a.begin(std::min(block * rows_in_block, a.rows)); }
  };

  /// Finds the diagonals on which the nonzeros of a block lie, as column minus row, ascending.
  /// @return false if the block is not kept in diagonals, because they need too much padding or would be read
  /// past
  ///         the vector's ends
  static bool find_diagonals(const Matrix& a, std::int64_t block, std::vector<std::int64_t>& offsets) {
    offsets.clear();
    const std::int64_t first = block * rows_in_block, end = first + rows_in_block;
    if (end > a.rows) return false;
    const auto most =
        static_cast<std::size_t>(most_padding * static_cast<double>(nonzeros_of(a, block)) / rows_in_block);
    for (std::int64_t row = first; row < end; ++row) {
      std::size_t at = 0;
      for (std::int64_t q = a.begin(row); q < a.begin(row + 1); ++q, ++at) {
        const std::int64_t offset = static_cast<std::int64_t>(a.coordinates[q]) - row;
        while (at < offsets.size() && offsets[at] < offset) ++at;
        if (at < offsets.size() && offsets[at] == offset) continue;
        if (offsets.size() == most) return false;
        offsets.insert(offsets.begin() + static_cast<std::ptrdiff_t>(at), offset);
      }
    }
    return !offsets.empty() && first + offsets.front() >= 0 && end + offsets.back() <= a.columns;
  }

  static void copy_block(const Matrix& a, std::int64_t block, const std::int64_t* columns, std::int64_t count,
                         T* values) {
    if (count == 0) return;
    std::fill_n(values, count * rows_in_block, T{});
    for (std::int64_t lane = 0; lane < rows_in_block; ++lane) {
      const std::int64_t row = block * rows_in_block + lane;
      std::int64_t diagonal = 0;
      for (std::int64_t q = a.begin(row); q < a.begin(row + 1); ++q) {
        while (columns[diagonal] + lane != static_cast<std::int64_t>(a.coordinates[q])) ++diagonal;
        values[diagonal * rows_in_block + lane] = a.values[q];
      }
    }
  }

  [[gnu::noinline]] void multiply_blocks(const Matrix& a, const T* __restrict x, T* __restrict y,
                                         std::int64_t begin, std::int64_t end, bool accumulates) const {
    const std::int64_t* const ends = ends_.data();
    for (std::int64_t block = begin; block < end;) {
      if (ends[block] < ends[block + 1]) {
        multiply_block(a, x, y, block, accumulates);
        ++block;
        continue;
      }
      const std::int64_t first = block;
      while (block < end && ends[block] == ends[block + 1]) ++block;
      SpmvRows<T, Position, Coordinate>::multiply(form_, a, x, y, first * rows_in_block,
                                                  std::min(block * rows_in_block, a.rows), accumulates);
    }
  }

  SPOROS_HOST_INLINE void multiply_block(const Matrix& a, const T* __restrict x, T* __restrict y,
                                         std::int64_t block, bool accumulates) const {
    constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T)), packets = rows_in_block / lanes;
    constexpr std::int64_t ahead = 16 * 64 / static_cast<std::int64_t>(sizeof(T));
    using Lanes = Packet<T, lanes>;
    const T* values = values_.data() + ends_.data()[block] * rows_in_block;
    T* const to = y + block * rows_in_block;
    Lanes sums[std::size_t{packets}];
    for (Lanes& sum : sums) sum = Lanes::zero();
    for (std::int64_t at = ends_.data()[block]; at < ends_.data()[block + 1]; ++at, values += rows_in_block) {
      const T* const factors = x + columns_.data()[at];
      unrolled<packets>([&] SPOROS_INLINE_LAMBDA(auto p) {
        Lanes value, factor;
        SPOROS_PREFETCH(values + ahead + p * lanes);
        value.load(values + p * lanes, 0);
        factor.load(factors + p * lanes, 0);
        sums[p].add_product(value, factor);
      });
    }
    // Padding multiplies zero by an element, which gives NaN if that is infinite or NaN: then the rows are
    // summed again without padding.
    Lanes check = Lanes::zero();
    unrolled<packets>([&] SPOROS_INLINE_LAMBDA(auto p) {
      Lanes one = sums[p];
      one.add(-one);
      check.add(one);
    });
    if (has_nan(check)) [[unlikely]] {
      for (std::int64_t row = 0; row < rows_in_block; ++row)
        to[row] = sum_of_row(a, block * rows_in_block + row, x) + (accumulates ? to[row] : T{});
      return;
    }
    unrolled<packets>([&] SPOROS_INLINE_LAMBDA(auto p) { store_sums(sums[p], accumulates, to + p * lanes); });
  }

  HostArray<std::int64_t> ends_;     // [blocks + 1]
  HostArray<std::int64_t> columns_;  // [diagonals], those of the first lane
  HostArray<T> values_;              // [diagonals][rows_in_block]
  SpmvForm form_ = SpmvForm::scalar;
};

}  // namespace sporos::detail
