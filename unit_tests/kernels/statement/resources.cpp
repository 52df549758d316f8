// SPDX-License-Identifier: Apache-2.0
/// @file resources.cpp
/// Statements on space instances of their own, and two threads that run theirs at the same time.
#include <array>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "../typed.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

constexpr Index<'b'> b;
const Sizes resource_sizes("ijkl", 120);

/// Statements of several kinds of results and kernels, into tensors of its own.
template <class Space>
struct Work {
  template <class F>
  static auto operand(std::string_view modes, double density, std::uint64_t seed) {
    return small_tensor<double, F>(resource_sizes, modes, density, seed).template move_to<Space>();
  }

  Tensor<double, CSR<>, Space> B, C;
  Tensor<double, CSC<>, Space> by_columns;
  Tensor<double, CSF<3>, Space> T;
  Tensor<double, DenseMatrix<>, Space> U, V;
  Tensor<double, DenseVector, Space> x;
  Tensor<double, NM<2, 4>, Space> W;
  Tensor<double, DenseTensor<3>, Space> batches;
  Tensor<double, NM<2, 4>, Space> small_W;

  explicit Work(std::uint64_t seed)
      : B(operand<CSR<>>("ik", 0.1, seed)),
        C(operand<CSR<>>("kj", 0.1, seed + 1)),
        by_columns(operand<CSC<>>("ik", 0.1, seed + 2)),
        T(operand<CSF<3>>("ikl", 0.01, seed + 3)),
        U(operand<DenseMatrix<>>("kj", 1, seed + 4)),
        V(operand<DenseMatrix<>>("lj", 1, seed + 5)),
        x(operand<DenseVector>("k", 1, seed + 6)),
        W(prune<NM<2, 4>>(small_tensor<double, DenseMatrix<>>(resource_sizes, "kj", 1, seed + 7))
              .template move_to<Space>()),
        batches(small_tensor<double, DenseTensor<3>>(Sizes("bik", 20), "bik", 1, seed + 8)
                    .template move_to<Space>()),
        small_W(prune<NM<2, 4>>(small_tensor<double, DenseMatrix<>>(Sizes("kj", 20), "kj", 1, seed + 9))
                    .template move_to<Space>()) {}

  struct Results {
    Tensor<double, CSR<>, Space> product{{120, 120}}, gathered{{120, 120}}, sum{{120, 120}},
        listed{{120, 120}}, sampled{{120, 120}};
    Tensor<double, CSF<3>, Space> hoisted{{120, 120, 120}};
    Tensor<double, DenseTensor<3>, Space> batched{{20, 20, 20}};
    Tensor<double, DenseVector, Space> y{{120}}, scattered{{120}}, constant{{120}};
    Tensor<double, DenseMatrix<>, Space> dense{{120, 120}}, mttkrp{{120, 120}}, pruned{{120, 120}};
    Tensor<double, CSC<>, Space> converted{{120, 120}};
    Tensor<double, CSR<>, Space> transposed{{120, 120}};
  };

  Results run(const Resources<Space>& resources) const {
    Results out;
    assign(out.product(i, j), B(i, k) * C(k, j)).on(resources).run();
    assign(out.gathered(i, j), B(i, k) * C(k, j)).generic().on(resources).run();
    assign(out.sum(i, j), B(i, j) - 2.0 * C(i, j)).on(resources).run();
    assign(out.listed(i, j), by_columns(i, k) * C(k, j)).on(resources).run();
    assign(out.y(i), B(i, k) * x(k)).on(resources).run();
    assign(out.scattered(k), B(i, k) * x(i)).on(resources).run();
    assign(out.dense(i, j), B(i, k) * U(k, j)).on(resources).run();
    assign(out.mttkrp(i, j), T(i, k, l) * U(k, j) * V(l, j)).on(resources).run();
    assign(out.sampled(i, j), 0.5 * B(i, j) * U(i, k) * V(j, k)).on(resources).run();
    assign(out.pruned(i, j), U(i, k) * W(k, j)).on(resources).run();
    assign(out.batched(b, i, j), batches(b, i, k) * small_W(k, j)).on(resources).run();
    assign(out.hoisted(i, l, j), T(i, k, l) * C(k, j)).on(resources).run();
    plan(assign(out.constant(i), B(i, k) * x(k)).with_constant_operands().on(resources)).run();
    if constexpr (HostSpace<Space>) {
      const Space& space = resources.space();
      out.converted = convert<CSC<>>(space, B);
      validate(space, out.converted);
      out.transposed = assemble<CSR<>>(space, entries(space, transpose(space, C)));
    }
    auto again = plan(assign(out.product(i, j), B(i, k) * C(k, j)).on(resources));
    again.run();
    again.run();
    return out;
  }
};

template <class Results>
void expect_same(const Results& a, const Results& b) {
  EXPECT_TRUE(same(table(a.product), table(b.product)));
  EXPECT_TRUE(same(table(a.gathered), table(b.gathered)));
  EXPECT_TRUE(same(table(a.sum), table(b.sum)));
  EXPECT_TRUE(same(table(a.listed), table(b.listed)));
  EXPECT_TRUE(same(table(a.y), table(b.y)));
  EXPECT_TRUE(same(table(a.scattered), table(b.scattered)));
  EXPECT_TRUE(same(table(a.dense), table(b.dense)));
  EXPECT_TRUE(same(table(a.mttkrp), table(b.mttkrp)));
  EXPECT_TRUE(same(table(a.sampled), table(b.sampled)));
  EXPECT_TRUE(same(table(a.pruned), table(b.pruned)));
  EXPECT_TRUE(same(table(a.batched), table(b.batched)));
  EXPECT_TRUE(same(table(a.hoisted), table(b.hoisted)));
  EXPECT_TRUE(same(table(a.constant), table(b.constant)));
  EXPECT_TRUE(same(table(a.converted), table(b.converted)));
  EXPECT_TRUE(same(table(a.transposed), table(b.transposed)));
}

template <class Space>
std::array<Space, 2> two_instances() {
  return Kokkos::Experimental::partition_space(Space(), 1, 1);
}

template <class Space>
class ResourcesOf : public testing::Test {
 protected:
  void SetUp() override {
    if (std::is_same_v<Space, OpenMP> && Space().concurrency() < 2)
      GTEST_SKIP() << "two instances take two threads to share";
  }
};
using Spaces = testing::Types<Serial, OpenMP>;
TYPED_TEST_SUITE(ResourcesOf, Spaces);

TYPED_TEST(ResourcesOf, AnInstanceGivesTheResultsOfTheDefault) {
  const Work<TypeParam> work(1);
  const auto expected = work.run({});
  for (const auto& instance : two_instances<TypeParam>()) expect_same(work.run(instance), expected);
}

TYPED_TEST(ResourcesOf, TwoInstancesRunOnTwoThreadsAtOnce) {
  const std::array<Work<TypeParam>, 2> work{Work<TypeParam>(1), Work<TypeParam>(20)};
  const std::array expected{work[0].run({}), work[1].run({})};
  const auto instances = two_instances<TypeParam>();
  std::vector<std::vector<typename Work<TypeParam>::Results>> found(2);
  std::vector<std::thread> threads;
  for (std::size_t at = 0; at < 2; ++at)
    threads.emplace_back([&, at] {
      const Resources<TypeParam> resources(instances[at]);
      for (int round = 0; round < 5; ++round) found[at].push_back(work[at].run(resources));
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t at = 0; at < 2; ++at)
    for (const auto& results : found[at]) expect_same(results, expected[at]);
}

TYPED_TEST(ResourcesOf, TheDefaultInstanceServesTwoThreadsAsWell) {
  const Work<TypeParam> work(7);
  const auto expected = work.run({});
  std::array<typename Work<TypeParam>::Results, 2> found;
  std::thread other([&] { found[1] = work.run({}); });
  found[0] = work.run({});
  other.join();
  for (const auto& results : found) expect_same(results, expected);
}

TEST(ScratchMemory, IsKeptForTheNextOfItsTypeAndSharedByNobody) {
  Scratch scratch;
  const void* first = nullptr;
  {
    auto one = scratch.borrow<std::vector<int>>();
    auto two = scratch.borrow<std::vector<int>>();
    EXPECT_NE(&*one, &*two);
    one->assign(7, 3);
    first = &*one;
  }
  auto again = scratch.borrow<std::vector<int>>();
  auto other = scratch.borrow<std::vector<int>>();
  EXPECT_TRUE(&*again == first || &*other == first);
  EXPECT_EQ(again->size() + other->size(), 7u);
  auto of_another_type = scratch.borrow<std::vector<double>>();
  EXPECT_TRUE(of_another_type->empty());
}

}  // namespace
}  // namespace sporos::test
