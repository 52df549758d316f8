// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// The product of a sparse matrix in CSR and a dense one on CUDA cores: any values, deterministic.
///
/// A group of lanes computes a row of the result, or a panel of its columns, 16 bytes of a row of B a lane:
/// it reads the coordinates and values of four nonzeros at a time, then the four rows of B. Where a row of B
/// takes fewer lanes than a warp has, and rows of A are long or few, several groups share a row of A. Rows
/// that are longer than others are cut into pieces (long_rows.hpp), which are started first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "../../../core/value.hpp"
#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "long_rows.hpp"

namespace sporos::gpu {

/// How a product is dealt to lanes, and where rows are cut. The numbers are those that were best on an H200.
struct RowsShape {
  int columns = 1;           ///< of a lane
  int lanes = 1;             ///< of a panel of columns, a power of two
  int parts = 1;             ///< of a row's nonzeros, which groups of lanes of one warp add up
  int piece_parts = 1;       ///< the same of a piece of a long row
  std::int64_t panels = 1;   ///< of all columns
  std::int64_t longest = 0;  ///< the most nonzeros of a row that is not cut

  template <class A, class B, class Out>
  static RowsShape of(const A& a, std::int64_t columns, const B* b, const Out* c, int multiprocessors) {
    RowsShape out;
    constexpr int widest = widest_pack<B>;
    for (const int count : {widest, widest / 2})
      if (count > 1 && out.columns == 1 && columns % count == 0 && is_at_multiple(b, count) &&
          is_at_multiple(c, std::min(count, widest_pack<Out>)))
        out.columns = count;
    const auto packs = static_cast<double>(std::max<std::int64_t>(1, ceil_div(columns, out.columns)));
    while (out.lanes < warp_size && out.lanes < packs) out.lanes *= 2;

    // Lanes that run at once, and of all rows; nonzeros of a lane and of a row, on average.
    const double at_once = 32.0 * warp_size * multiprocessors;
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, a.rows));
    const auto nonzeros = static_cast<double>(a.nonzeros);
    const double share = nonzeros * packs / at_once, average = nonzeros / rows;
    // Fewer columns a warp, and more warps, where rows are few.
    while (out.lanes > 8 && average >= 16.0 * out.parts && 2 * rows * packs * out.parts < at_once) {
      out.lanes /= 2;
      out.parts *= 2;
    }
    out.panels = ceil_div(columns, out.lanes * out.columns);
    out.piece_parts = warp_size / out.lanes;
    while (out.parts < out.piece_parts && average >= 16.0 * out.parts && rows * packs * out.parts < at_once)
      out.parts *= 2;
    double longest = std::clamp(share / 2, 64.0, 256.0);
    // Cutting most rows pays off only where there are too few of them.
    if (average > longest / 2) longest = rows * packs * out.parts < 0.6 * at_once ? 256 : 2 * average;
    out.longest = static_cast<std::int64_t>(std::min(longest, 1e9)) / 4 * 4;
    return out;
  }

 private:
  template <class T>
  static bool is_at_multiple(const T* at, int count) {
    return reinterpret_cast<std::uintptr_t>(at) % (static_cast<std::uintptr_t>(count) * sizeof(T)) == 0;
  }
};

/// C = f(A B), or C += f(A B).
/// @tparam Compute  the type that products and sums are formed in
/// @tparam E        the epilogue f: kernels/epilogue/epilogue.hpp
template <class Compute, class A, class B, class Out, class E>
struct RowsProduct {
  using compute = Compute;
  using dense_type = B;
  using value_type = typename A::value_type;
  using coordinate_type = typename A::coordinate_type;
  using result_type = Out;
  static constexpr bool epilogue_is_identity = E::is_identity;

  A a;                          ///< [rows, inner], a CsrView
  std::int64_t columns = 0;     ///< of B and C
  const B* b = nullptr;         ///< [inner, columns]
  std::uint32_t row_bytes = 0;  ///< of B
  Out* c = nullptr;             ///< [rows, columns]
  bool accumulates = false;
  E epilogue;
  LongRows long_rows{};
  RowsShape shape{};
  std::int64_t piece_blocks = 0;  ///< blocks for pieces of long rows; those behind them compute rows
  std::int64_t first_panel = 0;   ///< of those that a launch computes
  bool has_packs = false;         ///< whether coordinates and values can be read four at a time
};

/// How lanes read B and write C.
/// @tparam Count  columns of a lane, which it reads at once
template <int Count>
struct RowsConfig {
  static constexpr int columns = Count;
  static constexpr int threads = 128;
  static constexpr int blocks = 8;        ///< of a multiprocessor, at least
  static constexpr int packed_from = 32;  ///< nonzeros of a row whose coordinates are read as packs
};

namespace detail {

/// Four neighbouring elements at an address that is a multiple of their packs' size.
template <class T>
__device__ __forceinline__ void load_four(const T* from, T (&to)[4]) {
  constexpr int count = std::min(4, widest_pack<T>);
#pragma unroll
  for (int part = 0; part < 4; part += count) {
    const auto pack = load_constant(reinterpret_cast<const Pack<T, count>*>(from + part));
#pragma unroll
    for (int e = 0; e < count; ++e) to[part + e] = pack.at[e];
  }
}
/// The first `count` of four neighbouring elements; the others keep what they are.
template <class T>
__device__ __forceinline__ void load_some(const T* from, int count, T (&to)[4]) {
#pragma unroll
  for (int e = 0; e < 4; ++e)
    if (e < count) to[e] = from[e];
}

/// Nonzeros of a row as a group of lanes reads them, and the sums of their products with rows of B.
template <class Config, class P>
class RowSums {
  using Compute = typename P::compute;
  using B = typename P::dense_type;
  using Value = std::remove_const_t<typename P::value_type>;
  using Coordinate = std::remove_const_t<typename P::coordinate_type>;
  using Row = Pack<B, Config::columns>;

 public:
  using Sums = Pack<Compute, Config::columns>;

  __device__ RowSums(const P& in, std::int64_t column)
      : b_(reinterpret_cast<const char*>(in.b + column)), stride_(in.row_bytes) {}

  /// Adds the products of the nonzeros [begin, end), or one of several parts of them.
  __device__ __forceinline__ void add(const P& in, std::int64_t begin, std::int64_t end, int part,
                                      int parts) {
    const Coordinate* const coordinates = in.a.coordinates + begin;
    const Value* const values = in.a.values + begin;
    const int count = static_cast<int>(end - begin);
    if (in.has_packs && count >= Config::packed_from) {
      const int head = static_cast<int>(-begin & 3);  // packs begin at multiples of four
      if (part == 0 && head > 0) add_some(coordinates, values, head);
      add_steps<true>(coordinates + head, values + head, count - head, part, parts);
    } else {
      add_steps<false>(coordinates, values, count, part, parts);
    }
  }

  /// Adds up the sums of the parts, `lanes` lanes each, of a row: in each of its lanes.
  __device__ __forceinline__ void add_parts(unsigned mask, int lanes, int parts) {
    for (int step = lanes; step < lanes * parts; step *= 2)
#pragma unroll
      for (int c = 0; c < Config::columns; ++c)
        sums.at[c] = plus(sums.at[c], shuffle_among(mask, sums.at[c], lane_id() ^ step, warp_size));
  }

  Sums sums{};

 private:
  /// Whether the rows of B of eight nonzeros are on their way at once: floats gain 4 % on average and up to
  /// 26, halfs nothing, and doubles, of which a lane has two columns, lose 8 %.
  static constexpr bool takes_eight = sizeof(B) == 4;

  /// Four neighbouring nonzeros.
  struct Four {
    Coordinate coordinates[4] = {};
    Value values[4] = {};
  };

  __device__ __forceinline__ Row row_of(Coordinate coordinate) const {
    return load_constant(reinterpret_cast<const Row*>(
        b_ +
        static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Coordinate>>(coordinate)) * stride_));
  }
  __device__ __forceinline__ void add_row(Compute factor, const Row& row) {
#pragma unroll
    for (int c = 0; c < Config::columns; ++c)
      sums.at[c] =
          plus(sums.at[c], times(factor, static_cast<Compute>(static_cast<accumulate_t<B>>(row.at[c]))));
  }
  __device__ static Compute factor_of(Value value) {
    return static_cast<Compute>(static_cast<accumulate_t<Value>>(value));
  }

  /// Adds one of several parts of the products of `count` nonzeros: every parts-th four of them.
  template <bool ArePacks>
  __device__ __forceinline__ void add_steps(const Coordinate* coordinates, const Value* values, int count,
                                            int part, int parts) {
    const auto load = [&](int from, Four& to) {
      if constexpr (ArePacks) {
        load_four(coordinates + from, to.coordinates);
        load_four(values + from, to.values);
      } else {
        load_some(coordinates + from, 4, to.coordinates);
        load_some(values + from, 4, to.values);
      }
    };
    const int last = count - 4, step = 4 * parts;
    int at = 4 * part;
    if (ArePacks && takes_eight && at + step <= last) {
      Four fours[2];
      load(at, fours[0]);
      load(at + step, fours[1]);
      for (; at + 3 * step <= last; at += 2 * step)
        add_fours(fours, [&] {
          load(at + 2 * step, fours[0]);
          load(at + 3 * step, fours[1]);
        });
      add_fours(fours, [] {});
      at += 2 * step;
    }
    if (at <= last) {
      Four fours[1];
      load(at, fours[0]);
      for (; at + step <= last; at += step) add_fours(fours, [&] { load(at + step, fours[0]); });
      add_fours(fours, [] {});
      at += step;
    }
    if (at < count) add_some(coordinates + at, values + at, count - at);
  }
  /// Adds the products of several fours, and loads the nonzeros that come next while the rows of B arrive.
  template <int Count, class LoadNext>
  __device__ __forceinline__ void add_fours(const Four (&fours)[Count], const LoadNext& load_next) {
    Row rows[4 * Count];
    Compute factors[4 * Count];
#pragma unroll
    for (int e = 0; e < 4 * Count; ++e) rows[e] = row_of(fours[e / 4].coordinates[e % 4]);
#pragma unroll
    for (int e = 0; e < 4 * Count; ++e) factors[e] = factor_of(fours[e / 4].values[e % 4]);
    load_next();
#pragma unroll
    for (int e = 0; e < 4 * Count; ++e) add_row(factors[e], rows[e]);
  }
  /// Adds fewer than four products.
  __device__ __forceinline__ void add_some(const Coordinate* coordinates, const Value* values, int count) {
    Four four;
    load_some(coordinates, count, four.coordinates);
    load_some(values, count, four.values);
    Row rows[3];
#pragma unroll
    for (int e = 0; e < 3; ++e)
      if (e < count) rows[e] = row_of(four.coordinates[e]);
#pragma unroll
    for (int e = 0; e < 3; ++e)
      if (e < count) add_row(factor_of(four.values[e]), rows[e]);
  }

  const char* b_;  ///< the first row, from this lane's columns on
  std::uint32_t stride_;
};

/// Stores what the epilogue makes of sums.
template <class P, class Compute, int Count>
__device__ __forceinline__ void store_sums(const P& in, std::int64_t row, std::int64_t column,
                                           const Pack<Compute, Count>& sums) {
  using Out = typename P::result_type;
  constexpr int at_once = std::min(Count, widest_pack<Out>);
  using Stored = Pack<Out, at_once>;
#pragma unroll
  for (int part = 0; part < Count; part += at_once) {
    auto* const at = reinterpret_cast<Stored*>(in.c + row * in.columns + column + part);
    Stored old{};
    if (in.accumulates) old = *at;
    Stored stored;
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      Compute value = in.epilogue(sums.at[part + c], row, column + part + c);
      if (in.accumulates)
        value = plus(static_cast<Compute>(static_cast<accumulate_t<Out>>(old.at[c])), value);
      stored.at[c] = static_cast<Out>(static_cast<accumulate_t<Out>>(value));
    }
    *at = stored;
  }
}

template <class Config, class P>
__global__ __launch_bounds__(Config::threads,
                             Config::blocks) void spmm_rows_kernel(const __grid_constant__ P in) {
  const bool is_piece = blockIdx.x < in.piece_blocks;
  const int parts = is_piece ? in.shape.piece_parts : in.shape.parts;
  const int of_row = in.shape.lanes * parts;  // lanes of a row, or of a piece of one
  const int rows = Config::threads / of_row;  // of a block
  const int lane = static_cast<int>(threadIdx.x) & (in.shape.lanes - 1);
  const int part = (static_cast<int>(threadIdx.x) & (of_row - 1)) / in.shape.lanes;
  const unsigned mask = (all_lanes >> (warp_size - of_row)) << (lane_id() & ~(of_row - 1));
  const std::int64_t panel = in.first_panel + blockIdx.y;
  const std::int64_t column = (panel * in.shape.lanes + lane) * Config::columns;
  const bool has_columns = column < in.columns;
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) - (is_piece ? 0 : in.piece_blocks);
  const std::int64_t at = block * rows + static_cast<int>(threadIdx.x) / of_row;
  RowSums<Config, P> row_sums(in, column);
  if (is_piece) {
    if (at >= static_cast<std::int64_t>(in.long_rows.counts->pieces)) return;
    const RowPiece piece = in.long_rows.pieces[at];
    if (has_columns) row_sums.add(in, piece.begin, piece.end, part, parts);
    row_sums.add_parts(mask, in.shape.lanes, parts);
    if (add_pieces(in.long_rows, piece, mask, part == 0, lane == 0 && part == 0, panel, in.shape.panels,
                   column, in.columns, row_sums.sums) &&
        has_columns && part == 0)
      store_sums(in, piece.row, column, row_sums.sums);
  } else {
    if (at >= in.a.rows) return;
    const auto begin = static_cast<std::int64_t>(in.a.positions[at]);
    const auto end = static_cast<std::int64_t>(in.a.positions[at + 1]);
    if (in.piece_blocks > 0 && end - begin > in.long_rows.cut) return;
    if (P::epilogue_is_identity && in.accumulates && begin == end) return;
    if (has_columns) row_sums.add(in, begin, end, part, parts);
    row_sums.add_parts(mask, in.shape.lanes, parts);
    if (has_columns && part == 0) store_sums(in, at, column, row_sums.sums);
  }
}

}  // namespace detail

/// C = f(A B) or C += f(A B), in the order of the stream of `space`.
/// @param pieces  how many pieces long rows have, at most
/// @throws RangeError if a row of B has 4 GiB or more
/// Cost: one kernel for up to 65535 panels of columns; a row of B is read for each nonzero, from the caches
/// as they can.
template <class Compute, class A, class B, class Out, class E>
void spmm_rows(const Kokkos::Cuda& space, RowsProduct<Compute, A, B, Out, E> in, std::int64_t pieces) {
  using Value = typename A::value_type;
  using Coordinate = typename A::coordinate_type;
  const RowsShape& shape = in.shape;
  in.row_bytes = narrow<std::uint32_t>(in.columns * static_cast<std::int64_t>(sizeof(B)),
                                       "the bytes of a row of the dense factor");
  in.has_packs = is_aligned<Pack<Value, std::min(4, widest_pack<Value>)>>(in.a.values) &&
                 is_aligned<Pack<Coordinate, std::min(4, widest_pack<Coordinate>)>>(in.a.coordinates);
  const auto start = [&]<int Count>(std::integral_constant<int, Count>) {
    using Config = RowsConfig<Count>;
    in.piece_blocks = ceil_div(pieces, Config::threads / (shape.lanes * shape.piece_parts));
    const std::int64_t row_blocks = ceil_div(in.a.rows, Config::threads / (shape.lanes * shape.parts));
    constexpr std::int64_t most_panels = 65535;  // of one launch
    for (; in.first_panel < shape.panels; in.first_panel += most_panels)
      launch(space, "sporos::spmm_rows",
             &detail::spmm_rows_kernel<Config, RowsProduct<Compute, A, B, Out, E>>,
             Grid(in.piece_blocks + row_blocks, std::min(most_panels, shape.panels - in.first_panel)),
             Config::threads, 0, in);
  };
  constexpr int widest = widest_pack<B>;
  if (shape.columns == widest && widest > 1) return start(std::integral_constant<int, widest>{});
  if (shape.columns == widest / 2 && widest > 2)
    return start(std::integral_constant<int, std::max(1, widest / 2)>{});
  start(std::integral_constant<int, 1>{});
}

}  // namespace sporos::gpu
