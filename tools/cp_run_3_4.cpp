// SPDX-License-Identifier: Apache-2.0
/// @file cp_run_3_4.cpp
/// CP decompositions of tensors of order 3 and 4.
#include "cp_run_of.hpp"

namespace sporos::tool {

template CpRun run_cp(const Entries<double, 3>&, const CpSearch&);
template CpRun run_cp(const Entries<double, 4>&, const CpSearch&);

}  // namespace sporos::tool
