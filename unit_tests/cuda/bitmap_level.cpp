// SPDX-License-Identifier: Apache-2.0
/// @file bitmap_level.cpp
/// A level made outside the library is read by the loop nest on the GPU, and comes back as it went.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>

#include "../levels/bitmap.hpp"
#include "inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

using BitmapRows = Format<Map<Dim<0>, Dim<1>>, Dense, Bitmap<>>;
using BitmapTree = Format<Map<Dim<0>, Dim<1>>, Bitmap<>, Bitmap<>>;

TEST(CudaBitmap, ComesBackAsItWent) {
  const auto A = assemble<BitmapTree>(random_entries<double, 2>({503, 401}, 6000, 1));
  const auto back = A.copy_to<Cuda>().copy_to<Host>();
  EXPECT_NO_THROW(validate(back));
  EXPECT_NO_THROW(validate(A.copy_to<Cuda>()));
  expect_equal_arrays(A.level<0>().bits, back.level<0>().bits, "bits of level 0");
  expect_equal_arrays(A.level<1>().bits, back.level<1>().bits, "bits of level 1");
  expect_equal_arrays(A.level<1>().ranks, back.level<1>().ranks, "ranks of level 1");
  expect_equal_arrays(A.values(), back.values(), "values");
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

}  // namespace
