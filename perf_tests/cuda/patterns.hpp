// SPDX-License-Identifier: Apache-2.0
/// @file patterns.hpp
/// Patterns of sparse matrices that several benchmarks on the GPU use: files, and random ones of a density.
#pragma once

#include <sporos/formats/io/read.hpp>
#include <sstream>

#include "harness.hpp"

namespace sporos::perf {

/// A sparse matrix and where it comes from, made when it is first used.
struct Input {
  std::string name;
  std::function<CsrMaker()> make;
};

inline CsrMaker read_pattern(const std::string& file) {
  const auto matrix = read<CSR<>>(file);
  const auto& columns = matrix.level<1>();
  CsrMaker out(matrix.extent(0), matrix.extent(1));
  for (std::int64_t row = 0; row < matrix.extent(0); ++row) {
    for (auto q = columns.positions(static_cast<std::size_t>(row));
         q < columns.positions(static_cast<std::size_t>(row + 1)); ++q)
      out.put(columns.coordinates(static_cast<std::size_t>(q)));
    out.end_row();
  }
  return out;
}

/// A matrix of n x n elements, each a nonzero with a given probability.
inline CsrMaker random_square(std::int64_t n, double density) {
  std::mt19937_64 draw(14);
  CsrMaker out(n, n);
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t column = 0; column < n; ++column)
      if (static_cast<double>(draw() >> 11) * 0x1p-53 < density) out.put(column);
    out.end_row();
  }
  return out;
}

inline std::vector<std::string> split(const char* list, char separator) {
  std::vector<std::string> out;
  std::istringstream in(list ? list : "");
  for (std::string item; std::getline(in, item, separator);)
    if (!item.empty()) out.push_back(item);
  return out;
}

/// The matrices that SPOROS_MATRICES names: files, separated by colons.
inline std::vector<Input> named_inputs() {
  std::vector<Input> out;
  for (const std::string& file : split(std::getenv("SPOROS_MATRICES"), ':')) {
    const std::string name = file.substr(file.rfind('/') + 1);
    out.push_back({name.substr(0, std::min(name.find(".mtx"), name.find(".smtx"))),
                   [file] { return read_pattern(file); }});
  }
  return out;
}

}  // namespace sporos::perf
