// SPDX-License-Identifier: Apache-2.0
/// @file functions_and_masks.cpp
/// Functions of several values, masks and their complements on the GPU against the host.
#include <gtest/gtest.h>

#include <sporos/sporos.hpp>

#include "../inputs.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

struct MinusTwiceThird {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& a, const T& b, const T& c) const {
    return a + b - 2 * c;
  }
};

TEST(CudaFunctions, OfSparseMatricesIntoSparseAndDenseOnes) {
  const auto B = assemble<CSR<>>(random_entries<double, 2>({70, 90}, 700, 1));
  const auto C = assemble<DCSR<>>(random_entries<double, 2>({70, 90}, 600, 2));
  const auto larger = [](const auto& A, const auto& b, const auto& c) {
    return assign(A(i, j), max(b(i, j), 2 * c(i, j)) - min(b(i, j), c(i, j)));
  };
  expect_equals_host<CSR<>>({70, 90}, larger, B, C);
  expect_equals_host<DenseMatrix<>>({70, 90}, larger, B, C);
  expect_equals_host<CSR<>>(
      {70, 90},
      [](const auto& A, const auto& b, const auto& c) {
        return assign(A(i, j), select(b(i, j) > c(i, j), 3 * c(i, j), b(i, j)));
      },
      B, C);
  expect_equals_host<DCSR<>>(
      {70, 90},
      [](const auto& A, const auto& b, const auto& c) {
        return assign(A(i, j), map(where_stored(MinusTwiceThird{}), b(i, j), c(i, j), b(i, j)));
      },
      B, C);
  expect_equals_host<DenseMatrix<>>(
      {70, 90},
      [](const auto& A, const auto& b, const auto& c) {
        return assign(A(i, j), map(everywhere(LessThan{}), b(i, j), c(i, j)));
      },
      B, C);
}

TEST(CudaFunctions, AreSummed) {
  const auto B = assemble<CSR<>>(random_entries<double, 2>({70, 90}, 700, 3));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({70, 90}, 600, 4));
  expect_equals_host<DenseVector>(
      {70}, [](const auto& y, const auto& b, const auto& c) { return assign(y(i), b(i, j) < c(i, j)); }, B,
      C);
}

TEST(CudaMasks, OfMatricesAndProducts) {
  const auto M = assemble<CSR<>>(random_entries<double, 2>({70, 90}, 700, 5));
  const auto B = assemble<CSR<>>(random_entries<double, 2>({70, 60}, 500, 6));
  const auto C = assemble<CSR<>>(random_entries<double, 2>({60, 90}, 500, 7));
  const auto D = assemble<DCSR<>>(random_entries<double, 2>({70, 90}, 900, 8));
  expect_equals_host<CSR<>>(
      {70, 90},
      [](const auto& A, const auto& m, const auto& d) { return assign(A(i, j), !m(i, j) * d(i, j)); }, M, D);
  expect_equals_host<CSR<>>(
      {70, 90},
      [](const auto& A, const auto& m, const auto& d) { return assign(A(i, j), pattern(m(i, j)) * d(i, j)); },
      M, D);
  expect_equals_host<CSR<>>(
      {70, 90},
      [](const auto& A, const auto& m, const auto& b, const auto& c) {
        return assign(A(i, j), !m(i, j) * (b(i, k) * c(k, j)));
      },
      M, B, C);
}

TEST(CudaMasks, ASearchByBreadthFirst) {
  const auto edges = assemble<CSR<>>([] {
    Entries<bool, 2> out({300, 300}, 900);
    for (std::int64_t e = 0; e < 900; ++e) out.set(e, {e / 3, (e * e * 7 + 13 * e) % 300}, true);
    return out;
  }());
  const auto search = [](const auto& graph, auto frontier) {
    using Space = typename std::remove_cvref_t<decltype(graph)>::space_type;
    Tensor<bool, DenseVector, Space> visited({300});
    Tensor<int, DenseVector, Space> distance({300});
    visited(i) = frontier(i);
    distance(i) = -1;
    distance(i) += pattern(frontier(i));
    for (int step = 1; frontier.nnz() > 0; ++step) {
      decltype(frontier) next({300});
      next(j) = !visited(j) * (frontier(i) * graph(i, j));
      visited(j) += next(j);
      distance(j) += (step + 1) * pattern(next(j));
      frontier = next;
    }
    return distance;
  };
  const auto start = assemble<SparseVector<>>(Entries<bool, 1>({300}, {{{0}, true}}));
  expect_equal_tensors(search(edges, start), search(on_device(edges), on_device(start)));
}

}  // namespace
}  // namespace sporos::test
