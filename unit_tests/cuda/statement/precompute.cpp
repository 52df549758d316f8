// SPDX-License-Identifier: Apache-2.0
/// @file precompute.cpp
/// Statements on the GPU of which a part is computed first, into a tensor of its own.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

/// D(i, j) times the product of B and C, the product in a tensor of format W, in either space.
template <class W, class Space>
struct SampledProduct {
  Tensor<double, CSR<>, Space> B, C, D, A{{230, 170}};
  Tensor<double, W, Space> part{{230, 170}};

  auto statement() const {
    return assign(A(i, j), D(i, j) * (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), part(i, j));
  }
};

template <class W>
void check_factor() {
  SCOPED_TRACE(W::str());
  const auto B = assemble<CSR<>>(random_entries<double, 2>({230, 190}, 1500, 1)),
             C = assemble<CSR<>>(random_entries<double, 2>({190, 170}, 1500, 2)),
             D = assemble<CSR<>>(random_entries<double, 2>({230, 170}, 3000, 3));
  const SampledProduct<W, Host> host{B, C, D};
  const SampledProduct<W, Cuda> device{on_device(B), on_device(C), on_device(D)};
  host.statement().run();
  device.statement().run();
  expect_equal_tensors(host.A, device.A);
  expect_equal_tensors(host.part, device.part);

  auto planned = plan(device.statement());
  planned.run();
  for (const double factor : {3.0, -2.0}) {
    Kokkos::deep_copy(host.B.values(), factor);
    Kokkos::deep_copy(device.B.values(), factor);
    host.statement().run();
    planned.run();
    expect_equal_tensors(host.A, device.A);
  }
  EXPECT_NE(explain(device.statement()).find("The part, which is computed first"), std::string::npos);
  EXPECT_GE(estimate(device.statement()).result, device.A.bytes());
}

TEST(CudaPrecompute, AFactorOfASampledProduct) {
  check_factor<CSR<>>();
  check_factor<COO<2>>();
  check_factor<DenseMatrix<>>();
}

TEST(CudaPrecompute, ATermAndAPartOfATerm) {
  const auto B = assemble<CSR<>>(random_entries<double, 2>({230, 190}, 1500, 4));
  const auto x = filled<double, DenseVector>({190}, 5), b = filled<double, DenseVector>({230}, 6);
  const Tensor<double, DenseVector> expected({230});
  expected(i) = b(i) - 2.0 * (B(i, k) * x(k));
  const auto dB = on_device(B);
  const auto dx = on_device(x), db = on_device(b);
  const Tensor<double, DenseVector, Cuda> w({230});
  for (const bool scaled : {false, true}) {
    const auto y = poisoned<double, DenseVector>({230});
    const auto statement = assign(y(i), db(i) - 2.0 * (dB(i, k) * dx(k)));
    if (scaled)
      statement.precompute(2.0 * (dB(i, k) * dx(k)), w(i)).run();
    else
      statement.precompute(dB(i, k) * dx(k), w(i)).run();
    expect_equal_tensors(expected, y);
  }
}

TEST(CudaPrecompute, WhatScattersOverTwoVariables) {
  const auto B = assemble<CSC<>>(random_entries<double, 2>({230, 190}, 1500, 7));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({190, 170}, 1500, 8));
  const auto d = filled<double, DenseVector>({230}, 9);
  const Tensor<double, CSR<>> expected({230, 170});
  expected(i, j) = d(i) * B(i, k) * C(k, j);
  const auto dB = on_device(B);
  const auto dC = on_device(C);
  const auto dd = on_device(d);
  const Tensor<double, CSR<>, Cuda> A({230, 170}), part({230, 170});
  assign(A(i, j), dd(i) * (dB(i, k) * dC(k, j))).precompute(dB(i, k) * dC(k, j), part(i, j)).run();
  expect_equal_tensors(expected, A);
}

}  // namespace
