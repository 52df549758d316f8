// SPDX-License-Identifier: Apache-2.0
/// @file output.hpp
/// Files as the tool writes them.
#pragma once

#include <map>
#include <optional>
#include <sporos/formats/io/binsparse_header.hpp>
#include <sporos/formats/io/file_kind.hpp>
#include <sporos/formats/io/matrix_market_header.hpp>
#include <sporos/formats/io/npz_write.hpp>
#include <string>

#include "command.hpp"
#include "input.hpp"

namespace sporos::tool {

/// How to write a matrix to a file that has such properties.
struct OutputStyle {
  bool pattern = false;  ///< without values
  MatrixMarketLayout layout = MatrixMarketLayout::coordinate;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  std::optional<BinsparseLevels> levels = {};          ///< of a binsparse file
  std::map<std::string, std::string> attributes = {};  ///< likewise
  NpzFormat npz_format = NpzFormat::csr;
  int npz_block = 2;  ///< rows and columns of a block of NpzFormat::bsr
};

/// The style of the file that was read.
OutputStyle style_of(const Input& input);

/// How a file is written, as options say.
struct OutputOptions {
  std::string kind;  ///< short name of the kind of file; empty: by the name, on standard output .mtx or .tns
  int gzip_level = 6;  ///< of what is compressed, 1 (fast) to 9 (small)
};

/// Where a result is written, and as what kind of file.
struct Destination {
  std::string path;  ///< as it is opened
  std::string name;  ///< as reports name it
  FileKind kind = FileKind::matrix_market;
  int gzip_level = 6;

  bool is_standard_output() const { return name == standard_stream; }
};

/// The destination that a path and options name. Rejects, before any work is done, one to which a tensor of
/// this order cannot be written: no kind of file for it is named, or its folder does not exist or is not
/// writable.
/// @throws UsageError, IoError
Destination destination(const std::string& path, const OutputOptions& options, int order);
/// The same for a picture; returns the path to which it is saved.
std::string picture_destination(const std::string& path);

/// Writes the file; symmetry applies to .mtx and .h5, layout to .mtx, and to .h5 without levels. Returns the
/// seconds taken.
double write_output(const Destination& out, const AnyEntries& entries, const OutputStyle& style);
/// The same for a dense vector or matrix, which is an array in .mtx and .h5.
double write_dense_output(const Destination& out, const AnyEntries& entries);

/// Adds what was written to the outcome of a command. On standard output, the report has no place.
/// @return the section of the output, for further facts
Report& report_output(Outcome& outcome, const Destination& out, double write_seconds);

}  // namespace sporos::tool
