// SPDX-License-Identifier: Apache-2.0
/// @file read_options.hpp
/// How a file of entries is read, whatever its kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../../core/error.hpp"
#include "file_kind.hpp"
#include "in_order.hpp"
#include "text_source.hpp"

namespace sporos {

/// How a file of entries is read.
struct ReadOptions {
  int threads = 0;              ///< for parsing; 0: as many as the default host space has
  bool expand_symmetry = true;  ///< off: only the stored triangle, in Matrix Market the lower one
  bool strict = false;          ///< refuse entries above the diagonal in a symmetric Matrix Market file
  bool progress = true;  ///< a bar on standard error, if it is a terminal and reading takes over a second
  std::size_t block_bytes = std::size_t{1} << 20;  ///< size of the blocks of text that threads take
  std::optional<FileKind> kind = std::nullopt;     ///< unset: determined by the content, then by the name
  std::int64_t first_node = 0;  ///< of an edge list: number of the first row and column, 0 or 1
  bool bipartite = false;       ///< of an edge list: rows and columns are different nodes; off: it is square
  std::string group = {};       ///< of an HDF5 file: the group that holds the tensor; empty: the root
};

namespace io {

inline TextOptions text_options(const ReadOptions& options, Cut cut = Cut::at_lines) {
  TextOptions text;
  text.block_bytes = options.block_bytes > 0 ? options.block_bytes : 1;
  text.cut = cut;
  text.progress = options.progress;
  return text;
}

/// How a text is read if only its first lines are needed.
inline TextOptions header_options(Cut cut = Cut::at_lines) {
  TextOptions text;
  text.block_bytes = std::size_t{1} << 14;
  text.cut = cut;
  text.progress = false;
  return text;
}

/// The next line of a header, or nullptr at the end of the text; errors are reported with their line.
inline const char* take_line(TextSource& source) {
  try {
    return source.next_line();
  } catch (const LineFault& fault) {
    throw ParseError(source.name(), source.lines_taken() + 1, fault.reason);
  }
}
/// The same line, which remains to be taken.
inline const char* peek_line(TextSource& source) {
  try {
    return source.peek_line();
  } catch (const LineFault& fault) {
    throw ParseError(source.name(), source.lines_taken() + 1, fault.reason);
  }
}

/// Throws the ShapeError for a file that holds a tensor of a different order from the one requested.
/// @param what  what the file holds, and how that is known: "a matrix"
/// @param cure  what else the user may have to do
[[noreturn]] inline void refuse_order(const std::string& file, const std::string& what, std::int64_t found,
                                      int expected, std::string_view cure = "") {
  throw ShapeError(text(file, ": holds ", what, ", order ", found, ", expected a tensor of order ", expected,
                        ": inspect(file).order tells the order before a file is read", cure));
}

/// How many threads are worth starting for a text.
inline int worker_count(const TextSource& source, const ReadOptions& options) {
  const int threads = options.threads > 0 ? options.threads : default_threads();
  const std::int64_t bytes = source.file_bytes() * (source.compressed() ? 20 : 1);
  if (bytes <= 0) return threads;
  const std::int64_t blocks =
      bytes / static_cast<std::int64_t>(options.block_bytes > 0 ? options.block_bytes : 1) + 1;
  return blocks < threads ? static_cast<int>(blocks) : threads;
}

}  // namespace io
}  // namespace sporos
