// SPDX-License-Identifier: Apache-2.0
/// @file spgemm.cpp
/// The product of sparse matrices beside Eigen, Kokkos Kernels and SuiteSparse:GraphBLAS, and beside the loop
/// nest.
///
///     perf_spgemm --threads 2 --json spgemm_2_threads.json MATRIX.mtx.gz...
///
/// Each file's matrix is squared, or multiplied with its transpose where it is not square; besides come
/// grids, a random graph, and products of other shapes and types. Every result is a matrix in memory of its
/// own with its columns in order, but Kokkos Kernels', which does not order them. Eigen computes with one
/// thread. All results are compared with Eigen's.
#ifdef SPOROS_HAVE_GRAPHBLAS
// The header is C's.
#include <complex>
extern "C" {
#include <GraphBLAS.h>
}
#undef I
#endif
#ifdef SPOROS_HAVE_EIGEN
#include <Eigen/SparseCore>
#endif
#ifdef SPOROS_HAVE_KOKKOS_KERNELS
#include "kokkos_kernels.hpp"
#endif

#include <limits>
#include <sporos/sporos.hpp>

#include "harness.hpp"
#include "matrices.hpp"

namespace sporos::perf {
namespace {

using namespace sporos::indices;

template <class Value, class Index>
using Matrix = Tensor<Value, CSR<Index, Index>>;

template <class Value>
constexpr auto standard(const Value& value) {
  if constexpr (is_complex_v<Value>)
    return std::complex(value.real(), value.imag());
  else
    return value;
}
template <class Value>
using Standard = decltype(standard(Value{}));

/// One entry of a result.
template <class Value>
struct Entry {
  std::int64_t row, column;
  Value value;
};
template <class Value>
using EntriesOf = std::vector<Entry<Standard<Value>>>;

#ifdef SPOROS_HAVE_EIGEN
template <class Value, class Index>
class Eigen3 {
 public:
  using Sparse = Eigen::SparseMatrix<Standard<Value>, Eigen::RowMajor, Index>;

  Eigen3(const Matrix<Value, Index>& b, const Matrix<Value, Index>& c) : b_(copy(b)), c_(copy(c)) {}

  std::shared_ptr<const Sparse> operator()() const { return std::make_shared<const Sparse>(b_ * c_); }

  /// The most by which the sum of an element's products, taken in another order, can differ from this one: it
  /// has at most `most_products` of them.
  auto bound(std::int64_t most_products) const {
    Eigen::SparseMatrix<double, Eigen::RowMajor, Index> b = b_.cwiseAbs().template cast<double>();
    Eigen::SparseMatrix<double, Eigen::RowMajor, Index> c = c_.cwiseAbs().template cast<double>();
    Eigen::SparseMatrix<double, Eigen::RowMajor, Index> out = b * c;
    using Real = typename Eigen::NumTraits<Standard<Value>>::Real;
    return out *= 8.0 * static_cast<double>(most_products + 1) * std::numeric_limits<Real>::epsilon();
  }

 private:
  static Sparse copy(const Matrix<Value, Index>& a) {
    return Eigen::Map<const Sparse>(a.extent(0), a.extent(1), a.nnz(), a.template level<1>().positions.data(),
                                    a.template level<1>().coordinates.data(),
                                    reinterpret_cast<const Standard<Value>*>(a.values().data()));
  }
  Sparse b_, c_;
};
#endif

#ifdef SPOROS_HAVE_GRAPHBLAS
inline void check(GrB_Info status, const char* what) {
  if (status != GrB_SUCCESS) throw StateError(text(what, ": GraphBLAS answers ", static_cast<int>(status)));
}

template <class Value>
struct GraphBlasOf;
template <>
struct GraphBlasOf<double> {
  static GrB_Type type() { return GrB_FP64; }
  static GrB_Semiring semiring() { return GrB_PLUS_TIMES_SEMIRING_FP64; }
  static constexpr auto build = [](auto... a) { return GrB_Matrix_build_FP64(a..., GrB_PLUS_FP64); };
  static constexpr auto extract = GrB_Matrix_extractTuples_FP64;
  using Stored = double;
};
template <>
struct GraphBlasOf<float> {
  static GrB_Type type() { return GrB_FP32; }
  static GrB_Semiring semiring() { return GrB_PLUS_TIMES_SEMIRING_FP32; }
  static constexpr auto build = [](auto... a) { return GrB_Matrix_build_FP32(a..., GrB_PLUS_FP32); };
  static constexpr auto extract = GrB_Matrix_extractTuples_FP32;
  using Stored = float;
};
template <>
struct GraphBlasOf<Kokkos::complex<double>> {
  static GrB_Type type() { return GxB_FC64; }
  static GrB_Semiring semiring() { return GxB_PLUS_TIMES_FC64; }
  static constexpr auto build = [](auto... a) { return GxB_Matrix_build_FC64(a..., GxB_PLUS_FC64); };
  static constexpr auto extract = GxB_Matrix_extractTuples_FC64;
  using Stored = GxB_FC64_t;
};

/// GraphBLAS' indices are always of 64 bits.
template <class Value>
class GraphBlas {
 public:
  using Of = GraphBlasOf<Value>;
  using Handle = std::remove_pointer_t<GrB_Matrix>;

  template <class Index>
  GraphBlas(const Matrix<Value, Index>& b, const Matrix<Value, Index>& c) : b_(copy(b)), c_(copy(c)) {}

  std::shared_ptr<Handle> operator()() const {
    GrB_Index rows = 0, columns = 0;
    GrB_Matrix_nrows(&rows, b_.get());
    GrB_Matrix_ncols(&columns, c_.get());
    const auto out = make(rows, columns);
    check(GrB_mxm(out.get(), nullptr, nullptr, Of::semiring(), b_.get(), c_.get(), nullptr), "GrB_mxm");
    check(GrB_Matrix_wait(out.get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
    return out;
  }

  static EntriesOf<Value> entries(GrB_Matrix a) {
    GrB_Index count = 0;
    GrB_Matrix_nvals(&count, a);
    std::vector<GrB_Index> rows(count), columns(count);
    std::vector<typename Of::Stored> values(count);
    check(Of::extract(rows.data(), columns.data(), values.data(), &count, a), "GrB_Matrix_extractTuples");
    EntriesOf<Value> out(count);
    for (std::size_t e = 0; e < out.size(); ++e) {
      Standard<Value> value;
      std::memcpy(reinterpret_cast<void*>(&value), &values[e], sizeof value);
      out[e] = {static_cast<std::int64_t>(rows[e]), static_cast<std::int64_t>(columns[e]), value};
    }
    return out;
  }

 private:
  static std::shared_ptr<Handle> make(GrB_Index rows, GrB_Index columns) {
    GrB_Matrix made = nullptr;
    check(GrB_Matrix_new(&made, Of::type(), rows, columns), "GrB_Matrix_new");
    return {made, [](GrB_Matrix matrix) { GrB_Matrix_free(&matrix); }};
  }
  template <class Index>
  static std::shared_ptr<Handle> copy(const Matrix<Value, Index>& a) {
    const auto& level = a.template level<1>();
    std::vector<GrB_Index> rows, columns(level.coordinates.data(), level.coordinates.data() + a.nnz());
    for (std::int64_t row = 0; row < a.extent(0); ++row)
      rows.insert(rows.end(),
                  static_cast<std::size_t>(level.positions.data()[row + 1] - level.positions.data()[row]),
                  static_cast<GrB_Index>(row));
    const auto out = make(static_cast<GrB_Index>(a.extent(0)), static_cast<GrB_Index>(a.extent(1)));
    check(Of::build(out.get(), rows.data(), columns.data(),
                    reinterpret_cast<const typename Of::Stored*>(a.values().data()),
                    static_cast<GrB_Index>(a.nnz())),
          "GrB_Matrix_build");
    check(GrB_Matrix_wait(out.get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
    return out;
  }
  std::shared_ptr<Handle> b_, c_;
};
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

/// The entries of a matrix by rows, ordered.
template <class Value, class Positions, class Coordinates, class Values>
EntriesOf<Value> entries_by_rows(std::int64_t rows, const Positions* positions,
                                 const Coordinates* coordinates, const Values* values) {
  EntriesOf<Value> out;
  for (std::int64_t row = 0; row < rows; ++row)
    for (auto q = positions[row]; q < positions[row + 1]; ++q) {
      Standard<Value> value;
      std::memcpy(reinterpret_cast<void*>(&value), &values[q], sizeof value);
      out.push_back({row, static_cast<std::int64_t>(coordinates[q]), value});
    }
  return out;
}

#ifdef SPOROS_HAVE_EIGEN
/// @throws Error where the entries are not those of `expected`, its pattern exactly and its values within
/// `bound`
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
  const auto take = [&](const auto& make) {
    return [make]() -> std::shared_ptr<const void> { return make(); };
  };
  const auto ours = [=] {
    const Matrix<Value, Index> A({B.extent(0), C.extent(1)});
    A(i, j) = B(i, k) * C(k, j);
    return std::make_shared<const Matrix<Value, Index>>(A);
  };
  const auto nest = [=] {
    const Matrix<Value, Index> A({B.extent(0), C.extent(1)});
    assign(A(i, j), B(i, k) * C(k, j)).generic().run();
    return std::make_shared<const Matrix<Value, Index>>(A);
  };
  std::vector<Contender> contenders{{"sporos", Role::ours, take(ours)}, {"nest", Role::variant, take(nest)}};
#ifdef SPOROS_HAVE_EIGEN
  const Eigen3<Value, Index> eigen(B, C);
  contenders.push_back({"eigen", Role::peer, take(eigen)});
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < B.extent(0); ++row)
    longest = std::max<std::int64_t>(longest, B.template level<1>().positions.data()[row + 1] -
                                                  B.template level<1>().positions.data()[row]);
  const auto expected = eigen();
  const auto bound = eigen.bound(longest);
  const auto expect = [&](const std::string& who, EntriesOf<Value> found) {
    expect_product<Value>(text(name, ": ", who), *expected, bound, std::move(found));
  };
  for (const auto& made : {ours(), nest()})
    expect("sporos",
           entries_by_rows<Value>(made->extent(0), made->template level<1>().positions.data(),
                                  made->template level<1>().coordinates.data(), made->values().data()));
#endif
#ifdef SPOROS_HAVE_KOKKOS_KERNELS
  const KokkosKernels4<Value, Index> kernels(B, C);
  contenders.push_back({"kokkos_kernels", Role::peer, take(kernels)});
#ifdef SPOROS_HAVE_EIGEN
  {
    const auto made = kernels();
    expect("kokkos_kernels", entries_by_rows<Value>(B.extent(0), made->positions.data(), made->columns.data(),
                                                    made->values.data()));
  }
#endif
#endif
#ifdef SPOROS_HAVE_GRAPHBLAS
  const GraphBlas<Value> graphblas(B, C);
  contenders.push_back({"graphblas", Role::peer, take(graphblas)});
#ifdef SPOROS_HAVE_EIGEN
  expect("graphblas", GraphBlas<Value>::entries(graphblas().get()));
#endif
#endif
  report.compare({name,
                  {{"left", sporos::to_string(B.extents())},
                   {"right", sporos::to_string(C.extents())},
                   {"left_nnz", B.nnz()},
                   {"right_nnz", C.nnz()},
                   {"result_nnz", ours()->nnz()},
                   {"products", products},
                   {"values", value_name<Value>()},
                   {"index_bits", 8 * sizeof(Index)}}},
                 contenders);
}

void square(Report& report, const std::string& name, const Rows& rows) {
  product(report, name, rows, rows, true);
}

void run(Report& report) {
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

int main(int argc, char** argv) {
  using namespace sporos;
  const auto options = perf::Options::parse(argc, argv, "perf_spgemm");
  const ScopeGuard guard(perf::kokkos_settings(options));
  try {
    perf::Report report(options, "spgemm");
#ifdef SPOROS_HAVE_EIGEN
    report.about("eigen", text(EIGEN_WORLD_VERSION, '.', EIGEN_MAJOR_VERSION, '.', EIGEN_MINOR_VERSION));
#endif
#ifdef SPOROS_HAVE_KOKKOS_KERNELS
    report.about("kokkos_kernels", text(KOKKOSKERNELS_VERSION / 10000, '.', KOKKOSKERNELS_VERSION / 100 % 100,
                                        '.', KOKKOSKERNELS_VERSION % 100));
#endif
#ifdef SPOROS_HAVE_GRAPHBLAS
    report.about("graphblas",
                 text(GxB_IMPLEMENTATION_MAJOR, '.', GxB_IMPLEMENTATION_MINOR, '.', GxB_IMPLEMENTATION_SUB));
    perf::check(GrB_init(GrB_NONBLOCKING), "GrB_init");
    perf::check(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, options.threads), "GxB_Global_Option_set");
#endif
    perf::run(report);
    report.finish();
#ifdef SPOROS_HAVE_GRAPHBLAS
    GrB_finalize();
#endif
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
