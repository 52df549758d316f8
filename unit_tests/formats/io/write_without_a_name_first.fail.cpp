// SPDX-License-Identifier: Apache-2.0
/// @file write_without_a_name_first.fail.cpp
/// A tensor written before the name of its file is said.
// expect: write takes the name of the file first: write\(.*A.mtx.*, A\)
// alone
#include <sporos/sporos.hpp>

using namespace sporos;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  write(A, "A.mtx");
}
