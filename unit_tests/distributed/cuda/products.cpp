// SPDX-License-Identifier: Apache-2.0
/// @file products.cpp
/// Products of distributed sparse and dense tensors in the memory of GPUs, against the same product on one
/// process's host.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <vector>

#include "../ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

using Vector = Tensor<double, DenseVector>;
using Matrix = Tensor<double, DenseMatrix<>>;
using Sparse = Distributed<Tensor<double, CSR<>, Cuda>>;
using DeviceVector = Distributed<Tensor<double, DenseVector, Cuda>>;
using DeviceMatrix = Distributed<Tensor<double, DenseMatrix<>, Cuda>>;

/// A tensor of the host, distributed over the memories of the ranks' GPUs.
template <class T>
auto spread(const Distribution<T::order>& distribution, const T& whole) {
  return assemble<typename T::format_type, Cuda>(distribution, share(world(), entries(whole)));
}

/// Multiplies the values of a distributed tensor, where they are.
template <class T>
void scale(const T& tensor, double by) {
  const auto values = tensor.local().values();
  const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  for (std::size_t q = 0; q < here.extent(0); ++q) here(q) *= by;
  Kokkos::deep_copy(values, here);
}

struct Operands {
  Tensor<double, CSR<>> A;
  std::int64_t width = 5;
  Vector x, y;
  Matrix X, Y;

  Operands(std::int64_t m, std::int64_t n, double density)
      : A(assemble<CSR<>>(all_entries<2>({m, n}, density))),
        x(assemble<DenseVector>(all_entries<1>({n}, 2, 1))),
        y({m}),
        X(assemble<DenseMatrix<>>(all_entries<2>({n, width}, 2, 2))),
        Y({m, width}) {
    y(i) = A(i, j) * x(j);
    Y(i, k) = A(i, j) * X(j, k);
  }
};

TEST(DevicesOfRanks, MultiplyAMatrixAndAVector) {
  const Operands whole(60, 40, 0.1);
  const Vector sixfold({60});
  sixfold(i) = 6.0 * whole.y(i);
  for (const auto& of_A : distributions<2>(world(), {60, 40}))
    for (const auto& of_x : distributions<1>(world(), {40})) {
      SCOPED_TRACE(text(of_A.str(), ' ', of_x.str()));
      const Sparse A = spread(of_A, whole.A);
      const DeviceVector x = spread(of_x, whole.x), y(along(A, 0));
      auto product = plan(assign(y(i), A(i, j) * x(j)));
      product.run();
      EXPECT_TRUE(holds(y, whole.y));
      scale(A, 2);
      scale(x, 3);
      product.run();
      EXPECT_TRUE(holds(y, sixfold));
    }
}

TEST(DevicesOfRanks, MultiplyWithAHaloWhileTheInteriorIsComputed) {
  // A band, of which the first and the last rows of a rank need values of its neighbours.
  const std::int64_t n = 200;
  Entries<double, 2> band({n, n}, 5 * n);
  for (std::int64_t e = 0; e < band.size(); ++e)
    band.set(e, {e / 5, (e / 5 + 3 * (e % 5) + n - 6) % n}, static_cast<double>(1 + e % 4));
  const auto whole = assemble<CSR<>>(band);
  const auto x = assemble<DenseVector>(all_entries<1>({n}, 2, 1));
  const auto X = assemble<DenseMatrix<>>(all_entries<2>({n, 16}, 2, 2));
  const Vector y({n}), doubled({n});
  const Matrix Y({n, 16}), tripled({n, 16});
  y(i) = whole(i, j) * x(j);
  doubled(i) = 2.0 * y(i);
  Y(i, k) = whole(i, j) * X(j, k);
  tripled(i, k) = 3.0 * Y(i, k);

  const Sparse A = spread(Distribution<2>::blocks(world(), {n, n}), whole);
  const DeviceVector u = spread(along(A, 0), x), v(along(A, 0));
  auto product = plan(assign(v(i), A(i, j) * u(j)));
  EXPECT_EQ(product.candidate(), world().size() > 1 ? HaloProduct::name : OwnerComputes::name);
  product.run();
  EXPECT_TRUE(holds(v, y));
  scale(u, 2);
  product.run();
  EXPECT_TRUE(holds(v, doubled));

  const DeviceMatrix U = spread(Distribution<2>::blocks(world(), {n, 16}), X), V(U.distribution());
  auto products = plan(assign(V(i, k), A(i, j) * U(j, k)));
  EXPECT_EQ(products.candidate(), product.candidate());
  products.run();
  EXPECT_TRUE(holds(V, Y));
  scale(A, 3);
  products.run();
  EXPECT_TRUE(holds(V, tripled));
}

TEST(DevicesOfRanks, MultiplyASparseAndADenseMatrix) {
  const Operands whole(30, 23, 0.2);
  const auto of_A = distributions<2>(world(), {30, 23});
  const auto of_X = distributions<2>(world(), {23, whole.width});
  for_some(
      20, 3,
      [&](std::size_t a, std::size_t b) {
        SCOPED_TRACE(text(of_A[a].str(), ' ', of_X[b].str()));
        const Sparse A = spread(of_A[a], whole.A);
        const DeviceMatrix X = spread(of_X[b], whole.X);
        const DeviceMatrix Y(Distribution<2>::blocks(world(), {30, whole.width}));
        Y(i, k) = A(i, j) * X(j, k);
        EXPECT_TRUE(holds(Y, whole.Y));
      },
      of_A.size(), of_X.size());
}

}  // namespace
}  // namespace sporos::test
