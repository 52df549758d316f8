// SPDX-License-Identifier: Apache-2.0
/// @file bench_run.hpp
/// The operations that `sporos bench` measures on a matrix or a tensor of order 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explanations.hpp"
#include "input.hpp"
#include "timing.hpp"

namespace sporos::tool {

/// What was measured for an operation.
struct Measurement {
  std::string operation{};
  std::string format{};  ///< format of the sparse operands
  std::string statement{};
  std::string kernel{};          ///< the kernel that ran it; empty if there is no choice
  std::optional<Times> times{};  ///< empty if it was not run
  double operations = 0;         ///< additions and multiplications of one run; 0 if it has none
  std::int64_t bytes = 0;        ///< bytes of the operands and the result
  std::string left_out{};        ///< why it was not run
};

/// How to measure.
struct BenchPlan {
  std::vector<std::string> operations;  ///< by name
  std::vector<std::string> formats;     ///< by name
  int columns = columns_of_factors;
  double seconds = 0.5;  ///< how long an operation is repeated, but at least three times
};

/// The names of the operations and formats, in the order in which they are measured.
std::vector<std::string> bench_operations();
std::vector<std::string> bench_formats();

/// Measures those operations of the plan that exist for the order of a file's tensor.
/// @throws UsageError if it is neither a matrix nor of order 3
std::vector<Measurement> measure(const Input& input, const BenchPlan& plan);

}  // namespace sporos::tool
