// SPDX-License-Identifier: Apache-2.0
/// @file sddmm.cpp
/// The product of two dense matrices at the nonzeros of a sparse one, compared with SuiteSparse:GraphBLAS,
/// the loop nest and its plan.
///
///     perf_sddmm --threads 2 --json sddmm_2_threads.json MATRIX.mtx.gz...
///
/// A(i, j) = B(i, j) * C(i, k) * D(j, k), with C and D row-major and of 32 and 128 columns. GraphBLAS
/// computes C * D' under the mask of B's pattern, without the factor B(i, j). The result and its pattern
/// exist from an earlier call: memory is retained. All results are compared at the end of each case.
#include "peers.hpp"

namespace sporos::perf {
namespace {

using namespace sporos::indices;

/// @throws StateError if the values at B's nonzeros, row by row, are not those of C * D', times B's if
/// `scaled`
template <class Value>
void expect_products(const std::string& who, const Matrix<Value>& B, const Dense<Value>& C,
                     const Dense<Value>& D, bool scaled, const Value* values) {
  const auto& columns = B.template level<1>();
  const std::int64_t inner = C.extent(1);
  for (std::int64_t row = 0; row < B.extent(0); ++row)
    for (auto q = static_cast<std::size_t>(columns.positions(static_cast<std::size_t>(row)));
         q < static_cast<std::size_t>(columns.positions(static_cast<std::size_t>(row + 1))); ++q) {
      BoundedSum<Value> sum;
      for (std::int64_t at = 0; at < inner; ++at)
        sum.add(C.values().data()[row * inner + at], D.values().data()[columns.coordinates(q) * inner + at]);
      if (scaled) sum.times(B.values()(q));
      if (!sum.is(values[q]))
        throw StateError(
            text(who, " computes another product: the value at (", row, ", ", columns.coordinates(q), ")"));
    }
}
/// @throws StateError if the pattern is not B's
template <class Value>
void expect_pattern(const std::string& who, const Matrix<Value>& B, const Matrix<Value>& A) {
  const auto& expected = B.template level<1>();
  const auto& found = A.template level<1>();
  if (A.nnz() != B.nnz() ||
      !std::equal(found.positions.data(), found.positions.data() + A.extent(0) + 1,
                  expected.positions.data()) ||
      !std::equal(found.coordinates.data(), found.coordinates.data() + A.nnz(), expected.coordinates.data()))
    throw StateError(text(who, " computes a result of another pattern"));
}

/// Measures A = B .* (C * D'), with C and D of `inner` columns.
template <class Value>
void product(Report& report, const std::string& matrix, const Matrix<Value>& B, std::int64_t inner) {
  const std::string name = text(matrix, ", K = ", inner);
  if (!report.wants(name)) return;
  const auto C = dense<DenseMatrix<>, Value>({B.extent(0), inner}, 4);
  const auto D = dense<DenseMatrix<>, Value>({B.extent(1), inner}, 5);
  std::vector<std::function<void()>> checks;
  std::vector<Contender> contenders;
  const auto add = [&](const std::string& who, Role role, const Matrix<Value>& A, const auto& compute) {
    contenders.emplace_back(who, role, compute);
    checks.push_back([=] {
      expect_pattern(text(name, ": ", who), B, A);
      expect_products(text(name, ": ", who), B, C, D, true, A.values().data());
    });
  };
  const Matrix<Value> A(B.extents()), by_nest(B.extents()), planned(B.extents());
  add("sporos", Role::ours, A, [=] { A(i, j) = B(i, j) * C(i, k) * D(j, k); });
  add("nest", Role::variant, by_nest,
      [=] { assign(by_nest(i, j), B(i, j) * C(i, k) * D(j, k)).generic().run(); });
  const auto again = std::make_shared<decltype(plan(assign(planned(i, j), B(i, j) * C(i, k) * D(j, k))))>(
      plan(assign(planned(i, j), B(i, j) * C(i, k) * D(j, k))));
  again->run();
  // The forms of the kernel of which the processor and the operands decide.
  for (const auto& form : sporos::detail::sddmm_forms) {
    if (!form.is_compiled) continue;
    const auto by_form = B.clone();
    add(text("form ", form.name), Role::variant, by_form, [=] {
      const auto b = sporos::detail::sparse_rows(B);
      sporos::detail::for_each_row_chunk(OpenMP(), b, inner, [&](std::int64_t begin, std::int64_t end) {
        sporos::detail::scale_dots_of_rows(form.form, b, C.values().data(), D.values().data(), inner,
                                           by_form.values().data(), begin, end);
      });
    });
  }
  add("plan", Role::variant, planned, [=] { again->run(); });
#ifdef SPOROS_HAVE_GRAPHBLAS
  const auto b = graphblas::sparse(B);
  const auto c = graphblas::full(C), d = graphblas::full(D);
  const auto a = graphblas::make_matrix<Value>(B.extent(0), B.extent(1));
  contenders.emplace_back("graphblas", Role::peer, [=] {
    graphblas::check(GrB_mxm(a.get(), b.get(), nullptr, graphblas::Of<Value>::plus_times(), c.get(), d.get(),
                             GrB_DESC_RST1),
                     "GrB_mxm");
    graphblas::check(GrB_Matrix_wait(a.get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
  });
  checks.push_back([=] {
    auto found = graphblas::tuples<Value>(a);
    if (static_cast<std::int64_t>(found.values.size()) != B.nnz())
      throw StateError(text(name, ": graphblas computes a result of another pattern"));
    std::vector<std::size_t> order(found.values.size());
    for (std::size_t e = 0; e < order.size(); ++e) order[e] = e;
    std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
      return std::pair(found.rows[x], found.columns[x]) < std::pair(found.rows[y], found.columns[y]);
    });
    std::vector<Value> values(order.size());
    for (std::size_t e = 0; e < order.size(); ++e) values[e] = found.values[order[e]];
    expect_products(text(name, ": graphblas"), B, C, D, false, values.data());
  });
#endif
  report.compare({name,
                  {{"matrix", sporos::to_string(B.extents())},
                   {"nnz", B.nnz()},
                   {"columns", inner},
                   {"values", value_name<Value>()}},
                  text("K = ", inner)},
                 contenders);
  for (const auto& check : checks) check();
}

void run(Report& report) {
  const Peers peers(report);
  for_matrices(report, [&]<class Value>(const std::string& name, const Matrix<Value>& B) {
    for (const std::int64_t inner : {32, 128}) product(report, name, B, inner);
  });
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) {
  return sporos::perf::benchmark(argc, argv, "sddmm", sporos::perf::run, {sporos::perf::Memory::retained});
}
