// SPDX-License-Identifier: Apache-2.0
/// @file plans.cpp
/// Plans of N:M and 2:4 products by every candidate: on streams, captured in CUDA graphs before they have
/// run, without allocation, within memory bounds; and results that are the same from run to run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../dense_products.hpp"
#include "../estimates.hpp"
#include "../inputs.hpp"
#include "../streams.hpp"

namespace sporos::test::n_of_m_plans {
namespace {

using namespace sporos::indices;

/// Operands of C(i, j) = A(i, k) * B(k, j), B in a format, and of the layer C(i, j) = A(i, k) * B(j, k) where
/// its rows are those of the result's columns, as of TwoFour.
template <class Candidate, class Value, class Out, class F, class Layout = RowMajor>
struct Product {
  static constexpr bool is_layer = [] {
    if constexpr (NmTraits<F>::is)
      return NmTraits<F>::along == 1;
    else
      return true;
  }();

  explicit Product(const Extents<3>& shape)
      : A(random_dense<Value, DenseMatrix<Layout>>({shape[0], shape[2]}, 1).template copy_to<Cuda>()),
        B(prune<F>(random_dense<Value, DenseMatrix<>>(
                       is_layer ? Extents<2>{shape[1], shape[2]} : Extents<2>{shape[2], shape[1]}, 2)
                       .template copy_to<Cuda>())),
        C({shape[0], shape[1]}) {}

  auto statement() const {
    if constexpr (is_layer)
      return assign(C(i, j), A(i, k) * B(j, k)).template use<Candidate>();
    else
      return assign(C(i, j), A(i, k) * B(k, j)).template use<Candidate>();
  }
  void poison() const {
    if (C.nnz() > 0) Kokkos::deep_copy(C.values(), static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));
  }
  /// New values of A.
  void change(unsigned seed) const {
    Kokkos::deep_copy(
        A.values(),
        random_dense<Value, DenseMatrix<Layout>>(A.extents(), seed).template copy_to<Cuda>().values());
  }
  /// The result of the statement alone, on the default stream.
  Tensor<Out, DenseMatrix<>> expected() const {
    poison();
    statement().run();
    return C.template copy_to<Host>();
  }

  Tensor<Value, DenseMatrix<Layout>, Cuda> A;
  Tensor<Value, F, Cuda> B;
  Tensor<Out, DenseMatrix<>, Cuda> C;
};

/// Calls visit(name, product) with a product for each way in which the candidates compute.
template <class Visit>
void for_each_product(const Visit& visit) {
  using gpu::NmByBlocks, gpu::NmByGathering, gpu::TwoFourOnTensorCores;
  visit("half, small tiles", Product<NmByGathering, half, half, NM<16, 32, 32>>({100, 300, 256}));
  visit("half, k-major", Product<NmByGathering, half, half, NM<16, 32, 32>, ColumnMajor>({104, 300, 256}));
  visit("half, large tiles that copy", Product<NmByGathering, half, half, NM<16, 32, 32>>({4400, 1500, 304}));
  visit("half, wide units", Product<NmByGathering, half, float, NM<16, 32, 128>>({260, 300, 500}));
  visit("half, a layer", Product<NmByGathering, half, half, NM<16, 32, 32, 1>>({100, 300, 256}));
  visit("split floats", Product<NmByGathering, float, float, NM<8, 32, 32>>({333, 417, 517}));
  visit("split floats, k-major",
        Product<NmByGathering, float, float, NM<8, 32, 32>, ColumnMajor>({332, 417, 516}));
  visit("elements", Product<NmByGathering, float, float, NM<2, 4>>({100, 300, 256}));
  visit("teams", Product<NmByBlocks, float, float, NM<12, 32, 32>>({500, 500, 512}));
  visit("teams, copied first", Product<NmByBlocks, float, float, NM<12, 32, 32>>({500, 500, 511}));
  visit("blocks", Product<NmByBlocks, float, float, NM<16, 32, 32>>({2052, 900, 300}));
  visit("blocks that keep little", Product<NmByBlocks, float, float, NM<2, 32, 32>>({2052, 1100, 300}));
  visit("blocks that list rows",
        Product<gpu::NmByBlocksOfListedRows, float, float, NM<2, 32, 32>, ColumnMajor>({2052, 1100, 300}));
  visit("blocks that list rows and copy A first",
        Product<gpu::NmByBlocksOfListedRows, float, float, NM<2, 32, 32>>({2051, 1100, 301}));
  visit("blocks that list rows and share tiles",
        Product<gpu::NmByBlocksOfListedRows, double, double, NM<4, 32, 32>>({66, 130, 1500}));
  visit("blocks of doubles", Product<NmByBlocks, double, double, NM<3, 8, 4>>({130, 270, 300}));
  visit("2:4", Product<TwoFourOnTensorCores, half, half, TwoFour>({256, 384, 512}));
  visit("2:4, copied first", Product<TwoFourOnTensorCores, half, float, TwoFour>({130, 70, 301}));
}

TEST(CudaNofMPlans, AreCapturedBeforeTheyHaveRun) {
  for_each_product([](const char* name, const auto& product) {
    SCOPED_TRACE(name);
    const auto expect = [&](const auto& statement) {
      const auto first = product.expected();
      const OwnStream stream;
      auto planned = plan(statement.on(stream.resources()));
      Kokkos::fence();
      const Graph graph(stream, [&] { planned.run(); });
      product.poison();
      graph.launch();
      expect_equal_tensors(first, product.C);
      product.change(10);
      const auto second = product.expected();
      product.poison();
      graph.launch();
      expect_equal_tensors(second, product.C);

      // The stream's workspace grows; the graph keeps the one that it was captured with.
      const auto W =
          prune<NM<16, 32, 32>>(random_dense<half, DenseMatrix<>>({2000, 64}, 3)).template copy_to<Cuda>();
      const auto X = random_dense<half, DenseMatrix<>>({5000, 2000}, 4).template copy_to<Cuda>();
      const Tensor<half, DenseMatrix<>, Cuda> Y({5000, 64});
      assign(Y(i, j), X(i, k) * W(k, j)).template use<gpu::NmByGathering>().on(stream.resources()).run();
      product.poison();
      graph.launch();
      expect_equal_tensors(second, product.C);
      product.change(1);
    };
    expect(product.statement());
    expect(product.statement().with_constant_operands());
  });
}

TEST(CudaNofMPlans, AllocateNothingInARun) {
  for_each_product([](const char* name, const auto& product) {
    SCOPED_TRACE(name);
    const auto expect = [&](const auto& statement) {
      auto planned = plan(statement);
      for (int run = 0; run < 2; ++run) {
        const PeakMemory peak;
        planned.run();
        EXPECT_EQ(peak.bytes(), 0);
      }
    };
    expect(product.statement());
    expect(product.statement().with_constant_operands());
  });
}

TEST(CudaNofMPlans, OfTwoStreamsRunAtOnce) {
  for_each_product([](const char* name, const auto& product) {
    SCOPED_TRACE(name);
    using Of = std::remove_cvref_t<decltype(product)>;
    const Of other({product.C.extent(0), product.C.extent(1), product.A.extent(1)});
    other.change(20);
    const auto expected = product.expected(), of_other = other.expected();
    const OwnStream first, second;
    auto planned = plan(product.statement().on(first.resources()));
    auto plan_of_other = plan(other.statement().on(second.resources()));
    product.poison();
    other.poison();
    Kokkos::fence();
    std::thread beside([&] {
      for (int run = 0; run < 5; ++run) plan_of_other.run();
    });
    for (int run = 0; run < 5; ++run) planned.run();
    beside.join();
    first.wait();
    second.wait();
    expect_equal_tensors(expected, product.C);
    expect_equal_tensors(of_other, other.C);
  });
}

TEST(CudaNofMPlans, ResultsAreTheSameFromRunToRun) {
  for_each_product([](const char* name, const auto& product) {
    SCOPED_TRACE(name);
    const auto first = product.expected();
    auto planned = plan(product.statement().with_constant_operands());
    for (int run = 0; run < 10; ++run) {
      product.poison();
      planned.run();
      expect_equal_tensors(first, product.C);
    }
  });
}

TEST(CudaNofMPlans, TakeNoMoreMemoryThanEstimated) {
  for_each_product([](const char* name, const auto& product) {
    SCOPED_TRACE(name);
    expect_bounded(product.statement());
    expect_bounded(product.statement().accumulate());
  });
}

/// A statement that may not take what it needs says so, and changes nothing.
TEST(CudaNofMPlans, KeepWithinMemoryBounds) {
  for_each_product([](const char* name, const auto& product) {
    SCOPED_TRACE(name);
    Kokkos::deep_copy(product.C.values(), 7.0F);
    expect_kept_within(
        product.statement(),
        [&] {
          const auto untouched = product.C.template copy_to<Host>();
          for (std::int64_t at = 0; at < untouched.nnz(); at += 97)
            ASSERT_EQ(static_cast<float>(untouched.values()(at)), 7.0F);
        },
        0);
    if (estimate(product.statement()).workspace > 0)  // else it was not run
      expect_equal_tensors(product.expected(), product.C);
  });
}

/// More than any device has: the factors share one element of memory each, and are not read.
TEST(CudaNofMPlans, WithoutMemoryAreMemoryErrors) {
  constexpr std::int64_t m = std::int64_t{1} << 20;
  const auto expect = [&](const auto& statement) {
    try {
      statement.run();
      ADD_FAILURE() << "no error";
    } catch (const MemoryError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("cannot be allocated"));
    }
  };
  const auto dense = [&]<class Value>(Value, std::int64_t rows, std::int64_t columns) {
    Tensor<Value, DenseMatrix<>, Cuda> out({0, 0});
    out.replace({rows, columns}, {{rows}, {columns}}, Array<Value, gpu::Memory>("one", 1));
    return out;
  };
  // A copy of A, whose rows are not aligned, takes 2^41 bytes or more.
  const auto product = [&]<class F, class Value>(F, Value value) {
    const Tensor<Value, F, Cuda> B({m - 1, 32});
    return assign(dense(value, m, 32)(i, j), dense(value, m, m - 1)(i, k) * B(k, j));
  };
  expect(product(NM<1, 4, 32>{}, half{}).use<gpu::NmByGathering>());
  expect(product(NM<1, 4, 32>{}, 0.0F).use<gpu::NmByGathering>());
  expect(product(NM<1, 4, 4>{}, 0.0).use<gpu::NmByBlocks>());
  const Tensor<half, TwoFour, Cuda> W({32, m - 1});
  expect(assign(dense(half{}, m, 32)(i, j), dense(half{}, m, m - 1)(i, k) * W(j, k))
             .use<gpu::TwoFourOnTensorCores>());
}

/// Zeros, whatever the dense factor holds that is finite.
TEST(CudaNofMPlans, AllZeroSparseFactors) {
  for_each_product([](const char* name, const auto& product) {
    SCOPED_TRACE(name);
    Kokkos::deep_copy(product.B.values(), typename decltype(product.B)::value_type{});
    const auto result = product.expected();
    for (std::int64_t at = 0; at < result.nnz(); ++at)
      ASSERT_EQ(static_cast<float>(result.values()(at)), 0.0F) << at;
  });
}

}  // namespace
}  // namespace sporos::test::n_of_m_plans
