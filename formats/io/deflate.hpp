// SPDX-License-Identifier: Apache-2.0
/// @file deflate.hpp
/// Parts of a text or of other bytes, compressed independently but able to follow one another.
#pragma once

#include <zlib.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include "../../core/error.hpp"

namespace sporos::io {

/// A text under construction.
class TextBuffer {
 public:
  /// Makes room for `count` more characters; end(p) then says how much of it was used.
  char* room(std::size_t count) {
    if (size_ + count > capacity_) {
      const std::size_t larger = 2 * capacity_ + count;
      void* const memory = std::realloc(bytes_.get(), larger);
      if (!memory) throw std::bad_alloc();
      [[maybe_unused]] const char* const freed = bytes_.release();
      bytes_.reset(static_cast<char*>(memory));
      capacity_ = larger;
    }
    return bytes_.get() + size_;
  }
  void end(const char* p) { size_ = static_cast<std::size_t>(p - bytes_.get()); }
  void clear() { size_ = 0; }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> bytes_;
  std::size_t size_ = 0, capacity_ = 0;
};

/// A part of a deflate stream, which can follow any other part; `last_deflated_part` ends the stream.
struct DeflatedPart {
  TextBuffer compressed;
  uLong checksum = 0;  ///< crc32 of the bytes
  z_off_t length = 0;  ///< their number
};

/// An empty last block.
inline constexpr std::string_view last_deflated_part = {"\3\0", 2};

/// Compresses a part, of less than 2 GiB; callable from any thread.
/// @param level  1 (fast) to 9 (small)
inline void deflate_part(std::string_view bytes, int level, DeflatedPart& part) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  part.compressed.clear();
  const uLong most = deflateBound(&stream, static_cast<uLong>(bytes.size())) + 64;
  char* const out = part.compressed.room(most);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = static_cast<uInt>(most);
  const int status =
      deflate(&stream, Z_SYNC_FLUSH);  // ends at a byte boundary, and no later block refers back beyond it
  part.compressed.end(reinterpret_cast<const char*>(stream.next_out));
  deflateEnd(&stream);
  ensure(status == Z_OK && stream.avail_in == 0, "deflate takes a whole part");
  part.checksum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  part.length = static_cast<z_off_t>(bytes.size());
}

}  // namespace sporos::io
