// SPDX-License-Identifier: Apache-2.0
/// @file bitmap.cpp
/// A level made outside the library on the GPU: read by the loop nest, built there or by the host as a
/// result, wrapped, validated, printed and planned.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <sstream>
#include <type_traits>

#include "../../levels/bitmap.hpp"
#include "../estimates.hpp"
#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

using BitmapRows = Format<Map<Dim<0>, Dim<1>>, Dense, Bitmap<>>;
using BitmapTree = Format<Map<Dim<0>, Dim<1>>, Bitmap<>, Bitmap<>>;
using BitmapBelowSparse = Format<Map<Dim<1>, Dim<0>>, Compressed<>, Bitmap<std::int32_t>>;
/// Results that the host builds.
using RowsBuiltByHost = Format<Map<Dim<0>, Dim<1>>, Dense, Bitmap<std::int64_t, std::int32_t, false>>;

TEST(CudaBitmap, ComesBackAsItWent) {
  const auto A = assemble<BitmapTree>(random_entries<double, 2>({503, 401}, 6000, 1));
  const auto back = A.copy_to<Cuda>().copy_to<Host>();
  EXPECT_NO_THROW(validate(back));
  EXPECT_NO_THROW(validate(A.copy_to<Cuda>()));
  expect_equal_tensors(A, back);
}

template <class F>
void expect_same_product(unsigned seed) {
  const auto A = assemble<F>(random_entries<double, 2>({503, 401}, 6000, seed));
  const auto x = filled<double, DenseVector>({401}, seed + 1);
  const Tensor<double, DenseVector> y({503});
  y(i) = A(i, j) * x(j);
  const auto device_y = poisoned<double, DenseVector>({503});
  device_y(i) = A.template copy_to<Cuda>()(i, j) * x.copy_to<Cuda>()(j);
  expect_equal_tensors(y, device_y);
}

TEST(CudaBitmap, TimesAVector) {
  expect_same_product<BitmapRows>(2);
  expect_same_product<BitmapTree>(3);
}

TEST(CudaBitmap, MeetsCompressedRows) {
  const auto A = assemble<BitmapRows>(random_entries<double, 2>({503, 401}, 6000, 4));
  const auto B = assemble<CSR<>>(random_entries<double, 2>({503, 401}, 6000, 5));
  const Tensor<double, DenseMatrix<>> C({503, 401});
  C(i, j) = A(i, j) * B(i, j) + A(i, j);
  const auto device_A = A.copy_to<Cuda>();
  const auto device_C = poisoned<double, DenseMatrix<>>({503, 401});
  device_C(i, j) = device_A(i, j) * B.copy_to<Cuda>()(i, j) + device_A(i, j);
  expect_equal_tensors(C, device_C);
}

TEST(CudaBitmap, TimesADenseMatrix) {
  const auto A = assemble<BitmapRows>(random_entries<double, 2>({503, 401}, 6000, 6));
  const auto B = filled<double, DenseMatrix<>>({401, 19}, 7);
  const Tensor<double, DenseMatrix<>> C({503, 19});
  C(i, k) = A(i, j) * B(j, k);
  const auto device_C = poisoned<double, DenseMatrix<>>({503, 19});
  device_C(i, k) = A.copy_to<Cuda>()(i, j) * B.copy_to<Cuda>()(j, k);
  expect_equal_tensors(C, device_C);
}

TEST(CudaBitmap, WithAnotherPatternIsNoticedByAPlan) {
  const auto A = assemble<BitmapRows>(random_entries<double, 2>({503, 401}, 6000, 8)).copy_to<Cuda>();
  const auto x = filled<double, DenseVector>({401}, 9).copy_to<Cuda>();
  const Tensor<double, DenseVector, Cuda> y({503});
  auto product = plan(assign(y(i), A(i, j) * x(j)));
  EXPECT_NO_THROW(product.run());
  const auto other = assemble<BitmapRows>(random_entries<double, 2>({503, 401}, 6000, 10)).copy_to<Cuda>();
  A.replace(other.extents(), other.levels(), other.values());
  EXPECT_THROW(product.run(), ScheduleError);
}

/// Calls test(format) for each format of results.
template <class Test>
void for_each_format(const Test& test) {
  const auto one = [&]<class F>(std::type_identity<F>) {
    SCOPED_TRACE(F::str());
    test(std::type_identity<F>());
  };
  one(std::type_identity<BitmapRows>());
  one(std::type_identity<BitmapTree>());
  one(std::type_identity<BitmapBelowSparse>());
  one(std::type_identity<RowsBuiltByHost>());
}

static_assert(gpu::detail::builds_on_device<BitmapRows> && gpu::detail::builds_on_device<BitmapTree> &&
              gpu::detail::builds_on_device<BitmapBelowSparse>);
static_assert(!gpu::detail::builds_on_device<RowsBuiltByHost>);

/// Two matrices in CSR and, in format F, on the GPU.
template <class F>
struct Pair {
  Tensor<double, CSR<>> B = assemble<CSR<>>(random_entries<double, 2>({203, 190}, 3000, 11));
  Tensor<double, CSR<>> C = assemble<CSR<>>(random_entries<double, 2>({203, 190}, 2000, 12));
  Tensor<double, F, Cuda> device_B = convert<F>(B).template copy_to<Cuda>();
  Tensor<double, F, Cuda> device_C = convert<F>(C).template copy_to<Cuda>();
  Tensor<double, CSR<>> A{Extents<2>{203, 190}};
  Tensor<double, F, Cuda> device_A{Extents<2>{203, 190}};

  /// The results in both places are the same, and that on the GPU is valid.
  void expect_same() const {
    expect_equal_tensors(convert<F>(A), device_A);
    EXPECT_NO_THROW(validate(device_A));
  }
};

TEST(CudaBitmap, HoldsSumsAndProducts) {
  for_each_format([]<class F>(std::type_identity<F>) {
    const Pair<F> in;
    const auto& [B, C, device_B, device_C, A, device_A] = in;
    A(i, j) = 2.0 * B(i, j) - C(i, j);
    device_A(i, j) = 2.0 * device_B(i, j) - device_C(i, j);
    in.expect_same();
    A(i, j) = B(i, j) * C(i, j);
    device_A(i, j) = device_B(i, j) * device_C(i, j);
    in.expect_same();
  });
}

TEST(CudaBitmap, HoldsProductsOfMatrices) {
  for_each_format([]<class F>(std::type_identity<F>) {
    const Pair<F> in;
    const Tensor<double, CSR<>> A({203, 203});
    const Tensor<double, F, Cuda> device_A({203, 203});
    const auto turned = transpose(in.C);
    const auto device_turned = convert<F>(turned).template copy_to<Cuda>();
    A(i, j) = in.B(i, k) * turned(k, j);
    if constexpr (std::is_same_v<F, BitmapBelowSparse>)
      assign(device_A(i, j), in.device_B(i, k) * device_turned(k, j)).reorder(j, k, i).run();
    else
      assign(device_A(i, j), in.device_B(i, k) * device_turned(k, j)).reorder(i, k, j).run();
    expect_equal_tensors(convert<F>(A), device_A);
    EXPECT_NO_THROW(validate(device_A));
  });
}

TEST(CudaBitmap, IsConvertedThereAndBack) {
  for_each_format([]<class F>(std::type_identity<F>) {
    const Pair<F> in;
    const auto rows = in.B.template copy_to<Cuda>();
    in.device_A(i, j) = rows(i, j);
    expect_equal_tensors(convert<F>(in.B), in.device_A);
    const Tensor<double, CSR<>, Cuda> back({203, 190});
    back(i, j) = in.device_A(i, j);
    expect_equal_tensors(in.B, back);
    expect_equal_tensors(in.B, convert<CSR<>>(in.device_A));
  });
}

TEST(CudaBitmap, IsEmptyWhereNothingIsStored) {
  for_each_format([]<class F>(std::type_identity<F>) {
    const Tensor<double, F, Cuda> nothing({70, 90}), A({70, 90});
    const auto B = assemble<F>(random_entries<double, 2>({70, 90}, 500, 1)).template copy_to<Cuda>();
    A(i, j) = nothing(i, j) * B(i, j);
    expect_equal_tensors(Tensor<double, F>({70, 90}), A);
    EXPECT_NO_THROW(validate(A));
  });
}

TEST(CudaBitmap, IsWrappedWithoutACopy) {
  const auto A = assemble<BitmapTree>(random_entries<double, 2>({203, 190}, 3000, 13)).copy_to<Cuda>();
  const auto& upper = A.level<0>();
  const auto& lower = A.level<1>();
  const auto wrapped =
      wrap<BitmapTree, Cuda>({203, 190}, upper.bits, upper.ranks, lower.bits, lower.ranks, A.values());
  EXPECT_EQ(wrapped.level<1>().bits.data(), lower.bits.data());
  expect_equal_tensors(A.copy_to<Host>(), wrapped);
  const Tensor<double, CSR<>, Cuda> sum({203, 190}), expected({203, 190});
  sum(i, j) = wrapped(i, j) + A(i, j);
  expected(i, j) = 2.0 * A(i, j);
  expect_equal_tensors(expected.copy_to<Host>(), sum);
  EXPECT_THROW(
      (wrap<BitmapTree, Cuda>({203, 150}, upper.bits, upper.ranks, lower.bits, lower.ranks, A.values())),
      FormatError);
  Kokkos::deep_copy(lower.ranks, std::int64_t{0});
  EXPECT_THROW(
      (wrap<BitmapTree, Cuda>({203, 190}, upper.bits, upper.ranks, lower.bits, lower.ranks, A.values())),
      FormatError);
  EXPECT_THROW(validate(A), FormatError);
}

TEST(CudaBitmap, PrintsAsOnTheHost) {
  for_each_format([]<class F>(std::type_identity<F>) {
    const Pair<F> in;
    in.device_A(i, j) = in.device_B(i, j) + in.device_C(i, j);
    in.A(i, j) = in.B(i, j) + in.C(i, j);
    std::ostringstream host, device;
    print(host, convert<F>(in.A));
    print(device, in.device_A.template copy_to<Host>());
    EXPECT_EQ(host.str(), device.str());
  });
}

TEST(CudaBitmap, IsRefilledByPlans) {
  for_each_format([]<class F>(std::type_identity<F>) {
    const Pair<F> in;
    auto sum = plan(assign(in.device_A(i, j), in.device_B(i, j) + in.device_C(i, j)));
    for (const double value : {1.0, 3.0, 5.0}) {
      Kokkos::deep_copy(in.B.values(), value);
      Kokkos::deep_copy(in.device_B.values(), value);
      sum.run();
      in.A(i, j) = in.B(i, j) + in.C(i, j);
      in.expect_same();
    }
  });
}

TEST(CudaBitmap, TakesNoMoreMemoryThanIsEstimated) {
  for_each_format([]<class F>(std::type_identity<F>) {
    const Pair<F> in;
    expect_bounded(assign(in.device_A(i, j), in.device_B(i, j) + in.device_C(i, j)));
  });
}

}  // namespace
