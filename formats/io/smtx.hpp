// SPDX-License-Identifier: Apache-2.0
/// @file smtx.hpp
/// DLMC .smtx files: the pattern of a pruned weight matrix by rows. Reading, writing.
///
///     3, 4, 5         rows, columns, nonzeros
///     0 2 2 5         where each row begins, and where the last one ends
///     1 3 0 2 3       the columns, row after row, from 0
///
/// T. Gale, M. Zaharia, C. Young, E. Elsen, "Sparse GPU Kernels for Deep Learning", SC 2020 (the Deep
/// Learning Matrix Collection).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/entries.hpp"
#include "../value_cast.hpp"
#include "block_worker.hpp"
#include "entry_store.hpp"
#include "memory_errors.hpp"
#include "number.hpp"
#include "read_options.hpp"
#include "text_sink.hpp"
#include "text_source.hpp"

namespace sporos {

/// The information in the first line of a .smtx file.
struct SmtxHeader {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stored = 0;  ///< entries
};

namespace io {

/// Parses the first line: three counts, separated by a comma or blanks.
inline SmtxHeader take_smtx_header(TextSource& source) {
  const char* p = take_line(source);
  if (!p) throw ParseError(source.name(), 0, "the file is empty, expected a .smtx file");
  SmtxHeader header;
  const std::array<std::int64_t*, 3> sizes = {&header.rows, &header.columns, &header.stored};
  constexpr std::array<std::string_view, 3> names = {"rows", "columns", "entries"};
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    p = skip_blanks(p);
    std::uint64_t size = 0;
    const char* const next = parse_unsigned(p, size);
    if (!next || !(ends_number(*next) || *next == ',') || size >= static_cast<std::uint64_t>(INT64_MAX))
      throw ParseError(source.name(), 1,
                       text("found ", found(p), ", expected the number of ", names[k],
                            " of a line 'rows, columns, entries'"));
    *sizes[k] = static_cast<std::int64_t>(size);
    p = skip_blanks(next);
    if (*p == ',' && k < 2) ++p;
  }
  if (*p != '\n')
    throw ParseError(source.name(), 1,
                     text("found ", found(p), " after the three sizes, expected the end of the line"));
  return header;
}

/// How a .smtx text is read: its second and third lines are long.
inline TextOptions smtx_text_options(const ReadOptions& options) {
  TextOptions text = text_options(options, Cut::at_words);
  text.block_bytes =
      std::max(text.block_bytes, std::size_t{1} << 12);  // so that the first line fits in one block
  return text;
}

/// Data shared by all threads that read one .smtx file.
template <class Value>
struct SmtxJob {
  TextSource& source;
  SmtxHeader header;
  TextPlace place{1, 0};
  std::vector<std::int64_t> offsets{};  ///< complete, and constant, before the first column is read
  EntryStore<Value, 2> store;
};

/// Parses blocks of integers and line ends; in file order, separates the row offsets of line 2 from the
/// columns of line 3.
template <class Value>
class SmtxWorker final : public BlockWorker {
 public:
  explicit SmtxWorker(SmtxJob<Value>& job) : BlockWorker(job.source, job.place), job_(job) {}

 private:
  void parse(std::string_view block) override {
    const char* p = block.data();
    const char* const end = p + block.size();
    numbers_.reserve(block.size() / 2 + 1);
    line_ends_.clear();
    std::int64_t* number = numbers_.data();
    while (p != end) {
      p = skip_blanks(p);
      if (p == end) break;
      if (*p == '\n') {
        line_ends_.push_back(number - numbers_.data());
        ++p;
        continue;
      }
      const char* const next = parse_count(p, *number);
      if (!next) {
        finish(number);
        throw LineFault{lines_, text("found ", found(p), ", expected an integer from 0 to 2^63 - 1")};
      }
      ++number;
      p = next;
    }
    finish(number);
  }

  void finish(const std::int64_t* number) {
    count_ = number - numbers_.data();
    lines_ = static_cast<std::int64_t>(line_ends_.size());
  }

  void place(std::string_view, double read_part) override {
    first_column_ = columns_ = 0;
    std::int64_t begin = 0;
    for (std::int64_t line = 0; line <= lines_; ++line) {
      const bool ends_here = line < lines_;
      const std::int64_t end = ends_here ? line_ends_[static_cast<std::size_t>(line)] : count_;
      take(line, begin, end, ends_here, read_part);
      begin = end;
    }
  }

  /// Takes numbers `begin` to `end`, which are on line `line` of this block. The line ends after them or
  /// continues in the next block.
  void take(std::int64_t line, std::int64_t begin, std::int64_t end, bool ends, double read_part) {
    const std::int64_t file_line = so_far().lines + line + 1;
    const std::int64_t* const numbers = numbers_.data();
    const SmtxHeader& header = job_.header;
    if (file_line == 2) {
      for (std::int64_t q = begin; q < end; ++q) take_offset(line, numbers[q]);
      const auto count = static_cast<std::int64_t>(job_.offsets.size());
      if (ends && count != header.rows + 1)
        throw LineFault{line, text("found ", count, " row offsets, expected ", header.rows + 1,
                                   ", one more than the rows")};
      if (ends && job_.offsets.back() != header.stored)
        throw LineFault{line, text("the last row offset is ", job_.offsets.back(), ", expected ",
                                   header.stored, ", the number of entries")};
    } else if (file_line == 3) {
      const std::int64_t before = job_.place.entries;
      const std::int64_t expected = std::min(end - begin, header.stored - before);
      for (std::int64_t q = begin; q < begin + expected; ++q)
        if (numbers[q] >= header.columns)
          throw LineFault{line, text("column ", numbers[q], " (entry ", before + q - begin,
                                     ") is out of range, expected 0 to ", header.columns - 1)};
      if (end - begin > expected)
        throw LineFault{line, text("found more columns than the ", header.stored, " entries of line 1")};
      first_column_ = begin;
      columns_ = entries_ = end - begin;
      if (columns_ > 0) slot_ = job_.store.reserve(columns_, read_part);
      first_entry_ = before;
      const std::int64_t count = before + columns_;
      if (ends && count != header.stored)
        throw LineFault{line, text("found ", count, " columns, expected ", header.stored,
                                   ", the number of entries: the line was cut off")};
    } else if (end > begin) {
      throw LineFault{line,
                      text("found ", numbers[begin], " after the columns, expected the end of the file")};
    }
  }

  void take_offset(std::int64_t line, std::int64_t offset) {
    std::vector<std::int64_t>& offsets = job_.offsets;
    const auto row = static_cast<std::int64_t>(offsets.size());
    const std::int64_t least = offsets.empty() ? 0 : offsets.back();
    if (row > job_.header.rows)
      throw LineFault{line,
                      text("found more than ", job_.header.rows + 1, " row offsets, one more than the rows")};
    if (offset < least || offset > job_.header.stored || (row == 0 && offset != 0))
      throw LineFault{line,
                      text("row offset ", row, " is ", offset, ", expected ",
                           row == 0 ? std::string("0") : text("from ", least, " to ", job_.header.stored))};
    offsets.push_back(offset);
  }

  void after() override {
    if (columns_ == 0) return;
    const auto count = static_cast<std::size_t>(columns_);
    std::memcpy(slot_.coordinates[1], numbers_.data() + first_column_, count * sizeof(std::int64_t));
    std::fill_n(slot_.values, count, Value(1));
    const std::vector<std::int64_t>& offsets = job_.offsets;
    auto next_row = std::upper_bound(offsets.begin(), offsets.end(), first_entry_);
    for (std::size_t q = 0; q < count; ++q) {
      while (*next_row <= first_entry_ + static_cast<std::int64_t>(q)) ++next_row;
      slot_.coordinates[0][q] = next_row - offsets.begin() - 1;
    }
  }

  SmtxJob<Value>& job_;
  Scratch<std::int64_t> numbers_;
  std::int64_t count_ = 0;
  std::vector<std::int64_t> line_ends_;  ///< how many numbers of the block precede each newline
  std::int64_t first_column_ = 0, columns_ = 0;
  std::int64_t first_entry_ = 0;
  typename EntryStore<Value, 2>::Slot slot_{};
};

}  // namespace io

/// Reads the first line of a .smtx file, plain or gzip. Throws ParseError, IoError.
inline SmtxHeader read_smtx_header(const std::string& path) {
  io::TextSource source(path, io::header_options(io::Cut::at_words));
  return io::take_smtx_header(source);
}

/// The entries of a .smtx text, in the order of the text; see read_smtx_entries(path).
template <TensorValue Value>
Entries<Value, 2> read_smtx_entries(io::TextSource& source, const ReadOptions& options = {}) {
  const SmtxHeader header = io::take_smtx_header(source);
  io::SmtxJob<Value> job{source, header, {1, 0}, {}, io::EntryStore<Value, 2>(header.stored)};
  io::InOrder::run(io::worker_count(source, options),
                   [&] { return std::make_unique<io::SmtxWorker<Value>>(job); });
  if (job.place.lines < 2)
    throw ParseError(source.name(), job.place.lines,
                     "the file ends before its line of row offsets: it was cut off");
  if (header.stored > job.place.entries)
    throw ParseError(source.name(), job.place.lines,
                     text("the file ends after ", job.place.entries, " of the ", header.stored,
                          " columns that line 1 announces: it was cut off"));
  return job.store.take({header.rows, header.columns});
}

/// The entries of a DLMC .smtx file, plain or gzip, row by row; all values are 1. Cost: linear in the text,
/// parallel over blocks.
///
/// @throws ParseError naming file and line for malformed text; IoError if the file cannot be read;
/// MemoryError
template <TensorValue Value>
Entries<Value, 2> read_smtx_entries(const std::string& path, const ReadOptions& options = {}) {
  expect_kokkos();
  return io::reading(path, [&] {
    io::TextSource source(path, io::smtx_text_options(options));
    return read_smtx_entries<Value>(source, options);
  });
}

/// How entries are written as a .smtx file.
struct SmtxWriteOptions {
  bool drop_values =
      false;           ///< off: values other than 1 cause a FormatError, since the file cannot hold values
  int threads = 0;     ///< for formatting and compressing; 0: as many as the default host space has
  int gzip_level = 6;  ///< 1 (fast) to 9 (small), for names that end in .gz
};

/// Writes the coordinates of `entries`, row by row, as a DLMC .smtx file, compressed if `path` ends in .gz.
/// The entries of one row keep their order. The file appears when it is complete; until then, an old file
/// with that name remains. Cost: linear in entries and rows, parallel over pieces.
///
/// @throws FormatError if values would be lost; IoError if the file cannot be written; MemoryError
template <TensorValue Value>
void write_smtx(const std::string& path, const Entries<Value, 2>& entries,
                const SmtxWriteOptions& options = {}) {
  io::writing(path, entries, [&] {
    const std::int64_t* const rows = entries.coordinates[0].data();
    const std::int64_t* const columns = entries.coordinates[1].data();
    if (!options.drop_values)
      for (std::int64_t q = 0; q < entries.size(); ++q)
        if (!(entries.values(static_cast<std::size_t>(q)) == Value(1)))
          throw FormatError(
              text(path, ": the value at (", rows[q], ", ", columns[q], ") is ",
                   value_text(entries.values(static_cast<std::size_t>(q))),
                   ", and a .smtx file holds a pattern alone: write a .mtx or .tns file, or set "
                   "SmtxWriteOptions::drop_values"));
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(entries.extents[0]) + 1);
    for (std::int64_t q = 0; q < entries.size(); ++q) ++offsets[static_cast<std::size_t>(rows[q]) + 1];
    for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
    std::vector<std::int64_t> sorted(static_cast<std::size_t>(entries.size()));
    std::vector<std::int64_t> next(offsets.begin(), offsets.end());
    for (std::int64_t q = 0; q < entries.size(); ++q)
      sorted[static_cast<std::size_t>(next[static_cast<std::size_t>(rows[q])]++)] = columns[q];

    io::TextSink sink(path, options.gzip_level);
    sink.put(text(entries.extents[0], ", ", entries.extents[1], ", ", entries.size(), '\n'));
    for (const std::vector<std::int64_t>* line : {&offsets, &sorted}) {
      const auto count = static_cast<std::int64_t>(line->size());
      io::put_lines(sink, count, io::scalar_width, options.threads, [&](std::int64_t q, char* p) {
        p = io::format_scalar(p, (*line)[static_cast<std::size_t>(q)]);
        *p++ = q + 1 < count ? ' ' : '\n';
        return p;
      });
      if (count == 0) sink.put("\n");
    }
    sink.commit();
  });
}

}  // namespace sporos
