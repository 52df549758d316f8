// SPDX-License-Identifier: Apache-2.0
/// @file plan_of_complex_into_real.fail.cpp
/// The plan of a complex product with a real result.
// expect: the right side is complex and the result is real
// alone
#include <sporos/compute.hpp>

using namespace sporos;
using namespace sporos::indices;

void refused() {
  Tensor<Kokkos::complex<double>, CSR<>> A({9, 9});
  Tensor<double, CSR<>> S({9, 9});
  const auto statement = assign(S(i, j), A(i, k) * A(k, j));
  estimate(statement);
  explain(statement);
  plan(statement).run();
}
