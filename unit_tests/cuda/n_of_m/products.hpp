// SPDX-License-Identifier: Apache-2.0
/// @file products.hpp
/// N:M products by one candidate against sums in double on the host.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <vector>

#include "../dense_products.hpp"
#include "../inputs.hpp"

namespace sporos::test {

/// The N:M matrix as k x n, whichever mode its windows lie along.
template <class T>
Tensor<double, DenseMatrix<>> by_windows(const T& b) {
  const auto dense = convert<DenseMatrix<>, double>(b);
  if constexpr (NmTraits<typename T::format_type>::along == 0)
    return dense;
  else
    return transpose(dense);
}

/// C = A B or C += A B by a candidate.
/// @tparam F       how B is stored
/// @tparam Layout  of A
/// @param shape    m, n, k
template <class Candidate, class Value, class Out, class F, class Layout>
void expect_nm_product(const Extents<3>& shape, bool accumulates = false) {
  using namespace sporos::indices;
  constexpr int along = NmTraits<F>::along;
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<F>(), ", ", to_string(shape),
                    std::is_same_v<Layout, RowMajor> ? ", A by rows" : ", A by columns"));
  const auto A = random_dense<Value, DenseMatrix<Layout>>({m, inner}, 1);
  const auto dense_B =
      random_dense<Value, DenseMatrix<>>(along == 0 ? Extents<2>{inner, n} : Extents<2>{n, inner}, 2);
  const auto device_A = A.template copy_to<Cuda>();
  const auto B = prune<F>(dense_B.template copy_to<Cuda>());  // on the device
  const auto host_B = B.template copy_to<Host>();
  EXPECT_NO_THROW(validate(host_B));
  expect_equal_tensors(prune<F>(dense_B), B);
  const auto before = random_dense<Out, DenseMatrix<>>({m, n}, 3);
  const auto C = before.template copy_to<Cuda>();
  if (!accumulates && C.nnz() > 0)
    Kokkos::deep_copy(C.values(), static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));

  const auto run = [&](const auto& statement) {
    const auto by_kernel = statement.template use<Candidate>();
    accumulates ? by_kernel.accumulate().run() : by_kernel.run();
  };
  if constexpr (along == 0)
    run(assign(C(i, j), device_A(i, k) * B(k, j)));
  else
    run(assign(C(i, j), B(j, k) * device_A(i, k)));

  EXPECT_EQ((wrong_sums<Value, Out>(convert<DenseMatrix<>, double>(A), by_windows(host_B),
                                    accumulates ? &before : nullptr, C.template copy_to<Host>())),
            0);
}

inline const std::vector<Extents<3>> nm_shapes = {
    {1, 1, 1},     {128, 256, 128}, {333, 417, 517}, {65, 33, 31}, {8, 40, 700},  {200, 1, 64},
    {1, 300, 129}, {0, 5, 7},       {5, 0, 7},       {5, 7, 0},    {700, 530, 90}};

template <class Candidate, class Value, class Out, class F>
void expect_nm_products() {
  for (const auto& shape : nm_shapes) {
    expect_nm_product<Candidate, Value, Out, F, RowMajor>(shape);
    expect_nm_product<Candidate, Value, Out, F, ColumnMajor>(shape);
  }
  expect_nm_product<Candidate, Value, Out, F, RowMajor>({130, 270, 300}, true);
}

}  // namespace sporos::test
