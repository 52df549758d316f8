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

/// How to write a matrix, for kinds of files that have such properties.
struct OutputStyle {
  bool pattern = false;  ///< without values
  MatrixMarketLayout layout = MatrixMarketLayout::coordinate;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  std::optional<BinsparseLevels> levels = {};          ///< for a binsparse file
  std::map<std::string, std::string> attributes = {};  ///< likewise
  NpzFormat npz_format = NpzFormat::csr;
  int npz_block = 2;  ///< rows and columns per block of NpzFormat::bsr
};

/// The style of the file that was read.
OutputStyle style_of(const Input& input);

/// How a file is written, as given by options.
struct OutputOptions {
  std::string kind;    ///< short name of the kind; if empty, by the file's name, else .mtx or .tns
  int gzip_level = 6;  ///< level of compression, 1 (fast) to 9 (small)
};

/// Where a result is written, and as which kind of file.
struct Destination {
  std::string path;  ///< the path that is opened
  std::string name;  ///< the name used in reports
  FileKind kind = FileKind::matrix_market;
  int gzip_level = 6;

  bool is_standard_output() const { return name == standard_stream; }
};

/// The destination named by a path and options. Before any work is done, rejects one to which a tensor of
/// this order cannot be written: because it indicates no suitable kind of file, or its folder does not exist
/// or is not writable.
/// @throws UsageError, IoError
Destination destination(const std::string& path, const OutputOptions& options, int order);
/// Does the same for a picture; returns the path under which it is saved.
std::string picture_destination(const std::string& path);

/// Writes the file. The symmetry applies to .mtx and .h5, the layout to .mtx, and to .h5 without levels.
/// Returns the seconds taken.
double write_output(const Destination& out, const AnyEntries& entries, const OutputStyle& style);
/// Does the same for a dense vector or matrix, which becomes an array in .mtx and .h5.
double write_dense_output(const Destination& out, const AnyEntries& entries);

/// Adds what was written to the outcome of a command. If the result is on standard output, the report must go
/// elsewhere.
/// @return the section of the output, for further facts
Report& report_output(Outcome& outcome, const Destination& out, double write_seconds);

}  // namespace sporos::tool
