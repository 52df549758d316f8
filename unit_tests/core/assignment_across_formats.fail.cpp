// SPDX-License-Identifier: Apache-2.0
/// @file assignment_across_formats.fail.cpp
/// A tensor assigned to one of another format.
// expect: the tensors differ in format, values or space: write A = convert<CSR<>>\(B\) for another format
#include <sporos/compute.hpp>

using namespace sporos;

void refused() {
  Tensor<double, CSR<>> A({9, 9});
  Tensor<double, CSC<>> B({9, 9});
  A = B;
}
