// SPDX-License-Identifier: Apache-2.0
/// @file operand_layout.hpp
/// How the operands of the matrix instructions of four warps lie in shared memory, as types: the layout of an
/// array follows from its role in its tensor and from the operand that it becomes.
///
/// These types depend on numbers alone and are tested on the host. `operand_map` (tensor_map.hpp) describes
/// an array to the copy engine by its layout, and `copy_operand` (wgmma_tile.hpp) has tiles of it copied.
///
/// To give values and metadata layouts of their own, by role and operand, is the method of the sparse dialect
/// of OpenAI's Triton ("Sparse GPU Encodings").
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "../../core/level.hpp"
#include "../../core/value.hpp"
#include "wgmma_traits.hpp"

namespace sporos::gpu {

/// The operands of a matrix instruction d += a b.
enum class Operand { a, b, d };

/// The copy engine reads lines that begin at multiples of this many bytes.
inline constexpr int operand_alignment = 16;

/// How a tile of an operand lies in shared memory: Width rows of a, or columns of b, for Depth of the indices
/// that are summed over; of d, Width x Depth elements.
///
///     role            operand  one line of it                          pieces of 16 bytes in a line
///     dense, values   a, b     64 neighbouring elements                Swizzle128
///     metadata        a        that of 256 or 512 columns of a row     SwizzledRows
///     dense           d        a row, or a column                      in order, and one piece of padding
///
/// A matrix is read in place if it and its lines begin at multiples of `operand_alignment` bytes, as they do
/// if lines belong to a multiple of `aligned_columns` columns.
/// @tparam R            role of the array in its tensor (core/components.hpp); what the values of a sparse
///                      matrix are packed or expanded to has their role
/// @tparam T            type of the values, half or bfloat16
/// @tparam IsByRows     whether the operand is stored by rows
/// @tparam Instruction  Wgmma, or WgmmaSparse, for which the values of a are two of every four columns
template <Role R, Operand O, class T, bool IsByRows, int Width, int Depth, class Instruction = Wgmma>
struct OperandLayout {
  static_assert(O != Operand::d && (R == Role::dense || R == Role::values),
                "only dense arrays and values are factors; metadata belongs to the left one, of WgmmaSparse");
  static_assert(is_narrow_float_v<T>, "the factors of Wgmma and WgmmaSparse have 16-bit values");
  using Swizzle = Swizzle128;
  /// The instruction's flag for an operand whose lines run across the sum instead of along it.
  static constexpr bool is_transposed = (O == Operand::a) != IsByRows;
  /// Whether one element is stored for two indices of the sum.
  static constexpr bool keeps_half = R == Role::values && std::is_same_v<Instruction, WgmmaSparse>;
  static_assert(!keeps_half || (O == Operand::a && IsByRows), "2:4 values are the left factor, by rows");
  static constexpr int aligned_columns =
      operand_alignment / static_cast<int>(sizeof(T)) * (keeps_half ? 2 : 1);

  static constexpr int depth = keeps_half ? Depth / 2 : Depth;  ///< elements stored for Depth indices

  /// The copy engine copies boxes of so many lines and elements of each.
  static constexpr int box_lines = is_transposed ? depth : Width,
                       box_columns = Swizzle::row_bytes / static_cast<int>(sizeof(T));
  static constexpr int boxes = (is_transposed ? Width : depth) / box_columns;
  static constexpr int box_bytes = box_lines * Swizzle::row_bytes, bytes = boxes * box_bytes;
  static_assert(is_transposed || boxes == 1, "lines along the sum hold all of its part");
  static_assert(box_bytes % Swizzle::alignment == 0, "a box begins where the swizzle begins");

  /// Where a box begins in the array that it is copied from.
  /// @param across  the first row of a, or column of b
  /// @param k       the first element along the sum: a multiple of `depth`
  KOKKOS_INLINE_FUNCTION static constexpr int column(int box, int across, int k) {
    return is_transposed ? across + box * box_columns : k;
  }
  KOKKOS_INLINE_FUNCTION static constexpr int row(int across, int k) { return is_transposed ? k : across; }

  /// Describes it to the instructions; of a, the 64 rows of a group of four warps.
  /// @param at  its address in shared memory
  KOKKOS_INLINE_FUNCTION static constexpr std::uint64_t describe(std::uint32_t at, int group = 0) {
    constexpr int bytes_of_group = is_transposed ? box_bytes : Instruction::m * Swizzle::row_bytes;
    return SharedMatrix::describe(at + static_cast<std::uint32_t>(group * bytes_of_group),
                                  SharedMatrix::Lines::of_128_bytes,
                                  O == Operand::b && is_transposed ? box_bytes : 0);
  }
  /// What to add to the description for instruction `number`, each for Instruction::k indices.
  KOKKOS_INLINE_FUNCTION static constexpr std::uint64_t step(int number) {
    constexpr int stored = keeps_half ? Instruction::k / 2 : Instruction::k;
    constexpr int bytes_of_step = stored * (is_transposed ? Swizzle::row_bytes : static_cast<int>(sizeof(T)));
    return SharedMatrix::offset(static_cast<std::uint32_t>(number * bytes_of_step));
  }
};

/// The metadata of 2:4 rows, a bit for each column. Threads load it to registers, 16 bytes of a row at a
/// time.
template <class T, int Width, int Depth>
struct OperandLayout<Role::metadata, Operand::a, T, true, Width, Depth, WgmmaSparse> {
  static constexpr int aligned_columns = operand_alignment * 8;
  using Swizzle = SwizzledRows<Depth / aligned_columns>;

  static constexpr int depth = Depth / 16;  ///< elements, of 16 bits, stored for Depth columns
  static constexpr int box_lines = Width, box_columns = depth, boxes = 1;
  static constexpr int box_bytes = box_lines * Swizzle::row_bytes, bytes = box_bytes;

  KOKKOS_INLINE_FUNCTION static constexpr int column(int /*box*/, int /*across*/, int k) { return k; }
  KOKKOS_INLINE_FUNCTION static constexpr int row(int across, int /*k*/) { return across; }
};

/// Sums on their way to the result. Threads store them piece by piece, and lines are padded, by a piece, so
/// that pieces of neighbouring lines lie in different banks.
/// @tparam T  type in which they are stored
template <class T, bool IsByRows, int Rows, int Columns, class Instruction>
struct OperandLayout<Role::dense, Operand::d, T, IsByRows, Rows, Columns, Instruction> {
  static constexpr int aligned_columns = operand_alignment / static_cast<int>(sizeof(T));
  static constexpr int lines = IsByRows ? Rows : Columns, line = IsByRows ? Columns : Rows;
  static constexpr int pitch = line + aligned_columns;  ///< elements from one line to the next
  static constexpr int bytes = lines * pitch * static_cast<int>(sizeof(T));
};

}  // namespace sporos::gpu
