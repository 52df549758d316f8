// SPDX-License-Identifier: Apache-2.0
/// @file copies.cpp
/// N:M products whose kernel copies the dense matrix k-major itself: the same to the bit as with a matrix
/// that is stored k-major, run after run.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <string>

#include "../dense_products.hpp"
#include "../inputs.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

template <class Value, class F>
void expect_copies(const Extents<3>& shape) {
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<F>(), ", ", to_string(shape)));
  const auto B = prune<F>(random_dense<Value, DenseMatrix<>>({inner, n}, 2)).template copy_to<Cuda>();
  const Tensor<Value, DenseMatrix<>, Cuda> A({m, inner});
  const Tensor<Value, DenseMatrix<ColumnMajor>, Cuda> k_major({m, inner});
  const Tensor<float, DenseMatrix<>, Cuda> C({m, n}), expected({m, n});
  const auto statement =
      assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands().template use<gpu::NmByGathering>();
  EXPECT_NE(text(explain(statement)).find("copied k-major meanwhile"), std::string::npos);
  auto product = plan(statement);
  for (unsigned run = 0; run < 3; ++run) {
    const auto values = random_dense<Value, DenseMatrix<>>({m, inner}, 10 + run);
    Kokkos::deep_copy(A.values(), values.template copy_to<Cuda>().values());
    Kokkos::deep_copy(k_major.values(),
                      convert<DenseMatrix<ColumnMajor>>(values).template copy_to<Cuda>().values());
    Kokkos::deep_copy(C.values(), std::numeric_limits<float>::quiet_NaN());
    product.run();
    assign(expected(i, j), k_major(i, k) * B(k, j)).template use<gpu::NmByGathering>().run();
    expect_equal_tensors(expected.copy_to<Host>(), C);
  }
}

TEST(CudaNofMCopies, TilesAndStagesThatEndInTheMiddle) {
  expect_copies<half, NM<16, 32, 32>>({4403, 1500, 304});
  expect_copies<half, NM<4, 32, 32>>({4400, 3000, 40});
}
TEST(CudaNofMCopies, AnOddNumberOfColumnsOfTiles) {
  expect_copies<bfloat16, NM<8, 32, 32>>({4224, 2800, 520});
}

}  // namespace
}  // namespace sporos::test
