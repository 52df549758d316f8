// SPDX-License-Identifier: Apache-2.0
/// @file add.cpp
/// Sums of sparse matrices, which the loop nest computes, compared with Eigen, Kokkos Kernels,
/// SuiteSparse:GraphBLAS and Intel MKL.
///
///     perf_add --threads 2 --json add_2_threads.json MATRIX.mtx.gz...
///
/// Each matrix is added to itself with its columns shifted by one and, if it is square, to its transpose;
/// there are also sums of three matrices, and of floats. Every result is a new matrix with sorted columns.
/// Eigen computes with one thread. Eigen adds three matrices in one pass, the other peers in two. All results
/// are compared with each other, bit by bit.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <sporos/sporos.hpp>
#include <string>
#include <utility>
#include <vector>

#include "peers.hpp"

#ifdef SPOROS_HAVE_KOKKOS_KERNELS
#include <KokkosSparse_spadd.hpp>
#endif

namespace sporos::perf {
namespace {

using namespace sporos::indices;

/// A matrix stored by rows, in the arrays of the library that made it; `owner` keeps them alive.
template <class Value>
struct Made {
  std::int64_t rows = 0;
  const std::int32_t* positions = nullptr;
  const std::int32_t* columns = nullptr;
  const Value* values = nullptr;
  std::shared_ptr<const void> owner;
};

template <class Value>
Made<Value> made(const Matrix<Value>& a) {
  const auto& level = a.template level<1>();
  return {a.extent(0), level.positions.data(), level.coordinates.data(), a.values().data(),
          std::make_shared<const Matrix<Value>>(a)};
}

/// @throws StateError if the two differ in a single bit
template <class Value>
void expect_same(const std::string& who, const Made<Value>& expected, const Made<Value>& found) {
  const auto same = [&](const auto* x, const auto* y, std::int64_t count) {
    return std::equal(x, x + count, y);
  };
  const std::int64_t nnz = expected.positions[expected.rows];
  if (found.rows != expected.rows || !same(expected.positions, found.positions, expected.rows + 1) ||
      !same(expected.columns, found.columns, nnz) || !same(expected.values, found.values, nnz))
    throw StateError(text(who, " computes another sum"));
}

#ifdef SPOROS_HAVE_KOKKOS_KERNELS
/// a + b.
template <class Value>
KokkosMatrix<Value> kokkos_sum(const KokkosMatrix<Value>& a, const KokkosMatrix<Value>& b) {
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<std::int32_t, std::int32_t, Value, OpenMP,
                                                                  Kokkos::HostSpace, Kokkos::HostSpace>;
  Handle handle;
  handle.create_spadd_handle(true);  // columns are sorted
  KokkosMatrix<Value> out;
  KokkosSparse::spadd_symbolic(&handle, a, b, out);
  KokkosSparse::spadd_numeric(&handle, Value(1), a, Value(1), b, out);
  handle.destroy_spadd_handle();
  return out;
}
#endif

#ifdef SPOROS_HAVE_GRAPHBLAS
/// a + b.
template <class Value>
graphblas::Matrix graphblas_sum(const graphblas::Matrix& a, const graphblas::Matrix& b) {
  const auto out = graphblas::make_matrix<Value>(graphblas::rows_of(a), graphblas::columns_of(a));
  const GrB_BinaryOp plus = std::is_same_v<Value, double> ? GrB_PLUS_FP64 : GrB_PLUS_FP32;
  graphblas::check(GrB_Matrix_eWiseAdd_BinaryOp(out.get(), nullptr, nullptr, plus, a.get(), b.get(), nullptr),
                   "GrB_eWiseAdd");
  graphblas::check(GrB_Matrix_wait(out.get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
  return out;
}

template <class Value>
Made<Value> made(const graphblas::Matrix& a) {
  struct Arrays {
    std::vector<std::int32_t> positions, columns;
    std::vector<Value> values;
  };
  auto tuples = graphblas::tuples<Value>(a);  // row by row, like the matrix
  const auto rows = static_cast<std::size_t>(graphblas::rows_of(a));
  auto out = std::make_shared<Arrays>();
  out->positions.assign(rows + 1, 0);
  for (const GrB_Index row : tuples.rows) ++out->positions[row + 1];
  for (std::size_t row = 0; row < rows; ++row) out->positions[row + 1] += out->positions[row];
  out->columns.assign(tuples.columns.begin(), tuples.columns.end());
  out->values = std::move(tuples.values);
  return {static_cast<std::int64_t>(rows), out->positions.data(), out->columns.data(), out->values.data(),
          out};
}
#endif

/// Measures the sum of two or three matrices in one type.
template <class Value = double>
void sum(Report& report, const std::string& name, const Rows& first, const Rows& second,
         const Rows* third = nullptr) {
  if (!report.wants(name)) return;
  const auto B = first.matrix<Value, std::int32_t, std::int32_t>(3);
  const auto C = second.matrix<Value, std::int32_t, std::int32_t>(4);
  const auto D = third ? third->matrix<Value, std::int32_t, std::int32_t>(5) : B;
  const bool three = third != nullptr;
  const auto ours = [=] {
    const Matrix<Value> A(B.extents());
    if (three)
      A(i, j) = B(i, j) + C(i, j) + D(i, j);
    else
      A(i, j) = B(i, j) + C(i, j);
    return A;
  };
  const auto result = ours();
  const Made<Value> expected = made(result);
  std::vector<Contender> contenders{{"sporos", Role::ours, ours}};
#ifdef SPOROS_HAVE_EIGEN
  using Sparse = Eigen::SparseMatrix<Value, Eigen::RowMajor, std::int32_t>;
  const auto b = eigen(B), c = eigen(C), d = eigen(D);
  const auto by_eigen = [=] {
    auto out = std::make_shared<Sparse>();
    if (three)
      *out = b + c + d;
    else
      *out = b + c;
    return out;
  };
  contenders.emplace_back("eigen", Role::peer, by_eigen);
  {
    const auto found = by_eigen();
    expect_same<Value>(
        text(name, ": eigen"), expected,
        {found->rows(), found->outerIndexPtr(), found->innerIndexPtr(), found->valuePtr(), found});
  }
#endif
#ifdef SPOROS_HAVE_MKL
  const auto mkl_b = mkl::sparse(B), mkl_c = mkl::sparse(C), mkl_d = mkl::sparse(D);
  const auto by_mkl = [=] {
    const auto two = mkl::sum<Value>(mkl_b, mkl_c);
    return three ? mkl::sum<Value>(two, mkl_d) : two;
  };
  contenders.emplace_back("mkl", Role::peer, by_mkl);
  {
    const auto found = by_mkl();
    const auto arrays = mkl::arrays_of<Value>(found);
    expect_same<Value>(text(name, ": mkl"), expected,
                       {arrays.rows, arrays.positions, arrays.columns, arrays.values, found});
  }
#endif
#ifdef SPOROS_HAVE_KOKKOS_KERNELS
  const auto kernels_b = kokkos(B), kernels_c = kokkos(C), kernels_d = kokkos(D);
  const auto by_kernels = [=] {
    const auto two = kokkos_sum<Value>(kernels_b, kernels_c);
    return three ? kokkos_sum<Value>(two, kernels_d) : two;
  };
  contenders.emplace_back("kokkos_kernels", Role::peer, by_kernels);
  {
    const auto found = by_kernels();
    expect_same<Value>(text(name, ": kokkos_kernels"), expected,
                       {found.numRows(), found.graph.row_map.data(), found.graph.entries.data(),
                        found.values.data(), nullptr});
  }
#endif
#ifdef SPOROS_HAVE_GRAPHBLAS
  const auto graph_b = graphblas::sparse(B), graph_c = graphblas::sparse(C), graph_d = graphblas::sparse(D);
  const auto by_graphblas = [=] {
    const auto two = graphblas_sum<Value>(graph_b, graph_c);
    return three ? graphblas_sum<Value>(two, graph_d) : two;
  };
  contenders.emplace_back("graphblas", Role::peer, by_graphblas);
  expect_same(text(name, ": graphblas"), expected, made<Value>(by_graphblas()));
#endif
  std::int64_t nnz = B.nnz() + C.nnz() + (three ? D.nnz() : 0);
  report.compare({name,
                  {{"extents", sporos::to_string(B.extents())},
                   {"operands", three ? 3 : 2},
                   {"operands_nnz", nnz},
                   {"result_nnz", result.nnz()},
                   {"values", value_name<Value>()},
                   {"index_bits", 32}}},
                 contenders);
}

/// Every column moved to the right, the last ones to the front.
Rows shifted(const Rows& rows, std::int64_t by) {
  return rows.with_columns([&](std::int64_t column) { return (column + by) % rows.columns(); });
}

/// The sums of one pattern.
void sums(Report& report, const std::string& name, const Rows& rows) {
  const Rows next = shifted(rows, 1);
  sum(report, name + " + shifted", rows, next);
  if (rows.rows() != rows.columns()) return;
  sum(report, name + " + transpose", rows, rows.transposed());
}

void run(Report& report) {
  const Peers peers(report);
  for (const auto& file : report.options().files) {
    const std::string name = matrix_name(file);
    if (report.wants(name + " + shifted") || report.wants(name + " + transpose"))
      sums(report, name, pattern_of(file));
  }
  const Rows grid7 = laplacian(80, false), grid27 = laplacian(45, true), graph = rmat(16, 500'000);
  sums(report, "laplacian7_80", grid7);
  sums(report, "laplacian27_45", grid27);
  sums(report, "rmat_16_500k", graph);

  const Rows grid7_next = shifted(grid7, 1), grid27_next = shifted(grid27, 1), turned = graph.transposed();
  const Rows graph_next = shifted(graph, 1);
  const Rows grid7_far = shifted(grid7, 2), grid27_far = shifted(grid27, 2);
  sum(report, "laplacian7_80, three", grid7, grid7_next, &grid7_far);
  sum(report, "laplacian27_45, three", grid27, grid27_next, &grid27_far);
  sum(report, "rmat_16_500k, three", graph, turned, &graph_next);
  sum<float>(report, "laplacian27_45, float", grid27, grid27_next);
  sum<float>(report, "rmat_16_500k, float", graph, turned);
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) { return sporos::perf::benchmark(argc, argv, "add", sporos::perf::run); }
