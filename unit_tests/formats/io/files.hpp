// SPDX-License-Identifier: Apache-2.0
/// @file files.hpp
/// Files for the tests of input and output: a folder that goes, text and bytes put into it, and what is
/// expected of errors.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sporos/core/entries.hpp>
#include <sporos/core/error.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sporos_test {

/// A folder of its own, removed with all that is in it.
class Folder {
 public:
  Folder() {
    path_ = (std::filesystem::temp_directory_path() / "sporos-test-XXXXXX").string();
    if (!mkdtemp(path_.data())) throw std::runtime_error("no folder can be made at " + path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  /// Writes a file; returns its path.
  std::string put(const std::string& name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }

  /// The names of all that is in the folder.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& item : std::filesystem::directory_iterator(path_))
      all.push_back(item.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::string path_;
};

inline std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The bytes as one gzip member.
inline std::string gzip(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// The real files of the repository's examples.
inline std::string example_data(const std::string& name = "") {
  const auto here = std::filesystem::absolute(__FILE__).parent_path();
  return (here / "../../../examples/data" / name).lexically_normal().string();
}

/// Runs `body` and expects a ParseError of this file and line whose reason contains `reason`.
template <class Body>
void expect_parse_error(const std::string& file, std::int64_t line, const std::string& reason, Body body) {
  try {
    body();
    ADD_FAILURE() << "no error, expected one at line " << line << ": " << reason;
  } catch (const sporos::ParseError& error) {
    EXPECT_EQ(error.file(), file);
    EXPECT_EQ(error.line(), line) << error.what();
    EXPECT_NE(error.reason().find(reason), std::string::npos) << error.what() << "\nexpected: " << reason;
  }
}

/// Whether two lists of entries are the same, bit by bit and in the same order.
template <class Value, int Order>
bool identical(const sporos::Entries<Value, Order>& a, const sporos::Entries<Value, Order>& b) {
  if (a.extents != b.extents || a.size() != b.size()) return false;
  const auto count = static_cast<std::size_t>(a.size());
  if (count == 0) return true;
  for (std::size_t mode = 0; mode < a.coordinates.size(); ++mode)
    if (std::memcmp(a.coordinates[mode].data(), b.coordinates[mode].data(), count * sizeof(std::int64_t)) !=
        0)
      return false;
  return std::memcmp(a.values.data(), b.values.data(), count * sizeof(Value)) == 0;
}

}  // namespace sporos_test
