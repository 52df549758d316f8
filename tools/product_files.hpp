// SPDX-License-Identifier: Apache-2.0
/// @file product_files.hpp
/// The files of `sporos multiply`, wherever the product is computed.
#pragma once

#include <optional>
#include <string>

#include "input.hpp"
#include "output.hpp"
#include "stored.hpp"

namespace sporos::tool {

/// The files of C = A B.
struct ProductFiles {
  std::string a, b;
  std::string c;  ///< empty: C is not written
  InputOptions input;
  OutputOptions output;
};

struct MatrixFactors {
  Input A, B;
};

/// Where C is written; if it cannot be, this is rejected before any work is done.
std::optional<Destination> destination_of(const ProductFiles& files);

/// Reads A and B, whose extents must match.
/// @throws UsageError, and what read_matrix throws
MatrixFactors read_factors(const ProductFiles& files);

/// Adds the file of a factor, and how it is stored, to a report.
void describe_factor(Report& report, const Input& input, const Stored& stored);

/// Writes C, and adds its file to the outcome.
/// @param C  with double or complex values; written as integers if the factors are integers or patterns
void write_product(Outcome& outcome, const Destination& out, const MatrixFactors& factors,
                   const AnyEntries& C);

}  // namespace sporos::tool
