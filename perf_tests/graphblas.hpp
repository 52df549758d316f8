// SPDX-License-Identifier: Apache-2.0
/// @file graphblas.hpp
/// SuiteSparse:GraphBLAS as a peer: converts Sporos tensors to its matrices and reads its results.
#pragma once

#include <complex>
// The header is written for C and defines a macro with the name of the imaginary unit.
extern "C" {
#include <GraphBLAS.h>
}
#undef I

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <sporos/core/error.hpp>
#include <sporos/core/tensor.hpp>
#include <sporos/formats/named.hpp>
#include <type_traits>
#include <vector>

namespace sporos::perf::graphblas {

inline void check(GrB_Info status, const char* what) {
  if (status != GrB_SUCCESS) throw StateError(text(what, ": GraphBLAS answers ", static_cast<int>(status)));
}

using Matrix = std::shared_ptr<std::remove_pointer_t<GrB_Matrix>>;
using Vector = std::shared_ptr<std::remove_pointer_t<GrB_Vector>>;

/// GraphBLAS' functions and types for a type of values.
template <class Value>
struct Of;
template <>
struct Of<double> {
  static GrB_Type type() { return GrB_FP64; }
  static GrB_Semiring plus_times() { return GrB_PLUS_TIMES_SEMIRING_FP64; }
  static GrB_Semiring plus_second() { return GxB_PLUS_SECOND_FP64; }
  static constexpr auto extract = GrB_Matrix_extractTuples_FP64;
  using Stored = double;
};
template <>
struct Of<float> {
  static GrB_Type type() { return GrB_FP32; }
  static GrB_Semiring plus_times() { return GrB_PLUS_TIMES_SEMIRING_FP32; }
  static GrB_Semiring plus_second() { return GxB_PLUS_SECOND_FP32; }
  static constexpr auto extract = GrB_Matrix_extractTuples_FP32;
  using Stored = float;
};
template <>
struct Of<Kokkos::complex<double>> {
  static GrB_Type type() { return GxB_FC64; }
  static GrB_Semiring plus_times() { return GxB_PLUS_TIMES_FC64; }
  static constexpr auto extract = GxB_Matrix_extractTuples_FC64;
  using Stored = GxB_FC64_t;
};

template <class Value>
Matrix make_matrix(std::int64_t rows, std::int64_t columns) {
  GrB_Matrix made = nullptr;
  check(
      GrB_Matrix_new(&made, Of<Value>::type(), static_cast<GrB_Index>(rows), static_cast<GrB_Index>(columns)),
      "GrB_Matrix_new");
  return {made, [](GrB_Matrix matrix) { GrB_Matrix_free(&matrix); }};
}
template <class Value>
Vector make_vector(std::int64_t size) {
  GrB_Vector made = nullptr;
  check(GrB_Vector_new(&made, Of<Value>::type(), static_cast<GrB_Index>(size)), "GrB_Vector_new");
  return {made, [](GrB_Vector vector) { GrB_Vector_free(&vector); }};
}

/// A copy in malloc's memory, which GraphBLAS takes over and frees.
template <class To, class From>
void* copy_of(const From* from, std::int64_t count) {
  const auto size = static_cast<std::size_t>(count);
  auto* out = static_cast<To*>(std::malloc((size > 0 ? size : 1) * sizeof(To)));
  if (!out) throw std::bad_alloc();
  for (std::size_t at = 0; at < size; ++at) out[at] = static_cast<To>(from[at]);
  return out;
}

inline std::int64_t rows_of(const Matrix& a) {
  GrB_Index rows = 0;
  check(GrB_Matrix_nrows(&rows, a.get()), "GrB_Matrix_nrows");
  return static_cast<std::int64_t>(rows);
}
inline std::int64_t columns_of(const Matrix& a) {
  GrB_Index columns = 0;
  check(GrB_Matrix_ncols(&columns, a.get()), "GrB_Matrix_ncols");
  return static_cast<std::int64_t>(columns);
}

/// A CSR matrix; GraphBLAS' indices always have 64 bits.
template <class Value, class Position, class Coordinate>
Matrix sparse(const Tensor<Value, CSR<Position, Coordinate>>& a) {
  const auto& columns = a.template level<1>();
  const std::int64_t rows = a.extent(0), nnz = a.nnz();
  const auto out = make_matrix<Value>(rows, a.extent(1));
  auto* positions = static_cast<GrB_Index*>(copy_of<GrB_Index>(columns.positions.data(), rows + 1));
  auto* coordinates = static_cast<GrB_Index*>(copy_of<GrB_Index>(columns.coordinates.data(), nnz));
  void* values = copy_of<Value>(a.values().data(), nnz);
  const auto bytes = [](std::int64_t count, std::size_t each) {
    return static_cast<GrB_Index>(count > 0 ? count : 1) * each;
  };
  check(GxB_Matrix_pack_CSR(out.get(), &positions, &coordinates, &values, bytes(rows + 1, 8), bytes(nnz, 8),
                            bytes(nnz, sizeof(Value)), false, false, nullptr),
        "GxB_Matrix_pack_CSR");
  check(GrB_Matrix_wait(out.get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
  return out;
}

/// A dense matrix stored by rows, as a full GraphBLAS matrix.
template <class Value>
Matrix full(const Tensor<Value, DenseMatrix<>>& a) {
  const auto out = make_matrix<Value>(a.extent(0), a.extent(1));
  void* values = copy_of<Value>(a.values().data(), a.nnz());
  check(GxB_Matrix_pack_FullR(out.get(), &values, static_cast<GrB_Index>(a.nnz()) * sizeof(Value), false,
                              nullptr),
        "GxB_Matrix_pack_FullR");
  return out;
}
template <class Value>
Vector full(const Tensor<Value, DenseVector>& x) {
  const auto out = make_vector<Value>(x.extent(0));
  void* values = copy_of<Value>(x.values().data(), x.nnz());
  check(GxB_Vector_pack_Full(out.get(), &values, static_cast<GrB_Index>(x.nnz()) * sizeof(Value), false,
                             nullptr),
        "GxB_Vector_pack_Full");
  return out;
}

/// The entries of a matrix, in any order.
template <class Value>
struct Tuples {
  std::vector<GrB_Index> rows, columns;
  std::vector<Value> values;
};
template <class Value>
Tuples<Value> tuples(const Matrix& a) {
  GrB_Index count = 0;
  check(GrB_Matrix_nvals(&count, a.get()), "GrB_Matrix_nvals");
  Tuples<Value> out{std::vector<GrB_Index>(count), std::vector<GrB_Index>(count), std::vector<Value>(count)};
  check(Of<Value>::extract(out.rows.data(), out.columns.data(),
                           reinterpret_cast<typename Of<Value>::Stored*>(out.values.data()), &count, a.get()),
        "GrB_Matrix_extractTuples");
  return out;
}
/// The values of a vector; zero where it has no entry.
template <class Value>
std::vector<Value> values_of(const Vector& x) {
  GrB_Index size = 0;
  check(GrB_Vector_size(&size, x.get()), "GrB_Vector_size");
  std::vector<Value> out(size);
  std::vector<GrB_Index> at(size);
  std::vector<Value> values(size);
  if constexpr (std::is_same_v<Value, double>)
    check(GrB_Vector_extractTuples_FP64(at.data(), values.data(), &size, x.get()),
          "GrB_Vector_extractTuples");
  else
    check(GrB_Vector_extractTuples_FP32(at.data(), values.data(), &size, x.get()),
          "GrB_Vector_extractTuples");
  for (GrB_Index e = 0; e < size; ++e) out[at[e]] = values[e];
  return out;
}

}  // namespace sporos::perf::graphblas
