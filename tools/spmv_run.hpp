// SPDX-License-Identifier: Apache-2.0
/// @file spmv_run.hpp
/// y(i) = A(i, j) * x(j), with A in CSR.
#pragma once

#include <cstdint>
#include <sporos/core/tensor.hpp>
#include <sporos/formats/named.hpp>
#include <string>

#include "comparison.hpp"
#include "input.hpp"
#include "timing.hpp"

namespace sporos::tool {

using RealVector = Tensor<double, DenseVector>;
using RealRows = Tensor<double, CSR<>>;

struct SpmvRun {
  Times times;
  double plan_seconds = 0;
  std::string kernel;
  std::int64_t bytes = 0;  ///< bytes of A, x and y, each of which a product reads or writes once
};

/// Runs the product as a plan, as many times as fit in `seconds`, or `repeats` times if that is positive.
SpmvRun run_spmv(const RealRows& A, const RealVector& x, const RealVector& y, int repeats, double seconds);

/// Compares y with sums formed in long double. The error bound for a row of n entries is n u / (1 - n u)
/// times the sum of the moduli of its products, where u is the unit roundoff of double.
Comparison compare_spmv(const Entries<double, 2>& A, const RealVector& x, const RealVector& y);

}  // namespace sporos::tool
