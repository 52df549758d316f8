// SPDX-License-Identifier: Apache-2.0
/// @file linear_epilogue.cpp
/// Which epilogues are linear, and what is read from them.
#include <gtest/gtest.h>

#include <sporos/kernels/two_four/linear_epilogue.hpp>
#include <sporos/sporos.hpp>

namespace sporos::test::linear_epilogues {
namespace {

using namespace sporos::indices;

struct Double {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return 2 * x;
  }
};

class LinearEpilogues : public testing::Test {
 protected:
  template <class S>
  static constexpr bool is_linear(const S&) {
    return has_linear_epilogue<half, S>('j');
  }
  template <class S>
  static LinearEpilogue<half> read(const S& statement) {
    static_assert(has_linear_epilogue<half, S>('j'));
    return linear_epilogue_of<half>(statement);
  }

  const Tensor<half, DenseMatrix<>> X{{16, 32}}, Y{{16, 24}};
  const Tensor<half, TwoFour> W{{24, 32}};
  const Tensor<half, DenseVector> b{{24}}, of_rows{{16}};
  const Tensor<float, DenseVector> wide{{24}};
};

TEST_F(LinearEpilogues, AreReadWhateverTheOrderOfTheirParts) {
  const auto bare = read(assign(Y(i, j), X(i, k) * W(j, k)));
  EXPECT_EQ(bare.scale, 1);
  EXPECT_EQ(bare.bias, nullptr);
  EXPECT_FALSE(bare.rectifies);

  EXPECT_EQ(read(assign(Y(i, j), 3 * X(i, k) * W(j, k))).scale, 3);
  EXPECT_EQ(read(assign(Y(i, j), X(i, k) * W(j, k) * 3)).scale, 3);
  EXPECT_EQ(read(assign(Y(i, j), X(i, k) * W(j, k) + b(j))).bias, b.values().data());
  EXPECT_TRUE(read(assign(Y(i, j), relu(X(i, k) * W(j, k)))).rectifies);

  for (const auto& all : {read(assign(Y(i, j), relu(0.5 * X(i, k) * W(j, k) + b(j)))),
                          read(assign(Y(i, j), relu(b(j) + sum(k, X(i, k) * W(j, k) * 0.5))))}) {
    EXPECT_EQ(all.scale, 0.5f);
    EXPECT_EQ(all.bias, b.values().data());
    EXPECT_TRUE(all.rectifies);
  }
}

TEST_F(LinearEpilogues, AreNoOtherFunctionsAndNoOtherOperands) {
  EXPECT_FALSE(is_linear(assign(Y(i, j), X(i, k) * W(j, k) + of_rows(i))));
  EXPECT_FALSE(is_linear(assign(Y(i, j), X(i, k) * W(j, k) + wide(j))));
  EXPECT_FALSE(is_linear(assign(Y(i, j), X(i, k) * W(j, k) + Y(i, j))));
  EXPECT_FALSE(is_linear(assign(Y(i, j), X(i, k) * W(j, k) - b(j))));
  EXPECT_FALSE(is_linear(assign(Y(i, j), X(i, k) * W(j, k) * b(j))));
  EXPECT_FALSE(is_linear(assign(Y(i, j), X(i, k) * W(j, k) + b(j) + b(j))));
  EXPECT_FALSE(is_linear(assign(Y(i, j), gelu(X(i, k) * W(j, k)))));
  EXPECT_FALSE(is_linear(assign(Y(i, j), map(Double{}, sum(k, X(i, k) * W(j, k))))));
  EXPECT_FALSE(is_linear(assign(Y(i, j), relu(X(i, k) * W(j, k)) + b(j))));
  EXPECT_FALSE(is_linear(assign(Y(i, j), relu(relu(X(i, k) * W(j, k))))));
}

}  // namespace
}  // namespace sporos::test::linear_epilogues
