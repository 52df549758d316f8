// SPDX-License-Identifier: Apache-2.0
/// @file block_worker.hpp
/// Parallel parsing of a text in blocks, with the exact line of the first fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "in_order.hpp"
#include "text_source.hpp"

namespace sporos::io {

/// The progress of all blocks together; changed in file order only.
struct TextPlace {
  std::int64_t lines = 0;    ///< in the blocks before the current one
  std::int64_t entries = 0;  ///< likewise
};

/// Parses blocks of a text. A LineFault thrown by parse() or place() becomes a ParseError with the line of
/// the file.
class BlockWorker : public PieceWorker {
 public:
  BlockWorker(TextSource& source, TextPlace& place) : source_(source), place_(place) {}

  bool fetch() final {
    fault_.reset();
    lines_ = entries_ = 0;
    try {
      return source_.next(block_);
    } catch (const LineFault& fault) {
      block_.clear();  // so that parse() finds nothing
      fault_ = fault;
      return true;
    }
  }

  void work() final {
    try {
      parse(block_.view());
    } catch (const LineFault& fault) {
      fault_ = fault;
    }
  }

  void in_turn() final {
    try {
      place(block_.view(), block_.read_part());  // what precedes a fault may hold an earlier one
    } catch (const LineFault& fault) {
      fault_ = fault;
    }
    if (fault_) throw ParseError(source_.name(), place_.lines + fault_->line + 1, fault_->reason);
    place_.lines += lines_;
    place_.entries += entries_;
  }

 protected:
  /// Parses a block; called on any thread, in any order. Updates lines_ and entries_ as it goes.
  virtual void parse(std::string_view text) = 0;
  /// Determines the place of the block's entries, which follow those of `so_far()`; called in file order.
  virtual void place(std::string_view text, double read_part) = 0;

  const TextPlace& so_far() const { return place_; }

  std::int64_t lines_ = 0;    ///< lines of this block that have been parsed
  std::int64_t entries_ = 0;  ///< likewise

 private:
  TextSource& source_;
  TextPlace& place_;
  Block block_;
  std::optional<LineFault> fault_;
};

/// The 0-based line, within a block, of entry number `entry`; lines that are blank or begin with `comment`
/// hold no entry.
inline std::int64_t line_of_entry(std::string_view block, std::int64_t entry, char comment) {
  const char* p = block.data();
  const char* const end = p + block.size();
  for (std::int64_t line = 0; p < end; ++line, p = skip_line(p, end)) {
    const char first = *skip_blanks(p);
    if (first != '\n' && first != comment && entry-- == 0) return line;
  }
  return 0;
}

}  // namespace sporos::io
