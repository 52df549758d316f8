// SPDX-License-Identifier: Apache-2.0
/// @file bench_run.hpp
/// The operations that `sporos bench` measures on a matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "timing.hpp"

namespace sporos::tool {

/// What was measured of an operation.
struct Measurement {
  std::string_view operation{};
  std::string statement{};
  std::string kernel{};          ///< that ran it; empty where there is no choice
  std::optional<Times> times{};  ///< none if it was left out
  double operations = 0;         ///< additions and multiplications of one run; 0 if it has none
  std::int64_t bytes = 0;        ///< of the operands and the result
  std::string left_out{};        ///< why it was left out
};

/// How to measure.
struct BenchPlan {
  std::vector<std::string> operations;  ///< by name
  int columns = 16;                     ///< of the dense factors of spmm and sddmm
  double seconds = 0.5;                 ///< for which an operation is repeated, at least three times
};

/// The names of the operations, in the order in which they are measured.
std::vector<std::string> bench_operations();

/// Measures the operations of the plan on a matrix stored as CSR, with entries that are sorted and merged.
std::vector<Measurement> measure(const Entries<double, 2>& entries, const BenchPlan& plan);

}  // namespace sporos::tool
