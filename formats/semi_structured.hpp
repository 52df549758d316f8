// SPDX-License-Identifier: Apache-2.0
/// @file semi_structured.hpp
/// Converts 2:4 sparse matrices to the form of PyTorch's semi-structured tensors, and back.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "../core/array.hpp"
#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "../core/value.hpp"
#include "named.hpp"
#include "validate.hpp"
#include "wrap.hpp"

namespace sporos {

/// The arrays of PyTorch's SparseSemiStructuredTensor for CUTLASS: its `packed` and `meta`.
///
/// 16 bits of metadata describe 16 neighbouring columns of a row: for every four columns, 4 bits say which
/// two are kept, as in TwoFour. But they are stored in the order in which matrix instructions of 32 rows load
/// them (CUTLASS, tools/util/include/cutlass/util/host_reorder.h, in the layout ColumnMajorInterleaved<2>).
template <class Value, class MemorySpace>
struct SemiStructured {
  Extents<2> extents{};                        ///< extents of the matrix: m, k
  Array<Value, MemorySpace> values;            ///< [m, k / 2]
  Array<std::uint16_t, MemorySpace> metadata;  ///< [m, k / 16], reordered
};

namespace detail {

/// Where the metadata of columns 16 c to 16 c + 15 of row r is stored, in a matrix of `rows` rows and an even
/// number of such groups of columns.
KOKKOS_INLINE_FUNCTION constexpr std::int64_t place_of_metadata(std::int64_t rows, std::int64_t r,
                                                                std::int64_t c) {
  // Rows r, r + 8, r + 16 and r + 24 of 32 become neighbours; in each 2 x 2 block, two elements change
  // places.
  std::int64_t row = r / 32 * 32 + r % 8 * 4 + r % 32 / 8, column = c;
  if (row % 2 == 0 && column % 2 == 1) {
    ++row;
    --column;
  } else if (row % 2 == 1 && column % 2 == 0) {
    --row;
    ++column;
  }
  return column / 2 * rows * 2 + row * 2 + column % 2;
}

/// Copies metadata from the order of TwoFour to that of PyTorch, or back.
template <bool ToTwoFour, class From, class To>
struct ReorderMetadata {
  std::int64_t rows, columns;  // a column here is 16 of the matrix
  From from;
  To to;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const std::int64_t place = place_of_metadata(rows, at / columns, at % columns);
    if constexpr (ToTwoFour) {
      to[at * 2] = static_cast<std::uint8_t>(from[place] & 0xff);
      to[at * 2 + 1] = static_cast<std::uint8_t>(from[place] >> 8);
    } else {
      to[place] = static_cast<std::uint16_t>(from[at * 2] | from[at * 2 + 1] << 8);
    }
  }
};

template <bool ToTwoFour, class Space, class From, class To>
void reorder_metadata(std::int64_t rows, std::int64_t columns, const From* from, To* to) {
  Kokkos::parallel_for("sporos::reorder metadata",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, rows * columns),
                       ReorderMetadata<ToTwoFour, const From*, To*>{rows, columns, from, to});
  Kokkos::fence("sporos::reorder metadata");
}

inline void check_semi_structured(const Extents<2>& extents) {
  if (extents[0] % 32 != 0 || extents[1] % 64 != 0)
    throw RangeError(
        text("a semi-structured tensor of PyTorch has a multiple of 32 rows and of 64 columns, not ",
             to_string(extents)));
}

}  // namespace detail

/// The arrays of a 2:4 matrix in the form of PyTorch's semi-structured tensors. The values are shared, the
/// metadata is a copy.
/// @throws RangeError unless the numbers of rows and columns are multiples of 32 and 64, as PyTorch requires
template <TensorValue Value, ExecutionSpace Space>
  requires is_narrow_float_v<Value>
auto to_semi_structured(const Tensor<Value, TwoFour, Space>& t) {
  using Memory = typename Space::memory_space;
  detail::check_semi_structured(t.extents());
  const std::int64_t rows = t.extent(0), columns = t.extent(1) / 16;
  SemiStructured<Value, Memory> out{t.extents(), t.values(),
                                    make_array<std::uint16_t, Memory>("sporos::metadata", rows * columns)};
  detail::reorder_metadata<false, Space>(rows, columns, t.template level<2>().indices.data(),
                                         out.metadata.data());
  return out;
}

/// The 2:4 matrix of a semi-structured tensor of PyTorch. The values are shared, the metadata is a copy.
/// @throws RangeError   unless the numbers of rows and columns are multiples of 32 and 64
/// @throws FormatError  if the metadata does not name two different elements in ascending order
template <class Space, TensorValue Value>
  requires is_narrow_float_v<Value>
Tensor<Value, TwoFour, Space> from_semi_structured(
    const SemiStructured<Value, typename Space::memory_space>& matrix) {
  using Memory = typename Space::memory_space;
  detail::check_semi_structured(matrix.extents);
  const std::int64_t rows = matrix.extents[0], columns = matrix.extents[1] / 16;
  if (static_cast<std::int64_t>(matrix.metadata.extent(0)) != rows * columns)
    throw FormatError(text("a semi-structured tensor of ", to_string(matrix.extents), " has ", rows * columns,
                           " elements of metadata, not ", matrix.metadata.extent(0)));
  const auto indices = make_array<std::uint8_t, Memory>("sporos::NofM indices", rows * columns * 2);
  detail::reorder_metadata<true, Space>(rows, columns, matrix.metadata.data(), indices.data());
  return wrap<TwoFour, Space>(matrix.extents, indices, matrix.values);
}

}  // namespace sporos
