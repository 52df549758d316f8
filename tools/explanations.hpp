// SPDX-License-Identifier: Apache-2.0
/// @file explanations.hpp
/// The statements that `sporos explain` knows: each in a few formats of its operands, with small tensors made
/// up.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sporos::tool {

/// One statement over tensors of given formats.
struct Explanation {
  std::string name;    ///< "spgemm"
  std::string format;  ///< which format or loop order tells it from the others of that name: "csr", "ikj"
  std::function<std::string()> text;  ///< what explain() says of it

  /// "A(i, j) = B(i, k) * C(k, j)"
  std::string statement() const;
};

/// All of them, those of one name behind one another, the first being what is meant where no format is named.
/// The tensors of a statement are made when it is asked for.
std::vector<Explanation> explanations();

}  // namespace sporos::tool
