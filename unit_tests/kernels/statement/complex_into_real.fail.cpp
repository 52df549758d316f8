// SPDX-License-Identifier: Apache-2.0
/// @file complex_into_real.fail.cpp
/// A complex product in a real result.
// expect: the right side is complex and the result is real: make the result a tensor of Kokkos::complex
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<double, DenseVector> y({9});
  Tensor<Kokkos::complex<double>, CSR<>> A({9, 9});
  Tensor<double, DenseVector> x({9});
  y(i) = A(i, j) * x(j);
}
