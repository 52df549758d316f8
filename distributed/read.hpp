// SPDX-License-Identifier: Apache-2.0
/// @file read.hpp
/// One file read by all ranks, each reading its own range of bytes.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../formats/io/file.hpp"
#include "../formats/io/memory_errors.hpp"
#include "agree.hpp"
#include "assemble.hpp"
#include "exchange.hpp"

namespace sporos {

namespace detail {

/// Part [begin, end) of a file in whole lines: those that begin there.
class LineRange final : public io::ByteStream {
 public:
  LineRange(const std::string& path, std::int64_t first, std::int64_t begin, std::int64_t end)
      : path_(path), at_(begin), end_(end) {
    do descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) throw IoError(path_, text("cannot be opened for reading: ", std::strerror(errno)));
    try {
      at_ = begin == first ? begin : behind_newline(begin - 1);
      end_ = end == first ? end : behind_newline(end - 1);
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    begin_ = at_;
  }
  ~LineRange() override { ::close(descriptor_); }
  LineRange(const LineRange&) = delete;
  LineRange& operator=(const LineRange&) = delete;

  std::size_t read(char* out, std::size_t room) override {
    if (at_ >= end_) return 0;
    const std::size_t count = read_at(at_, out, std::min(room, static_cast<std::size_t>(end_ - at_)));
    at_ += static_cast<std::int64_t>(count);
    return count;
  }
  std::int64_t taken() const override { return at_ - begin_; }
  std::int64_t total() const override { return end_ - begin_; }

 private:
  std::size_t read_at(std::int64_t at, char* out, std::size_t room) const {
    for (;;) {
      const auto count = ::pread(descriptor_, out, room, at);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) throw IoError(path_, text("cannot be read: ", std::strerror(errno)));
    }
  }
  /// The position after the first newline from `at` on; the end of the file if there is none.
  std::int64_t behind_newline(std::int64_t at) const {
    std::array<char, 4096> piece;
    while (const std::size_t count = read_at(at, piece.data(), piece.size())) {
      if (const void* found = std::memchr(piece.data(), '\n', count))
        return at + (static_cast<const char*>(found) - piece.data()) + 1;
      at += static_cast<std::int64_t>(count);
    }
    return at;
  }

  std::string path_;
  int descriptor_ = -1;
  std::int64_t begin_ = 0, at_, end_;
};

/// What rank 0 finds at the beginning of a file, made known to all ranks.
struct FileFront {
  FileKind kind = FileKind::matrix_market;
  bool is_cut = false;     ///< whether ranks read ranges of it
  std::int64_t body = 0;   ///< where the entries begin
  std::int64_t bytes = 0;  ///< size of the file
  std::string head;        ///< what precedes the entries; for a .tns file, including the first entry
};

/// The first lines of a file. Throws what reading them throws.
inline FileFront read_front(const std::string& path, const ReadOptions& options) {
  FileFront out;
  io::PathSource file(path);
  out.kind = io::kind_of(file, options);
  if (out.kind != FileKind::tns && out.kind != FileKind::matrix_market) return out;
  io::TextSource source(path, io::header_options());
  out.bytes = source.file_bytes();
  if (source.compressed() || out.bytes == 0) return out;
  std::int64_t lines = 0, more = 0;
  if (out.kind == FileKind::tns) {
    lines = io::take_tns_preamble(source).lines;
    more = 1;
  } else {
    if (io::take_header(source).layout == MatrixMarketLayout::array) return out;
    lines = source.lines_taken();
  }
  out.is_cut = true;
  const auto bytes = file.open();
  std::array<char, 4096> piece;
  while (lines + more > 0) {
    const std::size_t count = bytes->read(piece.data(), piece.size());
    if (count == 0) {  // the last line has no newline
      if (lines > 0) out.body = std::ssize(out.head);
      break;
    }
    for (std::size_t at = 0; at < count && lines + more > 0; ++at) {
      out.head += piece[at];
      if (piece[at] != '\n') continue;
      if (lines > 0) {
        if (--lines == 0) out.body = std::ssize(out.head);
      } else {
        --more;
      }
    }
  }
  return out;
}

/// Runs `parse`, which reads this rank's lines and returns how many it has read. The error reported is that
/// of the first rank that has one, with its line in the file.
/// @param before  number of lines before the first range
template <class Parse>
void parse_lines(const Communicator& ranks, const std::string& path, std::int64_t before,
                 const Parse& parse) {
  jointly(ranks, [&] {
    std::optional<std::tuple<std::int64_t, std::string>> fault;
    std::exception_ptr other;
    std::int64_t lines = 0;
    try {
      lines = io::reading(path, parse);
    } catch (const ParseError& error) {
      fault.emplace(error.line(), error.reason());
    } catch (...) {
      other = std::current_exception();
    }
    agree(ranks, "reading a file");  // so that lines are counted together, whatever has happened
    const std::int64_t lines_before = before + ranks.sum_before(lines);
    if (other) std::rethrow_exception(other);
    if (fault) throw ParseError(path, lines_before + std::get<0>(*fault), std::get<1>(*fault));
    agree(ranks, "reading a file");
  });
}

/// If a symmetric file holds an entry and its mirror image, throws the ParseError that names their lines; of
/// several pairs, those whose second entry comes first in the file. Collective.
/// @param job   has read this rank's lines
/// @param mine  the entries in these
template <class Value>
void expect_no_mirror_images(const Communicator& ranks, const io::MatrixMarketJob<Value>& job,
                             const Entries<Value, 2>& mine) {
  jointly(ranks, [&] {
    agree(ranks, "reading a file");
    const std::int64_t entries_before = ranks.sum_before(job.place.entries);
    const std::int64_t lines_before = job.header.size_line + ranks.sum_before(job.place.lines);
    // An entry and its mirror image meet on one rank. They arrive in the order of the file.
    Entries<std::int64_t, 2> numbered(mine.extents, job.above + job.below);
    std::int64_t at = 0;
    io::for_each_off_diagonal(mine, job.expand, [&](std::int64_t i, std::int64_t j, std::int64_t entry) {
      numbered.set(at++, {i, j}, entries_before + entry);
    });
    const auto routes = Routes::of(ranks.size(), numbered.size(), [&](std::int64_t e, const auto& send_to) {
      const auto [i, j] = numbered.coordinate(e);
      send_to(static_cast<int>(std::max(i, j) % ranks.size()));
    });
    const auto here = exchange(ranks, numbered, routes, "reading a file").items;
    const auto images = io::first_mirror_images(here, false, here.size());
    agree(ranks, "reading a file");

    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    const std::int64_t second_here = images ? here.values.data()[images->second] : none;
    const std::int64_t second = ranks.min(second_here);
    if (second == none) return;
    const std::int64_t first = ranks.max(second_here == second ? here.values.data()[images->first] : 0);
    const auto line_of = [&](std::int64_t entry) {  // 0 for those of other ranks
      const bool is_mine = entry >= entries_before && entry < entries_before + job.place.entries;
      return is_mine ? lines_before + job.lines.line_of(entry - entries_before) : std::int64_t{0};
    };
    std::int64_t lines[2] = {line_of(first), line_of(second)};
    ranks.max(lines, 2);
    io::refuse_mirror_images(job.source.name(), job.header.symmetry, lines[0], lines[1]);
  });
}

/// If there are more entries than the size line announces, throws the ParseError for the first of them, on
/// the rank whose lines hold it; collective.
/// @param place  lines and entries that this rank has read, counted from its first line
template <class OpenRange>
void refuse_more_entries(const Communicator& ranks, const std::string& path, const MatrixMarketHeader& header,
                         const io::TextPlace& place, const OpenRange& open_range) {
  const std::int64_t entries_before = ranks.sum_before(place.entries);
  const std::int64_t lines_before = header.size_line + ranks.sum_before(place.lines);
  const std::int64_t first = header.stored - entries_before;
  if (first < 0 || first >= place.entries) return;
  const std::unique_ptr<LineRange> range = open_range();
  std::string lines(static_cast<std::size_t>(range->total()), '\n');
  for (std::size_t at = 0; const std::size_t count = range->read(lines.data() + at, lines.size() - at);)
    at += count;
  if (!lines.ends_with('\n')) lines += '\n';
  throw ParseError(
      path, lines_before + io::line_of_entry(lines, first, '%') + 1,
      text("more entries than the ", header.stored, " that line ", header.size_line, " announces"));
}

/// Reads this rank's lines of a Matrix Market file.
/// @param open_range  opens these lines
template <class Value, class OpenRange>
Entries<Value, 2> read_matrix_market_lines(const Communicator& ranks, const std::string& path,
                                           const FileFront& front, const OpenRange& open_range,
                                           const ReadOptions& options) {
  constexpr std::int64_t shortest_line = 4;  // "1 1" and a newline
  std::optional<io::TextSource> source;
  std::optional<io::MatrixMarketJob<Value>> job;
  MatrixMarketHeader header;
  jointly(ranks, [&] {
    io::TextSource head(std::make_unique<io::MemoryStream>(front.head), path, io::header_options());
    header = io::take_header(head);
    if (header.field == io::Field::complex && !is_complex_v<Value>)
      throw ParseError(path, 1,
                       text("this file's values are complex, which ", value_name<Value>(),
                            " cannot hold: read it as Kokkos::complex<double>"));
    if (std::is_unsigned_v<Value> && header.symmetry == MatrixMarketSymmetry::skew_symmetric &&
        options.expand_symmetry)
      throw ParseError(path, 1,
                       text("a skew-symmetric matrix has negative values, which ", value_name<Value>(),
                            " cannot hold: read it as a signed type"));
    auto range = open_range();
    // Whether there are more entries than announced is only known once all ranks have counted theirs.
    auto of_range = header;
    of_range.stored = range->total() / shortest_line + 1;
    source.emplace(std::move(range), path, io::text_options(options));
    job.emplace(*source, of_range, options);
    job->place = {0, 0};
  });
  parse_lines(ranks, path, header.size_line, [&] {
    const auto read = [&]<io::Field F>() {
      io::InOrder::run(io::worker_count(*source, options), [&]() -> std::unique_ptr<io::PieceWorker> {
        return std::make_unique<io::CoordinateWorker<Value, F>>(*job);
      });
    };
    switch (header.field) {
      case io::Field::complex:
        if constexpr (is_complex_v<Value>) read.template operator()<io::Field::complex>();
        break;
      case io::Field::integer:
        read.template operator()<io::Field::integer>();
        break;
      case io::Field::pattern:
        read.template operator()<io::Field::pattern>();
        break;
      default:
        read.template operator()<io::Field::real>();
    }
    return job->place.lines;
  });
  std::int64_t counts[4] = {job->place.entries, job->above, job->below, job->place.lines};
  ranks.sum(counts, 4);
  return jointly(ranks, [&] {
    if (counts[0] < header.stored)
      throw ParseError(path, header.size_line + counts[3],
                       text("the file ends after ", counts[0], " of the ", header.stored,
                            " entries that line ", header.size_line, " announces: it was cut off"));
    if (counts[0] > header.stored) {
      refuse_more_entries(ranks, path, header, job->place, open_range);
      agree(ranks, "reading a file");
    }
    const auto mine = job->store.take({header.rows, header.columns});
    if (counts[1] > 0 && counts[2] > 0) expect_no_mirror_images(ranks, *job, mine);
    if (counts[1] > 0 && !job->expand) io::move_below_diagonal(mine, header.symmetry);
    agree(ranks, "reading a file");
    return mine;
  });
}

/// Reads this rank's lines of a .tns file.
template <class Value, int Order>
Entries<Value, Order> read_tns_lines(const Communicator& ranks, const std::string& path,
                                     const FileFront& front, std::unique_ptr<LineRange> range,
                                     const ReadOptions& options) {
  std::optional<io::TextSource> source;
  std::optional<io::TnsJob<Value, Order>> job;
  io::TnsPreamble preamble;
  bool is_complex = false;
  jointly(ranks, [&] {
    io::TextSource head(std::make_unique<io::MemoryStream>(front.head), path, io::header_options());
    preamble = io::take_tns_preamble(head);
    is_complex = is_complex_v<Value> && preamble.numbers == Order + 2;
    const std::int64_t order =
        preamble.extents.empty() ? preamble.numbers - 1 - is_complex : std::ssize(preamble.extents);
    if (order != Order) io::refuse_order(path, text("a tensor of order ", order), order, Order);
    source.emplace(std::move(range), path, io::text_options(options));
    job.emplace(io::TnsJob<Value, Order>{*source, !preamble.extents.empty(), {}, {0, 0}});
    std::copy(preamble.extents.begin(), preamble.extents.end(), job->extents.begin());
  });
  parse_lines(ranks, path, preamble.lines, [&] {
    const int workers = io::worker_count(*source, options);
    if constexpr (is_complex_v<Value>) {
      if (is_complex) {
        io::read_tns_body<Value, io::Field::complex>(*job, workers);
        return job->place.lines;
      }
    }
    io::read_tns_body<Value, io::Field::real>(*job, workers);
    return job->place.lines;
  });
  Extents<Order> extents = job->extents;
  ranks.max(extents.data(), Order);
  return jointly(ranks, [&] {
    const auto mine = job->store.take(extents);
    agree(ranks, "reading a file");
    return mine;
  });
}

}  // namespace detail

/// The entries of a file, each on one rank. Of a plain Matrix Market file of coordinates or a plain .tns
/// file, every rank reads and parses its own range of bytes; other files are read by rank 0. All ranks get
/// the extents of the whole. Collective.
///
/// @throws what read_entries(path) throws, on all ranks; a ParseError names the first faulty line of the file
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_entries(const Communicator& ranks, const std::string& path,
                                   const ReadOptions& options = {}) {
  expect_kokkos();
  return jointly(ranks, [&] {
    agree(ranks, Signature("read ").mix(path), text("reading ", path));
    detail::FileFront front = jointly(ranks, [&] {
      detail::FileFront found;
      if (ranks.rank() == 0) found = detail::read_front(path, options);
      agree(ranks, "reading a file");
      return found;
    });
    std::int64_t numbers[4] = {static_cast<std::int64_t>(front.kind), front.is_cut, front.body, front.bytes};
    ranks.broadcast(numbers, 4, 0);
    front = {static_cast<FileKind>(numbers[0]), numbers[1] != 0, numbers[2], numbers[3],
             detail::text_of_rank(ranks, std::move(front.head), 0)};
    if (!front.is_cut) {
      Entries<Value, Order> all;
      jointly(ranks, [&] {
        if (ranks.rank() == 0) all = read_entries<Value, Order>(path, options);
        agree(ranks, "reading a file");
      });
      ranks.broadcast(all.extents.data(), Order, 0);
      return ranks.rank() == 0 ? all : Entries<Value, Order>(all.extents, 0);
    }
    const auto range = [&] {
      const auto bound = [&](int rank) {
        const std::int64_t size = front.bytes - front.body;
        return front.body + size / ranks.size() * rank + size % ranks.size() * rank / ranks.size();
      };
      return std::make_unique<detail::LineRange>(path, front.body, bound(ranks.rank()),
                                                 bound(ranks.rank() + 1));
    };
    if (front.kind == FileKind::tns)
      return detail::read_tns_lines<Value, Order>(ranks, path, front, range(), options);
    if constexpr (Order == 2)
      return detail::read_matrix_market_lines<Value>(ranks, path, front, range, options);
    else
      io::refuse_order(path, text("a matrix (", to_string(front.kind), ")"), 2, Order);
  });
}

/// The tensor in a file, distributed along one mode in ranges with about equal numbers of nonzeros. The file
/// is read in the same way as by read_entries. Collective.
///
///     const auto A = read<CSR<>>(ranks, "matrix.mtx");
///     const auto T = read<CSF<3>>(ranks, "tensor.tns", 1);   // along mode 1
///
/// For another distribution: assemble<F>(distribution, read_entries<double, 2>(ranks, path)).
template <TensorFormat F, TensorValue Value = double, ExecutionSpace Space = Host>
Distributed<Tensor<Value, F, Space>> read(const Communicator& ranks, const std::string& path, int mode = 0,
                                          const ReadOptions& options = {}) {
  return jointly(ranks, [&] {
    const auto mine = read_entries<Value, F::order>(ranks, path, options);
    return assemble<F, Space>(Distribution<F::order>::balanced(ranks, mine, mode), mine, Duplicates::sum);
  });
}

}  // namespace sporos
