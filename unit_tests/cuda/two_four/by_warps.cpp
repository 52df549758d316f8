// SPDX-License-Identifier: Apache-2.0
/// @file by_warps.cpp
/// 2:4 products by the matrix instructions of single warps, against sums in double on the host: values,
/// layouts, shapes; plans, and the choice between them and the instructions of four warps.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../dense_products.hpp"
#include "../inputs.hpp"
#include "../streams.hpp"
#include "kernels/kernel_of.hpp"
#include "products.hpp"

namespace sporos::test::two_four_by_warps {
namespace {

using namespace sporos::indices;
using gpu::TwoFourByWarps;

TEST(CudaTwoFourByWarps, SparseTimesDense) {
  expect_products<TwoFourByWarps, half, half, DenseMatrix<RowMajor>, true, true>();
  expect_products<TwoFourByWarps, half, half, DenseMatrix<ColumnMajor>, true, true>();
}
TEST(CudaTwoFourByWarps, LayersOfANetwork) {
  expect_products<TwoFourByWarps, half, half, DenseMatrix<RowMajor>, false, false>();
  expect_products<TwoFourByWarps, bfloat16, bfloat16, DenseMatrix<RowMajor>, false, false>();
}
TEST(CudaTwoFourByWarps, Transposed) {
  expect_products<TwoFourByWarps, half, half, DenseMatrix<RowMajor>, true, false>();
  expect_products<TwoFourByWarps, bfloat16, bfloat16, DenseMatrix<ColumnMajor>, false, true>();
}
TEST(CudaTwoFourByWarps, ResultsOfOtherTypes) {
  expect_products<TwoFourByWarps, half, float, DenseMatrix<RowMajor>, true, true>();
  expect_products<TwoFourByWarps, bfloat16, float, DenseMatrix<RowMajor>, false, false>();
  expect_products<TwoFourByWarps, bfloat16, half, DenseMatrix<RowMajor>, false, true>();
}

/// Both sizes of tiles with tails of rows and columns, and with fewer stages than slots, as many and more.
TEST(CudaTwoFourByWarps, AllTilesAndNumbersOfStages) {
  constexpr std::int64_t m = 128 + 40, n = 256 + 72;
  const Cuda space;
  for (const std::int64_t inner : {64, 128, 192, 320, 384, 448, 960}) {
    const ProductOfTiles product_of_tiles({m, n, inner});
    const auto expect_tile = [&]<int Tile, bool BIsByRows, bool DIsByRows>() {
      SCOPED_TRACE(text("tile ", Tile, ", k = ", inner, ", ", BIsByRows, DIsByRows));
      using Config = gpu::TwoFourWarpConfig<half, Tile, BIsByRows>;
      product_of_tiles.expect<BIsByRows, DIsByRows>([&](const auto& product, const auto& operands) {
        gpu::two_four_product_by_warps<Config, DIsByRows>(space, product, operands, {Tile, 0});
      });
    };
    expect_tile.operator()<0, true, true>();
    expect_tile.operator()<0, false, false>();
    expect_tile.operator()<1, true, true>();
    expect_tile.operator()<1, false, false>();
  }
}

/// Sums of integers, which are exact: each of the six pairs of places in a window, in every window in turn.
TEST(CudaTwoFourByWarps, EveryPairOfPlacesOfAWindow) {
  constexpr std::int64_t m = 48, n = 40, inner = 192;
  const Tensor<half, DenseMatrix<>> dense({m, inner}), B({inner, n});
  constexpr int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t window = 0; window < inner / 4; ++window)
      for (int which = 0; which < 2; ++which)
        dense.values()(row * inner + window * 4 + pairs[(row + window) % 6][which]) =
            half(static_cast<float>(1 + (row * 5 + window * 3 + which) % 7));
  std::mt19937 draw(1);
  for (std::int64_t at = 0; at < B.nnz(); ++at)
    B.values()(at) = half(static_cast<float>(static_cast<int>(draw() % 9) - 4));
  const auto A = convert<TwoFour>(dense).copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  const auto C = poisoned<float, DenseMatrix<>>({m, n});
  assign(C(i, j), A(i, k) * device_B(k, j)).use<TwoFourByWarps>().run();
  const Tensor<float, DenseMatrix<>> expected({m, n});
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::int64_t at = 0; at < inner; ++at)
        sum += static_cast<float>(dense.values()(row * inner + at)) *
               static_cast<float>(B.values()(at * n + column));
      expected.values()(row * n + column) = sum;
    }
  expect_equal_tensors(expected, C);
}

TEST(CudaTwoFourByWarps, ZerosAloneGiveZeros) {
  const Tensor<half, TwoFour, Cuda> A =
      convert<TwoFour>(Tensor<half, DenseMatrix<>>({70, 130})).copy_to<Cuda>();
  const auto B = random_dense<half, DenseMatrix<>>({130, 33}, 1).copy_to<Cuda>();
  const auto C = poisoned<half, DenseMatrix<>>({70, 33});
  assign(C(i, j), A(i, k) * B(k, j)).use<TwoFourByWarps>().run();
  expect_equal_tensors(Tensor<half, DenseMatrix<>>({70, 33}), C);
}

/// Operands whose arrays begin 2 bytes behind a multiple of 16, and metadata that begins at an odd address.
TEST(CudaTwoFourByWarps, OperandsThatAreNotAligned) {
  constexpr std::int64_t m = 96, n = 64, inner = 128;
  const auto A = prune<TwoFour>(random_dense<half, DenseMatrix<>>({m, inner}, 1));
  const auto B = random_dense<half, DenseMatrix<>>({inner, n}, 2);
  const auto on_odd_address = []<class T>(const Array<T, Kokkos::HostSpace>& from) {
    const auto all =
        make_array<T, Kokkos::CudaSpace>("shifted", static_cast<std::int64_t>(from.extent(0)) + 1);
    const auto shifted = Kokkos::subview(all, std::pair<std::size_t, std::size_t>(1, from.extent(0) + 1));
    Kokkos::deep_copy(shifted, from);
    return Array<T, Kokkos::CudaSpace>(shifted);
  };
  const auto shifted_A =
      wrap<TwoFour, Cuda>(A.extents(), on_odd_address(A.level<2>().indices), on_odd_address(A.values()));
  const auto shifted_B = wrap<DenseMatrix<>, Cuda>(B.extents(), on_odd_address(B.values()));
  const auto C = poisoned<float, DenseMatrix<>>({m, n});
  assign(C(i, j), shifted_A(i, k) * shifted_B(k, j)).use<TwoFourByWarps>().run();
  const Tensor<float, DenseMatrix<>>* const none = nullptr;
  EXPECT_EQ((wrong_sums<half, float>(convert<DenseMatrix<>, double>(A), convert<DenseMatrix<>, double>(B),
                                     none, C.copy_to<Host>())),
            0);
}

TEST(CudaTwoFourByWarps, IsSlowerByEstimateThanTheInstructionsOfFourWarps) {
  const Tensor<half, TwoFour, Cuda> A({2048, 2048});
  const Tensor<half, DenseMatrix<>, Cuda> B({2048, 256}), C({2048, 256});
  const auto statement = assign(C(i, j), A(i, k) * B(k, j));
  const Resources<Cuda> resources;
  using S = std::remove_cvref_t<decltype(statement)>;
  const Offer by_warps = TwoFourByWarps::cost(statement, resources);
  ASSERT_TRUE(by_warps.takes());
  const Offer by_four = gpu::TwoFourOnTensorCores::cost(statement, resources);
  if (by_four.takes()) {
    EXPECT_LT(by_four.cost().once, by_warps.cost().once);
    EXPECT_EQ(kernel_of(statement), gpu::TwoFourOnTensorCores::name);
  } else {
    EXPECT_EQ(kernel_of(statement), TwoFourByWarps::name);
  }
  static_assert(TwoFourByWarps::matches<S>);
  std::ostringstream out;
  out << explain(statement.use<TwoFourByWarps>());
  EXPECT_NE(out.str().find("by sparse matrix instructions of single warps"), std::string::npos) << out.str();
}

TEST(CudaTwoFourByWarps, ResultsAreTheSameFromRunToRun) {
  const auto A = prune<TwoFour>(random_dense<half, DenseMatrix<>>({300, 2048}, 1)).copy_to<Cuda>();
  const auto B = random_dense<half, DenseMatrix<>>({2048, 200}, 2).copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({300, 200});
  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).use<TwoFourByWarps>());
  product.run();
  const auto first = C.copy_to<Host>();
  for (int run = 0; run < 5; ++run) {
    Kokkos::deep_copy(C.values(), -77.0f);
    product.run();
    expect_equal_tensors(first, C);
  }
}

/// Read in place, and with copies of both operands: on the statement's stream alone, and without allocations.
TEST(CudaTwoFourByWarps, PlansAreCapturedBeforeTheyHaveRun) {
  const auto expect = [](const Extents<3>& shape) {
    SCOPED_TRACE(to_string(shape));
    const auto [m, n, inner] = shape;
    const auto W = prune<TwoFour>(random_dense<half, DenseMatrix<>>({n, inner}, 1)).copy_to<Cuda>();
    const auto X = random_dense<half, DenseMatrix<>>({m, inner}, 2).copy_to<Cuda>();
    const auto b = random_dense<float, DenseVector>({n}, 3).copy_to<Cuda>();
    const Tensor<half, DenseMatrix<>, Cuda> Y({m, n});
    const auto statement = assign(Y(i, j), relu(X(i, k) * W(j, k) + b(j))).use<TwoFourByWarps>();
    const auto poison = [&] { Kokkos::deep_copy(Y.values(), half(-77.0f)); };
    const OwnStream stream;
    auto planned = plan(statement.on(stream.resources()));
    Kokkos::fence();
    const Graph graph(stream, [&] { planned.run(); });
    for (const unsigned seed : {2u, 10u}) {
      Kokkos::deep_copy(X.values(),
                        random_dense<half, DenseMatrix<>>({m, inner}, seed).copy_to<Cuda>().values());
      poison();
      statement.run();
      const auto expected = Y.copy_to<Host>();
      poison();
      graph.launch();
      expect_equal_tensors(expected, Y);
    }
  };
  expect({256, 384, 512});
  expect({130, 70, 301});
}

TEST(CudaTwoFourByWarps, TheResultMayBeAnOperand) {
  const auto A = prune<TwoFour>(random_dense<half, DenseMatrix<>>({128, 128}, 5)).copy_to<Cuda>();
  const auto B = random_dense<half, DenseMatrix<>>({128, 128}, 6).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> C({128, 128});
  assign(C(i, j), A(i, k) * B(k, j)).use<TwoFourByWarps>().run();
  assign(B(i, j), A(i, k) * B(k, j)).use<TwoFourByWarps>().run();
  expect_equal_tensors(C.copy_to<Host>(), B);
}

/// An infinity reaches the rows that keep its column, and no tail of any tile.
TEST(CudaTwoFourByWarps, InfinitiesReachWhatTheyAreMultipliedBy) { expect_infinities_stay<TwoFourByWarps>(); }

}  // namespace
}  // namespace sporos::test::two_four_by_warps
