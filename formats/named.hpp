// SPDX-License-Identifier: Apache-2.0
/// @file named.hpp
/// The formats that have names; each is an alias for a composition of levels.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "../core/format.hpp"
#include "../core/space.hpp"
#include "../core/tensor.hpp"
#include "levels/compressed.hpp"
#include "levels/dense.hpp"
#include "levels/n_of_m.hpp"
#include "levels/singleton.hpp"

namespace sporos {

/// The order in which a format stores the modes of a tensor: `ModeOrder<2, 0, 1>` has mode 2 outermost.
template <int... Modes>
struct ModeOrder {};

namespace detail {

template <class Sequence>
struct NaturalOrder;
template <int... Modes>
struct NaturalOrder<std::integer_sequence<int, Modes...>> {
  using type = ModeOrder<Modes...>;
};
template <int Order>
using natural_order = typename NaturalOrder<std::make_integer_sequence<int, Order>>::type;

// A class and not an alias: nvcc resolves aliases before the host compiler sees them, and loses the pack.
template <int, class Type>
struct Repeat {
  using type = Type;
};

template <class Modes>
struct DenseOf;
template <int... Modes>
struct DenseOf<ModeOrder<Modes...>> {
  using type = Format<Map<Dim<Modes>...>, typename Repeat<Modes, Dense>::type...>;
};

template <class Modes, class Position, class Coordinate>
struct CsfOf;
template <int... Modes, class Position, class Coordinate>
struct CsfOf<ModeOrder<Modes...>, Position, Coordinate> {
  using type = Format<Map<Dim<Modes>...>, typename Repeat<Modes, Compressed<Position, Coordinate>>::type...>;
};

template <class Modes, class Position, class Coordinate, bool Unique>
struct CooOf;
template <int Only, class Position, class Coordinate, bool Unique>
struct CooOf<ModeOrder<Only>, Position, Coordinate, Unique> {
  using type = Format<Map<Dim<Only>>, Compressed<Position, Coordinate, true, Unique>>;
};
template <int First, int... Rest, class Position, class Coordinate, bool Unique>
  requires(sizeof...(Rest) > 0)
struct CooOf<ModeOrder<First, Rest...>, Position, Coordinate, Unique> {
  template <int Mode>
  static constexpr bool is_last = Mode == std::array<int, sizeof...(Rest)>{Rest...}[sizeof...(Rest) - 1];
  using type = Format<Map<Dim<First>, Dim<Rest>...>, Compressed<Position, Coordinate, true, false>,
                      Singleton<Coordinate, true, is_last<Rest> && Unique>...>;
};

}  // namespace detail

/// Row-major: the last mode is contiguous. Column-major: the first is.
using RowMajor = ModeOrder<0, 1>;
using ColumnMajor = ModeOrder<1, 0>;

/// A dense tensor of any order, its modes stored in the given order.
template <int Order, class Modes = detail::natural_order<Order>>
using DenseTensor = typename detail::DenseOf<Modes>::type;
using DenseVector = DenseTensor<1>;
template <class Modes = RowMajor>
using DenseMatrix = DenseTensor<2, Modes>;

/// A tensor of order 0: one value.
using Scalar = Format<Map<>>;

/// Without template arguments, a tensor is dense, of double, on the host: `Tensor D(3, 4)`, `Tensor x({n})`.
template <std::integral... Extent>
  requires(sizeof...(Extent) > 0)
Tensor(Extent...) -> Tensor<double, DenseTensor<static_cast<int>(sizeof...(Extent))>, Host>;
template <std::size_t Order>
Tensor(const std::int64_t (&)[Order]) -> Tensor<double, DenseTensor<static_cast<int>(Order)>, Host>;

/// A sparse vector: one compressed level.
template <std::integral Position = std::int64_t, std::integral Coordinate = std::int32_t>
using SparseVector = Format<Map<Dim<0>>, Compressed<Position, Coordinate>>;

/// Compressed sparse rows: all rows, the stored columns of each.
template <std::integral Position = std::int64_t, std::integral Coordinate = std::int32_t>
using CSR = Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<Position, Coordinate>>;

/// Compressed sparse columns: all columns, the stored rows of each.
template <std::integral Position = std::int64_t, std::integral Coordinate = std::int32_t>
using CSC = Format<Map<Dim<1>, Dim<0>>, Dense, Compressed<Position, Coordinate>>;

/// Doubly compressed sparse rows: only rows that hold something.
template <std::integral Position = std::int64_t, std::integral Coordinate = std::int32_t>
using DCSR = Format<Map<Dim<0>, Dim<1>>, Compressed<Position, Coordinate>, Compressed<Position, Coordinate>>;

/// Doubly compressed sparse columns.
template <std::integral Position = std::int64_t, std::integral Coordinate = std::int32_t>
using DCSC = Format<Map<Dim<1>, Dim<0>>, Compressed<Position, Coordinate>, Compressed<Position, Coordinate>>;

/// Coordinate format of any order: one array of coordinates per mode, sorted in the mode order.
/// With `Unique = false` a coordinate tuple may occur several times; its values then add up.
template <int Order, class Modes = detail::natural_order<Order>, std::integral Position = std::int64_t,
          std::integral Coordinate = std::int32_t, bool Unique = true>
using COO = typename detail::CooOf<Modes, Position, Coordinate, Unique>::type;

/// Compressed sparse fibers: every level compressed, a tree of coordinates; any mode order.
template <int Order, class Modes = detail::natural_order<Order>, std::integral Position = std::int64_t,
          std::integral Coordinate = std::int32_t>
using CSF = typename detail::CsfOf<Modes, Position, Coordinate>::type;

/// CSR whose rows store their columns in any order.
template <std::integral Position = std::int64_t, std::integral Coordinate = std::int32_t>
using UnorderedCSR = Format<Map<Dim<0>, Dim<1>>, Dense, Compressed<Position, Coordinate, false>>;

/// Block compressed sparse rows: a CSR of dense Rows x Columns blocks, each stored row-major.
template <std::int64_t Rows, std::int64_t Columns, std::integral Position = std::int64_t,
          std::integral Coordinate = std::int32_t>
using BCSR = Format<Map<Quotient<0, Rows>, Quotient<1, Columns>, Remainder<0, Rows>, Remainder<1, Columns>>,
                    Dense, Compressed<Position, Coordinate>, Dense, Dense>;

namespace detail {

template <int N, int M, std::int64_t L, int Along>
struct NofMFormat {
  static_assert(Along == 0 || Along == 1, "windows lie along mode 0 or 1 of a matrix");
  static_assert(L >= 1, "a unit has at least one element");
  using type = Format<Map<std::conditional_t<Along == 0, Quotient<0, M>, Quotient<0, L>>,
                          std::conditional_t<Along == 0, Quotient<1, L>, Quotient<1, M>>, Remainder<Along, M>,
                          Remainder<1 - Along, L>>,
                      Dense, Dense, NofM<N, M>, Dense>;
};
template <int N, int M, int Along>
struct NofMFormat<N, M, 1, Along> {
  static_assert(Along == 0 || Along == 1, "windows lie along mode 0 or 1 of a matrix");
  using type = Format<Map<std::conditional_t<Along == 0, Quotient<0, M>, Dim<0>>,
                          std::conditional_t<Along == 0, Dim<1>, Quotient<1, M>>, Remainder<Along, M>>,
                      Dense, Dense, NofM<N, M>>;
};

}  // namespace detail

/// N:M sparsity: mode `Along` of a matrix is cut into windows of M units, where a unit is L consecutive
/// elements of the other mode, and N units of each window are kept. The windows of the k x n operand B of
/// `A(i, k) * B(k, j)` lie along mode 0.
///
///     NM<2, 4, 3> of an 8 x 6 matrix       values    [k / M, n / L, N, L]: 2 x 2 tiles of 2 x 3
///         window 0:  rows 0 to 3           indices   [k / M, n / L, N]: the row of each unit in its window,
///         window 1:  rows 4 to 7                     8 bits
///
/// There are as many values as in a [k * N / M, n] matrix, and each window's part of a column group is
/// contiguous. If M does not divide k, or L does not divide n, the last windows and units reach beyond the
/// matrix and hold zeros there. After Ma et al., *NM-SpMM* (arXiv 2503.01253), section II-B, which stores the
/// values row by row.
template <int N, int M, std::int64_t L = 1, int Along = 0>
using NM = typename detail::NofMFormat<N, M, L, Along>::type;

/// 2:4 sparsity along the rows of an m x k matrix, as NVIDIA's sparse tensor cores require: two of every four
/// consecutive elements of a row. Values are [m, k / 2], indices of 2 bits each [m, k / 2].
using TwoFour = Format<Map<Dim<0>, Quotient<1, 4>, Remainder<1, 4>>, Dense, Dense, NofM<2, 4, 2>>;

namespace detail {

/// A dimension expression, of the mode that is `By` modes further on.
template <class Expression, int By>
struct MovedMode;
template <int D, int By>
struct MovedMode<Dim<D>, By> {
  using type = Dim<D + By>;
};
template <int D, std::int64_t Block, int By>
struct MovedMode<Quotient<D, Block>, By> {
  using type = Quotient<D + By, Block>;
};
template <int D, std::int64_t Block, int By>
struct MovedMode<Remainder<D, Block>, By> {
  using type = Remainder<D + By, Block>;
};

template <class F>
struct BatchesOf;
template <class... Expressions, class... Levels>
struct BatchesOf<Format<Map<Expressions...>, Levels...>> {
  static_assert(Format<Map<Expressions...>, Levels...>::order == 2, "batches are of matrices");
  using type = Format<Map<Dim<0>, typename MovedMode<Expressions, 1>::type...>, Dense, Levels...>;
};

}  // namespace detail

/// Batches of matrices of one format and the same extents: a tensor of order 3 whose outermost level, a dense
/// one, is the number of the matrix.
///
///     Batches<CSR<>>     = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Dense, Compressed<>>
///     Batches<NM<2, 4>>  = Format<Map<Dim<0>, Quotient<1, 4>, Dim<2>, Remainder<1, 4>>, Dense, Dense, Dense,
///                                 NofM<2, 4>>
///
/// `Batches<DenseMatrix<>>` is `DenseTensor<3>`. `slice` (formats/slice.hpp) gives one of the matrices.
template <class F>
using Batches = typename detail::BatchesOf<F>::type;

/// The format of the matrices in batches; `is` is false for tensors that are no batches of matrices.
template <class F>
struct BatchTraits {
  static constexpr bool is = false;
  using matrix = F;
};
template <class... Expressions, class Matrix, class... Levels>
  requires(((Expressions::mode >= 1 && Expressions::mode <= 2) && ...) && ((Expressions::mode == 2) || ...))
struct BatchTraits<Format<Map<Dim<0>, Expressions...>, Dense, Matrix, Levels...>> {
  static constexpr bool is = true;
  using matrix = Format<Map<typename detail::MovedMode<Expressions, -1>::type...>, Matrix, Levels...>;
};

/// N, M and L of a format, the mode along which its windows lie, and the bits of an index; `is` is false for
/// other formats.
template <class F>
struct NmTraits {
  static constexpr bool is = false;
  static constexpr int bits = 0;
  static constexpr std::int64_t unit = 0;
};
template <int N, int M, std::int64_t L, int Along, int Bits = 8>
struct NmTraitsOf {
  static constexpr bool is = true;
  static constexpr int kept = N, window = M, along = Along;
  static constexpr int bits = Bits;
  static constexpr std::int64_t unit = L;
};
template <std::int64_t M, std::int64_t L, int N, int Window>
struct NmTraits<Format<Map<Quotient<0, M>, Quotient<1, L>, Remainder<0, M>, Remainder<1, L>>, Dense, Dense,
                       NofM<N, Window>, Dense>> : NmTraitsOf<N, Window, L, 0> {};
template <std::int64_t M, std::int64_t L, int N, int Window>
struct NmTraits<Format<Map<Quotient<0, L>, Quotient<1, M>, Remainder<1, M>, Remainder<0, L>>, Dense, Dense,
                       NofM<N, Window>, Dense>> : NmTraitsOf<N, Window, L, 1> {};
template <std::int64_t M, int N, int Window, int Bits>
struct NmTraits<Format<Map<Quotient<0, M>, Dim<1>, Remainder<0, M>>, Dense, Dense, NofM<N, Window, Bits>>>
    : NmTraitsOf<N, Window, 1, 0, Bits> {};
template <std::int64_t M, int N, int Window, int Bits>
struct NmTraits<Format<Map<Dim<0>, Quotient<1, M>, Remainder<1, M>>, Dense, Dense, NofM<N, Window, Bits>>>
    : NmTraitsOf<N, Window, 1, 1, Bits> {};

}  // namespace sporos
