// SPDX-License-Identifier: Apache-2.0
/// @file explanations.hpp
/// The statements that `sporos explain` knows, each for a few formats of its operands, with small artificial
/// tensors.
#pragma once

#include <functional>
#include <sporos/core/entries.hpp>
#include <string>
#include <vector>

namespace sporos::tool {

/// One statement over tensors of given formats.
struct Explanation {
  std::string name;  ///< "spgemm"
  std::string
      format;  ///< the format or loop order that distinguishes it from others of that name: "csr", "ikj"
  std::function<std::string()> text;  ///< the output of explain()

  /// The statement itself: "A(i, j) = B(i, k) * C(k, j)".
  std::string statement() const;
};

/// The dense factors of the statements have as many columns.
inline constexpr int columns_of_factors = 16;

/// The matrix of the statements: entries on the diagonal and next to it.
Entries<double, 2> band();

/// All explanations. Those of one name follow each other, and the first is the default if no format is given.
/// The tensors of a statement are made only when its text is asked for.
std::vector<Explanation> explanations();

}  // namespace sporos::tool
