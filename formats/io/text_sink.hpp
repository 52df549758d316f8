// SPDX-License-Identifier: Apache-2.0
/// @file text_sink.hpp
/// Writing text in pieces that are formatted and compressed in parallel.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "deflate.hpp"
#include "in_order.hpp"
#include "output_file.hpp"

namespace sporos::io {

/// Whether a file with this name is to be compressed.
inline bool has_gzip_name(std::string_view path) { return path.ends_with(".gz") || path.ends_with(".GZ"); }

/// Writes bytes to a file, either plain or as one gzip member whose parts are compressed independently.
class TextSink {
 public:
  /// @param path  compressed if it ends in .gz
  TextSink(const std::string& path, int gzip_level)
      : file_(path), gzip_(has_gzip_name(path)), level_(gzip_level) {
    if (gzip_)
      file_.write({"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10});  // deflate, no name, no time, unknown system
  }

  bool gzip() const { return gzip_; }

  /// A part of the text, compressed so that it can follow any other part.
  using Part = DeflatedPart;

  /// Compresses a part; callable from any thread, in any order.
  void compress(std::string_view bytes, Part& part) const { deflate_part(bytes, level_, part); }

  /// Writes a part; called in the order of the text.
  void put(std::string_view bytes) {
    if (gzip_) {
      Part part;
      compress(bytes, part);
      put(part);
    } else {
      file_.write(bytes);
    }
  }
  void put(const Part& part) {
    file_.write(part.compressed.view());
    checksum_ = crc32_combine(checksum_, part.checksum, part.length);
    length_ += static_cast<std::uint32_t>(part.length);
  }

  void commit() {
    if (gzip_) {
      file_.write(last_deflated_part);
      char trailer[8];  // checksum and length, lowest byte first
      for (int byte = 0; byte < 4; ++byte) {
        trailer[byte] = static_cast<char>(checksum_ >> (8 * byte));
        trailer[4 + byte] = static_cast<char>(length_ >> (8 * byte));
      }
      file_.write({trailer, sizeof trailer});
    }
    file_.commit();
  }

 private:
  OutputFile file_;
  bool gzip_;
  int level_;
  uLong checksum_ = crc32(0, nullptr, 0);
  std::uint32_t length_ = 0;
};

/// Appends piece `number` of a text to the buffer.
using FormatPiece = std::function<void(std::int64_t number, TextBuffer& out)>;

namespace detail {

class FormatWorker final : public PieceWorker {
 public:
  FormatWorker(TextSink& sink, std::int64_t& next, std::int64_t pieces, const FormatPiece& format)
      : sink_(sink), next_(next), pieces_(pieces), format_(format) {}

  bool fetch() override {
    if (next_ == pieces_) return false;
    number_ = next_++;
    return true;
  }
  void work() override {
    text_.clear();
    format_(number_, text_);
    if (sink_.gzip()) sink_.compress(text_.view(), part_);
  }
  void in_turn() override {
    if (sink_.gzip())
      sink_.put(part_);
    else
      sink_.put(text_.view());
  }

 private:
  TextSink& sink_;
  std::int64_t& next_;
  std::int64_t pieces_;
  const FormatPiece& format_;
  std::int64_t number_ = 0;
  TextBuffer text_;
  TextSink::Part part_;
};

}  // namespace detail

/// Writes pieces 0, 1, … of a text to the sink, formatted by up to `threads` threads.
inline void put_pieces(TextSink& sink, std::int64_t pieces, int threads, const FormatPiece& format) {
  std::int64_t next = 0;
  if (threads <= 0) threads = default_threads();
  const int workers = pieces < threads ? static_cast<int>(pieces) : threads;
  InOrder::run(workers, [&] { return std::make_unique<detail::FormatWorker>(sink, next, pieces, format); });
}

/// Number of entries per piece of a written text.
inline constexpr std::int64_t entries_per_piece = std::int64_t{1} << 15;

/// Calls put(q, p) for every q below `count`, in parallel by pieces; put writes entry q at p, using at most
/// `widest` characters, and returns where it ends.
template <class Put>
void put_lines(TextSink& sink, std::int64_t count, std::size_t widest, int threads, Put put) {
  const std::int64_t pieces = (count + entries_per_piece - 1) / entries_per_piece;
  put_pieces(sink, pieces, threads, [&](std::int64_t piece, TextBuffer& out) {
    const std::int64_t begin = piece * entries_per_piece;
    const std::int64_t end = std::min(count, begin + entries_per_piece);
    char* p = out.room(static_cast<std::size_t>(end - begin) * widest);
    for (std::int64_t q = begin; q < end; ++q) p = put(q, p);
    out.end(p);
  });
}

}  // namespace sporos::io
