// SPDX-License-Identifier: Apache-2.0
/// @file cp_run_5.cpp
/// CP decompositions of tensors of order 5.
#include "cp_run_of.hpp"

namespace sporos::tool {

template CpRun run_cp(const Entries<double, 5>&, const CpSearch&);

}  // namespace sporos::tool
