// SPDX-License-Identifier: Apache-2.0
/// @file pipeline.cpp
/// A typical pipeline: reads real files, computes products in several formats, verifies each of them, and
/// writes a table and a picture.
///
///     pipeline [matrix file] [tensor file]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <sporos/sporos.hpp>
#include <string>

using namespace sporos;
using namespace sporos::indices;

namespace {

/// The best time of five runs, in milliseconds.
template <class Work>
double milliseconds(const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

/// A dense tensor of numbers between 0.5 and 1.5.
template <class F>
Tensor<double, F> numbers(const Extents<F::order>& extents) {
  Tensor<double, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(at) = 1.0 + 0.5 * std::sin(static_cast<double>(7 * at + 1));
  return out;
}

/// The largest |a - b| divided by the largest |b|, for dense tensors of the same shape.
template <class A, class B>
double difference(const A& a, const B& b) {
  double most = 0, scale = std::numeric_limits<double>::min();
  for (std::int64_t at = 0; at < b.nnz(); ++at) {
    most = std::max(most, std::abs(a.values()(at) - b.values()(at)));
    scale = std::max(scale, std::abs(b.values()(at)));
  }
  return most / scale;
}

bool all_verified = true;

/// Runs `work`, which computes `result`, and prints a row of the table. error() compares the result with a
/// reference; `operations` is the number of products in its longest sum.
template <class Work, class Result, class Error>
void report(const std::string& what, const Work& work, const Result& result, std::int64_t operations,
            const Error& error) {
  const double time = milliseconds(work);
  const double off = error();
  // The error of a sum of n products is at most n rounding errors, relative to the sum of their magnitudes.
  const double bound = static_cast<double>(operations) * std::numeric_limits<double>::epsilon();
  const bool verified = off <= bound;
  all_verified = all_verified && verified;
  fmt::print("  {:<36}{:>9.2f} ms{:>12} nonzeros{:>12}   {}\n", what, time, result.nnz(),
             bytes_text(result.bytes()),
             verified ? "verified" : fmt::format("WRONG by {:.1e}, bound {:.1e}", off, bound));
}

void matrix_products(const std::string& path) {
  // The file is read once; the matrix is kept both by rows and by columns.
  const auto rows = read<CSR<>>(path);
  const auto columns = convert<CSC<>>(rows);
  const std::int64_t m = rows.extent(0), n = rows.extent(1);
  fmt::print("{}\n  {} by rows, {} by columns\n\n", path, bytes_text(rows.bytes()),
             bytes_text(columns.bytes()));

  // y = B x. The reference adds up the entries one by one.
  const auto x = numbers<DenseVector>({n});
  const Tensor<double, DenseVector> y({m}), expected({m});
  const auto list = entries(rows);
  for (std::int64_t e = 0; e < list.size(); ++e)
    expected.values()(list.coordinates[0](e)) += list.values(e) * x.values()(list.coordinates[1](e));
  const auto error = [&] { return difference(y, expected); };
  report("y(i) = B(i,k) * x(k)    B in CSR", [&] { y(i) = rows(i, k) * x(k); }, y, n, error);
  report("y(i) = B(i,k) * x(k)    B in CSC", [&] { y(i) = columns(i, k) * x(k); }, y, n, error);

  // A = B Bᵀ, verified by A x = B (Bᵀ x). A workspace gathers each row of A in CSR, and each column in CSC.
  const Tensor<double, CSR<>> A({m, m});
  const Tensor<double, CSC<>> C({m, m});
  const auto transposed_rows = transpose(rows);
  const auto transposed_columns = transpose(columns);
  const auto u = numbers<DenseVector>({m});
  const Tensor<double, DenseVector> v({n}), w({m}), product({m});
  v(k) = transposed_rows(k, j) * u(j);
  w(i) = rows(i, k) * v(k);
  const auto times_u = [&](const auto& square) {
    product(i) = square(i, j) * u(j);
    return difference(product, w);
  };
  report(
      "A(i,j) = B(i,k) * Bt(k,j)  in CSR", [&] { A(i, j) = rows(i, k) * transposed_rows(k, j); }, A, n + m,
      [&] { return times_u(A); });
  report(
      "A(i,j) = B(i,k) * Bt(k,j)  in CSC", [&] { C(i, j) = columns(i, k) * transposed_columns(k, j); }, C,
      n + m, [&] { return times_u(C); });

  spy(rows, "pipeline.png");
}

void tensor_product(const std::string& path) {
  constexpr int rank = 16;
  const auto T = read<CSF<3>>(path);
  fmt::print("\n{}\n  {}\n\n", path, summary(T));

  // Matricised tensor times Khatri-Rao product: M(i,r) = sum over k, l of T(i,k,l) U(k,r) V(l,r).
  const auto U = numbers<DenseMatrix<>>({T.extent(1), rank});
  const auto V = numbers<DenseMatrix<>>({T.extent(2), rank});
  const Tensor<double, DenseMatrix<>> M({T.extent(0), rank}), expected({T.extent(0), rank});
  const auto list = entries(T);
  for (std::int64_t e = 0; e < list.size(); ++e)
    for (std::int64_t column = 0; column < rank; ++column)
      expected.values()(list.coordinates[0](e) * rank + column) +=
          list.values(e) * U.values()(list.coordinates[1](e) * rank + column) *
          V.values()(list.coordinates[2](e) * rank + column);
  report(
      "M(i,r) = T(i,k,l) * U(k,r) * V(l,r)", [&] { M(i, r) = T(i, k, l) * U(k, r) * V(l, r); }, M, T.nnz(),
      [&] { return difference(M, expected); });
  fmt::print("\n{}", explain(assign(M(i, r), T(i, k, l) * U(k, r) * V(l, r))));
}

}  // namespace

int main(int argc, char** argv) try {
  const ScopeGuard guard(argc, argv);
  const std::string data = SPOROS_EXAMPLE_DATA;
  matrix_products(argc > 1 ? argv[1] : data + "/ca-CondMat.mtx.gz");
  tensor_product(argc > 2 ? argv[2] : data + "/openflight.tns.gz");
  fmt::print("\n{}; a picture of the matrix' nonzeros: {}\n",
             all_verified ? "All results verified" : "NOT all results are right",
             std::filesystem::absolute("pipeline.png").string());
  return all_verified ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& fault) {
  fmt::print(stderr, "pipeline: {}\n", fault.what());
  return EXIT_FAILURE;
}
