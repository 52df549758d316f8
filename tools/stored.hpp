// SPDX-License-Identifier: Apache-2.0
/// @file stored.hpp
/// What is reported about a tensor that takes part in a computation.
#pragma once

#include <cstdint>
#include <string>

namespace sporos::tool {

/// An operand or the result, as stored.
struct Stored {
  std::string format;
  std::int64_t stored = 0;  ///< number of stored values
  std::int64_t bytes = 0;
  double assemble_seconds = 0;
};

}  // namespace sporos::tool
