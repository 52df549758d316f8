// SPDX-License-Identifier: Apache-2.0
/// @file resources.cpp
/// Statements on CUDA streams of their own, two threads at once; plans on the GPU; and what statements
/// allocate there against their estimates.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <sporos/sporos.hpp>
#include <thread>
#include <vector>

#include "../estimates.hpp"
#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

/// Statements run by several kernels and by the nest, into tensors of its own.
struct Work {
  Tensor<double, CSR<>, Cuda> B, C;
  Tensor<double, DenseMatrix<>, Cuda> U, V;
  Tensor<double, CSF<3>, Cuda> T;
  Tensor<double, DenseVector, Cuda> x;
  Tensor<sporos::half, CSR<std::int32_t, std::int32_t>, Cuda> narrow;
  Tensor<sporos::half, DenseMatrix<>, Cuda> X, Y;
  Tensor<sporos::half, NM<8, 32, 32>, Cuda> blocks;
  Tensor<sporos::half, TwoFour, Cuda> two_four;

  explicit Work(unsigned seed)
      : B(assemble<CSR<>>(random_entries<double, 2>({700, 500}, 9000, seed)).copy_to<Cuda>()),
        C(assemble<CSR<>>(random_entries<double, 2>({500, 600}, 9000, seed + 1)).copy_to<Cuda>()),
        U(filled<double, DenseMatrix<>>({500, 32}, seed + 2).copy_to<Cuda>()),
        V(filled<double, DenseMatrix<>>({600, 32}, seed + 3).copy_to<Cuda>()),
        T(assemble<CSF<3>>(random_entries<double, 3>({700, 500, 600}, 9000, seed + 4)).copy_to<Cuda>()),
        x(filled<double, DenseVector>({500}, seed + 5).copy_to<Cuda>()),
        narrow(assemble<CSR<std::int32_t, std::int32_t>>(
                   random_entries<sporos::half, 2>({700, 512}, 9000, seed + 6))
                   .copy_to<Cuda>()),
        X(filled<sporos::half, DenseMatrix<>>({512, 64}, seed + 7).copy_to<Cuda>()),
        Y(filled<sporos::half, DenseMatrix<>>({700, 64}, seed + 8).copy_to<Cuda>()),
        blocks(
            prune<NM<8, 32, 32>>(filled<sporos::half, DenseMatrix<>>({64, 128}, seed + 9)).copy_to<Cuda>()),
        two_four(prune<TwoFour>(filled<sporos::half, DenseMatrix<>>({128, 64}, seed + 10)).copy_to<Cuda>()) {}

  struct Results {
    Tensor<double, CSR<>, Cuda> product{{700, 600}}, nest{{700, 600}}, sum{{700, 500}}, dots{{700, 500}};
    Tensor<sporos::half, CSR<std::int32_t, std::int32_t>, Cuda> narrow_dots{{700, 512}};
    Tensor<sporos::half, DenseMatrix<>, Cuda> tiles{{700, 64}}, of_blocks{{700, 128}},
        of_two_four{{700, 128}};
    Tensor<double, DenseVector, Cuda> y{{700}};
    Tensor<double, DenseMatrix<>, Cuda> dense{{700, 32}}, mttkrp{{700, 32}}, gemm{{500, 600}};
  };

  Results run(const Resources<Cuda>& resources) const {
    Results out;
    assign(out.product(i, j), B(i, k) * C(k, j)).on(resources).run();
    assign(out.sum(i, j), B(i, j) + 2.0 * B(i, j)).on(resources).run();
    assign(out.y(i), B(i, j) * x(j)).on(resources).run();
    assign(out.dense(i, r), B(i, k) * U(k, r)).on(resources).run();
    assign(out.mttkrp(i, r), T(i, k, l) * U(k, r) * V(l, r)).on(resources).run();
    assign(out.dots(i, j), B(i, j) * out.dense(i, r) * U(j, r)).on(resources).run();
    assign(out.nest(i, j), B(i, k) * C(k, j)).generic().on(resources).run();
    assign(out.gemm(i, j), U(i, r) * V(j, r)).on(resources).run();
    plan(assign(out.tiles(i, r), narrow(i, k) * X(k, r))
             .use<gpu::SpmmOnTensorCores>()
             .with_constant_operands()
             .on(resources))
        .run();
    auto narrow_dots = plan(assign(out.narrow_dots(i, j), narrow(i, j) * Y(i, r) * X(j, r))
                                .use<gpu::SddmmByTiles>()
                                .on(resources));
    narrow_dots.run();
    narrow_dots.run();
    assign(out.of_blocks(i, j), Y(i, k) * blocks(k, j)).use<gpu::NmByGathering>().on(resources).run();
    assign(out.of_two_four(i, j), Y(i, k) * two_four(j, k))
        .use<gpu::TwoFourOnTensorCores>()
        .on(resources)
        .run();
    resources.space().fence();
    return out;
  }
};

void expect_same(const Work::Results& a, const Work::Results& b) {
  expect_equal_tensors(a.product.copy_to<Host>(), b.product);
  expect_equal_tensors(a.sum.copy_to<Host>(), b.sum);
  expect_equal_tensors(a.dots.copy_to<Host>(), b.dots);
  expect_equal_tensors(a.y.copy_to<Host>(), b.y);
  expect_equal_tensors(a.dense.copy_to<Host>(), b.dense);
  expect_equal_tensors(a.mttkrp.copy_to<Host>(), b.mttkrp);
  expect_equal_tensors(a.nest.copy_to<Host>(), b.nest);
  expect_equal_tensors(a.gemm.copy_to<Host>(), b.gemm);
  expect_equal_tensors(a.tiles.copy_to<Host>(), b.tiles);
  expect_equal_tensors(a.narrow_dots.copy_to<Host>(), b.narrow_dots);
  expect_equal_tensors(a.of_blocks.copy_to<Host>(), b.of_blocks);
  expect_equal_tensors(a.of_two_four.copy_to<Host>(), b.of_two_four);
}

TEST(CudaStreams, RunTheStatementsOfTwoThreadsAtOnce) {
  const std::array work{Work(1), Work(50)};
  const std::array expected{work[0].run({}), work[1].run({})};
  const auto streams = Kokkos::Experimental::partition_space(Cuda(), 1, 1);
  ASSERT_NE(streams[0].cuda_stream(), streams[1].cuda_stream());
  std::array<std::vector<Work::Results>, 2> found;
  std::vector<std::thread> threads;
  for (std::size_t at = 0; at < 2; ++at)
    threads.emplace_back([&, at] {
      const Resources<Cuda> resources(streams[at]);
      for (int round = 0; round < 10; ++round) found[at].push_back(work[at].run(resources));
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t at = 0; at < 2; ++at)
    for (const auto& results : found[at]) expect_same(results, expected[at]);
}

TEST(CudaPlans, ComputeNewValuesByEveryKernel) {
  const Work work(7);
  const Work::Results out, expected;
  auto product = plan(assign(out.product(i, j), work.B(i, k) * work.C(k, j)));
  auto sum = plan(assign(out.sum(i, j), work.B(i, j) + 2.0 * work.B(i, j)));
  auto vector = plan(assign(out.y(i), work.B(i, j) * work.x(j)));
  auto dots = plan(assign(out.dots(i, j), work.B(i, j) * out.dense(i, r) * work.U(j, r)));
  EXPECT_GT(vector.bytes(), 0) << "where tiles start is kept";
  for (const double value : {1.0, 3.0}) {
    Kokkos::deep_copy(work.B.values(), value);
    product.run();
    sum.run();
    vector.run();
    dots.run();
    expected.product(i, j) = work.B(i, k) * work.C(k, j);
    expected.sum(i, j) = work.B(i, j) + 2.0 * work.B(i, j);
    expected.y(i) = work.B(i, j) * work.x(j);
    expected.dots(i, j) = work.B(i, j) * out.dense(i, r) * work.U(j, r);
    expect_same(out, expected);
  }
}

TEST(CudaEstimates, BoundWhatStatementsAllocate) {
  const Work work(9);
  const Work::Results out;
  expect_bounded(assign(out.product(i, j), work.B(i, k) * work.C(k, j)));
  expect_bounded(assign(out.sum(i, j), work.B(i, j) + 2.0 * work.B(i, j)));
  expect_bounded(assign(out.y(i), work.B(i, j) * work.x(j)));
  expect_bounded(assign(out.dense(i, r), work.B(i, k) * work.U(k, r)));
  expect_bounded(assign(out.dots(i, j), work.B(i, j) * out.dense(i, r) * work.U(j, r)));
  expect_bounded(assign(out.mttkrp(i, r), work.T(i, k, l) * work.U(k, r) * work.V(l, r)));
}

TEST(CudaStatements, ThatReadTheirOwnResultAreRight) {
  const Work work(11);
  const auto square = assemble<CSR<>>(random_entries<double, 2>({500, 500}, 6000, 12)).copy_to<Cuda>();
  const Tensor<double, DenseVector, Cuda> y({500});
  y(i) = square(i, j) * work.x(j);
  work.x(i) = square(i, j) * work.x(j);
  expect_equal_tensors(y.copy_to<Host>(), work.x);
}

}  // namespace
