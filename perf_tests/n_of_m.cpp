// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m.cpp
/// The product X W^T of a dense and a pruned matrix, N of M, as in a layer of a network, compared with Eigen:
/// with the weights dense, and with what was kept as a sparse matrix by rows; and with the statement of a
/// sparse matrix in CSR, which computes the transpose, its operand transposed beforehand.
///
///     perf_n_of_m --threads 2 --json n_of_m_2_threads.json

// GCC's own vector instructions, as Eigen uses them (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include "peers.hpp"

namespace sporos::perf {
namespace {

using namespace sporos::indices;

/// Measures Y = X W^T, X of `rows` rows, W of n x n.
template <class Value, class F>
void product(Report& report, const std::string& format, std::int64_t rows, std::int64_t n) {
  const std::string name = text(format, ", ", rows, " rows, ", n, " x ", n, ", ", value_name<Value>());
  if (!report.wants(name)) return;
  const auto X = dense<DenseMatrix<>, Value>({rows, n}, 4);
  const auto W = prune<F>(dense<DenseMatrix<>, Value>({n, n}, 5));
  const auto dense_W = convert<DenseMatrix<>>(W);
  const auto sparse_W = convert<CSR<std::int32_t, std::int32_t>>(W);
  const auto turned_X = transpose(X);
  const Dense<Value> Y({rows, n}), turned_Y({n, rows}), expected({rows, n});
  std::vector<Contender> contenders;
  contenders.emplace_back("sporos", Role::ours, [=] { Y(i, j) = X(i, k) * W(j, k); });
  contenders.emplace_back("csr", Role::variant, [=] { turned_Y(i, j) = sparse_W(i, k) * turned_X(k, j); });
#ifdef SPOROS_HAVE_EIGEN
  contenders.emplace_back("eigen_dense", Role::peer, [x = eigen(X), w = eigen(dense_W), expected] {
    eigen(expected).noalias() = x * w.transpose();
  });
  const Dense<Value> of_sparse({n, rows});
  contenders.emplace_back("eigen_sparse", Role::peer, [x = eigen(turned_X), w = eigen(sparse_W), of_sparse] {
    eigen(of_sparse).noalias() = w * x;
  });
#endif
  report.compare({name,
                  {{"rows", rows}, {"n", n}, {"nnz", W.nnz()}, {"values", value_name<Value>()}},
                  text(format, ", ", value_name<Value>())},
                 contenders);
  expected(i, j) = X(i, k) * dense_W(j, k);
  for (std::int64_t at = 0; at < Y.nnz(); ++at)
    if (std::abs(Y.values()(at) - expected.values()(at)) > Value(1e-4) * std::abs(expected.values()(at)))
      throw StateError(text(name, ": another product at ", at));
}

void run(Report& report) {
  const Peers peers(report);
  for (const std::int64_t rows : {1, 8, 64, 512}) {
    product<float, NM<16, 32, 32, 1>>(report, "16:32, units of 32", rows, 2048);
    product<float, NM<8, 32, 32, 1>>(report, "8:32, units of 32", rows, 2048);
    product<float, NM<4, 32, 32, 1>>(report, "4:32, units of 32", rows, 2048);
    product<float, NM<2, 4, 1, 1>>(report, "2:4", rows, 2048);
    product<double, NM<8, 32, 32, 1>>(report, "8:32, units of 32", rows, 2048);
  }
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) {
  return sporos::perf::benchmark(argc, argv, "n_of_m", sporos::perf::run, {sporos::perf::Memory::retained});
}
