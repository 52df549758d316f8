// SPDX-License-Identifier: Apache-2.0
/// @file input.hpp
/// Files as the tool reads them: of any kind, with orders up to six, and values of the type in the file.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <optional>
#include <sporos/core/entries.hpp>
#include <sporos/formats/build.hpp>
#include <sporos/formats/io/file.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report.hpp"

namespace sporos::tool {

using Complex = Kokkos::complex<double>;

/// The largest order of tensors that the tool supports.
inline constexpr int largest_order = 6;

/// Entries of any order and value type that a file can have; the values of a pattern are 1.
using AnyEntries =
    std::variant<Entries<double, 2>, Entries<std::int64_t, 2>, Entries<Complex, 2>, Entries<double, 1>,
                 Entries<double, 3>, Entries<double, 4>, Entries<double, 5>, Entries<double, 6>>;

std::int64_t size_of(const AnyEntries& entries);
std::vector<std::int64_t> extents_of(const AnyEntries& entries);

/// A file that has been read.
struct Input {
  std::string path;  ///< the name used in messages
  FileInfo file;
  AnyEntries entries;
  std::optional<std::int64_t> above_diagonal;  ///< for a symmetric file: number of entries above the diagonal
  double seconds = 0;                          ///< how long reading took

  int order() const { return file.order; }
  std::int64_t size() const { return size_of(entries); }
  std::vector<std::int64_t> extents() const { return extents_of(entries); }
  bool is_pattern() const;
  /// Whether the file is an array, which stores every element.
  bool is_array() const;
  /// "real", "integer", "complex", "pattern"
  std::string_view field() const;
  /// "general", "symmetric", …
  std::string_view symmetry() const;
  /// How duplicate coordinates are merged: values are added; a pattern remains a pattern.
  Duplicates duplicates() const { return is_pattern() ? Duplicates::max : Duplicates::sum; }
};

/// How a file is read.
struct InputOptions {
  bool vector = false;     ///< lines of two numbers in a .tns file are a coordinate and a value
  bool strict = false;     ///< refuse entries of a symmetric file above the diagonal
  std::string kind;        ///< short name of the kind of file; if empty, the content decides
  int first_node = 0;      ///< of an edge list: number of the first row and column
  bool bipartite = false;  ///< of an edge list: it need not be square
};

/// The path that stands for standard input when reading and for standard output when writing.
inline constexpr std::string_view standard_stream = "-";

/// Reads a file, or standard input. Integers and complex numbers are read as such if the file says that it
/// holds them.
/// @throws ParseError, IoError; UsageError for an order that the tool does not support, and for a .tns file
/// that may be a vector or a list of edges, unless the options or the file say which
Input read_input(const std::string& path, const InputOptions& options);

/// Reads a file that must hold a matrix.
Input read_matrix(const std::string& path, const InputOptions& options);

/// Adds the kind of a file and its contents to a report.
void describe(Report& report, const Input& input);

}  // namespace sporos::tool
