// SPDX-License-Identifier: Apache-2.0
/// @file schedules.cpp
/// Semirings, explicit sums and deterministic statements on the GPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

TEST(CudaSemirings, FindTheSameShortestWays) {
  const auto A = assemble<CSR<>>(random_entries<double, 2>({503, 401}, 6000, 1));
  const auto x = filled<double, DenseVector>({401}, 2);
  const Tensor<double, DenseVector> y({503});
  assign(y(i), A(i, j) * x(j)).over(MinPlus{}).run();

  const Tensor<double, DenseVector, Cuda> device_y({503});
  assign(device_y(i), A.copy_to<Cuda>()(i, j) * x.copy_to<Cuda>()(j)).over(MinPlus{}).run();
  expect_equal_tensors(y, device_y);
}

TEST(CudaSemirings, AddAtomicallyWhereRowsMeetInTheResult) {
  const auto A = assemble<CSR<>>(random_entries<float, 2>({503, 401}, 6000, 3));
  const auto x = filled<float, DenseVector>({503}, 4);
  const Tensor<float, DenseVector> y({401});
  assign(y(j), A(i, j) * x(i)).over(MaxTimes{}).run();

  const Tensor<float, DenseVector, Cuda> device_y({401});
  assign(device_y(j), A.copy_to<Cuda>()(i, j) * x.copy_to<Cuda>()(i)).over(MaxTimes{}).run();
  expect_equal_tensors(y, device_y);
}

struct Squared {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return x * x; }
};

TEST(CudaSums, AreNumbersInsideAFunctionAndADivisor) {
  const auto A = assemble<CSR<>>(random_entries<double, 2>({503, 401}, 6000, 5));
  const auto W = filled<double, DenseMatrix<>>({503, 7}, 6);
  const Tensor<double, DenseVector> y({503}), z({503});
  y(i) = map(Squared{}, sum(j, A(i, j)));
  z(i) = A(i, j) / sum(k, W(i, k));

  const auto device_A = A.copy_to<Cuda>();
  const auto device_W = W.copy_to<Cuda>();
  const Tensor<double, DenseVector, Cuda> device_y({503}), device_z({503});
  device_y(i) = map(Squared{}, sum(j, device_A(i, j)));
  device_z(i) = device_A(i, j) / sum(k, device_W(i, k));
  expect_equal_tensors(y, device_y);
  const auto there = device_z.move_to<Host>();
  for (std::size_t row = 0; row < 503; ++row)
    EXPECT_NEAR(z.values()(row), there.values()(row), 1e-13 * (1 + z.values()(row)));
}

TEST(CudaDeterministicStatements, HaveTheSameBitsEachTime) {
  auto entries = random_entries<float, 2>({50021, 401}, 400000, 7);
  std::mt19937_64 draw(8);
  for (std::int64_t at = 0; at < entries.size(); ++at)
    entries.values(at) = std::uniform_real_distribution<float>(-1, 1)(draw);
  const auto A = assemble<CSR<>>(entries).copy_to<Cuda>();
  const auto x = filled<float, DenseVector>({50021}, 9).copy_to<Cuda>();
  const auto run = [&] {
    const Tensor<float, DenseVector, Cuda> y({401});
    assign(y(j), A(i, j) * x(i)).deterministic().run();
    return y.move_to<Host>();
  };
  const auto first = run();
  for (int time = 0; time < 5; ++time) {
    const auto again = run();
    EXPECT_EQ(std::memcmp(first.values().data(), again.values().data(), 401 * sizeof(float)), 0);
  }
}

TEST(CudaPlans, RunAgainWithNewValues) {
  const auto B = assemble<CSR<>>(random_entries<double, 2>({503, 401}, 3000, 10)).copy_to<Cuda>();
  const auto C = assemble<CSR<>>(random_entries<double, 2>({401, 307}, 3000, 11)).copy_to<Cuda>();
  const Tensor<double, CSR<>, Cuda> A({503, 307}), expected({503, 307});
  auto product = plan(assign(A(i, j), B(i, k) * C(k, j)));
  product.run();
  Kokkos::deep_copy(B.values(), 3.0);
  product.run();
  expected(i, j) = B(i, k) * C(k, j);
  expect_equal_tensors(expected.move_to<Host>(), A);
  const auto other = assemble<CSR<>>(random_entries<double, 2>({401, 307}, 3000, 12)).copy_to<Cuda>();
  C.replace(other.extents(), other.levels(), other.values());
  EXPECT_THROW(product.run(), ScheduleError);
}

}  // namespace
