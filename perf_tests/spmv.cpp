// SPDX-License-Identifier: Apache-2.0
/// @file spmv.cpp
/// The product of a sparse matrix and a vector, compared with Eigen, Kokkos Kernels, SuiteSparse:GraphBLAS,
/// Intel MKL, the loop nest, and the speed of memory itself.
///
///     perf_spmv --threads 2 --json spmv_2_threads.json MATRIX.mtx.gz...
///
/// All libraries read the same arrays with 32-bit indices, except GraphBLAS, whose indices have 64 bits.
/// MKL is measured twice, as it is and after its analysis of the matrix (`mkl_hinted`), which a plan of
/// Sporos is compared with. Results are written into existing vectors, so memory is retained. All results are
/// compared at the end of each case. `bytes` counts each array once. If the arrays exceed the caches of a
/// core, the triad a = b + s
/// * c over the same number of bytes is measured in the same rounds, with plain and with nontemporal stores;
/// with plain stores, the lines of `a` are also read, which is not counted. Reading alone is measured as
/// well, since the product does little else.
#include "peers.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace sporos::perf {
namespace {

using namespace sporos::indices;

/// Each thread's part of [0, size).
template <class Body>
void in_parts(std::int64_t size, const Body& body) {
  const auto threads = static_cast<std::int64_t>(OpenMP().concurrency());
  Kokkos::parallel_for("triad", Kokkos::RangePolicy<OpenMP>(0, threads), [&](std::int64_t thread) {
    const auto cut = [&](std::int64_t at) { return size * at / threads / 64 * 64; };
    body(cut(thread), thread + 1 == threads ? size : cut(thread + 1));
  });
  OpenMP().fence("triad");
}

/// a = b + s * c over arrays of the given number of bytes together.
class Triad {
 public:
  explicit Triad(std::int64_t bytes)
      : size_(bytes / 24),
        a_({size_}),
        b_(dense<DenseVector>({size_}, 1)),
        c_(dense<DenseVector>({size_}, 2)) {}

  void plain() const {
    in_parts(size_, [a = a_.values().data(), b = b_.values().data(), c = c_.values().data()](
                        std::int64_t begin, std::int64_t end) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
      for (std::int64_t at = begin; at < end; ++at) a[at] = b[at] + 3.0 * c[at];
    });
  }
  /// Reads all three arrays.
  void read() const {
    in_parts(size_, [this](std::int64_t begin, std::int64_t end) {
      double sums[32] = {};
      for (const Vector<double>& array : {a_, b_, c_}) {
        const double* const values = array.values().data();
        for (std::int64_t at = begin; at + 32 <= end; at += 32) {
          SPOROS_PREFETCH(values + at + 512);
          SPOROS_PREFETCH(values + at + 520);
          SPOROS_PREFETCH(values + at + 528);
          SPOROS_PREFETCH(values + at + 536);
          for (int lane = 0; lane < 32; ++lane) sums[lane] += values[at + lane];
        }
      }
      volatile double kept = sums[0];
      for (const double sum : sums) kept = sum;
      static_cast<void>(kept);
    });
  }
#if defined(__AVX__)
  void nontemporal() const {
    in_parts(size_, [a = a_.values().data(), b = b_.values().data(), c = c_.values().data()](
                        std::int64_t begin, std::int64_t end) {
      std::int64_t at = begin;
      const auto one = [&] { a[at] = b[at] + 3.0 * c[at]; };
#if defined(__AVX512F__)
      for (; at < end && reinterpret_cast<std::uintptr_t>(a + at) % 64 != 0; ++at) one();
      for (; at + 8 <= end; at += 8)
        _mm512_stream_pd(a + at, _mm512_add_pd(_mm512_loadu_pd(b + at),
                                               _mm512_mul_pd(_mm512_set1_pd(3.0), _mm512_loadu_pd(c + at))));
#else
      for (; at < end && reinterpret_cast<std::uintptr_t>(a + at) % 32 != 0; ++at) one();
      for (; at + 4 <= end; at += 4)
        _mm256_stream_pd(a + at, _mm256_add_pd(_mm256_loadu_pd(b + at),
                                               _mm256_mul_pd(_mm256_set1_pd(3.0), _mm256_loadu_pd(c + at))));
#endif
      for (; at < end; ++at) one();
      _mm_sfence();
    });
  }
#endif

 private:
  std::int64_t size_;
  Vector<double> a_, b_, c_;
};

/// @throws StateError if `y` is not A * x
template <class Value, class Y>
void expect_product(const std::string& who, const Matrix<Value>& A, const Vector<Value>& x, const Y& y) {
  const auto& columns = A.template level<1>();
  for (std::int64_t row = 0; row < A.extent(0); ++row) {
    BoundedSum<Value> sum;
    for (auto q = static_cast<std::size_t>(columns.positions(static_cast<std::size_t>(row)));
         q < static_cast<std::size_t>(columns.positions(static_cast<std::size_t>(row + 1))); ++q)
      sum.add(A.values()(q), x.values()(static_cast<std::size_t>(columns.coordinates(q))));
    if (!sum.is(y[row])) throw StateError(text(who, " computes another product: the value of row ", row));
  }
}

/// Measures y = A * x.
template <class Value = double>
void product(Report& report, const std::string& name, const Rows& rows) {
  if (!report.wants(name)) return;
  const auto A = rows.matrix<Value, std::int32_t, std::int32_t>(3);
  const auto x = dense<DenseVector, Value>({A.extent(1)}, 4);
  const auto result = [&] { return Vector<Value>({A.extent(0)}); };
  std::vector<std::function<void()>> checks;
  std::vector<Contender> contenders;
  const auto add = [&](const std::string& who, Role role, const auto& y, const auto& compute) {
    contenders.emplace_back(who, role, [compute, y] { compute(y); });
    checks.push_back([=] { expect_product(text(name, ": ", who), A, x, y.values().data()); });
  };
  add("sporos", Role::ours, result(), [=](const auto& y) { y(i) = A(i, j) * x(j); });
  add("nest", Role::variant, result(), [=](const auto& y) { assign(y(i), A(i, j) * x(j)).generic().run(); });
  // The forms of the kernel of which the processor and the matrix decide.
  for (const auto& form : sporos::detail::spmv_forms)
    if (form.is_compiled)
      add(text("form ", form.name), Role::variant, result(), [=](const auto& y) {
        const auto a = sporos::detail::sparse_rows(A);
        sporos::detail::for_each_row_chunk(OpenMP(), a, 1, [&](std::int64_t begin, std::int64_t end) {
          sporos::detail::SpmvRows<Value, std::int32_t, std::int32_t>::multiply(
              form.form, a, x.values().data(), y.values().data(), begin, end, false);
        });
      });
  // A plan of a matrix that stays the same, in each layout and in the one that is chosen.
  const auto add_plan = [&](const std::string& who, Role role, const auto& y, auto plan) {
    add(who, role, y,
        [plan = std::make_shared<decltype(plan)>(std::move(plan))](const auto&) { plan->run(); });
  };
  const auto of_slices = result(), of_diagonals = result(), of_shared = result(), of_plan = result();
  const auto constant = [&](const auto& y) { return assign(y(i), A(i, j) * x(j)).with_constant_operands(); };
  add_plan("slices", Role::variant, of_slices,
           sporos::plan(constant(of_slices).template use<sporos::SpmvBySlices>()));
  add_plan("diagonals", Role::variant, of_diagonals,
           sporos::plan(constant(of_diagonals).template use<sporos::SpmvByDiagonals>()));
  add_plan("shared columns", Role::variant, of_shared,
           sporos::plan(constant(of_shared).template use<sporos::SpmvBySharedColumns>()));
  add_plan("plan", Role::planned, of_plan, sporos::plan(constant(of_plan)));
#ifdef SPOROS_HAVE_MKL
  const auto by_mkl = [x](const auto& a) {
    return [a, x](const auto& y) { mkl::multiply(a, x.values().data(), y.values().data()); };
  };
  add("mkl", Role::peer, result(), by_mkl(mkl::sparse(A)));
  add("mkl_hinted", Role::planned_peer, result(), by_mkl(mkl::prepared_for_vectors(A)));
#endif
#ifdef SPOROS_HAVE_EIGEN
  add("eigen", Role::peer, result(),
      [a = eigen(A), b = eigen(x)](const auto& y) { eigen(y).noalias() = a * b; });
#endif
#ifdef SPOROS_HAVE_KOKKOS_KERNELS
  using Handle =
      KokkosSparse::SPMVHandle<OpenMP, KokkosMatrix<Value>, decltype(kokkos(x)), decltype(kokkos(x))>;
  add("kokkos_kernels", Role::peer, result(),
      [a = kokkos(A), b = kokkos(x), handle = std::make_shared<Handle>()](const auto& y) {
        KokkosSparse::spmv(OpenMP(), handle.get(), "N", Value{1}, a, b, Value{0}, kokkos(y));
        OpenMP().fence();
      });
#endif
#ifdef SPOROS_HAVE_GRAPHBLAS
  const auto a = graphblas::sparse(A);
  const auto b = graphblas::full(x), c = graphblas::full(result());
  contenders.emplace_back("graphblas", Role::peer, [=] {
    graphblas::check(
        GrB_mxv(c.get(), nullptr, nullptr, graphblas::Of<Value>::plus_times(), a.get(), b.get(), nullptr),
        "GrB_mxv");
    graphblas::check(GrB_Vector_wait(c.get(), GrB_MATERIALIZE), "GrB_Vector_wait");
  });
  checks.push_back([=] { expect_product(text(name, ": graphblas"), A, x, graphblas::values_of<Value>(c)); });
#endif
  const std::int64_t bytes = A.nnz() * std::int64_t{sizeof(Value) + 4} + (A.extent(0) + 1) * 4 +
                             (A.extent(0) + A.extent(1)) * std::int64_t{sizeof(Value)};
  const bool is_large = bytes >= std::int64_t{32} << 20;
  if (is_large) {
    const auto triad = std::make_shared<const Triad>(bytes);
    contenders.emplace_back("triad", Role::yardstick, [triad] { triad->plain(); });
    contenders.emplace_back("read", Role::yardstick, [triad] { triad->read(); });
#if defined(__AVX__)
    contenders.emplace_back("triad_nontemporal", Role::yardstick, [triad] { triad->nontemporal(); });
#endif
  }
  report.compare({name,
                  {{"matrix", sporos::to_string(A.extents())},
                   {"nnz", A.nnz()},
                   {"bytes", bytes},
                   {"values", value_name<Value>()}}},
                 contenders);
  for (const auto& check : checks) check();
}

void run(Report& report) {
  const Peers peers(report);
  const auto distance = static_cast<std::size_t>(sporos::detail::spmv_prefetch());
  report.about("prefetching", std::string(sporos::detail::spmv_prefetches[distance].name));
  for (const auto& file : report.options().files)
    if (report.wants(matrix_name(file))) product(report, matrix_name(file), pattern_of(file));
  const auto grid = [&](const std::string& name, std::int64_t n, bool corners) {
    if (report.wants(name)) product(report, name, laplacian(n, corners));
  };
  grid("laplacian7_80", 80, false);
  grid("laplacian27_45", 45, true);
  if (report.wants("rmat_16_500k")) product(report, "rmat_16_500k", rmat(16, 500'000));
  if (report.wants("laplacian27_45, float"))
    product<float>(report, "laplacian27_45, float", laplacian(45, true));
  // Larger than the caches of a core.
  grid("laplacian7_160", 160, false);
  grid("laplacian27_100", 100, true);
  if (report.wants("uniform_1M_16M")) product(report, "uniform_1M_16M", uniform(1 << 20, 1 << 20, 16 << 20));
}

}  // namespace
}  // namespace sporos::perf

int main(int argc, char** argv) {
  return sporos::perf::benchmark(argc, argv, "spmv", sporos::perf::run, {sporos::perf::Memory::retained});
}
