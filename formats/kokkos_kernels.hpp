// SPDX-License-Identifier: Apache-2.0
/// @file kokkos_kernels.hpp
/// CSR tensors as matrices of Kokkos Kernels and back, without a copy. Empty if Sporos is built without
/// Kokkos Kernels.
#pragma once

#ifdef SPOROS_HAVE_KOKKOS_KERNELS

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

// Kokkos Kernels 4.4 uses names that are missing from a Kokkos built without deprecated code. They are
// supplied here, so that it works with either build.
#if !defined(KOKKOS_ENABLE_DEPRECATED_CODE_4) && KOKKOS_VERSION < 50000
#define KOKKOS_ENABLE_DEPRECATED_CODE_4
#include <Kokkos_StaticCrsGraph.hpp>
#undef KOKKOS_ENABLE_DEPRECATED_CODE_4
#define atomic_assign atomic_store
#include <KokkosSparse_CrsMatrix.hpp>
#undef atomic_assign
#else
#include <KokkosSparse_CrsMatrix.hpp>
#endif

#include "../core/array.hpp"
#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "named.hpp"
#include "validate.hpp"
#include "wrap.hpp"

namespace sporos {

/// The arrays of a CSR tensor as a CrsMatrix; they are shared by reference counts, and nothing is copied.
/// Memory that the tensor itself only borrowed (wrapped pointers) must outlive the matrix.
///
/// @throws RangeError if the number of columns does not fit the matrix's ordinal type
template <TensorValue Value, std::integral Position, std::integral Coordinate, ExecutionSpace Space>
auto to_crs_matrix(const Tensor<Value, CSR<Position, Coordinate>, Space>& t) {
  using Matrix = KokkosSparse::CrsMatrix<Value, Coordinate, typename Space::device_type, void, Position>;
  const auto columns = t.template level<1>().segments();
  const typename Matrix::staticcrsgraph_type graph(columns.coordinates, columns.positions);
  return Matrix("sporos::Tensor", narrow<Coordinate>(t.extent(1), "the number of columns of a CrsMatrix"),
                t.values(), graph);
}

/// The arrays of a CrsMatrix as a CSR tensor, which is read-only if the values are const; not validated: see
/// the checked form below.
template <class Scalar, class Ordinal, class Device, class Traits, class SizeType>
auto from_crs_matrix(Trusted,
                     const KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, Traits, SizeType>& matrix) {
  using Matrix = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, Traits, SizeType>;
  using Space = typename Device::execution_space;
  using F = CSR<std::remove_const_t<SizeType>, std::remove_const_t<Ordinal>>;
  using Value = std::remove_const_t<Scalar>;
  using T = Tensor<Value, F, Space>;
  const auto rows = static_cast<std::int64_t>(matrix.numRows());
  const auto& graph = matrix.graph;
  SegmentsOf<typename F::template level<1>, typename T::memory_space> columns;
  using Positions = std::decay_t<decltype(columns.positions)>;
  using Coordinates = std::decay_t<decltype(columns.coordinates)>;
  // The graph holds its row map as const; the tensor shares that memory, and keeps it alive as its owner.
  if (graph.row_map.extent(0) > 0)
    columns.positions =
        Positions(const_cast<typename Positions::value_type*>(graph.row_map.data()), graph.row_map.extent(0));
  else
    columns.positions =
        zeroed_array<typename Positions::value_type, typename T::memory_space>("sporos::positions", 1);
  columns.coordinates = Coordinates(const_cast<typename Coordinates::value_type*>(graph.entries.data()),
                                    graph.entries.extent(0));
  using Levels = typename T::level_storage;
  Levels levels;
  std::get<0>(levels) = std::tuple_element_t<0, Levels>::empty(1, rows);
  std::get<1>(levels) = std::tuple_element_t<1, Levels>::template from_segments<Space>(
      columns, rows, static_cast<std::int64_t>(matrix.numCols()));
  const T made({rows, static_cast<std::int64_t>(matrix.numCols())}, std::move(levels),
               Array<Value, typename T::memory_space>(const_cast<Value*>(matrix.values.data()),
                                                      matrix.values.extent(0)),
               std::make_shared<Matrix>(matrix));
  if constexpr (std::is_const_v<Scalar>)
    return Tensor<const Value, F, Space>(made);
  else
    return made;
}

/// The arrays of a CrsMatrix as a CSR tensor, without a copy; the matrix's arrays are kept alive. The tensor
/// has the matrix's index types.
///
/// @throws FormatError if rows are not sorted, hold a column twice or reach beyond the extents
///                     (`validate`); with `trusted` as the first argument, nothing is checked
template <class Scalar, class Ordinal, class Device, class Traits, class SizeType>
auto from_crs_matrix(const KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, Traits, SizeType>& matrix) {
  return detail::checked(from_crs_matrix(trusted, matrix));
}

}  // namespace sporos

#endif
