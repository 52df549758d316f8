// SPDX-License-Identifier: Apache-2.0
/// @file sparse_rows.hpp
/// A sparse matrix by rows as plain arrays, for the host's kernels, and which tensors are stored that way.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "../../core/format.hpp"
#include "../../core/tensor.hpp"
#include "../../formats/structure.hpp"

namespace sporos {

/// A view of a matrix in compressed sparse rows: row r has the columns coordinates[positions[r]] to
/// coordinates[positions[r + 1] - 1], ascending and distinct, and the values at the same positions. It may
/// show some rows of a larger matrix, so positions[0] need not be 0.
template <class Value, class Position, class Coordinate>
struct SparseRows {
  using value_type = Value;
  using position_type = Position;
  using coordinate_type = Coordinate;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const Position* positions = nullptr;      // [rows + 1]
  const Coordinate* coordinates = nullptr;  // [nnz]
  const Value* values = nullptr;            // [nnz]

  std::int64_t nnz() const { return rows > 0 ? begin(rows) - begin(0) : 0; }
  std::int64_t begin(std::int64_t row) const { return static_cast<std::int64_t>(positions[row]); }
  std::int64_t length(std::int64_t row) const { return begin(row + 1) - begin(row); }
};

namespace detail {

/// The view of a matrix that the kernels use.
template <class Value, class F, class Space>
auto sparse_rows(const Tensor<Value, F, Space>& matrix) {
  using Columns = typename F::template level<1>;
  const auto columns = matrix.template level<1>().view();
  return SparseRows<Value, typename Columns::position_type, typename Columns::coordinate_type>{
      matrix.extent(0), matrix.extent(1), columns.positions, columns.coordinates, matrix.values().data()};
}

}  // namespace detail

/// A matrix in host memory whose rows are segments of ordered, distinct columns, such as CSR, and whose
/// values multiply and add as numbers do.
template <class T>
concept SparseRowsMatrix = AnyTensor<T> && detail::is_by_rows<typename std::remove_cvref_t<T>::format_type> &&
                           HostSpace<typename std::remove_cvref_t<T>::space_type> &&
                           !std::same_as<typename std::remove_cvref_t<T>::value_type, bool>;

}  // namespace sporos
