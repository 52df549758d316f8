// SPDX-License-Identifier: Apache-2.0
/// @file random_bytes.hpp
/// Bytes that can be read at any position, as archives require.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "../../core/error.hpp"
#include "byte_stream.hpp"

namespace sporos::io {

class RandomBytes {
 public:
  virtual ~RandomBytes() = default;
  virtual std::uint64_t size() const = 0;
  /// Reads `count` bytes from `at` on, all of which must exist. Throws IoError.
  virtual void read_at(std::uint64_t at, char* out, std::size_t count) = 0;
};

/// A regular file.
class FileBytes final : public RandomBytes {
 public:
  /// Throws ParseError for a directory, IoError if the file cannot be opened.
  explicit FileBytes(const std::string& path) : file_(path) {}

  std::uint64_t size() const override { return static_cast<std::uint64_t>(file_.total()); }
  void read_at(std::uint64_t at, char* out, std::size_t count) override { file_.read_at(at, out, count); }

 private:
  FileStream file_;
};

/// Bytes in memory.
class HeldBytes final : public RandomBytes {
 public:
  explicit HeldBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  /// Takes all bytes of a stream.
  explicit HeldBytes(ByteStream& stream) {
    constexpr std::size_t portion = std::size_t{1} << 20;
    for (std::size_t size = 0;;) {
      if (bytes_.size() < size + portion) bytes_.resize(std::max(2 * bytes_.size(), size + portion));
      const std::size_t count = stream.read(bytes_.data() + size, portion);
      size += count;
      if (count > 0) continue;
      bytes_.resize(size);
      return;
    }
  }

  std::uint64_t size() const override { return bytes_.size(); }
  /// Returns all bytes, and holds none afterwards.
  std::string take() { return std::exchange(bytes_, {}); }
  void read_at(std::uint64_t at, char* out, std::size_t count) override {
    ensure(at <= bytes_.size() && count <= bytes_.size() - at, "bytes that are read are there");
    std::memcpy(out, bytes_.data() + at, count);
  }

 private:
  std::string bytes_;
};

}  // namespace sporos::io
