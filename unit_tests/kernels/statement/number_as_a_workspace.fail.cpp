// SPDX-License-Identifier: Apache-2.0
/// @file number_as_a_workspace.fail.cpp
/// A number where a workspace policy is expected.
// expect: workspace\(...\) takes a workspace policy: dense_workspace
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9}), S({9, 9});
  const auto statement = assign(S(i, j), A(i, k) * B(k, j)).workspace(3);
  statement.run();
  estimate(statement);
  explain(statement);
  plan(statement).run();
}
