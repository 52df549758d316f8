// SPDX-License-Identifier: Apache-2.0
/// @file sharing_an_inner_loop.fail.cpp
/// A loop that is not the outermost one shared among threads.
// expect: threads share the outermost loop
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), B({9, 9});
  assign(A(i, j), B(i, j)).parallelize(j).run();
}
