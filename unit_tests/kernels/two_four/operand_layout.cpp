// SPDX-License-Identifier: Apache-2.0
/// @file operand_layout.cpp
/// How the operands of four warps lie in shared memory, by role and operand.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <sporos/kernels/cuda/operand_layout.hpp>
#include <type_traits>

namespace sporos::gpu {
namespace {

template <Role R, Operand O, bool IsByRows, int Width, int Depth, class Instruction = Wgmma>
using OfHalfs = OperandLayout<R, O, half, IsByRows, Width, Depth, Instruction>;

/// Where an instruction looks for element (across, k) of the matrix that a description describes, as in
/// the section "Strides" of the PTX ISA, with lines of 128 bytes of 16-bit elements. The description's fields
/// are in units of 16 bytes. Both sides swizzle by address, which is left out.
std::uint32_t place_of_instruction(std::uint64_t description, bool is_transposed, int across, int k) {
  const auto field = [&](int bit) { return static_cast<int>(description >> bit & 0x3fff) * 16; };
  return static_cast<std::uint32_t>(
      field(0) + (is_transposed ? across / 64 * field(16) + k / 8 * field(32) + k % 8 * 128 + across % 64 * 2
                                : across / 8 * field(32) + across % 8 * 128 + k * 2));
}

/// Instructions find each element of a tile where the copy engine has put it.
/// @param step  elements that an instruction multiplies along the sum
template <class Layout, bool IsA>
void expect_copies_are_found(int width, int step) {
  constexpr std::uint32_t at = 0x12400;  // a multiple of 1024
  int elements = 0;
  for (int box = 0; box < Layout::boxes; ++box)
    for (int line = 0; line < Layout::box_lines; ++line)
      for (int column = 0; column < Layout::box_columns; ++column, ++elements) {
        const int i = Layout::row(0, 0) + line, j = Layout::column(box, 0, 0) + column;
        const int across = Layout::is_transposed ? j : i, k = Layout::is_transposed ? i : j;
        ASSERT_TRUE(across < width && k < Layout::depth);
        const std::uint64_t description =
            Layout::describe(at, IsA ? across / 64 : 0) + Layout::step(k / step);
        ASSERT_EQ(
            place_of_instruction(description, Layout::is_transposed, IsA ? across % 64 : across, k % step),
            at + static_cast<std::uint32_t>(box * Layout::box_bytes + line * 128 + column * 2));
      }
  EXPECT_EQ(elements, width * Layout::depth);
  EXPECT_EQ(Layout::bytes, elements * 2);
}

template <Role R, Operand O, bool IsByRows, class Instruction, int Width, int Depth>
void expect_copies_are_found() {
  using Layout = OfHalfs<R, O, IsByRows, Width, Depth, Instruction>;
  expect_copies_are_found<Layout, O == Operand::a>(Width, Layout::keeps_half ? 16 : Instruction::k);
}

TEST(OperandLayout, InstructionsFindWhatTheCopyEngineCopies) {
  expect_copies_are_found<Role::dense, Operand::a, true, Wgmma, 128, 64>();
  expect_copies_are_found<Role::dense, Operand::a, false, Wgmma, 128, 64>();
  expect_copies_are_found<Role::values, Operand::a, false, Wgmma, 192, 64>();
  expect_copies_are_found<Role::dense, Operand::b, true, Wgmma, 256, 64>();
  expect_copies_are_found<Role::dense, Operand::b, false, Wgmma, 256, 64>();
  expect_copies_are_found<Role::values, Operand::a, true, WgmmaSparse, 192, 128>();
  expect_copies_are_found<Role::dense, Operand::b, true, WgmmaSparse, 192, 64>();
  expect_copies_are_found<Role::dense, Operand::b, false, WgmmaSparse, 192, 64>();
}

TEST(OperandLayout, FactorsWhoseLinesRunAcrossTheSumAreTransposed) {
  static_assert(!OfHalfs<Role::dense, Operand::a, true, 64, 64>::is_transposed);
  static_assert(OfHalfs<Role::dense, Operand::a, false, 64, 64>::is_transposed);
  static_assert(OfHalfs<Role::dense, Operand::b, true, 64, 64>::is_transposed);
  static_assert(!OfHalfs<Role::dense, Operand::b, false, 64, 64>::is_transposed);
  static_assert(!OfHalfs<Role::values, Operand::a, true, 64, 128, WgmmaSparse>::is_transposed);
}

/// The same tile of a: of values as they are, of 2:4 values, and of their metadata.
TEST(OperandLayout, RolesOfOneOperandHaveLayoutsOfTheirOwn) {
  using Values = OfHalfs<Role::values, Operand::a, true, 128, 64>;
  static_assert(std::is_same_v<Values::Swizzle, Swizzle128>);
  static_assert(Values::bytes == 128 * 64 * 2 && Values::aligned_columns == 8);
  static_assert(Values::depth == 64 && Values::column(0, 128, 192) == 192 && Values::row(128, 192) == 128);
  static_assert(Values::step(1) == SharedMatrix::offset(16 * 2));

  using Kept = OfHalfs<Role::values, Operand::a, true, 128, 128, WgmmaSparse>;
  static_assert(std::is_same_v<Kept::Swizzle, Swizzle128>);
  static_assert(Kept::bytes == 128 * 64 * 2 && Kept::aligned_columns == 16);
  static_assert(Kept::depth == 64 && Kept::column(0, 128, 192) == 192 && Kept::row(128, 192) == 128);
  static_assert(Kept::step(1) == SharedMatrix::offset(16 * 2));

  using Metadata = OfHalfs<Role::metadata, Operand::a, true, 128, 512, WgmmaSparse>;
  static_assert(std::is_same_v<Metadata::Swizzle, SwizzledRows<4>>);
  static_assert(Metadata::bytes == 128 * 512 / 8 && Metadata::aligned_columns == 128);
  static_assert(Metadata::box_lines == 128 && Metadata::box_columns == 512 / 16 && Metadata::boxes == 1);
  static_assert(Metadata::depth == 32 && Metadata::column(0, 128, 64) == 64 && Metadata::row(128, 64) == 128);
  using Short = OfHalfs<Role::metadata, Operand::a, true, 128, 256, WgmmaSparse>;
  static_assert(std::is_same_v<Short::Swizzle, SwizzledRows<2>> && Short::bytes == Metadata::bytes / 2);
}

/// Of b by rows, 64 columns make a box; by columns, all of them do.
TEST(OperandLayout, RightFactorsAreCopiedInBoxesOf64ElementsPerLine) {
  using ByRows = OfHalfs<Role::dense, Operand::b, true, 256, 64>;
  static_assert(ByRows::boxes == 4 && ByRows::box_lines == 64 && ByRows::box_columns == 64);
  static_assert(ByRows::column(2, 512, 192) == 512 + 2 * 64 && ByRows::row(512, 192) == 192);
  static_assert(ByRows::step(1) == SharedMatrix::offset(16 * 128));
  using ByColumns = OfHalfs<Role::dense, Operand::b, false, 256, 64>;
  static_assert(ByColumns::boxes == 1 && ByColumns::box_lines == 256 && ByColumns::box_columns == 64);
  static_assert(ByColumns::column(0, 512, 192) == 192 && ByColumns::row(512, 192) == 512);
  static_assert(ByColumns::step(1) == SharedMatrix::offset(16 * 2));
  static_assert(ByRows::bytes == ByColumns::bytes && ByRows::aligned_columns == ByColumns::aligned_columns);
}

template <class Layout, class T>
void expect_lines_share_no_bank() {
  std::set<int> banks;
  for (int line = 0; line < 8; ++line)
    banks.insert(line * Layout::pitch * static_cast<int>(sizeof(T)) % 128 / operand_alignment);
  EXPECT_EQ(banks.size(), 8u);
}
TEST(OperandLayout, PiecesOfEightLinesOfAResultLieInDifferentBanks) {
  using ByRows = OperandLayout<Role::dense, Operand::d, half, true, 64, 32>;
  static_assert(ByRows::lines == 64 && ByRows::line == 32 && ByRows::bytes == 64 * (32 * 2 + 16));
  using ByColumns = OperandLayout<Role::dense, Operand::d, half, false, 64, 32>;
  static_assert(ByColumns::lines == 32 && ByColumns::line == 64 && ByColumns::bytes == 32 * (64 * 2 + 16));
  using Floats = OperandLayout<Role::dense, Operand::d, float, true, 64, 64>;
  static_assert(Floats::aligned_columns == 4 && Floats::bytes == 64 * (64 * 4 + 16));
  expect_lines_share_no_bank<ByRows, half>();
  expect_lines_share_no_bank<ByColumns, half>();
  expect_lines_share_no_bank<Floats, float>();
}

}  // namespace
}  // namespace sporos::gpu
