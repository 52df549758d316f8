// SPDX-License-Identifier: Apache-2.0
/// @file number_added_to_a_sparse_result.fail.cpp
/// A number added at every coordinate of a sparse result.
// expect: add it where a tensor stores a value, A\(i, j\) \+ 1.0 \* pattern\(A\(i, j\)\)
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, CSR<>> A({9, 9}), C({9, 9});
  C(i, j) = A(i, j) * A(i, j) + 1.0;
}
