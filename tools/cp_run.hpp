// SPDX-License-Identifier: Apache-2.0
/// @file cp_run.hpp
/// The decomposition of examples/cp_als, for the tensors of this tool.
#pragma once

#include <string>
#include <vector>

#include "input.hpp"
#include "stored.hpp"

namespace sporos::tool {

/// The settings of a decomposition.
struct CpSearch {
  int rank = 16;
  int iterations = 100;
  double tolerance = 1e-5;
  unsigned seed = 1;
};

/// X ~ the sum over r of lambda(r) times the outer product of columns r of the factors.
struct CpRun {
  Entries<double, 2> lambda;                ///< rank x 1
  std::vector<Entries<double, 2>> factors;  ///< extent of the mode x rank, columns of length 1
  std::vector<double> fits;                 ///< the fit after each iteration
  bool converged = false;
  Stored tensor;
  double seconds = 0;
};

/// Alternating least squares on the tensor, which is stored as CSF once for each mode.
/// @param entries  must be merged
template <int Order>
CpRun run_cp(const Entries<double, Order>& entries, const CpSearch& search);
extern template CpRun run_cp(const Entries<double, 3>&, const CpSearch&);
extern template CpRun run_cp(const Entries<double, 4>&, const CpSearch&);
extern template CpRun run_cp(const Entries<double, 5>&, const CpSearch&);

}  // namespace sporos::tool
