// SPDX-License-Identifier: Apache-2.0
/// @file threads.cpp
/// Results are the same, bit by bit, for any number of threads: sparse ones that scatter over several
/// variables where a statement asks for it, other sparse ones always, dense ones where the outermost loop is
/// over a variable of theirs. This program runs with 1, 2 and 4 threads; each time what OpenMP computes is
/// compared with what Serial does.
#include <cmath>
#include <cstdlib>

#include "../same_bytes.hpp"
#include "../typed.hpp"

namespace sporos::test {
namespace {

template <class F>
Tensor<double, F> reals(const Sizes& sizes, std::string_view modes, double density, std::uint64_t seed) {
  return tensor_with<double, F>(sizes, modes, density, seed, [](std::mt19937_64& draw) {
    return std::uniform_real_distribution<double>(-1, 1)(draw);
  });
}

/// Whether a statement's result in the format F has the same bytes in Serial and in OpenMP.
template <class F, class Statement, class... Operands>
bool is_same_in_parallel(const Sizes& sizes, std::string_view modes, const Statement& statement,
                         const Operands&... operands) {
  const Tensor<double, F, Serial> serial(sizes.extents<F::order>(modes));
  const Tensor<double, F, OpenMP> parallel(sizes.extents<F::order>(modes));
  statement(serial, operands.template move_to<Serial>()...).run();
  statement(parallel, operands.template move_to<OpenMP>()...).run();
  return parallel.nnz() > 0 && same_bytes(serial, parallel);
}

const Sizes large_sizes("ijkl", 120);

TEST(Threads, AreAsManyAsThisRunIsFor) {
  const char* given = std::getenv("SPOROS_TEST_THREADS");
  EXPECT_EQ(OpenMP().concurrency(), given ? std::atoi(given) : 4);
}

TEST(Threads, DoNotShowInSparseProducts) {
  const auto B = reals<CSR<>>(large_sizes, "ik", 0.1, 1);
  const auto C = reals<CSR<>>(large_sizes, "kj", 0.1, 2);
  const auto D = reals<CSC<>>(large_sizes, "ik", 0.1, 3);
  const auto by_rows = [](const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, k) * C(k, j)).reorder(i, k, j);
  };
  const auto by_reduction = [](const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j), B(i, k) * C(k, j)).reorder(k, i, j).generic().deterministic();
  };
  EXPECT_TRUE(is_same_in_parallel<CSR<>>(large_sizes, "ij", by_rows, B, C));
  EXPECT_TRUE(is_same_in_parallel<COO<2>>(large_sizes, "ij", by_rows, B, C));
  EXPECT_TRUE(is_same_in_parallel<Blocks>(large_sizes, "ij", by_rows, B, C));
  EXPECT_TRUE(is_same_in_parallel<DCSR<>>(large_sizes, "ij", by_reduction, D, C));
  EXPECT_TRUE(is_same_in_parallel<CSC<>>(large_sizes, "ij", by_reduction, D, C));
}

TEST(Threads, DoNotShowInSumsOfProductsThatAReductionScatters) {
  const auto B = reals<CSR<>>(large_sizes, "ki", 0.1, 4);
  const auto C = reals<CSR<>>(large_sizes, "kj", 0.1, 5);
  EXPECT_TRUE(is_same_in_parallel<CSR<>>(
      large_sizes, "ij",
      [](const auto& A, const auto& B, const auto& C) {
        return assign(A(i, j), B(k, i) * C(k, j) - C(k, i) * B(k, j) + B(i, j))
            .reorder(k, i, j)
            .deterministic();
      },
      B, C));
}

TEST(Threads, DoNotShowInSparseSums) {
  const auto B = reals<CSR<>>(large_sizes, "ij", 0.1, 6);
  const auto C = reals<DCSR<>>(large_sizes, "ij", 0.1, 7);
  EXPECT_TRUE(is_same_in_parallel<DCSR<>>(
      large_sizes, "ij",
      [](const auto& A, const auto& B, const auto& C) { return assign(A(i, j), B(i, j) - 2 * C(i, j)); }, B,
      C));
}

TEST(Threads, DoNotShowInSparseTensorProducts) {
  const Sizes cube("ijkl", 40);
  const auto B = reals<CSF<3>>(cube, "ijk", 0.05, 8);
  const auto C = reals<CSR<>>(cube, "kl", 0.2, 9);
  const auto times_matrix = [](const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, l), B(i, j, k) * C(k, l));
  };
  EXPECT_TRUE(is_same_in_parallel<CSF<3>>(cube, "ijl", times_matrix, B, C));
}

TEST(Threads, DoNotShowInDenseResultsWhoseVariableIsOutermost) {
  const auto A = reals<CSR<>>(large_sizes, "ij", 0.3, 10);
  const auto x = reals<DenseVector>(large_sizes, "j", 1, 11);
  EXPECT_TRUE(is_same_in_parallel<DenseVector>(
      large_sizes, "i",
      [](const auto& y, const auto& A, const auto& x) { return assign(y(i), A(i, j) * x(j) - x(i)); }, A, x));

  const Sizes cube("ijkl", 40);
  const auto B = reals<CSF<3>>(cube, "ikl", 0.1, 12);
  const auto C = reals<RowMajorMatrix>(cube, "kj", 1, 13);
  EXPECT_TRUE(is_same_in_parallel<RowMajorMatrix>(
      cube, "ij",
      [](const auto& A, const auto& B, const auto& C) {
        return assign(A(i, j), B(i, k, l) * C(k, j) * C(l, j)).reorder(i, k, l, j);
      },
      B, C));
}

TEST(Threads, ChangeADenseResultOfAnOutermostReductionByRoundingAlone) {
  // 120 rows of 120 columns: every y(j) is a sum of 120 products at most.
  const auto A = reals<CSR<>>(large_sizes, "ij", 0.9, 14);
  const auto x = reals<DenseVector>(large_sizes, "i", 1, 15);
  const Tensor<double, DenseVector> y({120});
  y(j) = A(i, j) * x(i);
  const auto matrix = read(A).terms;
  const auto vector = read(x).terms;
  for (int j = 0; j < 120; ++j) {
    long double exact = 0, magnitude = 0;
    for (int i = 0; i < 120; ++i) {
      const long double product = static_cast<long double>(matrix(i, j).value) * vector(i).value;
      exact += product;
      magnitude += std::abs(product);
    }
    const long double operations = 120 * 0x1p-53L;
    EXPECT_LE(std::abs(y.values()(j) - exact), operations / (1 - operations) * magnitude);
  }
}

}  // namespace
}  // namespace sporos::test
