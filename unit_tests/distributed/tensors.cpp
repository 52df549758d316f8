// SPDX-License-Identifier: Apache-2.0
/// @file tensors.cpp
/// Partitions, and distributed tensors that are assembled, gathered, scattered and redistributed.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <sporos/distributed/distributed.hpp>
#include <vector>

#include "ranks.hpp"

namespace sporos::test {
namespace {

/// Checks that every coordinate has an owner and a number there, and that numbers ascend without a gap.
void expect_consistent(const Partition& partition) {
  std::vector<std::int64_t> next(static_cast<std::size_t>(partition.parts()));
  for (std::int64_t c = 0; c < partition.extent(); ++c) {
    const int part = partition.owner(c);
    ASSERT_GE(part, 0);
    ASSERT_LT(part, partition.parts());
    EXPECT_EQ(partition.local(c), next[static_cast<std::size_t>(part)]++) << partition.str() << ' ' << c;
    EXPECT_EQ(partition.global(part, partition.local(c)), c) << partition.str();
  }
  for (int part = 0; part < partition.parts(); ++part)
    EXPECT_EQ(partition.count(part), next[static_cast<std::size_t>(part)]) << partition.str();
}

TEST(Partition, NumbersTheCoordinatesOfEachPartWithoutGaps) {
  for (const std::int64_t extent : {0, 1, 2, 7, 10, 31})
    for (const int parts : {1, 2, 3, 4, 8}) {
      expect_consistent(Partition::blocks(extent, parts));
      for (const std::int64_t block : {1, 2, 5}) expect_consistent(Partition::cyclic(extent, parts, block));
      std::vector<int> owners;
      std::vector<std::int64_t> weights;
      for (std::int64_t c = 0; c < extent; ++c) {
        owners.push_back(static_cast<int>(c * c % parts));
        weights.push_back(c % 3);
      }
      expect_consistent(Partition::owned(owners, parts));
      expect_consistent(Partition::balanced(weights, parts));
    }
  expect_consistent(Partition::whole(5));
}

TEST(Partition, BalancesWeights) {
  const Partition even = Partition::balanced({1, 1, 1, 1, 1, 1, 1, 1}, 4);
  for (int part = 0; part < 4; ++part) EXPECT_EQ(even.count(part), 2);
  const Partition skewed = Partition::balanced({100, 1, 1, 1, 1, 1}, 2);
  EXPECT_EQ(skewed.count(0), 1);
  EXPECT_EQ(skewed.count(1), 5);
}

TEST(Partition, RefusesWhatIsNoPartition) {
  EXPECT_THROW(Partition::blocks(-1, 2), ShapeError);
  EXPECT_THROW(Partition::blocks(5, 0), ShapeError);
  EXPECT_THROW(Partition::cyclic(5, 2, 0), ShapeError);
  EXPECT_THROW(Partition::ranges({0, 3, 2}), ShapeError);
  EXPECT_THROW(Partition::ranges({1, 3}), ShapeError);
  EXPECT_THROW(Partition::owned({0, 2}, 2), ShapeError);
}

/// Assembles, gathers, scatters and redistributes a tensor in every distribution.
template <class F>
void expect_moves(const Extents<F::order>& extents, double density) {
  const auto all = all_entries<F::order>(extents, density);
  const auto whole = assemble<F>(all);
  const auto kinds = distributions<F::order>(world(), extents);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto A = assemble<F>(kinds[kind], share(world(), all));
    EXPECT_TRUE(holds(A, whole)) << kinds[kind].str();
    EXPECT_EQ(total_nnz(A), whole.nnz());
    const auto B = redistribute(A, kinds[(kind + 3) % kinds.size()]);
    EXPECT_TRUE(holds(B, whole)) << kinds[kind].str();
    const int root = world().size() - 1;
    const auto there = gather(A, root);
    EXPECT_EQ(there.has_value(), world().rank() == root);
    if (there) {
      EXPECT_EQ(there->nnz(), whole.nnz());
    }
    const auto C = scatter(kinds[kind], there ? *there : Tensor<double, F>(), root);
    EXPECT_TRUE(holds(C, whole)) << kinds[kind].str();
  }
}

TEST(Distribution, CutsBricksAboutAsLongInEachMode) {
  using Parts = std::array<int, 3>;
  EXPECT_EQ(detail::parts_of_bricks<3>(1, {9, 9, 9}), (Parts{1, 1, 1}));
  EXPECT_EQ(detail::parts_of_bricks<3>(8, {100, 100, 100}), (Parts{2, 2, 2}));
  EXPECT_EQ(detail::parts_of_bricks<3>(8, {10, 1000, 10}), (Parts{1, 8, 1}));
  EXPECT_EQ(detail::parts_of_bricks<3>(12, {10, 20, 30}), (Parts{2, 2, 3}));
  EXPECT_EQ(detail::parts_of_bricks<3>(7, {0, 0, 0}), (Parts{7, 1, 1}));
  const Extents<3> extents{6, 5, 4};
  const auto bricks = Distribution<3>::bricks(world(), extents);
  std::int64_t stored = 1;
  for (const std::int64_t extent : bricks.local_extents()) stored *= extent;
  EXPECT_EQ(world().sum(stored), 6 * 5 * 4);
}

TEST(DistributedTensor, MovesBetweenAllDistributions) {
  expect_moves<CSR<>>({7, 5}, 0.5);
  expect_moves<CSR<>>({2, 9}, 0.5);
  expect_moves<CSR<>>({6, 6}, 0);
  expect_moves<CSF<3>>({4, 5, 6}, 0.2);
  expect_moves<DenseMatrix<>>({3, 4}, 0.9);
  expect_moves<SparseVector<>>({11}, 0.5);
}

TEST(DistributedTensor, IsBalancedByItsNonzeros) {
  Entries<double, 2> list({100, 4}, 0);
  if (world().rank() == 0) {  // the first row has half of all
    list = Entries<double, 2>({100, 4}, 198);
    for (std::int64_t e = 0; e < 198; ++e) list.set(e, {e < 99 ? 0 : e - 98, e % 4}, 1.0);
  }
  const auto D = Distribution<2>::balanced(world(), list);
  EXPECT_EQ(D.partition(0).count(0), world().size() == 1 ? 100 : 1);
  const auto A = assemble<COO<2, ModeOrder<0, 1>, std::int64_t, std::int32_t, false>>(D, list);
  EXPECT_EQ(total_nnz(A), 198);
}

TEST(DistributedTensor, AddsDuplicatesOfAllRanks) {
  Entries<double, 1> mine({3}, 2);
  mine.set(0, {1}, 1.0);
  mine.set(1, {2}, static_cast<double>(world().rank()));
  const auto v = assemble<SparseVector<>>(Distribution<1>::blocks(world(), {3}), mine);
  const auto all = gather(v);
  EXPECT_EQ(at(all, {1}), world().size());
  EXPECT_EQ(at(all, {2}), world().size() * (world().size() - 1) / 2);
}

TEST(DistributedTensor, HasCoordinatesBeyond32Bits) {
  const std::int64_t far = std::int64_t{1} << 40;
  Entries<double, 2> mine({far + 1, 3}, 1);
  mine.set(0, {far - world().rank(), 2}, 1.0);
  using F = COO<2, ModeOrder<0, 1>, std::int64_t, std::int64_t>;
  const auto A = assemble<F>(Distribution<2>::cyclic(world(), {far + 1, 3}), mine);
  const auto all = gather(A);
  EXPECT_EQ(all.nnz(), world().size());
  EXPECT_EQ(at(all, {far, 2}), 1.0);
}

}  // namespace
}  // namespace sporos::test
