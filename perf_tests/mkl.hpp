// SPDX-License-Identifier: Apache-2.0
/// @file mkl.hpp
/// Intel MKL's sparse BLAS as a peer: its handles of Sporos' matrices and the products that it computes with
/// them.
#pragma once

#include <mkl_service.h>
#include <mkl_spblas.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <sporos/core/error.hpp>
#include <sporos/core/tensor.hpp>
#include <sporos/formats/named.hpp>
#include <string>
#include <type_traits>

#include "harness.hpp"

namespace sporos::perf::mkl {

inline void check(sparse_status_t status, const char* what) {
  if (status != SPARSE_STATUS_SUCCESS)
    throw StateError(text(what, ": MKL answers ", static_cast<int>(status)));
}

/// MKL's functions for a type of values.
template <class Value>
struct Of;
template <>
struct Of<double> {
  using Stored = double;
  static constexpr double one = 1, zero = 0;
  static constexpr auto create = mkl_sparse_d_create_csr;
  static constexpr auto read = mkl_sparse_d_export_csr;
  static constexpr auto multiply_vector = mkl_sparse_d_mv;
  static constexpr auto multiply_dense = mkl_sparse_d_mm;
  static constexpr auto add = mkl_sparse_d_add;
};
template <>
struct Of<float> {
  using Stored = float;
  static constexpr float one = 1, zero = 0;
  static constexpr auto create = mkl_sparse_s_create_csr;
  static constexpr auto read = mkl_sparse_s_export_csr;
  static constexpr auto multiply_vector = mkl_sparse_s_mv;
  static constexpr auto multiply_dense = mkl_sparse_s_mm;
  static constexpr auto add = mkl_sparse_s_add;
};
template <>
struct Of<Kokkos::complex<double>> {
  using Stored = MKL_Complex16;
  static constexpr auto create = mkl_sparse_z_create_csr;
  static constexpr auto read = mkl_sparse_z_export_csr;
};

/// Whether memory is given back to the system after each call, as in the measurements with fresh memory: MKL
/// otherwise keeps it for the next.
inline bool gives_memory_back = false;

/// MKL's handle of a matrix in CSR.
using Matrix = std::shared_ptr<std::remove_pointer_t<sparse_matrix_t>>;
inline Matrix owned(sparse_matrix_t made) {
  return {made, [](sparse_matrix_t matrix) {
            mkl_sparse_destroy(matrix);
            if (gives_memory_back) mkl_free_buffers();
          }};
}

/// A handle of the arrays of `a`, which it reads where they are. MKL takes 32-bit indices in this interface.
template <class Value>
Matrix sparse(const Tensor<Value, CSR<std::int32_t, std::int32_t>>& a) {
  const auto& columns = a.template level<1>();
  sparse_matrix_t made = nullptr;
  check(Of<Value>::create(&made, SPARSE_INDEX_BASE_ZERO, static_cast<MKL_INT>(a.extent(0)),
                          static_cast<MKL_INT>(a.extent(1)), columns.positions.data(),
                          columns.positions.data() + 1, columns.coordinates.data(),
                          reinterpret_cast<typename Of<Value>::Stored*>(a.values().data())),
        "mkl_sparse_create_csr");
  return owned(made);
}

inline matrix_descr general() {
  matrix_descr out{};
  out.type = SPARSE_MATRIX_TYPE_GENERAL;
  return out;
}

/// A handle that MKL has prepared for many products with a vector: it may copy the matrix to other formats.
template <class Value>
Matrix prepared_for_vectors(const Tensor<Value, CSR<std::int32_t, std::int32_t>>& a) {
  constexpr MKL_INT many = 10'000;
  auto out = sparse(a);
  check(mkl_sparse_set_mv_hint(out.get(), SPARSE_OPERATION_NON_TRANSPOSE, general(), many),
        "mkl_sparse_set_mv_hint");
  check(mkl_sparse_set_memory_hint(out.get(), SPARSE_MEMORY_AGGRESSIVE), "mkl_sparse_set_memory_hint");
  check(mkl_sparse_optimize(out.get()), "mkl_sparse_optimize");
  return out;
}

/// y = a * x
template <class Value>
void multiply(const Matrix& a, const Value* x, Value* y) {
  check(Of<Value>::multiply_vector(SPARSE_OPERATION_NON_TRANSPOSE, Of<Value>::one, a.get(), general(), x,
                                   Of<Value>::zero, y),
        "mkl_sparse_mv");
}

/// c = a * b, where b and c have `width` columns and are stored by rows.
template <class Value>
void multiply(const Matrix& a, const Value* b, std::int64_t width, Value* c) {
  const auto columns = static_cast<MKL_INT>(width);
  check(Of<Value>::multiply_dense(SPARSE_OPERATION_NON_TRANSPOSE, Of<Value>::one, a.get(), general(),
                                  SPARSE_LAYOUT_ROW_MAJOR, b, columns, columns, Of<Value>::zero, c, columns),
        "mkl_sparse_mm");
}

/// a * b; its rows are in no order unless they are to be sorted.
inline Matrix product(const Matrix& a, const Matrix& b, bool sorted) {
  sparse_matrix_t made = nullptr;
  check(mkl_sparse_spmm(SPARSE_OPERATION_NON_TRANSPOSE, a.get(), b.get(), &made), "mkl_sparse_spmm");
  auto out = owned(made);
  if (sorted) check(mkl_sparse_order(made), "mkl_sparse_order");
  return out;
}

/// a + b
template <class Value>
Matrix sum(const Matrix& a, const Matrix& b) {
  sparse_matrix_t made = nullptr;
  check(Of<Value>::add(SPARSE_OPERATION_NON_TRANSPOSE, a.get(), Of<Value>::one, b.get(), &made),
        "mkl_sparse_add");
  return owned(made);
}

/// The arrays of a result, which live as long as its handle.
template <class Value>
struct Arrays {
  MKL_INT rows = 0;
  const MKL_INT *positions = nullptr, *columns = nullptr;
  const Value* values = nullptr;
};
template <class Value>
Arrays<Value> arrays_of(const Matrix& a) {
  sparse_index_base_t base{};
  MKL_INT rows = 0, column_count = 0, *begins = nullptr, *ends = nullptr, *columns = nullptr;
  typename Of<Value>::Stored* values = nullptr;
  check(Of<Value>::read(a.get(), &base, &rows, &column_count, &begins, &ends, &columns, &values),
        "mkl_sparse_export_csr");
  if (base != SPARSE_INDEX_BASE_ZERO || ends != begins + 1)
    throw StateError("MKL stores a result in another way than in three arrays whose indices count from 0");
  return {rows, begins, columns, reinterpret_cast<const Value*>(values)};
}

/// Starts MKL with as many threads as Sporos has, which run where Kokkos' do.
inline void start(Report& report) {
  mkl_set_interface_layer(MKL_INTERFACE_LP64);
  mkl_set_threading_layer(report.options().threads > 1 ? MKL_THREADING_GNU : MKL_THREADING_SEQUENTIAL);
  mkl_set_num_threads(report.options().threads);
  MKLVersion version{};
  mkl_get_version(&version);
  report.about("mkl", text(version.MajorVersion, '.', version.MinorVersion, '.', version.UpdateVersion));
  report.on_memory([](Memory memory) { gives_memory_back = memory == Memory::fresh; });
}

}  // namespace sporos::perf::mkl
