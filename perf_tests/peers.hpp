// SPDX-License-Identifier: Apache-2.0
/// @file peers.hpp
/// The libraries with which the host benchmarks compare: their start, names and versions, and their views of
/// Sporos' arrays if they can use them. Also the matrices with which all are measured.
#pragma once

#ifdef SPOROS_HAVE_GRAPHBLAS
#include "graphblas.hpp"
#endif
#ifdef SPOROS_HAVE_MKL
#include "mkl.hpp"
#endif
#ifdef SPOROS_HAVE_EIGEN
#include <Eigen/Dense>
#include <Eigen/SparseCore>
#endif
#ifdef SPOROS_HAVE_KOKKOS_KERNELS
#include "kokkos_kernels.hpp"

#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#endif

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <string>

#include "harness.hpp"
#include "matrices.hpp"

namespace sporos::perf {

/// The matrices of these benchmarks; indices have 32 bits by default, which suits the peers best.
template <class Value, class Index = std::int32_t>
using Matrix = Tensor<Value, CSR<Index, Index>>;
template <class Value>
using Dense = Tensor<Value, DenseMatrix<>>;
template <class Value>
using Vector = Tensor<Value, DenseVector>;

/// The value type that other libraries use: std::complex for Kokkos::complex.
template <class Value>
struct StandardOf {
  using type = Value;
};
template <class Real>
struct StandardOf<Kokkos::complex<Real>> {
  using type = std::complex<Real>;
};
template <class Value>
using Standard = typename StandardOf<Value>::type;

/// Starts the peers with as many threads as Sporos has, and records them in the report.
class Peers {
 public:
  explicit Peers([[maybe_unused]] Report& report) {
#ifdef SPOROS_HAVE_MKL
    mkl::start(report);
#endif
#ifdef SPOROS_HAVE_EIGEN
    Eigen::setNbThreads(report.options().threads);
    report.about("eigen", text(EIGEN_WORLD_VERSION, '.', EIGEN_MAJOR_VERSION, '.', EIGEN_MINOR_VERSION));
#endif
#ifdef SPOROS_HAVE_KOKKOS_KERNELS
    report.about("kokkos_kernels", text(KOKKOSKERNELS_VERSION / 10000, '.', KOKKOSKERNELS_VERSION / 100 % 100,
                                        '.', KOKKOSKERNELS_VERSION % 100));
#endif
#ifdef SPOROS_HAVE_GRAPHBLAS
    report.about("graphblas",
                 text(GxB_IMPLEMENTATION_MAJOR, '.', GxB_IMPLEMENTATION_MINOR, '.', GxB_IMPLEMENTATION_SUB));
    graphblas::check(GrB_init(GrB_NONBLOCKING), "GrB_init");
    graphblas::check(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, report.options().threads),
                     "GxB_Global_Option_set");
    report.on_memory([](Memory memory) {
      std::int64_t none[64] = {};
      graphblas::check(GxB_Global_Option_set(GxB_MEMORY_POOL, memory == Memory::fresh ? none : nullptr),
                       "GxB_Global_Option_set");
    });
#endif
  }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers() {
#ifdef SPOROS_HAVE_GRAPHBLAS
    GrB_finalize();
#endif
  }
};

#ifdef SPOROS_HAVE_EIGEN
template <class Value, class Index>
auto eigen(const Matrix<Value, Index>& a) {
  const auto& columns = a.template level<1>();
  return Eigen::Map<const Eigen::SparseMatrix<Standard<Value>, Eigen::RowMajor, Index>>(
      a.extent(0), a.extent(1), a.nnz(), columns.positions.data(), columns.coordinates.data(),
      reinterpret_cast<const Standard<Value>*>(a.values().data()));
}
template <class Value>
auto eigen(const Dense<Value>& a) {
  using ByRows = Eigen::Matrix<Value, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<ByRows>(a.values().data(), a.extent(0), a.extent(1));
}
template <class Value>
auto eigen(const Vector<Value>& x) {
  return Eigen::Map<Eigen::Matrix<Value, Eigen::Dynamic, 1>>(x.values().data(), x.extent(0));
}
#endif

#ifdef SPOROS_HAVE_KOKKOS_KERNELS
template <class Value>
using KokkosMatrix = KokkosSparse::CrsMatrix<Value, std::int32_t, Kokkos::Device<OpenMP, Kokkos::HostSpace>,
                                             void, std::int32_t>;
template <class Value>
KokkosMatrix<Value> kokkos(const Matrix<Value>& a) {
  const auto& columns = a.template level<1>();
  return {"a",
          static_cast<std::int32_t>(a.extent(0)),
          static_cast<std::int32_t>(a.extent(1)),
          static_cast<std::int32_t>(a.nnz()),
          a.values(),
          columns.positions,
          columns.coordinates};
}
template <class Value>
auto kokkos(const Dense<Value>& a) {
  using ByRows = Kokkos::View<Value**, Kokkos::LayoutRight, Kokkos::Device<OpenMP, Kokkos::HostSpace>,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  return ByRows(a.values().data(), static_cast<std::size_t>(a.extent(0)),
                static_cast<std::size_t>(a.extent(1)));
}
template <class Value>
auto kokkos(const Vector<Value>& x) {
  using View = Kokkos::View<Value*, Kokkos::Device<OpenMP, Kokkos::HostSpace>,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  return View(x.values().data(), static_cast<std::size_t>(x.extent(0)));
}
#endif

/// Calls `body(name, matrix)` for every matrix of a benchmark of products with dense operands: those in files
/// and generated ones.
template <class Body>
void for_matrices(const Report& report, const Body& body) {
  const auto call = [&]<class Value>(const std::string& name, const Rows& rows) {
    body(name, rows.matrix<Value, std::int32_t, std::int32_t>(3));
  };
  for (const auto& file : report.options().files)
    call.template operator()<double>(matrix_name(file), pattern_of(file));
  call.template operator()<double>("laplacian7_80", laplacian(80, false));
  call.template operator()<double>("laplacian27_45", laplacian(45, true));
  call.template operator()<double>("rmat_16_500k", rmat(16, 500'000));
  call.template operator()<float>("laplacian27_45, float", laplacian(45, true));
}

/// A sum of products, and a bound on how much another order of its terms can change it.
template <class Value>
class BoundedSum {
 public:
  void add(Value x, Value y) {
    const double term = static_cast<double>(x) * static_cast<double>(y);
    sum_ += term;
    size_ += std::abs(term);
    ++terms_;
  }
  void times(Value factor) {
    sum_ *= static_cast<double>(factor);
    size_ *= std::abs(static_cast<double>(factor));
    ++terms_;
  }
  bool is(Value found) const {
    const double epsilon = std::numeric_limits<Value>::epsilon();
    return std::abs(static_cast<double>(found) - sum_) <=
           2 * epsilon * static_cast<double>(terms_ + 1) * size_;
  }

 private:
  double sum_ = 0, size_ = 0;
  std::int64_t terms_ = 0;
};

}  // namespace sporos::perf
