// SPDX-License-Identifier: Apache-2.0
/// @file workspace_over_one_variable.fail.cpp
/// A workspace over one variable, for a result that scatters over two.
// expect: this workspace gathers a result that scatters over its innermost variable only
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSC<>> A({9, 9});
  Tensor<double, CSR<>> B({9, 9}), S({9, 9});
  assign(S(i, j), A(i, k) * B(k, j)).workspace(sorted_workspace).run();
}
