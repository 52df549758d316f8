// SPDX-License-Identifier: Apache-2.0
/// @file read_options.hpp
/// How a file of entries is read, whatever its kind.
#pragma once

#include <cstddef>

#include "in_order.hpp"
#include "text_source.hpp"

namespace sporos {

/// How a file of entries is read.
struct ReadOptions {
  int threads = 0;              ///< that parse; 0: as many as the default host space has
  bool expand_symmetry = true;  ///< off: a symmetric Matrix Market file gives its stored triangle alone
  bool progress = true;  ///< a bar on standard error, if it is a terminal and reading takes over a second
  std::size_t block_bytes = std::size_t{1} << 20;  ///< of text that a thread takes at a time
};

namespace io {

inline TextOptions text_options(const ReadOptions& options, Cut cut = Cut::at_lines) {
  TextOptions text;
  text.block_bytes = options.block_bytes > 0 ? options.block_bytes : 1;
  text.cut = cut;
  text.progress = options.progress;
  return text;
}

/// How the first lines of a text are taken in, when nothing else is wanted of it.
inline TextOptions header_options(Cut cut = Cut::at_lines) {
  TextOptions text;
  text.block_bytes = std::size_t{1} << 14;
  text.cut = cut;
  text.progress = false;
  return text;
}

/// The next line of a header, nullptr at the end of the text; a fault has its line.
inline const char* take_line(TextSource& source) {
  try {
    return source.next_line();
  } catch (const LineFault& fault) {
    throw ParseError(source.name(), source.lines_taken() + 1, fault.reason);
  }
}
/// Likewise, and the line stays to be taken.
inline const char* peek_line(TextSource& source) {
  try {
    return source.peek_line();
  } catch (const LineFault& fault) {
    throw ParseError(source.name(), source.lines_taken() + 1, fault.reason);
  }
}

/// The threads worth starting for a text.
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
