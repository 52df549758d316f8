// SPDX-License-Identifier: Apache-2.0
/// @file construction_across_formats.fail.cpp
/// A tensor made of one of another type of values.
// expect: the tensors differ in format, values or space: write A = convert<CSR<>>\(B\) for another format
// alone
#include <sporos/compute.hpp>

using namespace sporos;

void refused() {
  Tensor<double, CSR<>> B({9, 9});
  Tensor<float, CSR<>> A = B;
}
