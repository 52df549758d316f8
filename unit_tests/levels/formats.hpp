// SPDX-License-Identifier: Apache-2.0
/// @file formats.hpp
/// Formats of bitmap levels, and the lists in which statements over them are tested.
#pragma once

// Nothing else in this program assembles the formats of the other statements.
#define SPOROS_TEST_INSTANTIATES

#include <cstddef>
#include <cstdint>

#include "bitmap.hpp"
#include "kernels/statements.hpp"

namespace sporos::test {

using BitmapVector = Format<Map<Dim<0>>, Bitmap<>>;
using BitmapRows = Format<Map<Dim<0>, Dim<1>>, Dense, Bitmap<>>;
using BitmapColumns = Format<Map<Dim<1>, Dim<0>>, Dense, Bitmap<>>;
using BitmapTree = Format<Map<Dim<0>, Dim<1>>, Bitmap<>, Bitmap<>>;
using BitmapBelowSparse = Format<Map<Dim<1>, Dim<0>>, Compressed<>, Bitmap<std::int32_t>>;
using SparseBelowBitmap = Format<Map<Dim<0>, Dim<1>>, Bitmap<>, Compressed<>>;
using DenseBelowBitmap = Format<Map<Dim<0>, Dim<1>>, Bitmap<>, Dense>;
using BitmapBlocks = Format<Map<Quotient<0, 2>, Quotient<1, 3>, Remainder<0, 2>, Remainder<1, 3>>, Dense,
                            Bitmap<>, Dense, Dense>;
using BitmapCube = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Bitmap<>, Bitmap<>, Bitmap<>>;
using BitmapFibers = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Compressed<>, Bitmap<>>;
using BitmapCube201 = Format<Map<Dim<2>, Dim<0>, Dim<1>>, Bitmap<>, Dense, Bitmap<>>;

template <std::size_t Order>
struct BitmapFormats {
  using type = formats_of_order<Order>;
};
template <>
struct BitmapFormats<1> {
  using type = Formats<DenseVector, SparseVector<>, BitmapVector>;
};
template <>
struct BitmapFormats<2> {
  using type = Formats<BitmapRows, BitmapColumns, BitmapTree, BitmapBelowSparse, SparseBelowBitmap,
                       DenseBelowBitmap, BitmapBlocks, CSR<>, RowMajorMatrix>;
};
template <>
struct BitmapFormats<3> {
  using type = Formats<BitmapCube, BitmapFibers, BitmapCube201, CSF<3>>;
};

/// A Notation over these formats.
template <Letters Result, Letters... Operands>
struct BitmapNotation : Notation<Result, Operands...> {
  template <std::size_t Order>
  using formats = typename BitmapFormats<Order>::type;
};

}  // namespace sporos::test
