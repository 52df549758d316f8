// SPDX-License-Identifier: Apache-2.0
/// @file file_source.hpp
/// The source of a file's bytes, which can be examined to find out what kind of file it is before all of it
/// is read.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "byte_stream.hpp"
#include "random_bytes.hpp"

namespace sporos::io {

/// Bytes with a name, which can be read from the beginning as often as necessary.
class FileSource {
 public:
  explicit FileSource(std::string name) : name_(std::move(name)) {}
  virtual ~FileSource() = default;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  /// The name used in messages.
  const std::string& name() const { return name_; }
  /// Whether the name is a path at which the bytes can be read any number of times.
  virtual bool is_named() const { return false; }
  /// The bytes from the beginning, for a reader that stops after the first few; can be called any number of
  /// times.
  virtual std::unique_ptr<ByteStream> look() = 0;
  /// All bytes from the beginning; must be the last call. Throws ParseError, IoError.
  virtual std::unique_ptr<ByteStream> open() = 0;
  /// The bytes for reading in any order; can be called any number of times. Throws ParseError, IoError.
  virtual std::unique_ptr<RandomBytes> open_at_random() = 0;

 private:
  std::string name_;
};

/// A file that is opened by its path.
class PathSource final : public FileSource {
 public:
  using FileSource::FileSource;

  bool is_named() const override { return true; }
  std::unique_ptr<ByteStream> look() override { return open(); }
  std::unique_ptr<ByteStream> open() override { return std::make_unique<FileStream>(name()); }
  std::unique_ptr<RandomBytes> open_at_random() override { return std::make_unique<FileBytes>(name()); }
};

/// A stream that delivers its bytes only once, as a pipe does. Bytes that were examined are kept until they
/// are read again; later bytes are never kept, so that a pipe takes no more memory than a file.
class PipeSource final : public FileSource {
 public:
  PipeSource(std::unique_ptr<ByteStream> pipe, std::string name)
      : FileSource(std::move(name)), pipe_(std::move(pipe)) {}

  std::unique_ptr<ByteStream> look() override { return std::make_unique<View>(pipe_, kept_, true); }
  std::unique_ptr<ByteStream> open() override { return std::make_unique<View>(pipe_, kept_, false); }
  std::unique_ptr<RandomBytes> open_at_random() override { return std::make_unique<HeldBytes>(*look()); }

 private:
  /// The kept bytes, then those of the pipe.
  class View final : public ByteStream {
   public:
    View(std::shared_ptr<ByteStream> pipe, std::shared_ptr<std::string> kept, bool keep)
        : pipe_(std::move(pipe)), kept_(std::move(kept)), keep_(keep) {}

    std::size_t read(char* out, std::size_t room) override {
      if (at_ < kept_->size()) {
        const std::size_t count = std::min(room, kept_->size() - at_);
        std::memcpy(out, kept_->data() + at_, count);
        at_ += count;
        return count;
      }
      const std::size_t count = pipe_->read(out, room);
      if (keep_) kept_->append(out, count);
      at_ += count;
      return count;
    }
    std::int64_t taken() const override { return static_cast<std::int64_t>(at_); }
    std::int64_t total() const override { return pipe_->total(); }

   private:
    std::shared_ptr<ByteStream> pipe_;
    std::shared_ptr<std::string> kept_;
    bool keep_;
    std::size_t at_ = 0;
  };

  std::shared_ptr<ByteStream> pipe_;
  std::shared_ptr<std::string> kept_ = std::make_shared<std::string>();
};

/// The file at a path: opened by its path each time or, if it is a pipe or a device, read only once.
inline std::unique_ptr<FileSource> file_at(const std::string& path) {
  struct stat status{};
  const bool once =
      ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  if (once) return std::make_unique<PipeSource>(std::make_unique<FileStream>(path), path);
  return std::make_unique<PathSource>(path);
}

}  // namespace sporos::io
