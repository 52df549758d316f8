// SPDX-License-Identifier: Apache-2.0
/// @file products.hpp
/// Batches of products with one sparse matrix in every order of modes, on any space, against sums
/// of dense tensors on the host.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>

namespace sporos::test::batches {

inline constexpr Index<'b'> b{};

/// Small integers, a third of them zero, so that sums are exact in any type.
template <class Value, TensorFormat F>
Tensor<Value, F> numbers(const Extents<F::order>& extents, int seed) {
  Tensor<Value, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(at) =
        static_cast<Value>(static_cast<float>(((at * 37 + seed * 11) % 9 - 3) * (at % 3 != 0)));
  return out;
}

/// What `F` keeps of a dense matrix.
template <TensorFormat F, class T>
auto sparse_of(const T& dense) {
  if constexpr (WindowedFormat<F>)
    return prune<F>(dense);
  else
    return convert<F>(dense);
}

template <class Result, class Expected>
void expect_same_values(const Result& result, const Expected& expected) {
  ASSERT_EQ(result.extents(), expected.extents());
  for (std::int64_t at = 0; at < expected.nnz(); ++at)
    ASSERT_EQ(static_cast<double>(static_cast<float>(result.values()(at))), expected.values()(at)) << at;
}

/// C(b, i, j), of poisoned values, of two factors of which one or both are in batches; if the sparse one is,
/// also added to what is there.
/// @tparam Order, SparseOrder  of the factors: 3 for one in batches
/// @param of_dense, of_sparse  make the accesses
template <class Space, class Value, TensorFormat F, int Order = 3, int SparseOrder = F::order,
          class DenseModes, class SparseModes>
void expect_product(const Extents<3>& result_extents, const Extents<Order>& dense_extents,
                    const Extents<SparseOrder>& sparse_extents, const DenseModes& of_dense,
                    const SparseModes& of_sparse) {
  using namespace sporos::indices;
  SCOPED_TRACE(text(format_name<F>(), ", ", to_string(result_extents), " from ", to_string(dense_extents),
                    " and ", to_string(sparse_extents)));
  const auto A = numbers<Value, DenseTensor<Order>>(dense_extents, 1);
  const auto B = sparse_of<F>(numbers<Value, DenseTensor<SparseOrder>>(sparse_extents, 2));
  const Tensor<double, DenseTensor<3>> expected(result_extents);
  assign(expected(b, i, j), of_dense(convert<DenseTensor<Order>, double>(A)) *
                                of_sparse(convert<DenseTensor<SparseOrder>, double>(B)))
      .generic()
      .run();
  const Tensor<Value, DenseTensor<3>> poisoned(result_extents);
  Kokkos::deep_copy(poisoned.values(), static_cast<Value>(std::numeric_limits<float>::quiet_NaN()));
  const auto C = poisoned.template copy_to<Space>();
  const auto device_A = A.template copy_to<Space>();
  const auto device_B = B.template copy_to<Space>();
  C(b, i, j) = of_dense(device_A) * of_sparse(device_B);
  expect_same_values(C.template copy_to<Host>(), expected);
  if constexpr (SparseOrder == 3) {
    C(b, i, j) += of_dense(device_A) * of_sparse(device_B);
    for (std::int64_t at = 0; at < expected.nnz(); ++at) expected.values()(at) *= 2;
    expect_same_values(C.template copy_to<Host>(), expected);
  }
}

// How the modes of the factors may be named.
inline constexpr auto dense_ik = [](const auto& t) { return t(b, indices::i, indices::k); };
inline constexpr auto dense_ki = [](const auto& t) { return t(b, indices::k, indices::i); };
inline constexpr auto dense_jk = [](const auto& t) { return t(b, indices::j, indices::k); };
inline constexpr auto dense_kj = [](const auto& t) { return t(b, indices::k, indices::j); };
inline constexpr auto sparse_ik = [](const auto& t) { return t(indices::i, indices::k); };
inline constexpr auto sparse_ki = [](const auto& t) { return t(indices::k, indices::i); };
inline constexpr auto sparse_jk = [](const auto& t) { return t(indices::j, indices::k); };
inline constexpr auto sparse_kj = [](const auto& t) { return t(indices::k, indices::j); };

// The same for a dense matrix.
inline constexpr auto one_ik = sparse_ik;
inline constexpr auto one_ki = sparse_ki;
inline constexpr auto one_jk = sparse_jk;
inline constexpr auto one_kj = sparse_kj;

/// All of them.
/// @param shape  batches, rows and columns of the results, and the summed extent
template <class Space, class Value, TensorFormat F>
void expect_products(const std::array<std::int64_t, 4>& shape) {
  const auto [batches, rows, columns, inner] = shape;
  const Extents<3> results{batches, rows, columns};
  const auto expect = [&](const Extents<3>& dense, const Extents<2>& sparse, const auto& of_dense,
                          const auto& of_sparse) {
    expect_product<Space, Value, F>(results, dense, sparse, of_dense, of_sparse);
  };
  expect({batches, rows, inner}, {inner, columns}, dense_ik, sparse_kj);
  expect({batches, rows, inner}, {columns, inner}, dense_ik, sparse_jk);
  expect({batches, inner, rows}, {inner, columns}, dense_ki, sparse_kj);
  expect({batches, inner, rows}, {columns, inner}, dense_ki, sparse_jk);
  expect({batches, inner, columns}, {rows, inner}, dense_kj, sparse_ik);
  expect({batches, inner, columns}, {inner, rows}, dense_kj, sparse_ki);
  expect({batches, columns, inner}, {rows, inner}, dense_jk, sparse_ik);
  expect({batches, columns, inner}, {inner, rows}, dense_jk, sparse_ki);
}

/// All orders of modes of products of batches of sparse matrices with dense ones, of which there is one for
/// all batches or one for each.
/// @tparam F     of the sparse matrices, Batches<...>
/// @param shape  batches, rows and columns of the results, and the summed extent
template <class Space, class Value, TensorFormat F>
void expect_products_of_batches(const std::array<std::int64_t, 4>& shape) {
  const auto [batches, rows, columns, inner] = shape;
  const Extents<3> results{batches, rows, columns}, ik{batches, rows, inner}, ki{batches, inner, rows},
      jk{batches, columns, inner}, kj{batches, inner, columns};
  const auto expect = [&](const Extents<3>& dense, const Extents<3>& sparse, const auto& of_dense,
                          const auto& of_one, const auto& of_sparse) {
    expect_product<Space, Value, F, 3>(results, dense, sparse, of_dense, of_sparse);
    expect_product<Space, Value, F, 2>(results, {dense[1], dense[2]}, sparse, of_one, of_sparse);
  };
  expect(ik, kj, dense_ik, one_ik, dense_kj);
  expect(ik, jk, dense_ik, one_ik, dense_jk);
  expect(ki, kj, dense_ki, one_ki, dense_kj);
  expect(ki, jk, dense_ki, one_ki, dense_jk);
  expect(kj, ik, dense_kj, one_kj, dense_ik);
  expect(kj, ki, dense_kj, one_kj, dense_ki);
  expect(jk, ik, dense_jk, one_jk, dense_ik);
  expect(jk, ki, dense_jk, one_jk, dense_ki);
}

}  // namespace sporos::test::batches
