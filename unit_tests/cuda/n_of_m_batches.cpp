// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_batches.cpp
/// Batches of N:M and 2:4 products on the GPU: as the rows of one product, and one behind the other.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>

#include "kernels/kernel_of.hpp"
#include "kernels/n_of_m/batches.hpp"

namespace sporos::test::n_of_m_batches {
namespace {

using namespace sporos::indices;

/// Matrices that begin at multiples of 16 bytes, and others, for which the copy engine needs a copy.
TEST(CudaNofMBatches, TwoFour) {
  for (const auto& [batches, rows, columns, inner] :
       {std::array<std::int64_t, 4>{3, 64, 136, 128}, {5, 33, 21, 44}, {0, 3, 4, 5}, {2, 7, 9, 0}}) {
    expect_product<Cuda, half, TwoFour>({batches, rows, columns}, {batches, rows, inner}, {columns, inner},
                                        dense_ik, sparse_jk);
    expect_product<Cuda, half, TwoFour>({batches, rows, columns}, {batches, inner, columns}, {rows, inner},
                                        dense_kj, sparse_ik);
  }
}

TEST(CudaNofMBatches, UnitsOfColumns) {
  for (const auto& [batches, rows, columns, inner] :
       {std::array<std::int64_t, 4>{3, 64, 136, 128}, {5, 33, 21, 44}, {0, 3, 4, 5}}) {
    expect_product<Cuda, half, NM<2, 4, 32>>({batches, rows, columns}, {batches, rows, inner},
                                             {inner, columns}, dense_ik, sparse_kj);
    expect_product<Cuda, half, NM<2, 4, 32>>({batches, rows, columns}, {batches, inner, rows},
                                             {inner, columns}, dense_ki, sparse_kj);
  }
}

/// The weights of a plan are packed once, and each batch reads its own matrices.
TEST(CudaNofMBatches, PlansWithConstantOperands) {
  const auto A = numbers<half, DenseTensor<3>>({3, 40, 24}, 1).copy_to<Cuda>();
  const auto B = prune<NM<2, 4, 32>>(numbers<half, DenseMatrix<>>({40, 64}, 2)).copy_to<Cuda>();
  const Tensor<half, DenseTensor<3>, Cuda> C({3, 24, 64}), once({3, 24, 64});
  once(b, i, j) = A(b, k, i) * B(k, j);
  auto product = plan(assign(C(b, i, j), A(b, k, i) * B(k, j)).with_constant_operands());
  for (int run = 0; run < 3; ++run) {
    Kokkos::deep_copy(C.values(), half(-1.0f));
    product.run();
    const auto result = C.copy_to<Host>(), expected = once.copy_to<Host>();
    for (std::int64_t at = 0; at < result.nnz(); ++at)
      ASSERT_EQ(static_cast<float>(result.values()(at)), static_cast<float>(expected.values()(at)));
  }
}

TEST(CudaNofMBatches, AreMultipliedOnSparseTensorCores) {
  const Tensor<half, DenseTensor<3>, Cuda> A({4, 256, 2048}), C({4, 256, 2048});
  const Tensor<half, TwoFour, Cuda> B({2048, 2048});
  std::ostringstream out;
  out << explain(assign(C(b, i, j), A(b, i, k) * B(j, k)));
  EXPECT_NE(out.str().find("batches: 4, as the rows of one product, by 2:4 product on sparse tensor cores"),
            std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace sporos::test::n_of_m_batches
