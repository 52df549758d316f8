// SPDX-License-Identifier: Apache-2.0
/// @file other_devices.cpp
/// Statements on GPUs that lack the instructions of some kernels: these say so, and others compute the
/// result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <sporos/kernels/spmm/cuda/dot_products_candidate.hpp>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "dense_products.hpp"
#include "inputs.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test::other_devices {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;
using testing::AnyOf;
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

/// A candidate declines a statement on GPUs of the given compute capabilities, and there alone for that
/// reason; asked for, it is an error, and the result is as it was.
template <class K, class S>
void expect_not_on(const S& statement, std::initializer_list<int> majors, std::string_view reason) {
  SCOPED_TRACE(K::name);
  const auto by = statement.template use<K>();
  const auto& values = statement.result().tensor().values();
  using Value = typename S::result_type::value_type;
  Kokkos::deep_copy(values, static_cast<Value>(7.0f));
  for (const int major : majors) {
    const PretendedDevice device(major);
    const Offer offer = detail::offer_of<K>(by);
    EXPECT_FALSE(offer.takes());
    EXPECT_EQ(offer.reason(), reason);
    const auto expect_error = [&](const auto& run) {
      try {
        run();
        ADD_FAILURE() << "no error on " << major << ".0";
      } catch (const ScheduleError& error) {
        EXPECT_THAT(error.what(), HasSubstr(text(K::name, ": ", reason)));
      }
    };
    expect_error([&] { by.run(); });
    expect_error([&] { (void)plan(by); });
  }
  const auto after = copy_array<Kokkos::HostSpace>(values);
  for (std::size_t at = 0; at < after.extent(0); ++at) ASSERT_EQ(static_cast<float>(after(at)), 7.0f) << at;
  if (Cuda().cuda_device_prop().major == 9) {
    EXPECT_NE(detail::offer_of<K>(by).reason(), reason);
  }
}
template <class K, class S>
void expect_only_on_sm_90(const S& statement) {
  expect_not_on<K>(statement, {7, 8, 10, 12}, gpu::no_sm_90a);
}
/// Matrix instructions of single warps exist on all GPUs from 8.0 on.
template <class K, class S>
void expect_only_from_sm_80_on(const S& statement) {
  expect_not_on<K>(statement, {7}, "the GPU has no instructions of sm_80");
  for (const int major : {8, 9, 10, 12}) {
    const PretendedDevice device(major);
    EXPECT_TRUE(detail::offer_of<K>(statement.template use<K>()).takes()) << K::name << " on " << major;
  }
}

TEST(CudaOtherDevices, ProductsWithStructuredMatricesNeedSm90) {
  const Tensor<float, DenseMatrix<>, Cuda> A({128, 64}), C({128, 96});
  const Tensor<float, NM<16, 32, 32>, Cuda> B({64, 96});
  expect_only_on_sm_90<gpu::NmByBlocks>(assign(C(i, j), A(i, k) * B(k, j)));
  const Tensor<half, DenseMatrix<>, Cuda> of_half({128, 64}), result({128, 96});
  const Tensor<half, TwoFour, Cuda> W({96, 64});
  expect_only_on_sm_90<gpu::TwoFourOnTensorCores>(assign(result(i, j), of_half(i, k) * W(j, k)));
  expect_only_from_sm_80_on<gpu::TwoFourByWarps>(assign(result(i, j), of_half(i, k) * W(j, k)));
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
  expect_spmm_only_on_sm_90<gpu::SpmmByWindows, half>();
}
TEST(CudaOtherDevices, SpmmByDotProductsNeedsSm80) {
  const auto A = convert<CSR<>>(random_dense<half, DenseMatrix<>>({64, 64}, 1)).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> B({64, 32}), C({64, 32});
  expect_only_from_sm_80_on<gpu::SpmmByDotProducts>(assign(C(i, j), A(i, k) * B(k, j)));
}
TEST(CudaOtherDevices, SampledProductsOnTensorCoresNeedThem) {
  const auto B = convert<CSR<>>(random_dense<half, DenseMatrix<>>({64, 64}, 1)).copy_to<Cuda>();
  const Tensor<half, DenseMatrix<>, Cuda> D({64, 64}), E({64, 64});
  const auto A = B.copy_to<Cuda>();
  const auto product = assign(A(i, j), B(i, j) * D(i, k) * E(j, k));
  expect_only_on_sm_90<gpu::SddmmByTiles>(product);
  expect_only_from_sm_80_on<gpu::SddmmByWindows>(product);
  expect_only_from_sm_80_on<gpu::SddmmByNonzeros>(product);
}

/// What runs there instead: a kernel for any GPU.
TEST(CudaOtherDevices, NmProductsRunByGathering) {
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
}

/// Statements and plans whose fastest kernels are for tensor cores, where no plan may choose them.
template <class Value, class Declining>
void expect_spmm_elsewhere() {
  const auto S = convert<CSR<>>(filled<Value, DenseMatrix<>>({256, 256}, 3));
  const auto D = filled<Value, DenseMatrix<>>({256, 128}, 4);
  const auto device_S = S.template copy_to<Cuda>();
  const auto device_D = D.template copy_to<Cuda>();
  const Tensor<Value, DenseMatrix<>, Cuda> E({256, 128});
  const Tensor<Value, DenseMatrix<>> expected({256, 128});
  assign(expected(i, j), S(i, k) * D(k, j)).run();
  const auto statement = assign(E(i, j), device_S(i, k) * device_D(k, j));
  for (const int major : {7, 8, 10}) {
    SCOPED_TRACE(text(value_name<Value>(), " on ", major, ".0"));
    const PretendedDevice device(major);
    EXPECT_EQ(kernel_of(statement), gpu::SpmmByGroups::name);
    auto constant = plan(statement.with_constant_operands());
    EXPECT_THAT(constant.candidate(),
                AnyOf(gpu::SpmmByGroups::name, gpu::SpmmByPaddedRows::name, gpu::SpmmByCublas::name));
    std::ostringstream out;
    constant.explain(out);
    EXPECT_THAT(out.str(), HasSubstr(text(Declining::name, ": ", gpu::no_sm_90a)));
    const auto expect = [&](const auto& run) {
      Kokkos::deep_copy(E.values(), static_cast<Value>(-1.0f));
      run();
      expect_equal_arrays(expected.values(), E.template copy_to<Host>().values(), "SpMM");
    };
    expect([&] { statement.run(); });
    expect([&] { constant.run(); });
  }
}
TEST(CudaOtherDevices, SpmmRunsByKernelsForAnyGpu) {
  expect_spmm_elsewhere<half, gpu::SpmmOnTensorCores>();
  expect_spmm_elsewhere<float, gpu::SpmmBySplitTiles>();
  expect_spmm_elsewhere<double, gpu::SpmmByWindows>();
}

TEST(CudaOtherDevices, SampledProductsRunByWarps) {
  const auto B = convert<CSR<>>(filled<half, DenseMatrix<>>({64, 70}, 1));
  const auto D = filled<half, DenseMatrix<>>({64, 8}, 2), E = filled<half, DenseMatrix<>>({70, 8}, 3);
  const Tensor<half, CSR<>> expected({64, 70});
  assign(expected(i, j), B(i, j) * D(i, k) * E(j, k)).run();
  const auto device_B = B.copy_to<Cuda>();
  const auto device_D = D.copy_to<Cuda>();
  const auto device_E = E.copy_to<Cuda>();
  const Tensor<half, CSR<>, Cuda> A({64, 70});
  const auto statement = assign(A(i, j), device_B(i, j) * device_D(i, k) * device_E(j, k));
  for (const int major : {7, 8, 10}) {
    const PretendedDevice device(major);
    auto product = plan(statement);
    if (major == 7)
      EXPECT_EQ(product.candidate(), gpu::SddmmByWarps::name);
    else
      EXPECT_NE(product.candidate(), gpu::SddmmByTiles::name);
    product.run();
    expect_equal_tensors(expected, A);
  }
}

TEST(CudaOtherDevices, TwoFourProductsRunBySingleWarpsOrByTheLoopNest) {
  const auto X = random_dense<half, DenseMatrix<>>({40, 64}, 1);
  const auto W = prune<TwoFour>(random_dense<half, DenseMatrix<>>({48, 64}, 2));
  const auto x = X.copy_to<Cuda>();
  const auto w = W.copy_to<Cuda>();
  const Tensor<float, DenseMatrix<>, Cuda> Y({40, 48});
  const auto statement = assign(Y(i, j), x(i, k) * w(j, k));
  for (const int major : {7, 8, 10}) {
    const PretendedDevice device(major);
    EXPECT_EQ(kernel_of(statement), major == 7 ? std::string() : std::string(gpu::TwoFourByWarps::name));
    Kokkos::deep_copy(Y.values(), -1.0f);
    statement.run();
    EXPECT_EQ(
        (wrong_sums<half, float>(convert<DenseMatrix<>, double>(X),
                                 transpose(convert<DenseMatrix<>, double>(W)), nullptr, Y.copy_to<Host>())),
        0);
  }
}

}  // namespace
}  // namespace sporos::test::other_devices
