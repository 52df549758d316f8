// SPDX-License-Identifier: Apache-2.0
/// @file output.hpp
/// Files as the tool writes them.
#pragma once

#include <sporos/formats/io/matrix_market_header.hpp>
#include <string>

#include "input.hpp"

namespace sporos::tool {

/// How to write a matrix to a file that has such properties.
struct OutputStyle {
  bool pattern = false;  ///< without values
  MatrixMarketLayout layout = MatrixMarketLayout::coordinate;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
};

/// The style of the file that was read.
OutputStyle style_of(const Input& input);

/// Rejects, before any work is done, a name to which the result cannot be written: its ending is not that of
/// a kind of file for tensors of this order, or its folder does not exist or is not writable.
/// @throws UsageError, IoError
void check_output(const std::string& path, int order);
/// The same for a picture.
void check_picture(const std::string& path);

/// Writes the kind of file that the name stands for; symmetry and layout apply to .mtx. Returns the seconds
/// taken.
double write_output(const std::string& path, const AnyEntries& entries, const OutputStyle& style);

}  // namespace sporos::tool
