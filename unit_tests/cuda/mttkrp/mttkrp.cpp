// SPDX-License-Identifier: Apache-2.0
/// @file mttkrp.cpp
/// The MTTKRP kernel against the host's loop nest: formats, modes, ranks, value types; plans in CUDA graphs.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../inputs.hpp"
#include "../kept_memory.hpp"
#include "kernels/kernel_of.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

template <class F, class Value>
void expect_products_of_all_modes_equal_host(const Entries<Value, 3>& entries, std::int64_t rank) {
  const auto T = assemble<F>(entries);
  const auto A = filled<Value, DenseMatrix<>>({T.extent(0), rank}, 1);
  const auto B = filled<Value, DenseMatrix<>>({T.extent(1), rank}, 2);
  const auto C = filled<Value, DenseMatrix<>>({T.extent(2), rank}, 3);
  const auto device_T = T.template copy_to<Cuda>();
  const auto device_A = A.template copy_to<Cuda>();
  const auto device_B = B.template copy_to<Cuda>();
  const auto device_C = C.template copy_to<Cuda>();
  const auto reference_T = assemble<COO<3>>(entries);

  const auto check = [&](int mode, const auto& write) {
    const Tensor<Value, DenseMatrix<>> M({T.extent(mode), rank});
    const auto device_M = poisoned<Value, DenseMatrix<>>({T.extent(mode), rank});
    write(M, reference_T, A, B, C).run();
    const auto statement = write(device_M, device_T, device_A, device_B, device_C);
    EXPECT_NE(kernel_of(statement), "");
    statement.run();
    expect_equal_tensors(M, device_M);
  };
  check(0, [](const auto& M, const auto& t, const auto&, const auto& b, const auto& c) {
    return assign(M(i, r), t(i, k, l) * b(k, r) * c(l, r));
  });
  check(1, [](const auto& M, const auto& t, const auto& a, const auto&, const auto& c) {
    return assign(M(k, r), t(i, k, l) * a(i, r) * c(l, r));
  });
  check(2, [](const auto& M, const auto& t, const auto& a, const auto& b, const auto&) {
    return assign(M(l, r), b(k, r) * t(i, k, l) * a(i, r));
  });
}

TEST(CudaMttkrp, EqualsTheHostsInEachModeOfCoordinates) {
  const auto entries = random_entries<float, 3>({101, 67, 83}, 5000, 5);
  for (const std::int64_t rank : {1, 5, 16, 32, 100})
    expect_products_of_all_modes_equal_host<COO<3>>(entries, rank);
}
TEST(CudaMttkrp, EqualsTheHostsInEachModeOfCompressedFibers) {
  const auto entries = random_entries<float, 3>({101, 67, 83}, 5000, 6);
  expect_products_of_all_modes_equal_host<CSF<3>>(entries, 16);
  expect_products_of_all_modes_equal_host<CSF<3, ModeOrder<2, 0, 1>>>(entries, 16);
  expect_products_of_all_modes_equal_host<CSF<3, ModeOrder<1, 2, 0>, std::int32_t, std::int32_t>>(entries, 7);
}
TEST(CudaMttkrp, EqualsTheHostsWhereFibersAreLongAndSlicesEmpty) {
  expect_products_of_all_modes_equal_host<CSF<3>>(random_entries<double, 3>({5000, 2, 900}, 6000, 7), 16);
  expect_products_of_all_modes_equal_host<COO<3>>(random_entries<double, 3>({3, 3, 9000}, 6000, 8), 16);
  expect_products_of_all_modes_equal_host<CSF<3>>(Entries<double, 3>({5, 4, 3}, 0), 16);
}
TEST(CudaMttkrp, EqualsTheHostsForIntegerAndComplexValues) {
  expect_products_of_all_modes_equal_host<COO<3>>(random_entries<std::int64_t, 3>({31, 37, 41}, 900, 9), 16);
  expect_products_of_all_modes_equal_host<CSF<3>>(
      random_entries<Kokkos::complex<double>, 3>({31, 37, 41}, 900, 10), 6);
}

TEST(CudaMttkrp, PlansFollowValuesInAGraph) {
  pool<Cuda>().release();
  const OwnStream stream;
  const auto T = assemble<COO<3>>(random_entries<double, 3>({31, 37, 41}, 900, 12)).copy_to<Cuda>();
  const auto wide_T = assemble<COO<3>>(random_entries<double, 3>({310, 37, 41}, 9000, 13)).copy_to<Cuda>();
  const auto B = filled<double, DenseMatrix<>>({37, 16}, 1).copy_to<Cuda>();
  const auto C = filled<double, DenseMatrix<>>({41, 16}, 2).copy_to<Cuda>();
  const Tensor<double, DenseMatrix<>, Cuda> M({31, 16}), wide_M({310, 16}), expected({31, 16});
  const auto statement = [&](const auto& to, const auto& tensor) {
    return assign(to(i, r), tensor(i, k, l) * B(k, r) * C(l, r)).template use<gpu::MttkrpByNonzeros>();
  };
  auto product = plan(statement(M, T).on(stream.resources()));
  expect_graph_keeps_memory(
      stream, [&] { product.run(); }, [&] { statement(wide_M, wide_T).on(stream.resources()).run(); },
      [&] {
        Kokkos::deep_copy(T.values(), 3.0);
        Kokkos::deep_copy(M.values(), -77.0);
        statement(expected, T).run();
      },
      [&] { expect_equal_tensors(expected.copy_to<Host>(), M); });
}

TEST(CudaMttkrp, OfOrderFourEqualsTheHosts) {
  const auto T = assemble<CSF<4>>(random_entries<double, 4>({31, 17, 23, 29}, 3000, 11));
  const auto B = filled<double, DenseMatrix<>>({31, 16}, 1);
  const auto C = filled<double, DenseMatrix<>>({23, 16}, 2);
  const auto D = filled<double, DenseMatrix<>>({29, 16}, 3);
  const Tensor<double, DenseMatrix<>> M({17, 16});
  M(j, r) = T(i, j, k, l) * B(i, r) * C(k, r) * D(l, r);
  const auto device_T = T.copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  const auto device_C = C.copy_to<Cuda>();
  const auto device_D = D.copy_to<Cuda>();
  const auto device_M = poisoned<double, DenseMatrix<>>({17, 16});
  device_M(j, r) = device_T(i, j, k, l) * device_B(i, r) * device_C(k, r) * device_D(l, r);
  expect_equal_tensors(M, device_M);
  device_M(j, r) += device_T(i, j, k, l) * device_B(i, r) * device_C(k, r) * device_D(l, r);
  M(j, r) += T(i, j, k, l) * B(i, r) * C(k, r) * D(l, r);
  expect_equal_tensors(M, device_M);
}

}  // namespace
