// SPDX-License-Identifier: Apache-2.0
/// @file frostt.hpp
/// FROSTT .tns files: one entry per line, 1-based coordinates and a value. Reading, writing.
///
/// S. Smith et al., "FROSTT: The Formidable Repository of Open Sparse Tensors and Tools" (2017), frostt.io.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/entries.hpp"
#include "block_worker.hpp"
#include "entry_store.hpp"
#include "memory_errors.hpp"
#include "number.hpp"
#include "read_options.hpp"
#include "text_sink.hpp"
#include "text_source.hpp"

namespace sporos {
namespace io {

/// What precedes the entries of a .tns file, and what its first entry reveals.
struct TnsPreamble {
  std::int64_t numbers = 0;           ///< on the line of the first entry; 0 if there is no entry
  std::vector<std::int64_t> extents;  ///< empty if the file does not give them
  std::int64_t lines = 0;             ///< number of lines taken so far
};

inline std::int64_t count_words(const char* p) {
  std::int64_t words = 0;
  for (p = skip_blanks(p); *p != '\n'; p = skip_blanks(p), ++words)
    while (!ends_number(*p)) ++p;
  return words;
}

/// Parses a line of extents.
inline std::vector<std::int64_t> parse_extents(const char* p, const std::string& file, std::int64_t line) {
  std::vector<std::int64_t> extents;
  for (p = skip_blanks(p); *p != '\n'; p = skip_blanks(p)) {
    std::int64_t extent = 0;
    const char* const next = parse_count(p, extent);
    if (!next)
      throw ParseError(file, line,
                       text("found ", found(p), ", expected an extent, an integer from 0 to 2^63 - 1"));
    extents.push_back(extent);
    p = next;
  }
  return extents;
}

/// Whether the line from `p` on consists of counts only.
inline bool all_counts(const char* p) {
  std::int64_t count = 0;
  for (p = skip_blanks(p); p && *p != '\n'; p = p ? skip_blanks(p) : p) p = parse_count(p, count);
  return p != nullptr;
}

/// Reads what precedes the first entry: comments, and possibly the extents, either as a comment "# extents 5
/// 6 7" or as two lines "3" and "5 6 7". The latter is not ambiguous, since no entry is a single number.
inline TnsPreamble take_tns_preamble(TextSource& source) {
  constexpr std::string_view extents_comment = "# extents ";
  TnsPreamble preamble;
  std::int64_t order = -1;  // if given on its own line; otherwise -1
  while (const char* const line = peek_line(source)) {
    const std::int64_t number = source.lines_taken() + 1;
    const char* const p = skip_blanks(line);
    if (*p == '\n' || *p == '#') {
      if (line_at(line).starts_with(extents_comment) && order < 0 && all_counts(p + extents_comment.size()))
        preamble.extents = parse_extents(p + extents_comment.size(), source.name(), number);
    } else if (order < 0 && count_words(p) == 1) {
      const char* const next = parse_count(p, order);
      if (!next || order < 1)
        throw ParseError(
            source.name(), number,
            text("found ", found(p), " alone on the line, expected an entry (coordinates and a value), ",
                 "or an order above a line of extents"));
      preamble.extents.clear();
    } else if (order >= 0 && preamble.extents.empty()) {
      preamble.extents = parse_extents(p, source.name(), number);
      if (static_cast<std::int64_t>(preamble.extents.size()) != order)
        throw ParseError(source.name(), number,
                         text("found ", preamble.extents.size(), " extents, expected ", order,
                              ", the order that stands above them"));
    } else {
      // Text without any entries also has no order.
      std::int64_t coordinate = 0;
      if (!parse_count(p, coordinate))
        throw ParseError(source.name(), number,
                         text("found ", found(p), ", expected coordinate 1, an integer from 1 to ",
                              preamble.extents.empty() ? "2^63 - 1" : text(preamble.extents.front())));
      preamble.numbers = count_words(p);
      break;
    }
    take_line(source);
  }
  preamble.lines = source.lines_taken();
  if (preamble.numbers == 0 && preamble.extents.empty())
    throw ParseError(source.name(), preamble.lines,
                     preamble.lines == 0
                         ? "the file is empty, expected a .tns file"
                         : "the file ends before its first entry and does not give its extents");
  return preamble;
}

/// Data shared by all threads that read one .tns file.
template <class Value, int Order>
struct TnsJob {
  TextSource& source;
  bool bounded;            ///< whether the extents are known before the entries are read
  Extents<Order> extents;  ///< the known ones, or the largest coordinates so far
  TextPlace place;
  EntryStore<Value, Order> store{};
};

/// Parses lines of `Order` coordinates and a value, text of field `F`.
template <class Value, int Order, Field F>
class TnsWorker final : public BlockWorker {
 public:
  explicit TnsWorker(TnsJob<Value, Order>& job) : BlockWorker(job.source, job.place), job_(job) {
    limits_.fill(INT64_MAX);
    if (job.bounded) limits_ = job.extents;
  }

 private:
  static constexpr auto modes = static_cast<std::size_t>(Order);

  void parse(std::string_view block) override {
    const char* p = block.data();
    const char* const end = p + block.size();
    const std::size_t most = block.size() / (2 * modes + 2) + 1;  // "1 1 1 1\n"
    for (auto& mode : coordinates_) mode.reserve(most);
    values_.reserve(most);
    largest_.fill(0);
    std::size_t count = 0;
    std::int64_t lines = 0;
    for (; p != end; ++lines) {
      p = skip_blanks(p);
      if (*p == '\n') [[unlikely]] {
        ++p;
        continue;
      }
      const char* const next = parse_entry(p, end, count);
      if (!next) [[unlikely]] {
        if (*p == '#') {
          p = skip_line(p, end);
          continue;
        }
        lines_ = lines;
        entries_ = static_cast<std::int64_t>(count);
        throw LineFault{lines, fault(p, end)};
      }
      ++count;
      p = next;
    }
    lines_ = lines;
    entries_ = static_cast<std::int64_t>(count);
  }

  const char* parse_entry(const char* p, const char* end, std::size_t at) {
    for (std::size_t mode = 0; mode < modes; ++mode) {
      std::uint64_t coordinate = 0;
      p = parse_unsigned(p, coordinate);
      if (!p || !is_blank(*p) || coordinate - 1 >= static_cast<std::uint64_t>(limits_[mode])) return nullptr;
      const auto given = static_cast<std::int64_t>(coordinate);
      largest_[mode] = std::max(largest_[mode], given);
      coordinates_[mode].data()[at] = given - 1;
      p = skip_blanks(p);
    }
    p = parse_value<Value, F>(p, end, values_.data()[at]);
    if (!p) return nullptr;
    p = skip_blanks(p);
    return *p == '\n' ? p + 1 : nullptr;
  }

  void place(std::string_view, double read_part) override {
    if (entries_ == 0) return;
    if (!job_.bounded)
      for (std::size_t mode = 0; mode < modes; ++mode)
        job_.extents[mode] = std::max(job_.extents[mode], largest_[mode]);
    slot_ = job_.store.reserve(entries_, read_part);
  }

  void after() override {
    const auto count = static_cast<std::size_t>(entries_);
    if (count == 0) return;
    for (std::size_t mode = 0; mode < modes; ++mode)
      std::memcpy(slot_.coordinates[mode], coordinates_[mode].data(), count * sizeof(std::int64_t));
    std::memcpy(static_cast<void*>(slot_.values), values_.data(), count * sizeof(Value));
  }

  /// Says what is wrong with the line at `p`.
  std::string fault(const char* p, const char* end) const {
    const std::int64_t words = count_words(p), expected = Order + (F == Field::complex ? 2 : 1);
    for (std::size_t mode = 0; mode < modes; ++mode, p = skip_blanks(p)) {
      std::int64_t coordinate = 0;
      const char* const next = parse_count(p, coordinate);
      const std::string what = text("coordinate ", mode + 1);
      const std::string range = limits_[mode] == INT64_MAX ? "1 to 2^63 - 1" : text("1 to ", limits_[mode]);
      if (!next) return text("found ", found(p), ", expected ", what, ", an integer from ", range);
      if (coordinate < 1 || coordinate > limits_[mode])
        return text(what, " is ", coordinate, ", expected ", range,
                    coordinate == 0 ? ": the coordinates of a .tns file begin at 1" : "");
      p = next;
    }
    if (words != expected)
      return text("this line holds ", words, " numbers, expected ", expected, ": ", Order,
                  " coordinates and a value");
    return why_no_value<Value, F>(p, end);
  }

  TnsJob<Value, Order>& job_;
  Extents<Order> limits_{};
  Extents<Order> largest_{};
  std::array<Scratch<std::int64_t>, modes> coordinates_;
  Scratch<Value> values_;
  typename EntryStore<Value, Order>::Slot slot_{};
};

template <class Value, Field F, int Order>
void read_tns_body(TnsJob<Value, Order>& job, int workers) {
  InOrder::run(workers, [&] { return std::make_unique<TnsWorker<Value, Order, F>>(job); });
}

}  // namespace io

/// The information in the first lines of a .tns file.
///
/// Lines of two numbers are read as a coordinate and a value, order 1. The list of a graph's edges looks the
/// same, so a program that takes the order of its tensor from the file should ask which of the two it is.
struct TnsHeader {
  int order = 0;                      ///< number of modes
  std::vector<std::int64_t> extents;  ///< empty if only the entries determine them
};

namespace io {

/// The order is the number of numbers on a line minus one, so complex values count as two.
inline TnsHeader take_tns_header(TextSource& source) {
  TnsPreamble preamble = take_tns_preamble(source);
  TnsHeader header;
  header.extents = std::move(preamble.extents);
  header.order = static_cast<int>(header.extents.empty() ? preamble.numbers - 1 : std::ssize(header.extents));
  return header;
}

}  // namespace io

/// Reads the first lines of a .tns file, plain or gzip. The order is the number of numbers on a line minus
/// one, so complex values count as two. Throws ParseError, IoError.
inline TnsHeader read_tns_header(const std::string& path) {
  io::TextSource source(path, io::header_options());
  return io::take_tns_header(source);
}

/// The order of the tensor in a .tns file; see read_tns_header.
inline int read_tns_order(const std::string& path) { return read_tns_header(path).order; }

/// The entries of a .tns text, in the order of the text; see read_tns_entries(path).
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_tns_entries(io::TextSource& source, const ReadOptions& options = {},
                                       const std::optional<Extents<Order>>& extents = std::nullopt) {
  const io::TnsPreamble preamble = io::take_tns_preamble(source);
  const std::string& name = source.name();
  if (extents) expect_valid_extents(*extents);
  if (!preamble.extents.empty() && preamble.extents.size() != static_cast<std::size_t>(Order))
    io::refuse_order(name, text("a tensor of ", preamble.extents.size(), " extents"),
                     std::ssize(preamble.extents), Order);
  const bool complex_values = is_complex_v<Value> && preamble.numbers == Order + 2;
  if (preamble.numbers > 0 && preamble.numbers != Order + 1 && !complex_values) {
    if (!preamble.extents.empty())
      throw ParseError(name, preamble.lines + 1,
                       text("this line holds ", preamble.numbers, " numbers, expected ", Order + 1, ": ",
                            Order, " coordinates and a value"));
    io::refuse_order(
        name, text("entries of ", preamble.numbers, " numbers (line ", preamble.lines + 1, ")"),
        preamble.numbers - 1, Order,
        Order == 2 && preamble.numbers == 2 ? "; coordinates without values need a value on each line" : "");
  }
  io::TnsJob<Value, Order> job{source, false, {}, {preamble.lines, 0}};
  if (extents) {
    job.bounded = true;
    job.extents = *extents;
  } else if (!preamble.extents.empty()) {
    job.bounded = true;
    std::copy(preamble.extents.begin(), preamble.extents.end(), job.extents.begin());
  }
  const int workers = io::worker_count(source, options);
  if constexpr (is_complex_v<Value>) {
    if (complex_values) {
      io::read_tns_body<Value, io::Field::complex>(job, workers);
      return job.store.take(job.extents);
    }
  }
  io::read_tns_body<Value, io::Field::real>(job, workers);
  return job.store.take(job.extents);
}

/// The entries of a FROSTT .tns file, plain or gzip, in the order of the file. The extents are `extents` if
/// given, else those that the file gives before its first entry (a comment "# extents 5 6 7", or two lines
/// "3" and "5 6 7"), else the largest coordinates. A complex value is two numbers, or a single real one.
/// Duplicates and stored zeros are kept. Cost: linear in the text, parallel over blocks.
///
/// @tparam Order  number of modes; read_tns_order(path) finds it
/// @throws ParseError naming file and line for malformed text, coordinates outside the extents and values
/// that `Value` cannot hold; ShapeError for a tensor of another order; IoError if the file cannot be read;
/// MemoryError
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_tns_entries(const std::string& path, const ReadOptions& options = {},
                                       const std::optional<Extents<Order>>& extents = std::nullopt) {
  expect_kokkos();
  return io::reading(path, [&] {
    io::TextSource source(path, io::text_options(options));
    return read_tns_entries<Value, Order>(source, options, extents);
  });
}

/// How entries are written as a .tns file.
struct TnsWriteOptions {
  std::string comment = {};  ///< lines to write at the beginning
  int threads = 0;           ///< for formatting and compressing; 0: as many as the default host space has
  int gzip_level = 6;        ///< 1 (fast) to 9 (small), for names that end in .gz
};

/// Writes `entries`, in their order, as a FROSTT .tns file, compressed if `path` ends in .gz. Numbers have
/// the fewest digits that read back as the same number. A comment gives the extents if they differ from the
/// largest coordinates, and always for a vector. The file appears when it is complete; until then, an old
/// file with that name remains. Cost: linear, parallel over pieces.
///
/// @throws IoError if the file cannot be written; MemoryError
template <TensorValue Value, int Order>
  requires(Order >= 1)
void write_tns(const std::string& path, const Entries<Value, Order>& entries,
               const TnsWriteOptions& options = {}) {
  io::writing(path, entries, [&] {
    constexpr auto modes = static_cast<std::size_t>(Order);
    std::array<const std::int64_t*, modes> coordinates{};
    Extents<Order> largest{};
    for (std::size_t mode = 0; mode < modes; ++mode) {
      coordinates[mode] = entries.coordinates[mode].data();
      for (std::int64_t q = 0; q < entries.size(); ++q)
        largest[mode] = std::max(largest[mode], coordinates[mode][q] + 1);
    }
    std::string head;
    for (std::string_view rest = options.comment; !rest.empty();) {
      const auto length = std::min(rest.find('\n'), rest.size());
      head += text("# ", rest.substr(0, length), '\n');
      rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    // If the caller's comment happens to look like extents, the true extents must override it. The entries of
    // a vector could be mistaken for the coordinates of a matrix.
    if (largest != entries.extents || entries.size() == 0 || !head.empty() || Order == 1) {
      head += "# extents";
      for (const std::int64_t extent : entries.extents) head += text(' ', extent);
      head += '\n';
    }
    const Value* const values = entries.values.data();
    io::TextSink sink(path, options.gzip_level);
    if (!head.empty()) sink.put(head);
    io::put_lines(sink, entries.size(), (modes + 2) * io::scalar_width, options.threads,
                  [&](std::int64_t q, char* p) {
                    for (std::size_t mode = 0; mode < modes; ++mode) {
                      p = io::format_scalar(p, coordinates[mode][q] + 1);
                      *p++ = ' ';
                    }
                    p = io::format_value(p, values[q]);
                    *p++ = '\n';
                    return p;
                  });
    sink.commit();
  });
}

}  // namespace sporos
