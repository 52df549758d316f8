// SPDX-License-Identifier: Apache-2.0
/// @file output.hpp
/// Files as the tool writes them.
#pragma once

#include <sporos/formats/io/matrix_market_header.hpp>
#include <string>

#include "input.hpp"

namespace sporos::tool {

/// What a matrix is written as, where the file says such things.
struct OutputStyle {
  bool pattern = false;  ///< no values
  MatrixMarketLayout layout = MatrixMarketLayout::coordinate;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
};

/// The style of the file that was read.
OutputStyle style_of(const Input& input);

/// Refuses, before the work is done, a name that nothing can be written to afterwards: one whose end says no
/// kind of file that holds a tensor of this order, or in a folder that is not there or not to be written.
/// @throws UsageError, IoError
void check_output(const std::string& path, int order);
/// The same for a picture.
void check_picture(const std::string& path);

/// Writes what the name says; symmetry and layout are for .mtx. Returns the seconds that it took.
double write_output(const std::string& path, const AnyEntries& entries, const OutputStyle& style);

}  // namespace sporos::tool
