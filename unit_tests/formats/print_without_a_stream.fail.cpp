// SPDX-License-Identifier: Apache-2.0
/// @file print_without_a_stream.fail.cpp
/// A tensor printed to nowhere.
// expect: print takes a stream as well: print\(std::cout, A\)
// alone
#include <sporos/compute.hpp>

using namespace sporos;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  print(A);
}
