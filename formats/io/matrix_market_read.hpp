// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market_read.hpp
/// Reading the entries of a Matrix Market file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/entries.hpp"
#include "block_worker.hpp"
#include "entry_store.hpp"
#include "matrix_market_header.hpp"
#include "matrix_market_triangles.hpp"
#include "memory_errors.hpp"
#include "number.hpp"
#include "read_options.hpp"
#include "text_source.hpp"

namespace sporos {
namespace io {

/// Data shared by all threads that read one Matrix Market file.
template <class Value>
struct MatrixMarketJob {
  MatrixMarketJob(TextSource& text_source, const MatrixMarketHeader& given, const ReadOptions& options)
      : source(text_source),
        header(given),
        one_triangle(given.symmetry != MatrixMarketSymmetry::general),
        expand(options.expand_symmetry && one_triangle),
        strict(options.strict),
        store(expand && given.stored <= INT64_MAX / 2 ? 2 * given.stored : given.stored) {}

  TextSource& source;
  const MatrixMarketHeader header;
  const bool one_triangle;  ///< each entry off the diagonal stands for two
  const bool expand;        ///< whether those two are stored
  const bool strict;
  TextPlace place{header.size_line, 0};
  EntryStore<Value, 2> store;
  std::int64_t next_row = 0, next_column = 0;  ///< for a symmetric array: where the next block begins
  std::int64_t above = 0, below = 0;  ///< for symmetric coordinates: entries above and below the diagonal
  EntryLines lines;                   ///< likewise
};

/// -x for a skew-symmetric file, the conjugate for a hermitian one, else x.
template <class Value>
Value mirrored(Value x, MatrixMarketSymmetry symmetry) {
  if constexpr (is_complex_v<Value>) {
    if (symmetry == MatrixMarketSymmetry::hermitian) return Value(x.real(), -x.imag());
  }
  if (symmetry != MatrixMarketSymmetry::skew_symmetric) return x;
  if constexpr (is_narrow_float_v<Value>)
    return Value(-static_cast<float>(x));
  else if constexpr (std::is_unsigned_v<Value>)
    return x;
  else
    return static_cast<Value>(-x);
}

/// Whether `Value` can also hold the mirror image of `x`; false for the smallest integer in a skew-symmetric
/// file.
template <class Value>
bool has_mirror(Value x, MatrixMarketSymmetry symmetry) {
  if constexpr (std::signed_integral<Value>)
    return symmetry != MatrixMarketSymmetry::skew_symmetric || x != std::numeric_limits<Value>::min();
  else
    return true;
}

/// Parses lines "row column value" whose value is text of field `F`.
template <class Value, Field F>
class CoordinateWorker final : public BlockWorker {
 public:
  explicit CoordinateWorker(MatrixMarketJob<Value>& job)
      : BlockWorker(job.source, job.place), job_(job), header_(job.header) {}

 private:
  void parse(std::string_view block) override {
    const char* p = block.data();
    const char* const end = p + block.size();
    constexpr std::size_t shortest = F == Field::pattern ? 4 : F == Field::complex ? 8 : 6;  // "1 1\n", …
    const std::size_t most = block.size() / shortest + 1;
    rows_.reserve(most);
    columns_.reserve(most);
    values_.reserve(most);
    std::int64_t* row = rows_.data();
    std::int64_t* column = columns_.data();
    Value* value = values_.data();
    const auto rows = static_cast<std::uint64_t>(header_.rows);
    const auto columns = static_cast<std::uint64_t>(header_.columns);
    const bool one_triangle = job_.one_triangle;
    std::int64_t lines = 0, diagonal = 0, above = 0;
    gaps_.clear();
    for (; p != end; ++lines) {
      p = skip_blanks(p);
      if (*p == '\n') [[unlikely]] {
        if (one_triangle) gaps_.push_back(lines);
        ++p;
        continue;
      }
      std::uint64_t i = 0, j = 0;
      const char* const next = parse_entry(p, end, i, j, *value);
      // i - 1 wraps to a huge number for i = 0.
      if (!next || i - 1 >= rows || j - 1 >= columns || (one_triangle && !fits_symmetry(i, j, *value)))
          [[unlikely]] {
        if (*p == '%') {
          if (one_triangle) gaps_.push_back(lines);
          p = skip_line(p, end);
          continue;
        }
        lines_ = lines;
        entries_ = value - values_.data();
        throw LineFault{lines, fault(p, end)};
      }
      diagonal += i == j;
      above += i < j;
      *row++ = static_cast<std::int64_t>(i - 1);
      *column++ = static_cast<std::int64_t>(j - 1);
      ++value;
      p = next;
    }
    lines_ = lines;
    entries_ = value - values_.data();
    diagonal_ = diagonal;
    above_ = above;
  }

  void place(std::string_view block, double read_part) override {
    const std::int64_t left = header_.stored - so_far().entries;
    if (entries_ > left)
      throw LineFault{line_of_entry(block, left, '%'), text("more entries than the ", header_.stored,
                                                            " that line ", header_.size_line, " announces")};
    if (entries_ == 0) return;
    slot_ = job_.store.reserve(job_.expand ? 2 * entries_ - diagonal_ : entries_, read_part);
    if (!job_.one_triangle) return;
    job_.above += above_;
    job_.below += entries_ - diagonal_ - above_;
    job_.lines.add(so_far().lines, entries_, std::move(gaps_));
  }

  void after() override {
    const auto count = static_cast<std::size_t>(entries_);
    if (count == 0) return;
    if (!job_.expand) {
      std::memcpy(slot_.coordinates[0], rows_.data(), count * sizeof(std::int64_t));
      std::memcpy(slot_.coordinates[1], columns_.data(), count * sizeof(std::int64_t));
      std::memcpy(static_cast<void*>(slot_.values), values_.data(), count * sizeof(Value));
      return;
    }
    std::size_t at = 0;
    const auto put = [&](std::int64_t i, std::int64_t j, Value x) {
      slot_.coordinates[0][at] = i;
      slot_.coordinates[1][at] = j;
      slot_.values[at++] = x;
    };
    for (std::size_t q = 0; q < count; ++q) {
      const std::int64_t i = rows_.data()[q], j = columns_.data()[q];
      const Value x = values_.data()[q];
      put(i, j, x);
      if (i != j) put(j, i, mirrored(x, header_.symmetry));
    }
  }

  /// Parses one line; returns nullptr if something is wrong with it.
  static const char* parse_entry(const char* p, const char* end, std::uint64_t& i, std::uint64_t& j,
                                 Value& value) {
    p = parse_unsigned(p, i);
    if (!p || !is_blank(*p)) return nullptr;
    p = parse_unsigned(skip_blanks(p), j);
    if (!p) return nullptr;
    if constexpr (F == Field::pattern) {
      value = Value(1);
    } else {
      if (!is_blank(*p)) return nullptr;
      p = parse_value<Value, F>(skip_blanks(p), end, value);
      if (!p) return nullptr;
    }
    p = skip_blanks(p);
    return *p == '\n' ? p + 1 : nullptr;
  }

  /// Whether the symmetry of the file allows this entry.
  bool fits_symmetry(std::uint64_t i, std::uint64_t j, const Value& value) const {
    if (i < j && (job_.strict || !has_lower_image(value))) return false;
    if (i != j) return has_mirror(value, header_.symmetry);
    if (header_.symmetry == MatrixMarketSymmetry::skew_symmetric) return false;
    if constexpr (is_complex_v<Value>) {
      if (header_.symmetry == MatrixMarketSymmetry::hermitian) return value.imag() == 0;
    }
    return true;
  }

  /// Whether `Value` can hold the entry below the diagonal that an entry above it stands for: unsigned types
  /// hold no negative numbers. (If the symmetry is expanded, this is refused because of the banner.)
  bool has_lower_image(const Value& value) const {
    return !std::is_unsigned_v<Value> || header_.symmetry != MatrixMarketSymmetry::skew_symmetric ||
           value == Value{};
  }

  /// Says what is wrong with the line at `p`.
  std::string fault(const char* p, const char* end) const {
    std::int64_t i = 0, j = 0;
    const char* q = parse_count(p, i);
    if (!q) return text("found ", found(p), ", expected a row, an integer from 1 to ", header_.rows);
    if (i < 1 || i > header_.rows) return text("row ", i, " is out of range, expected 1 to ", header_.rows);
    p = skip_blanks(q);
    q = parse_count(p, j);
    if (!q) return text("found ", found(p), ", expected a column, an integer from 1 to ", header_.columns);
    if (j < 1 || j > header_.columns)
      return text("column ", j, " is out of range, expected 1 to ", header_.columns);
    p = skip_blanks(q);
    Value value{};
    if constexpr (F != Field::pattern) {
      q = parse_value<Value, F>(p, end, value);
      if (!q) return why_no_value<Value, F>(p, end);
      p = skip_blanks(q);
    }
    if (*p != '\n')
      return text("found ", found(p), " after the entry, expected the end of the line",
                  F == Field::pattern ? " (a pattern has no values)" : "");
    const std::string at = text("entry (", i, ", ", j, ") ");
    if (i < j && job_.strict)
      return at + text("lies above the diagonal: a ", to_string(header_.symmetry),
                       " file holds the lower triangle alone");
    if (i < j && !has_lower_image(value))
      return at + text("lies above the diagonal, and ", value_name<Value>(),
                       " cannot hold the negative below it: read it as a signed type");
    if (i != j) return at + text("is the smallest ", value_name<Value>(), ": its negative does not fit");
    if (header_.symmetry == MatrixMarketSymmetry::skew_symmetric)
      return at + "lies on the diagonal, which is zero in a skew-symmetric matrix and not stored";
    return at + "lies on the diagonal of a hermitian matrix, but its imaginary part is not zero";
  }

  MatrixMarketJob<Value>& job_;
  const MatrixMarketHeader& header_;
  Scratch<std::int64_t> rows_, columns_;
  Scratch<Value> values_;
  std::int64_t diagonal_ = 0;       ///< entries of the block with equal coordinates
  std::int64_t above_ = 0;          ///< entries of the block above the diagonal
  std::vector<std::int64_t> gaps_;  ///< for a symmetric file: lines of the block without an entry
  typename EntryStore<Value, 2>::Slot slot_{};
};

/// Parses lines of one value each, as text of field `F`: column by column; for a symmetric matrix, the lower
/// triangle.
template <class Value, Field F>
class ArrayWorker final : public BlockWorker {
 public:
  explicit ArrayWorker(MatrixMarketJob<Value>& job)
      : BlockWorker(job.source, job.place), job_(job), header_(job.header) {}

 private:
  void parse(std::string_view block) override {
    const char* p = block.data();
    const char* const end = p + block.size();
    values_.reserve(block.size() / 2 + 1);
    Value* value = values_.data();
    std::int64_t lines = 0;
    for (; p != end; ++lines) {
      p = skip_blanks(p);
      if (*p == '\n') {
        ++p;
        continue;
      }
      const char* next = parse_value<Value, F>(p, end, *value);
      if (next) next = skip_blanks(next);
      if (!next || *next != '\n' || !has_mirror(*value, header_.symmetry)) [[unlikely]] {
        if (*p == '%') {
          p = skip_line(p, end);
          continue;
        }
        lines_ = lines;
        entries_ = value - values_.data();
        throw LineFault{lines, fault(p, next, end)};
      }
      ++value;
      p = next + 1;
    }
    lines_ = lines;
    entries_ = value - values_.data();
  }

  void place(std::string_view block, double read_part) override {
    const std::int64_t left = header_.stored - so_far().entries;
    const std::int64_t excess = std::max<std::int64_t>(entries_ - left, 0);
    if (entries_ > excess) find_coordinates(so_far().entries, entries_ - excess, block);
    if (excess > 0)
      throw LineFault{line_of_entry(block, left, '%'),
                      text("more values than the ", header_.stored, " of the array that line ",
                           header_.size_line, " announces")};
    if (entries_ == 0) return;
    slot_ = job_.store.reserve(job_.expand ? 2 * entries_ - diagonal_ : entries_, read_part);
  }

  /// Says what is wrong with the line at `p`, whose value ends at `next` (nullptr if it does not begin with
  /// one).
  static std::string fault(const char* p, const char* next, const char* end) {
    if (!next) return why_no_value<Value, F>(p, end);
    if (*next != '\n') return text("found ", found(next), " after the value, expected the end of the line");
    return text("the value is the smallest ", value_name<Value>(), ": its negative does not fit");
  }

  /// Finds row and column of the block's first value, and how many of its first `count` values are on the
  /// diagonal.
  void find_coordinates(std::int64_t first, std::int64_t count, std::string_view block) {
    using enum MatrixMarketSymmetry;
    if (header_.symmetry == general) {
      row_ = first % header_.rows;
      column_ = first / header_.rows;
      return;
    }
    // The previous block, whose turn was just before, has stored here the place after its last value.
    row_ = job_.next_row;
    column_ = job_.next_column;
    const std::int64_t below = header_.symmetry == skew_symmetric ? 1 : 0;
    if (first == 0) {
      row_ = below;
      column_ = 0;
    }
    std::int64_t i = row_, j = column_;
    diagonal_ = 0;
    for (std::int64_t q = 0; q < count; ++q) {
      diagonal_ += i == j;
      if constexpr (is_complex_v<Value>) {
        if (i == j && header_.symmetry == hermitian && !(values_.data()[q].imag() == 0))
          throw LineFault{
              line_of_entry(block, q, '%'),
              text("value (", i + 1, ", ", j + 1,
                   ") lies on the diagonal of a hermitian matrix, but its imaginary part is not zero")};
      }
      if (++i == header_.rows) i = ++j + below;
    }
    job_.next_row = i;
    job_.next_column = j;
  }

  void after() override {
    std::int64_t i = row_, j = column_;
    const std::int64_t below = header_.symmetry == MatrixMarketSymmetry::skew_symmetric ? 1 : 0;
    std::size_t at = 0;
    const auto put = [&](std::int64_t r, std::int64_t c, Value x) {
      slot_.coordinates[0][at] = r;
      slot_.coordinates[1][at] = c;
      slot_.values[at++] = x;
    };
    for (std::int64_t q = 0; q < entries_; ++q) {
      const Value x = values_.data()[q];
      put(i, j, x);
      if (job_.expand && i != j) put(j, i, mirrored(x, header_.symmetry));
      if (++i == header_.rows) {
        ++j;
        i = header_.symmetry == MatrixMarketSymmetry::general ? 0 : j + below;
      }
    }
  }

  MatrixMarketJob<Value>& job_;
  const MatrixMarketHeader& header_;
  Scratch<Value> values_;
  std::int64_t row_ = 0, column_ = 0, diagonal_ = 0;
  typename EntryStore<Value, 2>::Slot slot_{};
};

/// Replaces entries above the diagonal by their mirror images.
template <class Value>
void move_below_diagonal(const Entries<Value, 2>& entries, MatrixMarketSymmetry symmetry) {
  for (std::size_t q = 0; q < static_cast<std::size_t>(entries.size()); ++q) {
    std::int64_t& i = entries.coordinates[0](q);
    std::int64_t& j = entries.coordinates[1](q);
    if (i >= j) continue;
    std::swap(i, j);
    entries.values(q) = mirrored(entries.values(q), symmetry);
  }
}

/// Throws the ParseError for two entries that are mirror images, by their lines.
[[noreturn]] inline void refuse_mirror_images(const std::string& file, MatrixMarketSymmetry symmetry,
                                              std::int64_t first_line, std::int64_t second_line) {
  throw ParseError(file, second_line,
                   text("this entry and that of line ", first_line, " are mirror images: a ",
                        to_string(symmetry), " file holds one of the two"));
}

/// Completes the entries of a symmetric file with some above the diagonal.
template <class Value>
void finish_triangles(const MatrixMarketJob<Value>& job, const Entries<Value, 2>& entries) {
  if (job.below > 0)
    if (const auto images = first_mirror_images(entries, job.expand, job.above + job.below))
      refuse_mirror_images(job.source.name(), job.header.symmetry, job.lines.line_of(images->first),
                           job.lines.line_of(images->second));
  if (!job.expand) move_below_diagonal(entries, job.header.symmetry);
}

template <class Value, Field F>
Entries<Value, 2> read_matrix_market_body(MatrixMarketJob<Value>& job, int workers) {
  InOrder::run(workers, [&]() -> std::unique_ptr<PieceWorker> {
    if constexpr (F != Field::pattern) {
      if (job.header.layout == MatrixMarketLayout::array) return std::make_unique<ArrayWorker<Value, F>>(job);
    }
    return std::make_unique<CoordinateWorker<Value, F>>(job);
  });
  if (job.header.stored > job.place.entries)
    throw ParseError(job.source.name(), job.place.lines,
                     text("the file ends after ", job.place.entries, " of the ", job.header.stored,
                          " entries that line ", job.header.size_line, " announces: it was cut off"));
  const auto entries = job.store.take({job.header.rows, job.header.columns});
  if (job.above > 0) finish_triangles(job, entries);
  return entries;
}

}  // namespace io

/// The entries of a Matrix Market text, in the order of the text; see read_matrix_market_entries(path).
template <TensorValue Value>
Entries<Value, 2> read_matrix_market_entries(io::TextSource& source, const ReadOptions& options = {}) {
  const MatrixMarketHeader header = io::take_header(source);
  const int workers = io::worker_count(source, options);
  if constexpr (std::is_unsigned_v<Value>) {
    if (header.symmetry == MatrixMarketSymmetry::skew_symmetric && options.expand_symmetry)
      throw ParseError(source.name(), 1,
                       text("a skew-symmetric matrix has negative values, which ", value_name<Value>(),
                            " cannot hold: read it as a signed type"));
  }
  io::MatrixMarketJob<Value> job(source, header, options);
  switch (header.field) {
    case io::Field::complex:
      if constexpr (is_complex_v<Value>)
        return io::read_matrix_market_body<Value, io::Field::complex>(job, workers);
      else
        throw ParseError(source.name(), 1,
                         text("this file's values are complex, which ", value_name<Value>(),
                              " cannot hold: read it as Kokkos::complex<double>"));
    case io::Field::integer:
      return io::read_matrix_market_body<Value, io::Field::integer>(job, workers);
    case io::Field::pattern:
      return io::read_matrix_market_body<Value, io::Field::pattern>(job, workers);
    default:
      return io::read_matrix_market_body<Value, io::Field::real>(job, workers);
  }
}

/// The entries of a Matrix Market file, plain or gzip, coordinate or array, in the order of the file. A
/// symmetric matrix is expanded: each entry off the diagonal is followed by its mirror image, unless
/// options.expand_symmetry is off. Entries off the diagonal may lie on either side of it, but an entry and
/// its mirror image must not both be there. The values of a pattern are 1. A real file can be read into an
/// integer type only if all its values are integers. Duplicates and stored zeros are kept. Cost: linear in
/// the text, parallel over blocks; 16 bytes and one Value per entry. If a symmetric file has entries on both
/// sides of the diagonal, they are sorted: 32 bytes more per entry for a while.
///
/// @throws ParseError naming file and line for malformed text and values that `Value` cannot hold, and naming
/// the lines of two entries that are mirror images; IoError if the file cannot be read; MemoryError
template <TensorValue Value>
Entries<Value, 2> read_matrix_market_entries(const std::string& path, const ReadOptions& options = {}) {
  expect_kokkos();
  return io::reading(path, [&] {
    io::TextSource source(path, io::text_options(options));
    return read_matrix_market_entries<Value>(source, options);
  });
}

}  // namespace sporos
