// SPDX-License-Identifier: Apache-2.0
/// @file other_devices.cpp
/// Statements on GPUs that lack the instructions of some kernels: these say so, and others compute the
/// result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>

#include "dense_products.hpp"
#include "inputs.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test::other_devices {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;
using testing::HasSubstr;

/// Has Kokkos say, until the end of the scope, that the GPU is of another compute capability. (Kokkos stores
/// what CUDA says in a variable that is not constant.)
class PretendedDevice {
 public:
  explicit PretendedDevice(int major) : major_(const_cast<cudaDeviceProp&>(Cuda().cuda_device_prop()).major) {
    major_ = major;
  }
  PretendedDevice(const PretendedDevice&) = delete;
  PretendedDevice& operator=(const PretendedDevice&) = delete;
  ~PretendedDevice() { major_ = before_; }

 private:
  int& major_;
  int before_ = Cuda().cuda_device_prop().major;
};

TEST(CudaOtherDevices, ArePretendedUntilTheEndOfAScope) {
  const int before = Cuda().cuda_device_prop().major;
  {
    const PretendedDevice device(8);
    EXPECT_EQ(Cuda().cuda_device_prop().major, 8);
  }
  EXPECT_EQ(Cuda().cuda_device_prop().major, before);
}

/// A candidate declines a statement on GPUs of other compute capabilities, and there alone for that reason;
/// asked for, it is an error, and the result is as it was.
template <class K, class S>
void expect_only_on_sm_90(const S& statement) {
  SCOPED_TRACE(K::name);
  const auto by = statement.template use<K>();
  const auto& values = statement.result().tensor().values();
  using Value = typename S::result_type::value_type;
  Kokkos::deep_copy(values, static_cast<Value>(7.0f));
  for (const int major : {7, 8, 10, 12}) {
    const PretendedDevice device(major);
    const Offer offer = detail::offer_of<K>(by);
    EXPECT_FALSE(offer.takes());
    EXPECT_EQ(offer.reason(), gpu::no_sm_90a);
    const auto expect_error = [&](const auto& run) {
      try {
        run();
        ADD_FAILURE() << "no error on " << major << ".0";
      } catch (const ScheduleError& error) {
        EXPECT_THAT(error.what(), HasSubstr(text(K::name, ": ", gpu::no_sm_90a)));
      }
    };
    expect_error([&] { by.run(); });
    expect_error([&] { (void)plan(by); });
  }
  const auto after = copy_array<Kokkos::HostSpace>(values);
  for (std::size_t at = 0; at < after.extent(0); ++at) ASSERT_EQ(static_cast<float>(after(at)), 7.0f) << at;
  if (Cuda().cuda_device_prop().major == 9) {
    EXPECT_NE(detail::offer_of<K>(by).reason(), gpu::no_sm_90a);
  }
}

TEST(CudaOtherDevices, ProductsWithStructuredMatricesNeedSm90) {
  const Tensor<float, DenseMatrix<>, Cuda> A({128, 64}), C({128, 96});
  const Tensor<float, NM<16, 32, 32>, Cuda> B({64, 96});
  expect_only_on_sm_90<gpu::NmByBlocks>(assign(C(i, j), A(i, k) * B(k, j)));
  const Tensor<half, DenseMatrix<>, Cuda> of_half({128, 64}), result({128, 96});
  const Tensor<half, TwoFour, Cuda> W({96, 64});
  expect_only_on_sm_90<gpu::TwoFourOnTensorCores>(assign(result(i, j), of_half(i, k) * W(j, k)));
}

template <class K, class Value>
void expect_spmm_only_on_sm_90() {
  const auto A = convert<CSR<>>(random_dense<Value, DenseMatrix<>>({64, 64}, 1)).template copy_to<Cuda>();
  const Tensor<Value, DenseMatrix<>, Cuda> B({64, 32}), C({64, 32});
  expect_only_on_sm_90<K>(assign(C(i, j), A(i, k) * B(k, j)));
}
TEST(CudaOtherDevices, SpmmOnTensorCoresNeedsSm90) {
  expect_spmm_only_on_sm_90<gpu::SpmmOnTensorCores, half>();
  expect_spmm_only_on_sm_90<gpu::SpmmBySplitTiles, float>();
  expect_spmm_only_on_sm_90<gpu::SpmmByWindows, double>();
}
TEST(CudaOtherDevices, SampledProductsByTilesNeedSm90) {
  const auto B = convert<CSR<>>(random_dense<half, DenseMatrix<>>({64, 64}, 1)).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> D({64, 64}), E({64, 64});
  const auto A = B.copy_to<Cuda>();
  const auto by = assign(A(i, j), B(i, j) * D(i, k) * E(j, k)).use<gpu::SddmmByTiles>();
  const PretendedDevice device(10);
  EXPECT_EQ(detail::offer_of<gpu::SddmmByTiles>(by).reason(), gpu::no_sm_90a);
}

/// What runs there instead: N:M products by a kernel for any GPU, others by their kernels without tensor
/// cores or by the loop nest.
TEST(CudaOtherDevices, StatementsRunByOtherKernels) {
  const auto A = random_dense<float, DenseMatrix<>>({100, 130}, 1);
  const auto B = prune<NM<16, 32, 32>>(random_dense<float, DenseMatrix<>>({130, 70}, 2));
  const auto device_A = A.copy_to<Cuda>();
  const auto device_B = B.copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> C({100, 70});
  const auto product = assign(C(i, j), device_A(i, k) * device_B(k, j));
  {
    const PretendedDevice device(8);
    EXPECT_EQ(kernel_of(product), gpu::NmByGathering::name);
    EXPECT_THAT(explain(product), HasSubstr("sums in registers whose rows are gathered from shared memory"));
    EXPECT_THAT(explain(product), HasSubstr("  arithmetic intensity: "));
    product.run();
  }
  EXPECT_EQ((wrong_sums<float, float>(convert<DenseMatrix<>, double>(A), convert<DenseMatrix<>, double>(B),
                                      nullptr, C.copy_to<Host>())),
            0);

  const auto S = convert<CSR<>>(filled<half, DenseMatrix<>>({64, 64}, 3));
  const auto D = filled<half, DenseMatrix<>>({64, 32}, 4);
  const auto device_S = S.copy_to<Cuda>();
  const auto device_D = D.copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> E({64, 32});
  {
    const PretendedDevice device(8);
    const auto statement = assign(E(i, j), device_S(i, k) * device_D(k, j));
    EXPECT_NE(kernel_of(statement), gpu::SpmmOnTensorCores::name);
    statement.run();
  }
  const Tensor<half, DenseMatrix<>> expected({64, 32});
  assign(expected(i, j), S(i, k) * D(k, j)).run();
  expect_equal_arrays(expected.values(), E.copy_to<Host>().values(), "SpMM");
}

}  // namespace
}  // namespace sporos::test::other_devices
