// SPDX-License-Identifier: Apache-2.0
/// @file statements.cpp
/// A statement of every kind, compiled with the warnings that a user's build may have on.
#include <sporos/sporos.hpp>

int main(int argc, char** argv) {
  using namespace sporos;
  const ScopeGuard guard(argc, argv);
  const Index<'i'> i;
  const Index<'j'> j;
  const Index<'k'> k;
  const Index<'f'> fused;
  const Index<'o'> outer;
  const Index<'n'> inner;

  Tensor<double, CSR<>> A({2, 2}), B({2, 2}), C({2, 2});
  Tensor<double, CSC<>> D({2, 2});
  Tensor<double, COO<2>> E({2, 2});
  Tensor<double, CSF<3>> T({2, 2, 2}), R({2, 2, 2});
  Tensor<double, DenseTensor<2>> F({2, 2}), G({2, 2});
  const Tensor<double, DenseVector> x({2}), y({2});

  A(i, j) = B(i, k) * C(k, j);  // gathered
  A(i, j) = D(i, k) * C(k, j);  // scattered
  A(i, j) = B(i, j) + C(i, j);  // appended
  A(i, j) = B(i, j) * F(i, k) * G(k, j);
  R(i, j, k) = T(k, j, i);  // listed
  E(j, k) = T(i, j, k) * x(i);
  y(i) = B(i, j) * x(j);  // located
  F(i, k) = B(i, j) * G(j, k);
  F(i, outer) = T(i, j, k) * G(j, outer) * G(k, outer);
  assign(y(i), B(i, j) * x(j)).split(i, outer, inner, 4).parallelize(outer).run();
  assign(y(i), B(i, j) * x(j)).fuse(i, j, fused).pos(fused, inner, B(i, j)).run();
  const auto N = prune<NM<1, 2, 2>>(G);
  F(i, j) = B(i, k) * N(k, j);
  F(i, j) = G(i, k) * prune<TwoFour>(G, B)(j, k);
  auto product = plan(assign(A(i, j), B(i, k) * C(k, j)));
  product.run();
  return A.nnz() == 0 ? 0 : 1;
}
