// SPDX-License-Identifier: Apache-2.0
/// @file nest.cpp
/// N:M and 2:4 tensors on the GPU through what knows nothing of them: read, converted, printed, multiplied by
/// the loop nest; and pruning there, in every way, against the host's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>

#include "../dense_products.hpp"
#include "../inputs.hpp"

namespace sporos::test::n_of_m_nest {
namespace {

using namespace sporos::indices;

template <class T>
std::string printed(const T& t) {
  std::ostringstream out;
  print(out, t);
  return out.str();
}

/// Values and indices, bit by bit.
template <class T, class U>
void expect_same_windows(const T& host, const U& device) {
  const auto back = device.template copy_to<Host>();
  EXPECT_NO_THROW(validate(back));
  expect_equal_arrays(host.template level<2>().indices, back.template level<2>().indices, "indices");
  expect_equal_arrays(host.values(), back.values(), "values");
}

template <class Value, class F>
void expect_nest(const Extents<2>& extents) {
  SCOPED_TRACE(text(format_name<F>(), ", ", to_string(extents)));
  const auto [rows, columns] = extents;
  const auto B = prune<F>(filled<Value, DenseMatrix<>>(extents, 1));
  const auto device_B = B.template copy_to<Cuda>();

  // Read from a file, converted there and back, and printed.
  const std::string file = testing::TempDir() + text("n_of_m_nest_", getpid(), ".mtx");
  write(file, convert<CSR<>>(B));
  expect_same_windows(B, read<F, Value>(file).template move_to<Cuda>());
  std::remove(file.c_str());
  expect_equal_tensors(convert<DenseMatrix<>>(B), convert<DenseMatrix<>>(device_B));
  expect_equal_tensors(convert<CSR<>>(B), convert<CSR<>>(device_B));
  expect_same_windows(B, convert<F>(convert<CSR<>>(device_B)));
  EXPECT_EQ(printed(B), printed(device_B));

  // From the right and from the left, and next to another operand.
  const auto X = filled<Value, DenseMatrix<>>({6, rows}, 2),
             Y = filled<Value, DenseMatrix<>>({columns, 5}, 3);
  const auto D = filled<Value, DenseMatrix<>>(extents, 4);
  const auto device_X = X.template copy_to<Cuda>(), device_Y = Y.template copy_to<Cuda>();
  const auto device_D = D.template copy_to<Cuda>();
  const auto expect = [](const auto& here, const auto& there) {
    here.generic().run();
    there.generic().run();
    expect_equal_tensors(here.result().tensor(), there.result().tensor());
  };
  const Tensor<float, DenseMatrix<>> left({rows, 5}), right({6, columns}), sum(extents), products(extents);
  const auto device_left = poisoned<float, DenseMatrix<>>({rows, 5});
  const auto device_right = poisoned<float, DenseMatrix<>>({6, columns});
  const auto device_sum = poisoned<float, DenseMatrix<>>(extents);
  expect(assign(left(i, j), B(i, k) * Y(k, j)), assign(device_left(i, j), device_B(i, k) * device_Y(k, j)));
  expect(assign(right(i, j), X(i, k) * B(k, j)), assign(device_right(i, j), device_X(i, k) * device_B(k, j)));
  expect(assign(sum(i, j), B(i, j) + 2 * D(i, j)),
         assign(device_sum(i, j), device_B(i, j) + 2 * device_D(i, j)));
  const auto device_products = poisoned<float, DenseMatrix<>>(extents);
  expect(assign(products(i, j), B(i, j) * D(i, j)),
         assign(device_products(i, j), device_B(i, j) * device_D(i, j)));
}
TEST(CudaNofMNest, ReadsConvertsPrintsAndMultiplies) {
  for (const auto& extents : {Extents<2>{40, 64}, {33, 30}, {1, 1}, {7, 70}}) {
    expect_nest<float, TwoFour>(extents);
    expect_nest<float, NM<2, 4>>(extents);
    expect_nest<float, NM<2, 4, 32>>(extents);
    expect_nest<float, NM<3, 5, 2, 1>>(extents);
  }
  expect_nest<half, TwoFour>({40, 64});
  expect_nest<half, NM<16, 32, 32, 1>>({40, 64});
}

/// Units by the sum of their magnitudes or squares, or by a mask; scaled; of dense and of sparse tensors.
template <class Value, class F>
void expect_prunes_as_the_host(const Extents<2>& extents) {
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<F>(), ", ", to_string(extents)));
  const auto dense = random_dense<Value, DenseMatrix<>>(extents, 1);
  const auto device = dense.template copy_to<Cuda>();
  for (const bool scale : {false, true})
    for (const Magnitude by : {Magnitude::l1, Magnitude::l2}) {
      const PruneOptions options{.by = by, .scale = scale};
      expect_same_windows(prune<F>(dense, options), prune<F>(device, options));
    }
  const auto by_columns = convert<DenseMatrix<ColumnMajor>>(dense);
  expect_same_windows(prune<F>(dense), prune<F>(by_columns.template copy_to<Cuda>()));
  const auto sparse = convert<CSR<>>(prune<F>(dense));  // of which some windows are part empty
  expect_same_windows(prune<F>(sparse), prune<F>(sparse.template copy_to<Cuda>()));
  const auto mask = convert<DenseMatrix<>>(prune<F>(random_dense<Value, DenseMatrix<>>(extents, 2)));
  expect_same_windows(prune<F>(dense, mask), prune<F>(device, mask.template copy_to<Cuda>()));
  const auto sparse_mask = convert<CSR<>>(mask);
  expect_same_windows(prune<F>(dense, sparse_mask, {.scale = true}),
                      prune<F>(device, sparse_mask.template copy_to<Cuda>(), {.scale = true}));
}
TEST(CudaNofMNest, PrunesAsTheHost) {
  for (const auto& extents : {Extents<2>{64, 96}, {33, 37}, {1, 1}, {3, 260}, {260, 3}, {0, 4}}) {
    expect_prunes_as_the_host<float, NM<16, 32, 32>>(extents);
    expect_prunes_as_the_host<double, NM<3, 5, 2, 1>>(extents);
    expect_prunes_as_the_host<half, NM<2, 4>>(extents);
    expect_prunes_as_the_host<bfloat16, TwoFour>(extents);
  }
}
TEST(CudaNofMNest, RefusesMasksOfTooManyUnits) {
  const auto dense = random_dense<float, DenseMatrix<>>({8, 8}, 1).copy_to<Cuda>();
  EXPECT_THROW((void)prune<TwoFour>(dense, dense), FormatError);
  EXPECT_THROW(((void)prune<NM<1, 4, 2>>(dense, dense)), FormatError);
}

}  // namespace
}  // namespace sporos::test::n_of_m_nest
