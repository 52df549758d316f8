// SPDX-License-Identifier: Apache-2.0
/// @file spmm.cpp
/// The product of a sparse matrix and a dense one of 32 or 128 columns, compared with Eigen, Kokkos Kernels,
/// SuiteSparse:GraphBLAS and the loop nest.
///
///     perf_spmm --threads 2 --json spmm_2_threads.json MATRIX.mtx.gz...
///
/// Dense matrices are row-major. All libraries read the same arrays with 32-bit indices, except GraphBLAS,
/// whose indices have 64 bits. Results are written into an existing matrix, so memory is retained. All
/// results are compared at the end of each case.
#include "peers.hpp"

namespace sporos::perf {
namespace {

using namespace sporos::indices;

/// @throws StateError if `c` is not A * B
template <class Value>
void expect_product(const std::string& who, const Matrix<Value>& A, const Dense<Value>& B, const Value* c) {
  const auto& columns = A.template level<1>();
  const std::int64_t width = B.extent(1);
  for (std::int64_t row = 0; row < A.extent(0); ++row) {
    std::vector<BoundedSum<Value>> sums(static_cast<std::size_t>(width));
    for (auto q = static_cast<std::size_t>(columns.positions(static_cast<std::size_t>(row)));
         q < static_cast<std::size_t>(columns.positions(static_cast<std::size_t>(row + 1))); ++q)
      for (std::int64_t at = 0; at < width; ++at)
        sums[static_cast<std::size_t>(at)].add(A.values()(q),
                                               B.values().data()[columns.coordinates(q) * width + at]);
    for (std::int64_t at = 0; at < width; ++at)
      if (!sums[static_cast<std::size_t>(at)].is(c[row * width + at]))
        throw StateError(text(who, " computes another product: the value at (", row, ", ", at, ")"));
  }
}

/// Measures C = A * B, with B of `width` columns.
template <class Value>
void product(Report& report, const std::string& matrix, const Matrix<Value>& A, std::int64_t width) {
  const std::string name = text(matrix, ", ", width, " columns");
  if (!report.wants(name)) return;
  const auto B = dense<DenseMatrix<>, Value>({A.extent(1), width}, 4);
  const Dense<Value> C({A.extent(0), width});
  std::vector<std::function<void()>> checks;
  std::vector<Contender> contenders;
  const auto add = [&](const std::string& who, Role role, const auto& compute) {
    contenders.emplace_back(who, role, compute);
    checks.push_back([=] {
      std::fill_n(C.values().data(), C.nnz(), Value{});
      compute();
      expect_product(text(name, ": ", who), A, B, C.values().data());
    });
  };
  add("sporos", Role::ours, [=] { C(i, j) = A(i, k) * B(k, j); });
  add("nest", Role::variant, [=] { assign(C(i, j), A(i, k) * B(k, j)).generic().run(); });
  // The forms of the kernel of which the processor and the operands decide.
  for (const auto& form : sporos::detail::spmm_forms)
    add(text("form ", form.name), Role::variant, [=] {
      const auto a = sporos::detail::sparse_rows(A);
      sporos::detail::for_each_row_chunk(OpenMP(), a, width, [&](std::int64_t begin, std::int64_t end) {
        sporos::detail::multiply_matrix_rows(form.form, false, a, B.values().data(), C.values().data(), width,
                                             begin, end);
      });
    });
#ifdef SPOROS_HAVE_MKL
  add("mkl", Role::peer, [a = mkl::sparse(A), A, B, C, width] {
    mkl::multiply(a, B.values().data(), width, C.values().data());
  });
#endif
#ifdef SPOROS_HAVE_EIGEN
  add("eigen", Role::peer, [a = eigen(A), b = eigen(B), C] { eigen(C).noalias() = a * b; });
#endif
#ifdef SPOROS_HAVE_KOKKOS_KERNELS
  using Handle =
      KokkosSparse::SPMVHandle<OpenMP, KokkosMatrix<Value>, decltype(kokkos(B)), decltype(kokkos(B))>;
  add("kokkos_kernels", Role::peer,
      [a = kokkos(A), b = kokkos(B), c = kokkos(C), handle = std::make_shared<Handle>()] {
        KokkosSparse::spmv(OpenMP(), handle.get(), "N", Value{1}, a, b, Value{0}, c);
        OpenMP().fence();
      });
#endif
#ifdef SPOROS_HAVE_GRAPHBLAS
  const auto a = graphblas::sparse(A);
  const auto b = graphblas::full(B), c = graphblas::full(C);
  contenders.emplace_back("graphblas", Role::peer, [=] {
    graphblas::check(
        GrB_mxm(c.get(), nullptr, nullptr, graphblas::Of<Value>::plus_times(), a.get(), b.get(), nullptr),
        "GrB_mxm");
    graphblas::check(GrB_Matrix_wait(c.get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
  });
  checks.push_back([=] {
    const auto found = graphblas::tuples<Value>(c);
    std::vector<Value> values(static_cast<std::size_t>(A.extent(0) * width));
    for (std::size_t e = 0; e < found.values.size(); ++e)
      values[found.rows[e] * static_cast<GrB_Index>(width) + found.columns[e]] = found.values[e];
    expect_product(text(name, ": graphblas"), A, B, values.data());
  });
#endif
  report.compare({name,
                  {{"matrix", sporos::to_string(A.extents())},
                   {"nnz", A.nnz()},
                   {"columns", width},
                   {"values", value_name<Value>()}},
                  text(width, " columns")},
                 contenders);
  for (const auto& check : checks) check();
}

void run(Report& report) {
  const Peers peers(report);
  for_matrices(report, [&]<class Value>(const std::string& name, const Matrix<Value>& A) {
    for (const std::int64_t width : {32, 128}) product(report, name, A, width);
  });
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) {
  return sporos::perf::benchmark(argc, argv, "spmm", sporos::perf::run, {sporos::perf::Memory::retained});
}
