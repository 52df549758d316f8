// SPDX-License-Identifier: Apache-2.0
/// @file merged.cpp
/// The loop nest with sparse results on the GPU against the host's: statements of every kind, into every
/// named format.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>

#include "../inputs.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;
using namespace sporos::test;

TEST(CudaSparseNests, MultiplyMatricesIntoEveryFormat) {
  const auto B = assemble<CSC<>>(random_entries<double, 2>({302, 203}, 3000, 1));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({203, 402}, 3000, 2));
  const auto product = [](const auto& A, const auto& b, const auto& c) {
    return assign(A(i, j), b(i, k) * c(k, j));
  };
  expect_equals_host<CSR<>>({302, 402}, product, B, C);
  expect_equals_host<DCSC<>>({302, 402}, product, B, C);
  expect_equals_host<COO<2>>({302, 402}, product, B, C);
  expect_equals_host<BCSR<2, 3>>({302, 402}, product, B, C);
  // Of nothing.
  const Tensor<double, CSC<>> none({302, 203});
  expect_equals_host<CSR<>>({302, 402}, product, none, C);
}

TEST(CudaSparseNests, AddMatrices) {
  const auto B = assemble<CSR<>>(random_entries<double, 2>({302, 203}, 3000, 3));
  const auto C = assemble<DCSR<>>(random_entries<double, 2>({302, 203}, 4000, 4));
  expect_equals_host<DCSR<>>(
      {302, 203},
      [](const auto& A, const auto& b, const auto& c) { return assign(A(i, j), 2.0 * b(i, j) - c(i, j)); }, B,
      C);
}

TEST(CudaSparseNests, ContractTensors) {
  const auto T = assemble<CSF<3>>(random_entries<double, 3>({61, 52, 43}, 4000, 5));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({43, 37}, 300, 6));
  const auto D = assemble<CSR<>>(random_entries<double, 2>({52, 37}, 300, 7));
  const auto ttm = [](const auto& A, const auto& t, const auto& c) {
    return assign(A(i, j, l), t(i, j, k) * c(k, l));
  };
  expect_equals_host<CSF<3>>({61, 52, 37}, ttm, T, C);
  expect_equals_host<Format<Map<Dim<2>, Dim<0>, Dim<1>>, Compressed<>, Dense, Compressed<>>>({61, 52, 37},
                                                                                             ttm, T, C);
  // SpMTTKRP, the loops over the modes that are summed outside.
  const auto by_last = [](const auto& A, const auto& t, const auto& d) {
    return assign(A(k, l), t(i, j, k) * d(j, l));
  };
  expect_equals_host<DCSR<>>({43, 37}, by_last, T, D);
}

TEST(CudaSparseNests, ComputeInOtherTypesAndOverSemirings) {
  const auto check = []<class Value>(Value, const auto& make) {
    const auto B = assemble<CSC<>>(random_entries<Value, 2>({101, 83}, 900, 9));
    const auto C = assemble<CSR<>>(random_entries<Value, 2>({83, 67}, 900, 10));
    expect_equals_host<CSR<>, Value>({101, 67}, make, B, C);
  };
  const auto product = [](const auto& A, const auto& b, const auto& c) {
    return assign(A(i, j), b(i, k) * c(k, j));
  };
  check(float{}, product);
  check(Kokkos::complex<double>{}, product);
  check(std::int32_t{}, [](const auto& A, const auto& b, const auto& c) {
    return assign(A(i, j), b(i, k) * c(k, j)).over(MinPlus{});
  });
}

TEST(CudaSparseNests, MayWriteTheirOperands) {
  const auto A = assemble<DCSR<>>(random_entries<double, 2>({101, 101}, 900, 14));
  const auto device = on_device(A);
  A(i, j) = A(i, k) * A(k, j);
  device(i, j) = device(i, k) * device(k, j);
  expect_equal_tensors(A, device);
}

TEST(CudaSparseNests, TakeExtentsThatNoArrayCovers) {
  constexpr std::int64_t n = std::int64_t{1} << 30;
  using Wide = DCSR<std::int64_t, std::int64_t>;
  const auto B = assemble<Wide>(Entries<double, 2>({n, n}, {{{7, 5}, 2}, {{n - 1, 5}, 4}}));
  const auto C = assemble<Wide>(Entries<double, 2>({n, n}, {{{5, n - 1}, 3}, {{5, 0}, 1}}));
  const auto device_B = on_device(B), device_C = on_device(C);
  const Tensor<double, Wide, Cuda> A({n, n});
  A(i, j) = device_B(i, k) * device_C(k, j);
  const auto back = A.copy_to<Host>();
  EXPECT_EQ(back.nnz(), 4);
  EXPECT_EQ(at(back, {n - 1, n - 1}), 12);
  EXPECT_EQ(at(back, {7, 0}), 2);
}

TEST(CudaSparseNests, AddInOneOrderWhereThatIsAsked) {
  Entries<double, 2> left({1, 50'000}, 50'000), right({50'000, 3}, 50'000);
  for (std::int64_t e = 0; e < 50'000; ++e) {
    left.set(e, {0, e}, 1.0 / static_cast<double>(e + 1));
    right.set(e, {e, e % 3}, 1.0 / static_cast<double>(e + 3));
  }
  const auto B = on_device(assemble<CSC<>>(left));
  const auto C = on_device(assemble<CSR<>>(right));
  const auto run = [&] {
    const Tensor<double, DCSR<>, Cuda> A({1, 3});
    assign(A(i, j), B(i, k) * C(k, j)).deterministic().run();
    return A.copy_to<Host>();
  };
  const auto first = run();
  for (int round = 0; round < 5; ++round) expect_equal_tensors(first, on_device(run()));
}

TEST(CudaSparseNests, MergeBatches) {
  const auto B = assemble<CSC<>>(random_entries<double, 2>({302, 203}, 3000, 15));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({203, 402}, 3000, 16));
  const Tensor<double, CSR<>> expected({302, 402});
  expected(i, j) = B(i, k) * C(k, j);
  const auto device_B = on_device(B);
  const auto device_C = on_device(C);
  for (const std::int64_t capacity : {1, 1000, 20'000, 1'000'000}) {
    const Tensor<double, CSR<>, Cuda> A({302, 402});
    assign(A(i, j), device_B(i, k) * device_C(k, j))
        .workspace(CoordinatePolicy{.settings = {.capacity = capacity}})
        .run();
    expect_equal_tensors(expected, A);
  }
}

TEST(CudaSparseNests, KeepToTheMemoryThatIsAllowedInBatchesOrRefuse) {
  const auto B = assemble<CSC<>>(random_entries<double, 2>({302, 203}, 3000, 1));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({203, 402}, 3000, 2));
  const Tensor<double, DCSR<>> expected({302, 402});
  expected(i, j) = B(i, k) * C(k, j);
  const auto device_B = on_device(B);
  const auto device_C = on_device(C);
  const Tensor<double, DCSR<>, Cuda> A({302, 402});
  const auto statement = assign(A(i, j), device_B(i, k) * device_C(k, j));
  EXPECT_THROW(statement.on(Resources<Cuda>().within(1 << 20)).run(), MemoryError);
  EXPECT_EQ(A.nnz(), 0);
  const Estimate at_once = estimate(statement);
  const std::int64_t allowed = at_once.result + at_once.workspace - (64 << 10);
  const auto in_batches = statement.on(Resources<Cuda>().within(allowed));
  const Estimate most = estimate(in_batches);
  EXPECT_LE(most.result + most.workspace, allowed);
  in_batches.run();
  expect_equal_tensors(expected, A);
}

TEST(CudaSparseNests, KeepToTheMemoryLimitOfTheirWorkspaceOrSayWhichIsEnough) {
  const auto B = assemble<CSC<>>(random_entries<double, 2>({302, 203}, 3000, 21));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({203, 402}, 3000, 22));
  const Tensor<double, CSR<>> expected({302, 402});
  expected(i, j) = B(i, k) * C(k, j);
  const auto device_B = on_device(B);
  const auto device_C = on_device(C);
  const Tensor<double, CSR<>, Cuda> A({302, 402});
  const auto within = [&](std::int64_t limit) {
    return assign(A(i, j), device_B(i, k) * device_C(k, j))
        .workspace(CoordinatePolicy{.settings = {.memory_limit = limit}});
  };
  std::string refused;
  try {
    within(5000).run();
  } catch (const MemoryError& error) {
    refused = error.what();
  }
  EXPECT_EQ(A.nnz(), 0);
  const auto at = refused.find("needs up to ");
  ASSERT_NE(at, std::string::npos) << refused;
  const std::int64_t enough = std::stoll(refused.substr(at + 12));
  EXPECT_GT(enough, 5000) << refused;
  within(enough).run();
  expect_equal_tensors(expected, A);
  // A large limit is taken in one batch.
  within(std::int64_t{1} << 30).run();
  expect_equal_tensors(expected, A);
}

TEST(CudaSparseNests, AddToWhatAResultHolds) {
  const auto A = assemble<CSR<>>(random_entries<double, 2>({302, 402}, 2000, 23));
  const auto B = assemble<CSC<>>(random_entries<double, 2>({302, 203}, 3000, 1));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({203, 402}, 3000, 2));
  const auto device_A = on_device(A), device_C = on_device(C);
  const auto device_B = on_device(B);
  A(i, j) += B(i, k) * C(k, j);
  device_A(i, j) += device_B(i, k) * device_C(k, j);
  expect_equal_tensors(A, device_A);
  A(i, j) -= 2.0 * A(i, j);
  device_A(i, j) -= 2.0 * device_A(i, j);
  expect_equal_tensors(A, device_A);
}

TEST(CudaSparseNests, StoreRowsThatNeedNoOrder) {
  const auto B = assemble<CSC<>>(random_entries<double, 2>({302, 203}, 3000, 24));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({203, 402}, 3000, 25));
  const Tensor<double, CSR<>> expected({302, 402});
  expected(i, j) = B(i, k) * C(k, j);
  const auto device_B = on_device(B);
  const auto device_C = on_device(C);
  const Tensor<double, UnorderedCSR<>, Cuda> A({302, 402});
  A(i, j) = device_B(i, k) * device_C(k, j);
  const auto back = A.copy_to<Host>();
  validate(back);
  expect_equal_tensors(expected, on_device(convert<CSR<>>(back)));
}

TEST(CudaSparseNests, StoreTensorsOfOrderFourInAnyOrderOfModes) {
  using Permuted = CSF<4, ModeOrder<3, 1, 0, 2>>;
  const auto T = assemble<CSF<3>>(random_entries<double, 3>({23, 19, 31}, 900, 26));
  const auto U = assemble<CSF<3>>(random_entries<double, 3>({31, 17, 13}, 900, 27));
  const auto product = [](const auto& A, const auto& t, const auto& u) {
    return assign(A(i, j, l, m), t(i, j, k) * u(k, l, m));
  };
  expect_equals_host<CSF<4>>({23, 19, 17, 13}, product, T, U);
  expect_equals_host<Permuted>({23, 19, 17, 13}, product, T, U);
}

TEST(CudaSparseNests, AddUpValuesOfOneCoordinate) {
  const auto B = assemble<CSC<>>(random_entries<double, 2>({1, 5000}, 20'000, 28));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({5000, 1}, 20'000, 29));
  const Tensor<double, DCSR<>> expected({1, 1});
  expected(i, j) = B(i, k) * C(k, j);
  ASSERT_EQ(expected.nnz(), 1);
  const auto device_B = on_device(B);
  const auto device_C = on_device(C);
  for (const std::int64_t capacity : {1, 100, 1'000'000}) {
    const Tensor<double, DCSR<>, Cuda> A({1, 1});
    assign(A(i, j), device_B(i, k) * device_C(k, j))
        .workspace(CoordinatePolicy{.settings = {.capacity = capacity}})
        .run();
    expect_equal_tensors(expected, A);
  }
}

}  // namespace
