// SPDX-License-Identifier: Apache-2.0
/// @file passage.hpp
/// Stores entries in a format and reads them back: the core of `convert`, `info` and `validate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"

namespace sporos::tool {

/// The formats that the tool knows by name.
enum class FormatName { coo, csr, csc, dcsr, dcsc, csf, bcsr2x2, bcsr3x3, bcsr4x4, dense };

/// Their names, as given with --format; "bcsr" and SciPy's "bsr" are bcsr2x2.
std::string_view to_string(FormatName format);
std::optional<FormatName> format_named(std::string_view name);
/// All names in one line, for messages and --help.
std::string format_names();

/// Whether a format can hold tensors of this order: most hold matrices only.
bool holds_order(FormatName format, int order);

/// Whether a format can hold such extents: blocked formats have 32-bit coordinates.
bool holds_extents(FormatName format, const std::vector<std::int64_t>& extents);

/// Whether a format stores padding zeros, which cannot be distinguished from zeros of a file.
bool pads_with_zeros(FormatName format);

/// The bytes that a format's full levels take for these extents, regardless of the number of entries; used to
/// reject unsuitable formats in advance. Infinity if 64 bits cannot hold the number.
double bytes_of_full_levels(FormatName format, const std::vector<std::int64_t>& extents);

/// What was found out about a tensor while it was in the format.
struct Passage {
  AnyEntries entries;       ///< as read back; empty if not requested
  std::string levels;       ///< "Dense(d0), Compressed(d1)", in terms of the file's modes
  std::int64_t stored = 0;  ///< number of stored values
  std::int64_t bytes = 0;   ///< bytes of all arrays
  double assemble_seconds = 0;
  double validate_seconds = 0;
  double extract_seconds = 0;
};

/// Options for storing entries in a format and reading them back.
struct PassageOptions {
  Duplicates duplicates = Duplicates::sum;
  bool validate = true;
  bool take_out = true;
  bool keep_zeros = false;        ///< also read back padding zeros, as for an array file
  std::vector<int> mode_order{};  ///< the mode of each level, outermost first; empty: the natural order
};

/// Assembles entries in a format (with 64-bit coordinates if the extents require them), validates the tensor,
/// and reads its entries back.
/// @throws UsageError if the format cannot hold such tensors; also what assemble and validate throw
Passage pass_through(FormatName format, const AnyEntries& entries, const PassageOptions& options);

/// Does the same for a matrix of one value type; instantiated in passage_<type>.cpp.
template <class Value>
Passage pass_matrix(FormatName format, const Entries<Value, 2>& entries, const PassageOptions& options);
extern template Passage pass_matrix(FormatName, const Entries<double, 2>&, const PassageOptions&);
extern template Passage pass_matrix(FormatName, const Entries<std::int64_t, 2>&, const PassageOptions&);
extern template Passage pass_matrix(FormatName, const Entries<Complex, 2>&, const PassageOptions&);

/// Does the same for a tensor of another order; instantiated in passage_tensor_<orders>.cpp.
template <int Order>
Passage pass_tensor(FormatName format, const Entries<double, Order>& entries, const PassageOptions& options);
extern template Passage pass_tensor(FormatName, const Entries<double, 1>&, const PassageOptions&);
extern template Passage pass_tensor(FormatName, const Entries<double, 3>&, const PassageOptions&);
extern template Passage pass_tensor(FormatName, const Entries<double, 4>&, const PassageOptions&);
extern template Passage pass_tensor(FormatName, const Entries<double, 5>&, const PassageOptions&);
extern template Passage pass_tensor(FormatName, const Entries<double, 6>&, const PassageOptions&);

}  // namespace sporos::tool
