// SPDX-License-Identifier: Apache-2.0
/// @file edge_list.hpp
/// Edge lists and CSV files of a matrix: each line has a row, a column and possibly a value. Reading.
///
///     # comments begin with # or %          source,target,weight
///     0 1 0.5                               0,1,0.5
///     2 0 1.5                               2,0,1.5
///
/// Fields are separated by commas, tabs or spaces. One line of names may precede the first edge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "../../core/entries.hpp"
#include "block_worker.hpp"
#include "entry_store.hpp"
#include "memory_errors.hpp"
#include "number.hpp"
#include "read_options.hpp"
#include "text_source.hpp"

namespace sporos {

/// What the first lines of an edge list show.
struct EdgeListHeader {
  int columns = 0;         ///< 2, or 3 with values
  std::int64_t lines = 0;  ///< number of lines before the first edge
};

namespace io {

constexpr bool ends_field(char c) { return ends_number(c) || c == ','; }

/// Skips the blanks, and at most one comma, before the next field.
inline const char* skip_separator(const char* p) {
  p = skip_blanks(p);
  return *p == ',' ? skip_blanks(p + 1) : p;
}

/// Counts the fields of a line; there is an empty field between two commas.
inline int count_fields(const char* p) {
  int fields = 0;
  for (p = skip_blanks(p); *p != '\n';) {
    ++fields;
    while (!ends_field(*p)) ++p;
    p = skip_blanks(p);
    if (*p != ',') continue;
    p = skip_blanks(p + 1);
    if (*p == '\n') ++fields;
  }
  return fields;
}

/// The field at `p` as a separate text, which parsers of numbers can read.
inline std::string field_text(const char* p) {
  std::string field;
  for (; !ends_field(*p); ++p) field += *p;
  return field.append(1 + text_padding, '\n');
}

/// Whether a line with this first character has no edge and may occur anywhere: it is blank or a comment.
constexpr bool is_no_edge(char first) { return first == '\n' || first == '#' || first == '%'; }

/// Reads what precedes the first edge: comments, and a line of names.
inline EdgeListHeader take_edge_list_header(TextSource& source) {
  EdgeListHeader header;
  int names = 0;
  while (const char* const line = peek_line(source)) {
    const char* const first = skip_blanks(line);
    const std::int64_t number = source.lines_taken() + 1;
    const int fields = is_no_edge(*first) ? 0 : count_fields(first);
    if (fields > 0) {
      if (fields != 2 && fields != 3)
        throw ParseError(source.name(), number,
                         text("found ", fields, fields == 1 ? " column" : " columns",
                              ", expected a row, a column and possibly a value"));
      if (names > 0 && fields != names)
        throw ParseError(
            source.name(), number,
            text("found ", fields, " columns, expected ", names, ", one under each name of the line above"));
      if (names > 0 || is_digit(*first) || *first == '-' || *first == '+') {
        header.columns = fields;
        break;
      }
      names = fields;
    }
    take_line(source);
  }
  header.lines = source.lines_taken();
  if (header.columns == 0)
    throw ParseError(source.name(), header.lines,
                     header.lines == 0 ? "the file is empty, expected an edge list"
                                       : "the file ends before its first edge");
  return header;
}

/// Data shared by all threads that read one edge list.
template <class Value>
struct EdgeListJob {
  TextSource& source;
  int columns;
  std::int64_t first_node;
  TextPlace place;
  Extents<2> extents{};  ///< those of the edges read so far
  EntryStore<Value, 2> store{};
};

/// Parses lines of two or three fields.
template <class Value>
class EdgeListWorker final : public BlockWorker {
 public:
  explicit EdgeListWorker(EdgeListJob<Value>& job) : BlockWorker(job.source, job.place), job_(job) {}

 private:
  void parse(std::string_view block) override {
    const char* p = block.data();
    const char* const end = p + block.size();
    const std::size_t most = block.size() / 4 + 1;  // "1 1\n"
    for (auto& mode : coordinates_) mode.reserve(most);
    values_.reserve(most);
    extents_ = {};
    std::size_t count = 0;
    std::int64_t lines = 0;
    for (; p != end; ++lines) {
      p = skip_blanks(p);
      if (is_no_edge(*p)) [[unlikely]] {
        p = skip_line(p, end);
        continue;
      }
      const char* const next = parse_edge(p, end, count);
      if (!next) [[unlikely]] {
        finish(lines, count);
        throw LineFault{lines, fault(p)};
      }
      ++count;
      p = next;
    }
    finish(lines, count);
  }

  void finish(std::int64_t lines, std::size_t count) {
    lines_ = lines;
    entries_ = static_cast<std::int64_t>(count);
  }

  const char* parse_edge(const char* p, const char* end, std::size_t at) {
    for (std::size_t mode = 0; mode < 2; ++mode) {
      std::uint64_t node = 0;
      p = parse_unsigned(p, node);
      const std::uint64_t place = node - static_cast<std::uint64_t>(job_.first_node);
      if (!p || !ends_field(*p) || place >= static_cast<std::uint64_t>(INT64_MAX)) return nullptr;
      const auto coordinate = static_cast<std::int64_t>(place);
      coordinates_[mode].data()[at] = coordinate;
      extents_[mode] = std::max(extents_[mode], coordinate + 1);
      if (mode == 0 || job_.columns == 3) p = skip_separator(p);
    }
    Value& value = values_.data()[at];
    if (job_.columns == 2) {
      value = Value(1);
    } else {
      p = parse_weight(p, end, value);
      if (!p || !ends_number(*p)) return nullptr;
    }
    p = skip_blanks(p);
    return *p == '\n' ? p + 1 : nullptr;
  }

  static const char* parse_weight(const char* p, const char* end, Value& value) {
    if constexpr (is_complex_v<Value>) {
      typename Value::value_type real = 0;
      p = parse_scalar<typename Value::value_type, Field::real>(p, end, real);
      value = Value(real, 0);
      return p;
    } else {
      return parse_scalar<Value, Field::real>(p, end, value);
    }
  }

  void place(std::string_view, double read_part) override {
    if (entries_ == 0) return;
    for (std::size_t mode = 0; mode < 2; ++mode)
      job_.extents[mode] = std::max(job_.extents[mode], extents_[mode]);
    slot_ = job_.store.reserve(entries_, read_part);
  }

  void after() override {
    const auto count = static_cast<std::size_t>(entries_);
    if (count == 0) return;
    for (std::size_t mode = 0; mode < 2; ++mode)
      std::memcpy(slot_.coordinates[mode], coordinates_[mode].data(), count * sizeof(std::int64_t));
    std::memcpy(static_cast<void*>(slot_.values), values_.data(), count * sizeof(Value));
  }

  /// Says what is wrong with the line at `p`.
  std::string fault(const char* p) const {
    if (const int fields = count_fields(p); fields != job_.columns)
      return text("found ", fields, fields == 1 ? " column" : " columns", ", expected ", job_.columns,
                  ", as the first edge has");
    for (int column = 1; column <= 2; ++column, p = skip_separator(p)) {
      const std::string field = field_text(p);
      std::int64_t node = 0;
      const char* const next = parse_count(field.data(), node);
      const std::string expected = text(", expected a ", column == 1 ? "row" : "column", ", an integer from ",
                                        job_.first_node, " to 2^63 - 2");
      if (!next) return text("column ", column, ": found ", found_field(field), expected);
      if (node < job_.first_node)
        return text("column ", column, " is ", node, expected,
                    ": is this list counted from 0? (ReadOptions::first_node)");
      if (node - job_.first_node == INT64_MAX) return text("column ", column, " is ", node, expected);
      while (!ends_field(*p)) ++p;
    }
    const std::string field = field_text(p);
    return text("column 3: ", why_no_weight(field));
  }

  static std::string found_field(const std::string& field) {
    return field.front() == '\n' ? "nothing" : found(field.data());
  }

  static std::string why_no_weight(const std::string& field) {
    if (field.front() == '\n') return "found nothing, expected a real number";
    const char* const end = field.data() + field.size() - text_padding;
    if constexpr (is_complex_v<Value>)
      return why_no_value<typename Value::value_type, Field::real>(field.data(), end);
    else
      return why_no_value<Value, Field::real>(field.data(), end);
  }

  EdgeListJob<Value>& job_;
  Extents<2> extents_{};
  Scratch<std::int64_t> coordinates_[2];
  Scratch<Value> values_;
  typename EntryStore<Value, 2>::Slot slot_{};
};

}  // namespace io

/// The entries of an edge list, in the order of the text; see read_edge_list_entries(path).
template <TensorValue Value>
Entries<Value, 2> read_edge_list_entries(io::TextSource& source, const ReadOptions& options = {}) {
  const EdgeListHeader header = io::take_edge_list_header(source);
  io::EdgeListJob<Value> job{source, header.columns, options.first_node, {header.lines, 0}};
  io::InOrder::run(io::worker_count(source, options),
                   [&] { return std::make_unique<io::EdgeListWorker<Value>>(job); });
  if (!options.bipartite) job.extents[0] = job.extents[1] = std::max(job.extents[0], job.extents[1]);
  return job.store.take(job.extents);
}

/// The entries of an edge list or CSV file, plain or gzip, in the order of the file. A line has a row, a
/// column and possibly a value, which is otherwise 1. The extents are the largest row and column, counted
/// from options.first_node; the matrix is square, like that of a graph, unless options.bipartite is set.
/// Edges keep their direction. Duplicates and zeros are kept. Cost: linear in the text, parallel over blocks.
///
/// @throws ParseError naming file, line and column for malformed text, lines whose number of columns differs
/// from the first line's, and values that `Value` cannot hold; IoError if the file cannot be read;
/// MemoryError
template <TensorValue Value>
Entries<Value, 2> read_edge_list_entries(const std::string& path, const ReadOptions& options = {}) {
  expect_kokkos();
  return io::reading(path, [&] {
    io::TextSource source(path, io::text_options(options));
    return read_edge_list_entries<Value>(source, options);
  });
}

}  // namespace sporos
