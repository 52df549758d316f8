// SPDX-License-Identifier: Apache-2.0
/// @file loop_schedules.cpp
/// Statements whose loops are split, fused and shared by positions on the GPU, against the host's.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

constexpr Index<'f'> f;
constexpr Index<'u'> u;
constexpr Index<'v'> v;

template <class Tensor>
auto on_device(const Tensor& t) {
  return t.template copy_to<Cuda>();
}

TEST(CudaLoopSchedules, CutRowsByNonzeros) {
  auto entries = random_entries<double, 2>({503, 401}, 6000, 1);
  for (std::int64_t e = 0; e < 3000; ++e) entries.set(e, {77, e % 401}, 1.0);  // one long row
  const auto A = assemble<CSR<>>(entries);
  const auto x = filled<double, DenseVector>({401}, 2);
  const auto b = filled<double, DenseVector>({503}, 3);
  const Tensor<double, DenseVector> y({503});
  y(i) = b(i) - A(i, j) * x(j);
  const auto device_A = on_device(A);
  const auto device_x = on_device(x), device_b = on_device(b);
  const Tensor<double, DenseVector, Cuda> z({503});
  const auto statement = assign(z(i), device_b(i) - device_A(i, j) * device_x(j)).fuse(i, j, f);
  statement.pos(f, p, device_A(i, j)).split(p, u, v, 16).parallelize(u).run();
  expect_equal_tensors(y, z);
  statement.pos(f, p, device_A(i, j)).parallelize(p).run();
  expect_equal_tensors(y, z);
  statement.split(f, u, v, 100).run();
  expect_equal_tensors(y, z);
}

TEST(CudaLoopSchedules, CutColumnsOfADenseFactor) {
  const auto B = assemble<CSR<>>(random_entries<double, 2>({203, 302}, 3000, 4));
  const auto C = filled<double, DenseMatrix<>>({302, 70}, 5);
  const Tensor<double, DenseMatrix<>> A({203, 70});
  A(i, j) = B(i, k) * C(k, j);
  const Tensor<double, DenseMatrix<>, Cuda> device_A({203, 70});
  assign(device_A(i, j), on_device(B)(i, k) * on_device(C)(k, j))
      .reorder(i, k, j)
      .split(j, u, v, 32)
      .reorder(u, i, k, v)
      .run();
  expect_equal_tensors(A, device_A);
}

TEST(CudaLoopSchedules, CutProductsIntoSparseMatrices) {
  const auto B = assemble<CSR<>>(random_entries<double, 2>({302, 203}, 3000, 6));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({203, 402}, 3000, 7));
  const Tensor<double, CSC<>> A({302, 402});
  A(i, j) = B(i, k) * C(k, j);
  const auto device_B = on_device(B), device_C = on_device(C);
  const Tensor<double, CSC<>, Cuda> device_A({302, 402});
  const auto statement = assign(device_A(i, j), device_B(i, k) * device_C(k, j)).reorder(i, k, j);
  statement.fuse(i, k, f).pos(f, p, device_B(i, k)).split(p, u, v, 5).parallelize(u).run();
  expect_equal_tensors(A, device_A);
  statement.split(j, u, v, 50).reorder(u, i, k, v).run();
  expect_equal_tensors(A, device_A);
}

}  // namespace
