// SPDX-License-Identifier: Apache-2.0
/// @file sparse_results.cpp
/// Distributed sparse tensors in the memory of GPUs: made, moved, multiplied and reduced, against the same
/// on one process's host; and errors of one rank.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/distributed/distributed.hpp>
#include <string>

#include "../ranks.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

using Sparse = Distributed<Tensor<double, CSR<>, Cuda>>;
using DeviceVector = Distributed<Tensor<double, DenseVector, Cuda>>;

Sparse spread(const Distribution<2>& distribution, const Entries<double, 2>& all) {
  return assemble<CSR<>, Cuda>(distribution, share(world(), all));
}

TEST(DevicesOfRanks, AssembleMoveAndGather) {
  const auto all = all_entries<2>({31, 17}, 0.2);
  const auto whole = assemble<CSR<>>(all);
  for (const auto& from : distributions<2>(world(), {31, 17})) {
    SCOPED_TRACE(from.str());
    const Sparse A = spread(from, all);
    EXPECT_TRUE(holds(A, whole));
    EXPECT_EQ(total_nnz(A), whole.nnz());
    EXPECT_TRUE(holds(redistribute<COO<2>>(A, Distribution<2>::cyclic(world(), {31, 17}, 1)), whole));
    const auto at_last = gather(A, world().size() - 1);
    EXPECT_EQ(at_last.has_value(), world().rank() + 1 == world().size());
    if (at_last) {
      EXPECT_EQ(at_last->nnz(), whole.nnz());
    }
    EXPECT_TRUE(holds(scatter(from, gather(A), 0), whole));
  }
}

TEST(DevicesOfRanks, MultiplySparseMatricesAgainWithOtherValues) {
  const auto left = all_entries<2>({40, 30}, 0.1, 1), right = all_entries<2>({30, 35}, 0.1, 2);
  const auto B = assemble<CSR<>>(left);
  const auto C = assemble<CSR<>>(right);
  const Tensor<double, CSR<>> A({40, 35}), doubled({40, 35});
  A(i, j) = B(i, k) * C(k, j);
  doubled(i, j) = 2.0 * A(i, j);
  const auto of_B = distributions<2>(world(), {40, 30}), of_C = distributions<2>(world(), {30, 35});
  for_some(
      16, 4,
      [&](std::size_t b, std::size_t c) {
        SCOPED_TRACE(text(of_B[b].str(), ' ', of_C[c].str()));
        const Sparse P = spread(of_B[b], left), Q = spread(of_C[c], right);
        const Sparse R(Distribution<2>::blocks(world(), {40, 35}));
        auto product = plan(assign(R(i, j), P(i, k) * Q(k, j)));
        product.run();
        EXPECT_TRUE(holds(R, A));
        const auto values = P.local().values();
        const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
        for (std::size_t q = 0; q < here.extent(0); ++q) here(q) *= 2;
        Kokkos::deep_copy(values, here);
        product.run();
        EXPECT_TRUE(holds(R, doubled));
      },
      of_B.size(), of_C.size());
}

TEST(DevicesOfRanks, ReduceToScalars) {
  const auto all = all_entries<2>({25, 19}, 0.3);
  const auto whole = assemble<CSR<>>(all);
  const Tensor<double, Scalar> expected;
  expected() = whole(i, j) * whole(i, j);
  for (const auto& of_A : distributions<2>(world(), {25, 19})) {
    const Sparse A = spread(of_A, all);
    const Tensor<double, Scalar, Cuda> sum;
    sum() = A(i, j) * A(i, j);
    EXPECT_EQ(at(sum.copy_to<Host>(), {}), at(expected, {})) << of_A.str();
  }
}

TEST(DevicesOfRanks, FailTogether) {
  const bool is_bad = world().rank() + 1 == world().size();
  const auto D = Distribution<2>::blocks(world(), {40, 40});
  const auto expect_and_go_on = [](const auto& throws) {
    throws();
    agree(world(), "the next step");
  };
  expect_and_go_on([&] {
    Entries<double, 2> mine({40, 40}, 1);
    mine.set(0, {is_bad ? 40 : 0, 0}, 1.0);
    EXPECT_THROW((assemble<CSR<>, Cuda>(D, mine)), ShapeError);
  });
  const Sparse A = spread(D, all_entries<2>({40, 40}, 0.2)), C(D);
  const Resources<Cuda> plenty;
  expect_and_go_on([&] {
    EXPECT_THROW(assign(C(i, j), A(i, k) * A(k, j)).on(is_bad ? plenty.within(1) : plenty).run(),
                 MemoryError);
  });
  auto product = plan(assign(C(i, j), A(i, k) * A(k, j)));
  product.run();
  if (is_bad) {  // a matrix without nonzeros in the place of this rank's
    const Tensor<double, CSR<>, Cuda> none(A.local().extents());
    A.local().replace(none.extents(), none.levels(), none.values());
  }
  expect_and_go_on([&] { EXPECT_THROW(product.run(), ScheduleError); });
}

}  // namespace
}  // namespace sporos::test
