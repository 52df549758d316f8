// SPDX-License-Identifier: Apache-2.0
/// @file plain_text.hpp
/// Matrices and tensors in files read without the library: line by line, values as the text that stands
/// there.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace sporos_test {

using Coordinate = std::vector<std::int64_t>;  ///< from 1, as both kinds of files count

/// A file as its lines have it. Of a symmetric matrix these are the entries of one triangle.
struct PlainText {
  std::string banner;  ///< the first line of a .mtx file
  std::vector<std::int64_t> extents;
  std::vector<Coordinate> order;              ///< the entries one after the other
  std::map<Coordinate, std::string> entries;  ///< the value behind the coordinates, "" in a pattern
};

inline bool is_gzip(const std::string& bytes) { return bytes.starts_with("\x1f\x8b"); }

/// The text of a file, plain or gzip.
inline std::string text_of(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) return text;
  char block[1 << 14];
  for (int count; (count = gzread(file, block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(count));
  gzclose(file);
  return text;
}

inline void take_entry(PlainText& file, const std::string& line, std::size_t order) {
  std::istringstream words(line);
  Coordinate coordinate(order);
  for (std::int64_t& mode : coordinate) words >> mode;
  std::string value, word;
  while (words >> word) value += (value.empty() ? "" : " ") + word;
  file.order.push_back(coordinate);
  EXPECT_TRUE(file.entries.emplace(coordinate, value).second) << "twice: " << line;
}

/// A .mtx file of coordinates.
inline PlainText plain_mtx(const std::string& path) {
  std::istringstream lines(text_of(path));
  PlainText file;
  std::getline(lines, file.banner);
  std::string line;
  while (std::getline(lines, line) && line.starts_with('%')) {
  }
  std::int64_t rows = 0, columns = 0, stored = 0;
  std::istringstream(line) >> rows >> columns >> stored;
  file.extents = {rows, columns};
  while (std::getline(lines, line)) take_entry(file, line, 2);
  EXPECT_EQ(std::ssize(file.entries), stored) << path;
  return file;
}

/// A .tns file of a given order; extents only where a comment says them.
inline PlainText plain_tns(const std::string& path, std::size_t order) {
  std::istringstream lines(text_of(path));
  PlainText file;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) {
      take_entry(file, line, order);
    } else if (line.starts_with("# extents")) {
      std::istringstream words(line.substr(9));
      for (std::int64_t extent; words >> extent;) file.extents.push_back(extent);
    }
  }
  return file;
}

/// The values of a dense .mtx file ("array"), column by column as they stand there.
inline std::vector<double> plain_array(const std::string& path) {
  std::istringstream lines(text_of(path));
  std::string line;
  while (std::getline(lines, line) && line.starts_with('%')) {
  }
  std::vector<double> values;
  while (std::getline(lines, line)) values.push_back(std::strtod(line.c_str(), nullptr));
  return values;
}

/// The same entries with the same values, as numbers.
inline void expect_same_numbers(const std::map<Coordinate, std::string>& found,
                                const std::map<Coordinate, std::string>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (auto a = found.begin(), b = expected.begin(); a != found.end(); ++a, ++b) {
    ASSERT_EQ(a->first, b->first);
    ASSERT_EQ(std::strtod(a->second.c_str(), nullptr), std::strtod(b->second.c_str(), nullptr))
        << a->second << " for " << b->second;
  }
}

}  // namespace sporos_test
