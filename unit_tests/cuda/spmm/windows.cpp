// SPDX-License-Identifier: Apache-2.0
/// @file windows.cpp
/// Products of doubles and 16-bit floats on tensor cores, by windows of rows: against sums in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "products.hpp"

namespace sporos::test {
namespace {

using sporos::indices::i;
using sporos::indices::j;
using sporos::indices::k;

TEST(CudaSpmm, OfWindowsOfDoubles) {
  expect_products_by_tiles<gpu::SpmmByWindows, double, double, IntCsr, false, DenseMatrix<>>();
  expect_products_by_tiles<gpu::SpmmByWindows, double, double, CSC<>, false, DenseMatrix<ColumnMajor>>();
  expect_products_by_tiles<gpu::SpmmByWindows, double, double, CSR<>, true, DenseMatrix<>>();
}

TEST(CudaSpmm, OfWindowsOfHalfs) {
  expect_products_by_tiles<gpu::SpmmByWindows, half, half, IntCsr, false, DenseMatrix<>>();
  expect_products_by_tiles<gpu::SpmmByWindows, bfloat16, float, CSC<>, false, DenseMatrix<ColumnMajor>>();
  expect_products_by_tiles<gpu::SpmmByWindows, half, bfloat16, CSR<>, true, DenseMatrix<>>();
}

/// A matrix with windows of which some are empty, some have empty rows, and one has a full row; and its
/// products, by each configuration and by every number of warps a window, also by more where it is longer.
template <class Value, class Out>
void expect_windows_of_every_shape(std::int64_t n) {
  using Prepared = ProductWithInfinities<Value, Out>;
  constexpr std::int64_t m = Prepared::m, inner = Prepared::inner;
  const auto dense_A = thinned<Value>({m, inner}, 30, 1);
  const auto set_row = [&](std::int64_t row, Value to) {
    for (std::int64_t column = 0; column < inner; ++column) dense_A.values()(row * inner + column) = to;
  };
  for (std::int64_t row = 64; row < 96; ++row) set_row(row, Value{});  // an empty window of each height
  for (std::int64_t row = 100; row < 112; row += 3) set_row(row, Value{});
  set_row(130, Value(0.5F));
  const Prepared prepared(dense_A, n);
  const Kokkos::Cuda space;
  const auto view = prepared.view();
  const auto counts = gpu::count_pattern(Resources<Cuda>(), view, {.windows = true}).windows;
  gpu::WindowsConfigsOf<Value>::for_each([&]<class Config>(std::type_identity<Config>) {
    const std::int64_t steps = counts.steps[gpu::ValueWindowCounts::of(Config::rows)];
    EXPECT_GE(steps * Config::rows * Config::Mma::k, view.nonzeros);
    const auto lay_out = [&](char* at) {
      gpu::Layout layout(at);
      const auto windows = gpu::ValueWindows<Value>::lay_out(layout, Config::rows, m, steps);
      const auto packing = gpu::StepPacking::lay_out(space, layout, windows.windows);
      return std::tuple(windows, packing, layout.bytes());
    };
    const auto memory = make_array<char, gpu::Memory>("windows", std::get<2>(lay_out(nullptr)));
    Kokkos::deep_copy(memory, char(0xff));
    const auto [windows, packing, bytes] = lay_out(memory.data());
    gpu::pack_windows(space, view, windows, packing);
    std::vector<gpu::WindowParts> parts;
    for (const int warps : {1, 2, 4, 8}) parts.push_back(gpu::WindowParts::equal(warps, windows.windows));
    for (const int size : {2, 3, 4, 5})
      parts.push_back(counts.parts_from(size, Config::rows, windows.windows));
    for (std::size_t way = 0; way < parts.size(); ++way) {
      SCOPED_TRACE(text(Config::rows, " rows, ", Config::columns, " columns of ", n, ", parts ", way));
      prepared.expect([&, &packed = windows]<class E>(const gpu::TiledProduct<Out, E>& product) {
        gpu::spmm_windows<Config>(space, gpu::WindowsProduct<Value, Out, E, typename Prepared::View>{
                                             product, packed, view, prepared.b(), prepared.stride(),
                                             prepared.can_have_packs(), parts[way]});
      });
    }
  });
}
TEST(CudaSpmm, WindowsOfEveryShape) {
  expect_windows_of_every_shape<double, double>(90);
  expect_windows_of_every_shape<double, double>(1);
}
TEST(CudaSpmm, WindowsOfHalfsOfEveryShape) {
  for (const std::int64_t n : {1, 24, 90, 264}) expect_windows_of_every_shape<half, half>(n);
  for (const std::int64_t n : {7, 136}) expect_windows_of_every_shape<bfloat16, float>(n);
}

struct TwicePlusOne {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x * T(2) + T(1);
  }
};

/// Epilogues with a bias of columns, activated, and of a functor; C by one plan twice.
template <class Value, class Out>
void expect_epilogues_of_windows() {
  for (const std::int64_t n : {5, 64, 130}) {
    SCOPED_TRACE(text(value_name<Value>(), ", ", n, " columns"));
    const auto A = convert<IntCsr>(thinned<Value>({100, 300}, 6, 1));
    const auto B = random_dense<Value, DenseMatrix<>>({300, n}, 2);
    const auto bias = random_dense<float, DenseVector>({n}, 3);
    const auto device_A = A.template copy_to<Cuda>();
    const auto device_B = B.template copy_to<Cuda>();
    const auto device_bias = bias.template copy_to<Cuda>();
    const auto expect = [&](const auto& make) {
      const Tensor<float, DenseMatrix<>> expected({100, n});
      make(expected, A, B, bias).generic().run();
      const auto C = poisoned<Out, DenseMatrix<>>({100, n});
      auto product = plan(make(C, device_A, device_B, device_bias)
                              .with_constant_operands()
                              .template use<gpu::SpmmByWindows>());
      for (int run = 0; run < 2; ++run) {
        product.run();
        const auto result = C.template copy_to<Host>();
        for (std::int64_t at = 0; at < expected.nnz(); ++at) {
          const double right = expected.values()(at);
          EXPECT_NEAR(static_cast<double>(static_cast<float>(result.values()(at))), right,
                      1e-4 + 2 * rounding<Out>() * std::abs(right));
        }
        Kokkos::deep_copy(C.values(), Out(-1));
      }
    };
    expect([](const auto& c, const auto& a, const auto& b, const auto& of_columns) {
      return assign(c(i, j), relu(a(i, k) * b(k, j) + of_columns(j)));
    });
    expect([](const auto& c, const auto& a, const auto& b, const auto&) {
      return assign(c(i, j), map(everywhere(TwicePlusOne{}), sum(k, a(i, k) * b(k, j))));
    });
  }
}
TEST(CudaSpmm, EpiloguesOfWindowsOfHalfs) {
  expect_epilogues_of_windows<half, half>();
  expect_epilogues_of_windows<bfloat16, float>();
}

/// Where rows share columns, and where packed windows may take memory.
TEST(CudaSpmm, ProductsOfDoublesThatShareColumnsAreComputedOnTensorCores) {
  const auto kernel = [](const auto& statement) {
    return std::string(plan(statement.with_constant_operands()).candidate());
  };
  const auto some = convert<IntCsr>(thinned<double>({512, 2048}, 4, 1)).copy_to<Cuda>();
  const auto few = convert<IntCsr>(thinned<double>({4096, 4096}, 100, 1)).copy_to<Cuda>();
  const Tensor<double, DenseMatrix<>, Cuda> B({2048, 64}), C({512, 64}), larger_B({4096, 256}),
      larger_C({4096, 256});
  const auto statement = assign(C(i, j), some(i, k) * B(k, j));
  EXPECT_EQ(kernel(statement), gpu::SpmmByWindows::name);
  EXPECT_EQ(kernel(assign(larger_C(i, j), few(i, k) * larger_B(k, j))), gpu::SpmmByPaddedRows::name);
  const Resources<Cuda> bounded = Resources<Cuda>().within(std::int64_t{1} << 30);
  EXPECT_EQ(kernel(statement.on(bounded)), gpu::SpmmByCublas::name);
}

/// A matrix of which some neighbouring rows share their columns, each of these in a tile of its own.
template <class Value>
Tensor<Value, IntCsr> with_shared_columns(std::int64_t rows, std::int64_t inner,
                                          std::int64_t rows_that_share) {
  constexpr std::int64_t of_row = 64;
  Entries<Value, 2> entries({rows, inner}, rows * of_row);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t at = 0; at < of_row; ++at)
      entries.set(row * of_row + at,
                  {row, at * (inner / of_row) + row / rows_that_share * 7 % (inner / of_row)}, Value(1.0F));
  return assemble<IntCsr>(entries);
}
/// Sixteen neighbouring rows share columns, or none do.
TEST(CudaSpmm, ProductsOfHalfsThatShareColumnsAreComputedByWindows) {
  const std::int64_t rows = 4096, inner = 8192;
  const auto kernel = [&](std::int64_t rows_that_share) {
    const auto A = with_shared_columns<half>(rows, inner, rows_that_share).copy_to<Cuda>();
    const Tensor<half, DenseMatrix<>, Cuda> B({inner, 256}), C({rows, 256});
    return std::string(plan(assign(C(i, j), A(i, k) * B(k, j)).with_constant_operands()).candidate());
  };
  EXPECT_EQ(kernel(16), gpu::SpmmByWindows::name);
  EXPECT_NE(kernel(1), gpu::SpmmByWindows::name);
}

TEST(CudaSpmm, WindowsTakeNoMoreMemoryThanEstimated) {
  expect_within_estimates<gpu::SpmmByWindows, double>();
  expect_within_estimates<gpu::SpmmByWindows, half>();
  // Windows of one height take much less than those of another.
  for (const std::int64_t rows_that_share : {1, 8, 16, 32}) {
    SCOPED_TRACE(rows_that_share);
    expect_within_estimate<gpu::SpmmByWindows>(with_shared_columns<double>(640, 2048, rows_that_share),
                                               random_dense<double, DenseMatrix<>>({2048, 70}, 2));
    expect_within_estimate<gpu::SpmmByWindows>(with_shared_columns<half>(640, 2048, rows_that_share),
                                               random_dense<half, DenseMatrix<>>({2048, 70}, 2));
  }
}

TEST(CudaSpmm, WindowsOfPlansReadNewValuesUnlessTheyAreConstant) {
  expect_new_values<gpu::SpmmByWindows, double, double>();
  expect_new_values<gpu::SpmmByWindows, half>();
}
TEST(CudaSpmm, WindowsMakeTheSameFromRunToRun) {
  expect_same_from_run_to_run<gpu::SpmmByWindows, double>();
  expect_same_from_run_to_run<gpu::SpmmByWindows, half>();
  expect_same_from_run_to_run<gpu::SpmmByWindows, bfloat16>();
}
TEST(CudaSpmm, WindowsKeepInfinitiesToWhatTheyAreMultipliedBy) {
  expect_infinities<gpu::SpmmByWindows, double, double>();
  expect_infinities<gpu::SpmmByWindows, half>();
  expect_infinities<gpu::SpmmByWindows, bfloat16>();
}

}  // namespace
}  // namespace sporos::test
