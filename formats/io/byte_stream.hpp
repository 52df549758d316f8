// SPDX-License-Identifier: Apache-2.0
/// @file byte_stream.hpp
/// Bytes in order from a file or from memory, decompressed if they begin as gzip data does.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../../core/error.hpp"

namespace sporos::io {

/// Bytes in order.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Reads up to `room` bytes into `out`; returns 0 only at the end. Throws IoError, ParseError.
  virtual std::size_t read(char* out, std::size_t room) = 0;
  /// Bytes of the file read so far (compressed bytes, if the file is compressed).
  virtual std::int64_t taken() const = 0;
  /// Size of the file in bytes; 0 if unknown (a pipe).
  virtual std::int64_t total() const = 0;
};

/// A file, or anything else that can be opened and read (a pipe).
class FileStream final : public ByteStream {
 public:
  /// Throws ParseError for a directory, IoError if the file cannot be opened.
  explicit FileStream(const std::string& path) : path_(path) {
    do descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) throw IoError(path_, text("cannot be opened for reading: ", std::strerror(errno)));
    look_at_file();
  }
  /// A file that is already open, such as standard input, from its current position on.
  /// @param descriptor  is duplicated: the caller keeps its own
  /// @param name        the name used in messages
  FileStream(int descriptor, std::string name)
      : path_(std::move(name)), descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
    if (descriptor_ < 0) throw IoError(path_, text("cannot be read: ", std::strerror(errno)));
    look_at_file();
    if (total_ > 0) total_ -= std::min(total_, static_cast<std::int64_t>(::lseek(descriptor_, 0, SEEK_CUR)));
  }
  ~FileStream() override { ::close(descriptor_); }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  std::size_t read(char* out, std::size_t room) override {
    for (;;) {
      const auto count = ::read(descriptor_, out, room);
      if (count >= 0) {
        taken_ += count;
        return static_cast<std::size_t>(count);
      }
      if (errno != EINTR) throw IoError(path_, text("cannot be read: ", std::strerror(errno)));
    }
  }
  std::int64_t taken() const override { return taken_; }
  std::int64_t total() const override { return total_; }

  /// Reads `count` bytes from `at` on, independently of what has been read in order. Throws IoError, also if
  /// the file ends too early.
  void read_at(std::uint64_t at, char* out, std::size_t count) const {
    while (count > 0) {
      const auto got = ::pread(descriptor_, out, count, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        throw IoError(path_, got < 0 ? text("cannot be read: ", std::strerror(errno)) : "has become shorter");
      out += got;
      at += static_cast<std::uint64_t>(got);
      count -= static_cast<std::size_t>(got);
    }
  }

 private:
  void look_at_file() {
    struct stat status{};
    if (::fstat(descriptor_, &status) == 0) {
      if (S_ISDIR(status.st_mode)) {
        ::close(descriptor_);
        throw ParseError(path_, 0, "this is a directory, expected a file");
      }
      if (S_ISREG(status.st_mode)) total_ = static_cast<std::int64_t>(status.st_size);
    }
    ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  std::string path_;
  int descriptor_ = -1;
  std::int64_t taken_ = 0;
  std::int64_t total_ = 0;
};

/// Bytes that the caller owns and keeps alive.
class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::string_view bytes) : bytes_(bytes) {}

  std::size_t read(char* out, std::size_t room) override {
    const std::size_t count = std::min(room, bytes_.size() - at_);
    std::memcpy(out, bytes_.data() + at_, count);
    at_ += count;
    return count;
  }
  std::int64_t taken() const override { return static_cast<std::int64_t>(at_); }
  std::int64_t total() const override { return static_cast<std::int64_t>(bytes_.size()); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// Another stream, inflated if its first bytes are gzip's magic number, whatever the name of the file.
/// Consecutive gzip members form one text; zero bytes after the last member are padding.
class PlainOrGzipStream final : public ByteStream {
 public:
  PlainOrGzipStream(std::unique_ptr<ByteStream> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)), input_(new char[input_size]) {
    while (available_ < 2) {
      const std::size_t count = source_->read(input_.get() + available_, input_size - available_);
      if (count == 0) break;
      available_ += count;
    }
    compressed_ = starts_member();
    if (compressed_ && inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) throw std::bad_alloc();
  }
  ~PlainOrGzipStream() override {
    if (compressed_) inflateEnd(&stream_);
  }
  PlainOrGzipStream(const PlainOrGzipStream&) = delete;
  PlainOrGzipStream& operator=(const PlainOrGzipStream&) = delete;

  bool compressed() const { return compressed_; }

  std::size_t read(char* out, std::size_t room) override {
    if (compressed_) return inflate_some(out, room);
    if (available_ == 0) return source_->read(out, room);
    const std::size_t count = std::min(room, available_);
    std::memcpy(out, input_.get() + at_, count);
    consume(count);
    return count;
  }
  std::int64_t taken() const override { return source_->taken() - static_cast<std::int64_t>(available_); }
  std::int64_t total() const override { return source_->total(); }

 private:
  static constexpr std::size_t input_size = std::size_t{1} << 18;

  bool starts_member() const {
    return available_ >= 2 && static_cast<unsigned char>(input_[at_]) == 0x1f &&
           static_cast<unsigned char>(input_[at_ + 1]) == 0x8b;
  }
  void consume(std::size_t count) {
    at_ += count;
    available_ -= count;
  }
  /// Moves the unread bytes to the front and reads more after them; false at the end of the file.
  bool refill() {
    std::memmove(input_.get(), input_.get() + at_, available_);
    at_ = 0;
    const std::size_t count = source_->read(input_.get() + available_, input_size - available_);
    available_ += count;
    return count != 0;
  }

  [[noreturn]] void broken(std::string_view reason) const {
    throw ParseError(name_, 0, "broken gzip data: " + std::string(reason));
  }

  std::size_t inflate_some(char* out, std::size_t room) {
    while (!finished_) {
      if (available_ == 0 && !refill())
        broken(
            text("the file ends in the middle of the compressed text (", taken(), " bytes): it was cut off"));
      stream_.next_in = reinterpret_cast<Bytef*>(input_.get() + at_);
      stream_.avail_in = static_cast<uInt>(available_);
      stream_.next_out = reinterpret_cast<Bytef*>(out);
      stream_.avail_out = static_cast<uInt>(std::min(room, std::size_t{1} << 30));
      const uInt space = stream_.avail_out;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      consume(available_ - stream_.avail_in);
      if (status == Z_STREAM_END)
        next_member();
      else if (status == Z_MEM_ERROR)
        throw std::bad_alloc();
      else if (status != Z_OK && status != Z_BUF_ERROR)
        broken(text(stream_.msg ? stream_.msg : "it cannot be inflated", " near byte ", taken()));
      if (const uInt made = space - stream_.avail_out; made > 0) return made;
    }
    return 0;
  }

  void next_member() {
    while (available_ < 2 && refill()) {
    }
    if (starts_member()) {
      if (inflateReset(&stream_) != Z_OK) broken("a gzip member cannot be started");
      return;
    }
    do {
      for (; available_ > 0; consume(1))
        if (input_[at_] != 0) broken(text("bytes that are not a gzip member follow at byte ", taken()));
    } while (refill());
    finished_ = true;
  }

  std::unique_ptr<ByteStream> source_;
  std::string name_;
  std::unique_ptr<char[]> input_;
  std::size_t at_ = 0;         ///< first byte of the input that has not been consumed
  std::size_t available_ = 0;  ///< bytes of the input from there on
  bool compressed_ = false;
  bool finished_ = false;
  z_stream stream_{};
};

}  // namespace sporos::io
