// SPDX-License-Identifier: Apache-2.0
/// @file rows.hpp
/// The product of a sparse matrix in CSR and a dense one, or batches of such products, on CUDA cores, for any
/// values; deterministic.
///
/// A group of lanes computes a row of the result, or a panel of its columns; each lane takes 16 bytes of a
/// row of B. It reads the coordinates and values of four nonzeros at a time, then the four rows of B. If a
/// row of B takes fewer lanes than a warp has, and rows of A are long or few, several groups share a row of
/// A. Rows that are longer than others are cut into pieces (long_rows.hpp), which are started first. A plan
/// may assign the rows of A in the order of their lengths (row_places.hpp), so that those of a block finish
/// at the same time, and may assign a row to several warps.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "../../../core/value.hpp"
#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "long_rows.hpp"
#include "row_places.hpp"

namespace sporos::gpu {

/// The seconds that a product on CUDA cores takes besides reading B, fitted on an H200.
struct RowsTimes {
  static constexpr double lane = 9.4e-12;          ///< per lane of each row
  static constexpr double lane_of_warps = 22e-12;  ///< the same if several warps share the row
  static constexpr double step = 0.12e-6;          ///< per four nonzeros of a row, one after another
  static constexpr double step_of_doubles = 0.2e-6;
  static constexpr double pieces = 1.6e-6;  ///< added once if rows are cut
};

/// How a product is distributed over lanes, and where rows are cut. The numbers are those that were fastest
/// on an H200.
struct RowsShape {
  /// The most lanes per row: those of a warp or, if rows are sorted by their lengths, of a block.
  static constexpr int of_warp = warp_size, of_block = 128;

  int columns = 1;            ///< per lane
  int lanes = 1;              ///< per panel of columns, a power of two
  int parts = 1;              ///< parts of a row's nonzeros, each for a group of lanes of one warp, or block
  int piece_parts = 1;        ///< the same for a piece of a long row
  std::int64_t panels = 1;    ///< into which all columns are cut
  std::int64_t longest = 0;   ///< the most nonzeros of a row that is not computed as pieces
  std::int64_t of_piece = 0;  ///< the most nonzeros of a piece, not below `longest`

  /// @param longest_row  nonzeros of the longest row, or 0 if they are not known
  /// @param most_lanes   per row: of_warp or of_block
  template <class A, class B, class Out>
  static RowsShape of(const A& a, std::int64_t columns, const B* b, const Out* c, int multiprocessors,
                      std::int64_t longest_row, int most_lanes) {
    RowsShape out;
    constexpr int widest = widest_pack<B>;
    for (const int count : {widest, widest / 2})
      if (count > 1 && out.columns == 1 && columns % count == 0 && is_at_multiple(b, count) &&
          is_at_multiple(c, std::min(count, widest_pack<Out>)))
        out.columns = count;
    const auto packs = static_cast<double>(std::max<std::int64_t>(1, ceil_div(columns, out.columns)));
    while (out.lanes < warp_size && out.lanes < packs) out.lanes *= 2;

    // Lanes that run at once, at 32 warps per multiprocessor. Then nonzeros per lane, and nonzeros per row on
    // average.
    const double at_once = 32.0 * warp_size * multiprocessors;
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, a.rows));
    const auto nonzeros = static_cast<double>(a.nonzeros);
    const double share = nonzeros * packs / at_once, average = nonzeros / rows;
    const double most = longest_row > 0 ? static_cast<double>(longest_row) : likely_longest(average);
    // If rows are few, lanes would be idle: use fewer columns per warp, and more warps. Sharing a row pays
    // off from 16 nonzeros per part on; 8 lanes still read 128 bytes of a row of B, a cache line.
    while (out.lanes > 8 && average >= 16.0 * out.parts && 2 * rows * packs * out.parts < at_once) {
      out.lanes /= 2;
      out.parts *= 2;
    }
    out.panels = ceil_div(columns, out.lanes * out.columns);
    out.piece_parts = warp_size / out.lanes;

    // Long rows are computed as pieces, which are started first: rows of more nonzeros than half of what an
    // average lane computes, within 64 and 256. Where a matrix is so large that pieces of 64 nonzeros may be
    // more than the warps that run at once, and several groups of lanes share a piece, rows are long from 128
    // on, and pieces longer: then few sums have to be stored and added, for which lanes wait longer than for
    // B. The product of a smaller matrix takes as long as its longest piece.
    const bool may_be_many = out.piece_parts > 1 && nonzeros > 64 * at_once / warp_size;
    const double usual = std::clamp(share / 2, may_be_many ? 128.0 : 64.0, 256.0);
    // Pieces of most rows pay off only if there are so few that they occupy less than 0.6 of the lanes.
    const bool are_mostly_long = average > usual / 2;
    const auto longest = [&](int parts) {
      double cut = usual;
      if (are_mostly_long) cut = rows * packs * parts < 0.6 * at_once ? 256 : 2 * average;
      // Nor do they pay off if computing what would be cut off takes less time than adding up pieces.
      const double not_worth_it = 4 * parts * (RowsTimes::pieces / RowsTimes::step);
      return longest_row > 0 && most <= cut + not_worth_it ? std::max(cut, most) : cut;
    };
    // With more parts, a row takes fewer steps but more lanes.
    const auto seconds = [&](int parts) {
      const double of_panels = static_cast<double>(out.panels * out.lanes), cut = longest(parts);
      const double pieces = average > cut / 2 && most > cut ? nonzeros / cut : 0;  // if most rows are cut
      return rows * of_panels * parts *
                 (parts > out.piece_parts ? RowsTimes::lane_of_warps : RowsTimes::lane) +
             std::min(most, cut) / (4 * parts) * RowsTimes::step + (most > cut ? RowsTimes::pieces : 0) +
             pieces * of_panels * out.piece_parts * RowsTimes::lane_of_warps;
    };
    for (int parts = 2 * out.parts; parts * out.lanes <= most_lanes; parts *= 2)
      if (seconds(parts) < seconds(out.parts)) out.parts = parts;
    const auto in_fours = [](double count) {
      return ceil_div(static_cast<std::int64_t>(std::min(count, 1e9)), 4) * 4;
    };
    out.longest = in_fours(longest(out.parts));
    // All groups of lanes together take two to four times as many nonzeros in the time of a row of `longest`:
    // most long rows are one piece.
    out.of_piece = may_be_many && !are_mostly_long
                       ? std::max(out.longest, in_fours(std::clamp(2 * share, 256.0, 512.0)))
                       : out.longest;
    return out;
  }

  /// An estimate of the longest row if rows were not measured, as if nonzeros were placed at random: a few
  /// rows are four standard deviations longer than the average.
  static double likely_longest(double average) { return average + 4 * std::sqrt(average); }

 private:
  template <class T>
  static bool is_at_multiple(const T* at, int count) {
    return reinterpret_cast<std::uintptr_t>(at) % (static_cast<std::uintptr_t>(count) * sizeof(T)) == 0;
  }
};

/// A product of two matrices: how a lane finds its rows of B and C.
struct OneProduct {
  static constexpr bool is_one = true;
};

/// Batches of products of A with matrices B: the panels of all of them, one batch after another, are computed
/// as those of one product. C has the rows of all batches.
struct ProductsByPanels {
  static constexpr bool is_one = false;

  std::int64_t batches = 1;
  std::int64_t panels = 1;     ///< of a matrix B
  std::int64_t size_of_b = 0;  ///< elements of one
  std::int64_t rows = 0;       ///< of A

  KOKKOS_INLINE_FUNCTION std::int64_t batch(std::int64_t panel) const { return panel / panels; }
  /// The panel of B and C, whose first column a lane computes.
  KOKKOS_INLINE_FUNCTION std::int64_t panel_of_batch(std::int64_t panel) const { return panel % panels; }
  /// Elements of B before those of this panel's batch.
  KOKKOS_INLINE_FUNCTION std::int64_t before_b(std::int64_t panel, std::int64_t) const {
    return batch(panel) * size_of_b;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t row_of_c(std::int64_t panel, std::int64_t row) const {
    return batch(panel) * rows + row;
  }
  /// Where the sums of pieces are added, the columns of all batches are those of one matrix.
  KOKKOS_INLINE_FUNCTION std::int64_t column_of_sums(std::int64_t panel, std::int64_t column,
                                                     std::int64_t columns) const {
    return column < columns ? batch(panel) * columns + column : batches * columns;
  }
};

/// Batches of products of matrices A, whose rows are those of one matrix, with matrices B.
struct ProductsByRows {
  static constexpr bool is_one = false;
  static constexpr std::int64_t batches = 1;  ///< of columns

  std::int64_t rows_of_batch = 1;  ///< rows of A that are multiplied with the same B
  std::int64_t size_of_b = 0;      ///< elements of a matrix B

  KOKKOS_INLINE_FUNCTION std::int64_t panel_of_batch(std::int64_t panel) const { return panel; }
  KOKKOS_INLINE_FUNCTION std::int64_t before_b(std::int64_t, std::int64_t row) const {
    return row / rows_of_batch * size_of_b;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t row_of_c(std::int64_t, std::int64_t row) const { return row; }
  KOKKOS_INLINE_FUNCTION std::int64_t column_of_sums(std::int64_t, std::int64_t column, std::int64_t) const {
    return column;
  }
};

/// C = f(A B), or C += f(A B), or batches of such products.
/// @tparam Compute  the type in which products and sums are formed
/// @tparam E        the epilogue f: kernels/epilogue/epilogue.hpp
/// @tparam Batches  OneProduct, ProductsByPanels or ProductsByRows
template <class Compute, class A, class B, class Out, class E, class Batches = OneProduct>
struct RowsProduct {
  using compute = Compute;
  using dense_type = B;
  using value_type = typename A::value_type;
  using coordinate_type = typename A::coordinate_type;
  using result_type = Out;
  static constexpr bool is_one = Batches::is_one;
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
  const RowPlace* places = nullptr;  ///< [rows], by length; null if rows keep their order
  std::int64_t piece_blocks = 0;     ///< blocks for pieces of long rows; the blocks after them compute rows
  std::int64_t first_panel = 0;      ///< the first that a launch computes
  bool has_packs = false;            ///< whether coordinates and values can be read four at a time
  Batches batches{};
};

/// How lanes read B and write C.
/// @tparam Count  columns per lane, read at once
template <int Count>
struct RowsConfig {
  static constexpr int columns = Count;
  static constexpr int threads = RowsShape::of_block;
  static constexpr int blocks = 8;        ///< at least this many per multiprocessor
  static constexpr int packed_from = 32;  ///< nonzeros from which on a row's coordinates are read as packs
};

namespace detail {

/// Loads four neighbouring elements at an address that is a multiple of their packs' size.
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
/// Loads the first `count` of four neighbouring elements and leaves the others unchanged.
template <class T>
__device__ __forceinline__ void load_some(const T* from, int count, T (&to)[4]) {
#pragma unroll
  for (int e = 0; e < 4; ++e)
    if (e < count) to[e] = from[e];
}

/// How a group of lanes reads the nonzeros of a row, and the sums of their products with rows of B.
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

  /// Moves on to another matrix B, whose first element is `elements` behind that of the first.
  __device__ __forceinline__ void move(std::int64_t elements) {
    b_ += elements * static_cast<std::int64_t>(sizeof(B));
  }

  /// Adds the products of the nonzeros [begin, end), or of one of several parts of them.
  __device__ __forceinline__ void add(const P& in, std::int64_t begin, std::int64_t end, int part,
                                      int parts) {
    const Coordinate* const coordinates = in.a.coordinates + begin;
    const Value* const values = in.a.values + begin;
    const int count = static_cast<int>(end - begin);
    if (in.has_packs && count >= Config::packed_from) {
      const int head = static_cast<int>(-begin & 3);  // packs begin at multiples of four
      if (part == 0 && head > 0) {
        Four first;
        load_some(coordinates, head, first.coordinates);
        load_some(values, head, first.values);
        add_some(first, head);
      }
      add_steps<true>(coordinates + head, values + head, count - head, part, parts);
    } else {
      add_steps<false>(coordinates, values, count, part, parts);
    }
  }

  /// Adds up the sums of a row's parts, of `lanes` lanes each, and leaves the total in each of its lanes.
  __device__ __forceinline__ void add_parts(unsigned mask, int lanes, int parts) {
    for (int step = lanes; step < lanes * parts; step *= 2)
#pragma unroll
      for (int c = 0; c < Config::columns; ++c)
        sums.at[c] = plus(sums.at[c], shuffle_among(mask, sums.at[c], lane_id() ^ step, warp_size));
  }

  Sums sums{};

 private:
  /// Whether the rows of B of eight nonzeros are loaded at the same time: floats gain 4 % on average and up
  /// to 26 %, halfs gain nothing, and doubles, of which a lane has two columns, lose 8 %.
  static constexpr bool takes_eight = sizeof(B) == 4;

  /// Whether the last nonzeros of a row are loaded while the rows of B before them arrive: doubles gain up to
  /// 18 %, others lose a little, since fewer registers are free.
  static constexpr bool loads_rest_early = sizeof(B) == 8;

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

  /// Adds one of several parts of the products of `count` nonzeros: every parts-th group of four.
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
    Four fours[1];
    const auto load_rest = [&](int from) {
      load_some(coordinates + from, count - from, fours[0].coordinates);
      load_some(values + from, count - from, fours[0].values);
    };
    if (at <= last) {
      load(at, fours[0]);
      for (; at + step <= last; at += step) add_fours(fours, [&] { load(at + step, fours[0]); });
      at += step;
      add_fours(fours, [&] {
        if constexpr (loads_rest_early) load_rest(at);
      });
    } else if (loads_rest_early) {
      load_rest(at);
    }
    if (at >= count) return;
    if constexpr (!loads_rest_early) load_rest(at);
    add_some(fours[0], count - at);
  }
  /// Adds the products of several groups of four, and loads the next nonzeros while the rows of B arrive.
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
  __device__ __forceinline__ void add_some(const Four& four, int count) {
    Row rows[3];
#pragma unroll
    for (int e = 0; e < 3; ++e)
      if (e < count) rows[e] = row_of(four.coordinates[e]);
#pragma unroll
    for (int e = 0; e < 3; ++e)
      if (e < count) add_row(factor_of(four.values[e]), rows[e]);
  }

  const char* b_;  ///< the first row, starting at this lane's columns
  std::uint32_t stride_;
};

/// Adds up the sums of the warps of a row, in the first of them.
/// @param of_row  lanes of a row: those of two warps, or of the block
/// @param lanes   lanes of each warp that hold its sums, beginning with the first
template <int Threads, class Sums>
__device__ __forceinline__ void add_warps(int of_row, int lanes, Sums& sums) {
  alignas(Sums) __shared__ char memory[Threads * sizeof(Sums)];
  auto* const of_warps = reinterpret_cast<Sums*>(memory);  // [warps, lanes]
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size, lane = lane_id();
  if (lane < lanes) of_warps[warp * lanes + lane] = sums;
  // A barrier whose number the compiler does not know would reserve all sixteen, and a multiprocessor has too
  // few for all its blocks.
  if (of_row == Threads)
    __syncthreads();
  else if (thread < of_row)
    ptx::sync_threads(1, 2 * warp_size);
  else
    ptx::sync_threads(2, 2 * warp_size);
  if (thread % of_row >= lanes) return;
  for (int other = 1; other < of_row / warp_size; ++other) {
    const Sums more = of_warps[(warp + other) * lanes + lane];
#pragma unroll
    for (int c = 0; c < static_cast<int>(std::size(sums.at)); ++c) sums.at[c] = plus(sums.at[c], more.at[c]);
  }
}

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

/// @tparam IsDealt  whether rows have places, and may be computed by several warps
template <class Config, bool IsDealt, class P>
__global__ __launch_bounds__(Config::threads,
                             Config::blocks) void spmm_rows_kernel(const __grid_constant__ P in) {
  const bool is_piece = blockIdx.x < in.piece_blocks;
  const int lanes = in.shape.lanes, parts = is_piece ? in.shape.piece_parts : in.shape.parts;
  const int of_row = lanes * parts;  // lanes per row, or per piece of one
  const int in_warp = IsDealt && of_row > warp_size ? warp_size : of_row;
  const int rows = Config::threads / of_row;  // per block
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int part = (static_cast<int>(threadIdx.x) & (of_row - 1)) / lanes;
  const unsigned mask = (all_lanes >> (warp_size - in_warp)) << (lane_id() & ~(in_warp - 1));
  const std::int64_t panel = in.first_panel + blockIdx.y;
  std::int64_t column = (panel * lanes + lane) * Config::columns;
  if constexpr (!P::is_one) column = (in.batches.panel_of_batch(panel) * lanes + lane) * Config::columns;
  const bool has_columns = column < in.columns;
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) - (is_piece ? 0 : in.piece_blocks);
  const std::int64_t at = block * rows + static_cast<int>(threadIdx.x) / of_row;
  RowSums<Config, P> row_sums(in, column);
  if (is_piece) {
    if (at >= static_cast<std::int64_t>(in.long_rows.counts->pieces)) return;
    const RowPiece piece = in.long_rows.pieces[at];
    std::int64_t row = piece.row, column_of_sums = column, columns_of_sums = in.columns;
    if constexpr (!P::is_one) {
      row_sums.move(in.batches.before_b(panel, piece.row));
      row = in.batches.row_of_c(panel, piece.row);
      column_of_sums = in.batches.column_of_sums(panel, column, in.columns);
      columns_of_sums = in.batches.batches * in.columns;
    }
    if (has_columns) row_sums.add(in, piece.begin, piece.end, part, parts);
    row_sums.add_parts(mask, lanes, parts);
    if (add_pieces(in.long_rows, piece, mask, part == 0, lane == 0 && part == 0, panel, in.shape.panels,
                   column_of_sums, columns_of_sums, row_sums.sums) &&
        has_columns && part == 0)
      store_sums(in, row, column, row_sums.sums);
  } else {
    if (at >= in.a.rows) return;
    std::int64_t row = at, begin = 0, end = 0;
    if constexpr (IsDealt) {
      const RowPlace place = load_place(in.places + at);
      row = place.row;
      begin = place.begin;
      end = place.end;
    } else {
      begin = static_cast<std::int64_t>(in.a.positions[at]);
      end = static_cast<std::int64_t>(in.a.positions[at + 1]);
    }
    if (in.piece_blocks > 0 && end - begin > in.long_rows.cut) return;
    if (P::epilogue_is_identity && in.accumulates && begin == end) return;
    if constexpr (!P::is_one) {
      row_sums.move(in.batches.before_b(panel, row));
      row = in.batches.row_of_c(panel, row);
    }
    if (has_columns) row_sums.add(in, begin, end, part, parts);
    row_sums.add_parts(mask, lanes, in_warp / lanes);
    if constexpr (IsDealt)
      if (of_row > warp_size) add_warps<Config::threads>(of_row, lanes, row_sums.sums);
    if (has_columns && part == 0) store_sums(in, row, column, row_sums.sums);
  }
}

}  // namespace detail

/// C = f(A B) or C += f(A B), or batches of such products, in the order of the stream of `space`.
/// @param pieces  the most pieces of long rows
/// @throws RangeError if a row of B has 4 GiB or more
/// Cost: one kernel for up to 65535 panels of columns; it reads a row of B for each nonzero, from the caches
/// where possible.
template <class Compute, class A, class B, class Out, class E, class Batches>
void spmm_rows(const Kokkos::Cuda& space, RowsProduct<Compute, A, B, Out, E, Batches> in,
               std::int64_t pieces) {
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
    constexpr std::int64_t most_panels = 65535;  // per launch
    using Product = RowsProduct<Compute, A, B, Out, E, Batches>;
    const auto kernel = in.places ? &detail::spmm_rows_kernel<Config, true, Product>
                                  : &detail::spmm_rows_kernel<Config, false, Product>;
    for (; in.first_panel < shape.panels; in.first_panel += most_panels)
      launch(space, "sporos::spmm_rows", kernel,
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
