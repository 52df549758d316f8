// SPDX-License-Identifier: Apache-2.0
/// @file spgemm.cpp
/// The product of sparse matrices, compared with Eigen, Kokkos Kernels, SuiteSparse:GraphBLAS, Intel MKL
/// and the loop nest.
///
///     perf_spgemm --threads 2 --json spgemm_2_threads.json MATRIX.mtx.gz...
///
/// The matrix of each file is squared, or multiplied with its transpose if it is not square; there are also
/// grids, a random graph, and products of other shapes and types. Every result is a new matrix with sorted
/// columns, except that Kokkos Kernels does not sort them; MKL is also shown without sorting
/// (`mkl_unsorted`). Eigen computes with one thread. All results are compared with Eigen's.
#include "peers.hpp"

namespace sporos::perf {
namespace {

using namespace sporos::indices;

template <class Value>
Standard<Value> standard(const Value& value) {
  if constexpr (is_complex_v<Value>)
    return {value.real(), value.imag()};
  else
    return value;
}

/// One entry of a result.
template <class Value>
struct Entry {
  std::int64_t row, column;
  Value value;
};
template <class Value>
using EntriesOf = std::vector<Entry<Standard<Value>>>;

#ifdef SPOROS_HAVE_EIGEN
/// A bound on the difference between the sum of an element's products, taken in another order, and Eigen's.
template <class Value, class Index>
auto most_difference(const Matrix<Value, Index>& b, const Matrix<Value, Index>& c) {
  using Magnitudes = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;
  const Magnitudes b_size = eigen(b).cwiseAbs().template cast<double>();
  const Magnitudes c_size = eigen(c).cwiseAbs().template cast<double>();
  Magnitudes out = b_size * c_size;
  std::int64_t most_products = 0;
  for (std::int64_t row = 0; row < b.extent(0); ++row)
    most_products = std::max<std::int64_t>(most_products, b.template level<1>().positions.data()[row + 1] -
                                                              b.template level<1>().positions.data()[row]);
  using Real = typename Eigen::NumTraits<Standard<Value>>::Real;
  out *= 8.0 * static_cast<double>(most_products + 1) * std::numeric_limits<Real>::epsilon();
  return out;
}
#endif

#ifdef SPOROS_HAVE_GRAPHBLAS
/// b * c.
template <class Value>
graphblas::Matrix graphblas_product(const graphblas::Matrix& b, const graphblas::Matrix& c) {
  const auto out = graphblas::make_matrix<Value>(graphblas::rows_of(b), graphblas::columns_of(c));
  graphblas::check(
      GrB_mxm(out.get(), nullptr, nullptr, graphblas::Of<Value>::plus_times(), b.get(), c.get(), nullptr),
      "GrB_mxm");
  graphblas::check(GrB_Matrix_wait(out.get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
  return out;
}

template <class Value>
EntriesOf<Value> entries(const graphblas::Matrix& a) {
  const auto all = graphblas::tuples<Value>(a);
  EntriesOf<Value> out(all.values.size());
  for (std::size_t e = 0; e < out.size(); ++e)
    out[e] = {static_cast<std::int64_t>(all.rows[e]), static_cast<std::int64_t>(all.columns[e]),
              standard(all.values[e])};
  return out;
}
#endif

#ifdef SPOROS_HAVE_KOKKOS_KERNELS
template <class Value, class Index>
class KokkosKernels4 {
 public:
  using Positions = Kokkos::View<Index*, Kokkos::HostSpace>;
  using Values = Kokkos::View<Value*, Kokkos::HostSpace>;
  struct Rows {
    Positions positions, columns;
    Values values;
  };
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<Index, Index, Value, OpenMP,
                                                                  Kokkos::HostSpace, Kokkos::HostSpace>;

  KokkosKernels4(const Matrix<Value, Index>& b, const Matrix<Value, Index>& c)
      : m_(static_cast<Index>(b.extent(0))),
        l_(static_cast<Index>(b.extent(1))),
        n_(static_cast<Index>(c.extent(1))),
        b_(rows(b)),
        c_(rows(c)) {}

  std::shared_ptr<const Rows> operator()() const {
    Handle handle;
    handle.create_spgemm_handle(KokkosSparse::SPGEMM_KK);
    auto out = std::make_shared<Rows>();
    out->positions = Positions(Kokkos::view_alloc(Kokkos::WithoutInitializing, "positions"), m_ + 1);
    KokkosSparse::Experimental::spgemm_symbolic(&handle, m_, l_, n_, b_.positions, b_.columns, false,
                                                c_.positions, c_.columns, false, out->positions);
    const auto nnz = static_cast<std::size_t>(handle.get_spgemm_handle()->get_c_nnz());
    out->columns = Positions(Kokkos::view_alloc(Kokkos::WithoutInitializing, "columns"), nnz);
    out->values = Values(Kokkos::view_alloc(Kokkos::WithoutInitializing, "values"), nnz);
    KokkosSparse::Experimental::spgemm_numeric(&handle, m_, l_, n_, b_.positions, b_.columns, b_.values,
                                               false, c_.positions, c_.columns, c_.values, false,
                                               out->positions, out->columns, out->values);
    handle.destroy_spgemm_handle();
    return out;
  }

 private:
  static Rows rows(const Matrix<Value, Index>& a) {
    return {a.template level<1>().positions, a.template level<1>().coordinates, a.values()};
  }
  Index m_, l_, n_;
  Rows b_, c_;
};
#endif

/// The entries of a matrix, sorted by row and column.
template <class Value, class Positions, class Coordinates, class Values>
EntriesOf<Value> entries_by_rows(std::int64_t rows, const Positions* positions,
                                 const Coordinates* coordinates, const Values* values) {
  EntriesOf<Value> out;
  for (std::int64_t row = 0; row < rows; ++row)
    for (auto q = positions[row]; q < positions[row + 1]; ++q)
      out.push_back({row, static_cast<std::int64_t>(coordinates[q]), standard(values[q])});
  return out;
}

#ifdef SPOROS_HAVE_EIGEN
/// @throws Error if the entries are not those of `expected`: the pattern exactly, the values within `bound`
template <class Value, class Sparse, class Bound>
void expect_product(const std::string& who, const Sparse& expected, const Bound& bound,
                    EntriesOf<Value> found) {
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  const auto fail = [&](const std::string& why) {
    throw StateError(text(who, " computes another product: ", why));
  };
  if (static_cast<std::int64_t>(found.size()) != expected.nonZeros())
    fail(text(found.size(), " elements instead of ", expected.nonZeros()));
  std::size_t e = 0;
  for (std::int64_t row = 0; row < expected.rows(); ++row)
    for (auto q = expected.outerIndexPtr()[row]; q < expected.outerIndexPtr()[row + 1]; ++q, ++e) {
      if (found[e].row != row || found[e].column != expected.innerIndexPtr()[q])
        fail(text("(", found[e].row, ", ", found[e].column, ") stands where (", row, ", ",
                  expected.innerIndexPtr()[q], ") is expected"));
      if (!(std::abs(found[e].value - expected.valuePtr()[q]) <= bound.valuePtr()[q]))
        fail(text("the value at (", row, ", ", found[e].column, ")"));
    }
}
#endif

/// Measures B * C in one type.
template <class Value = double, class Index = std::int32_t>
void product(Report& report, const std::string& name, const Rows& left, const Rows& right,
             bool same = false) {
  if (!report.wants(name)) return;
  const auto B = left.matrix<Value, Index, Index>(3);
  const auto C = same ? B : right.matrix<Value, Index, Index>(4);
  const auto& rows = C.template level<1>().positions;
  const auto& columns = B.template level<1>().coordinates;
  std::int64_t products = 0;
  for (std::size_t q = 0; q < columns.extent(0); ++q)
    products += rows(static_cast<std::size_t>(columns(q)) + 1) - rows(static_cast<std::size_t>(columns(q)));
  const auto ours = [=] {
    const Matrix<Value, Index> A({B.extent(0), C.extent(1)});
    A(i, j) = B(i, k) * C(k, j);
    return A;
  };
  const auto nest = [=] {
    const Matrix<Value, Index> A({B.extent(0), C.extent(1)});
    assign(A(i, j), B(i, k) * C(k, j)).generic().run();
    return A;
  };
  std::vector<Contender> contenders{{"sporos", Role::ours, ours}, {"nest", Role::variant, nest}};
  // The forms of the kernel of which the processor decides.
  const auto by_form = [=](sporos::detail::SpgemmForm form) {
    const OpenMP space;
    const auto b = sporos::detail::sparse_rows(B), c = sporos::detail::sparse_rows(C);
    using Factor = std::remove_const_t<decltype(b)>;
    using Acc = sporos::detail::product_accumulate_t<Value, Value, Value>;
    sporos::detail::ProductByRows<Acc, Factor, Factor, Value, Index, Index> product(space, b, c);
    product.use(form);
    product.prepare();
    return product.compute();
  };
  for (const auto& form : sporos::detail::spgemm_forms)
    if (form.is_compiled)
      contenders.emplace_back(text("form ", form.name), Role::variant, [=] { return by_form(form.form); });
#ifdef SPOROS_HAVE_EIGEN
  using Sparse = Eigen::SparseMatrix<Standard<Value>, Eigen::RowMajor, Index>;
  const auto by_eigen = [b = eigen(B), c = eigen(C)] { return std::make_shared<const Sparse>(b * c); };
  contenders.emplace_back("eigen", Role::peer, by_eigen);
  const auto expected = by_eigen();
  const auto bound = most_difference(B, C);
  const auto expect = [&](const std::string& who, EntriesOf<Value> found) {
    expect_product<Value>(text(name, ": ", who), *expected, bound, std::move(found));
  };
  for (const auto& made : {ours(), nest()})
    expect("sporos",
           entries_by_rows<Value>(made.extent(0), made.template level<1>().positions.data(),
                                  made.template level<1>().coordinates.data(), made.values().data()));
  for (const auto& form : sporos::detail::spgemm_forms)
    if (form.is_compiled) {
      const auto made = by_form(form.form);
      expect(text("form ", form.name), entries_by_rows<Value>(B.extent(0), made.positions.data(),
                                                              made.coordinates.data(), made.values.data()));
    }
#endif
#ifdef SPOROS_HAVE_MKL
  if constexpr (std::is_same_v<Index, std::int32_t>) {
    const auto b = mkl::sparse(B), c = mkl::sparse(C);
    contenders.emplace_back("mkl", Role::peer,
                            [=, arrays = std::pair(B, C)] { return mkl::product(b, c, true); });
    contenders.emplace_back("mkl_unsorted", Role::yardstick,
                            [=, arrays = std::pair(B, C)] { return mkl::product(b, c, false); });
#ifdef SPOROS_HAVE_EIGEN
    const auto made = mkl::product(b, c, true);
    const auto arrays = mkl::arrays_of<Value>(made);
    expect("mkl", entries_by_rows<Value>(arrays.rows, arrays.positions, arrays.columns, arrays.values));
#endif
  }
#endif
#ifdef SPOROS_HAVE_KOKKOS_KERNELS
  const KokkosKernels4<Value, Index> kernels(B, C);
  contenders.emplace_back("kokkos_kernels", Role::peer, kernels);
#ifdef SPOROS_HAVE_EIGEN
  {
    const auto made = kernels();
    expect("kokkos_kernels", entries_by_rows<Value>(B.extent(0), made->positions.data(), made->columns.data(),
                                                    made->values.data()));
  }
#endif
#endif
#ifdef SPOROS_HAVE_GRAPHBLAS
  const auto by_graphblas = [b = graphblas::sparse(B), c = graphblas::sparse(C)] {
    return graphblas_product<Value>(b, c);
  };
  contenders.emplace_back("graphblas", Role::peer, by_graphblas);
#ifdef SPOROS_HAVE_EIGEN
  expect("graphblas", entries<Value>(by_graphblas()));
#endif
#endif
  report.compare({name,
                  {{"left", sporos::to_string(B.extents())},
                   {"right", sporos::to_string(C.extents())},
                   {"left_nnz", B.nnz()},
                   {"right_nnz", C.nnz()},
                   {"result_nnz", ours().nnz()},
                   {"products", products},
                   {"values", value_name<Value>()},
                   {"index_bits", 8 * sizeof(Index)}}},
                 contenders);
}

void square(Report& report, const std::string& name, const Rows& rows) {
  product(report, name, rows, rows, true);
}

void run(Report& report) {
  const Peers peers(report);
  for (const auto& file : report.options().files) {
    const std::string name = matrix_name(file);
    if (!report.wants(name)) continue;
    const Rows rows = pattern_of(file);
    if (rows.rows() == rows.columns())
      square(report, name, rows);
    else
      product(report, name + " x its transpose", rows, rows.transposed());
  }
  const Rows grid7 = laplacian(80, false), grid27 = laplacian(45, true), graph = rmat(16, 500'000);
  square(report, "laplacian7_80", grid7);
  square(report, "laplacian27_45", grid27);
  square(report, "rmat_16_500k", graph);
  // 8 * 10^7 results.
  if (report.asks_for("rmat_17_600k")) square(report, "rmat_17_600k", rmat(17, 600'000));

  const Rows coarse = interpolation(45);
  product(report, "laplacian27_45 x interpolation", grid27, coarse);
  product(report, "restriction x laplacian27_45", coarse.transposed(), grid27);
  product(report, "rmat_16_500k x uniform", graph, uniform(1 << 16, 20'000, 300'000));
  // In other types.
  const Rows small_graph = rmat(14, 120'000);
  square(report, "rmat_14_120k", small_graph);
  product<double, std::int64_t>(report, "laplacian27_45, 64-bit indices", grid27, grid27, true);
  product<double, std::int64_t>(report, "rmat_14_120k, 64-bit indices", small_graph, small_graph, true);
  product<float>(report, "laplacian27_45, float", grid27, grid27, true);
  product<float>(report, "rmat_14_120k, float", small_graph, small_graph, true);
  product<Kokkos::complex<double>>(report, "laplacian27_45, complex", grid27, grid27, true);
  product<Kokkos::complex<double>>(report, "rmat_14_120k, complex", small_graph, small_graph, true);
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) { return sporos::perf::benchmark(argc, argv, "spgemm", sporos::perf::run); }
