// SPDX-License-Identifier: Apache-2.0
/// @file dot_products.hpp
/// The product of a sparse matrix in CSR and a dense one as matricised dot products on tensor cores
/// (TCA-SpMM: the matrix is used as it is stored, without another format).
///
/// A dot product of 8 s numbers is the sum of the diagonal of a product of matrices: one factor is cut into s
/// rows of 8, the other into s columns of 8. A row of A with s segments of 8 nonzeros is the right operand of
/// an instruction m16n8k8; the left one holds the s segments of 16 / s columns of B, gathered. Of the 128
/// results of an instruction, 16 are used: those where a segment meets its own.
///
///     nonzeros of a row     1 – 8   9 – 16   17 – 32   33 – 64   more
///     segments                  1        2         4         8   8 a step, summed over steps
///     columns of a fragment    16        8         4         2   2
///     warps of a row            1        2         4         8   8 for each piece that the row is cut into
///
/// (for 64 columns of 16 bits, or 32 floats; if B has two or four times as many, a warp computes as many
/// times more). An empty row has no warp: blocks of their own store what the epilogue makes of zero in all of
/// them, each for 256 rows of A, unless there is nothing to store. What the paper keeps in shared memory
/// stays in registers: a lane gathers 16 bytes or more of the rows of B that belong to its own two nonzeros,
/// which are its elements of both operands, so nothing is exchanged until the sums are. Lanes whose segment
/// ends early multiply zeros by zeros, not by what B holds there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/scan.hpp"
#include "rows.hpp"

namespace sporos::gpu {

/// Which warps compute which rows. One array combines the paper's three: the row of each warp, the number of
/// warps of its row, and its place among them.
struct RowWarps {
  /// The work of one of the `warps` warps of a row: the nonzeros that it reads.
  struct alignas(16) Part {
    std::uint64_t row_and_place;     ///< row << 8 | warps << 4 | place among them
    std::uint64_t begin_and_length;  ///< the row's nonzeros: begin << 16 | length

    KOKKOS_INLINE_FUNCTION std::int64_t row() const { return static_cast<std::int64_t>(row_and_place >> 8); }
    KOKKOS_INLINE_FUNCTION int warps() const { return static_cast<int>(row_and_place >> 4 & 15); }
    KOKKOS_INLINE_FUNCTION int place() const { return static_cast<int>(row_and_place & 15); }
    KOKKOS_INLINE_FUNCTION std::int64_t begin() const {
      return static_cast<std::int64_t>(begin_and_length >> 16);
    }
    KOKKOS_INLINE_FUNCTION std::int64_t end() const {
      return begin() + static_cast<std::int64_t>(begin_and_length & 0xffff);
    }
  };

  std::int32_t* warps = nullptr;  ///< [rows], number of warps of each row
  std::int64_t* first = nullptr;  ///< [rows + 1], first warp of each row; the last is the number of all
  Part* parts = nullptr;          ///< [most]
  std::int64_t most = 0;          ///< an upper bound from the number of rows and nonzeros
  char* scratch = nullptr;
  std::int64_t scratch_bytes = 0;

  /// What the host knows if it has waited for the warps to be found.
  struct Counts {
    std::int64_t warps = -1;     ///< -1 if unknown
    bool has_empty_rows = true;  ///< whether there may be any
  } counts;

  static RowWarps lay_out(const Kokkos::Cuda& space, Layout& layout, std::int64_t rows,
                          std::int64_t nonzeros) {
    RowWarps out;
    // A row of more than 8 nonzeros has fewer warps than a quarter of that.
    out.most = std::min(8 * rows, std::min(rows, nonzeros) + ceil_div(nonzeros, 4));
    out.warps = layout.take<std::int32_t>(rows);
    out.first = layout.take<std::int64_t>(rows + 1);
    out.parts = layout.take<Part>(out.most);
    out.scratch_bytes = sizes_to_positions_bytes<std::int32_t, std::int64_t>(space, rows);
    out.scratch = layout.take<char>(out.scratch_bytes);
    return out;
  }

  /// The number of warps of a row that is not cut: 1, 2, 4 or 8, but none if it is empty.
  KOKKOS_INLINE_FUNCTION static std::int32_t of_row(std::int64_t nonzeros) {
    return nonzeros == 0 ? 0 : nonzeros <= 8 ? 1 : nonzeros <= 16 ? 2 : nonzeros <= 32 ? 4 : 8;
  }
};

/// How segments are distributed over the lanes of a warp.
/// @tparam T      type of A and B: half, bfloat16, or float, which is multiplied in tf32
/// @tparam Packs  packs of each row of B that a lane reads: 1 or, if rows consist of whole packs, 2 or 4
template <class T, int Packs = 1>
struct DotConfig {
  static constexpr bool is_narrow = is_narrow_float_v<T>;
  static constexpr int threads = 256;
  static constexpr int packs = Packs;
  static constexpr int blocks = Packs == 4 ? 2 : Packs == 2 ? 3 : 4;  ///< per multiprocessor, at least
  static constexpr int warps = threads / warp_size;                   ///< per block
  static constexpr int columns = widest_pack<T>;                      ///< per pack
  static constexpr int fragments = columns / 2;                       ///< each has two of these columns
  static constexpr int panel = 8 * packs * columns;  ///< columns that the warps of a row compute
  static constexpr int rows = warps * warp_size;     ///< in which a block looks for empty ones
  static constexpr int most_segments = 8;
  static_assert(warps == most_segments, "a block has the warps of a piece");
};

namespace detail {

template <class Position>
struct CountRowWarps {
  const Position* positions;
  std::int64_t longest;
  std::int32_t* warps;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto nonzeros = static_cast<std::int64_t>(positions[row + 1] - positions[row]);
    warps[row] = nonzeros > longest ? 0 : RowWarps::of_row(nonzeros);
  }
};

template <class Position>
struct CountEmptyRows {
  const Position* positions;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, std::int64_t& count) const {
    count += positions[row + 1] == positions[row];
  }
};

template <class Position>
struct WriteRowWarps {
  const Position* positions;
  RowWarps to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto first = static_cast<std::uint64_t>(to.first[row]);
    const auto warps = static_cast<std::uint64_t>(to.first[row + 1]) - first;
    const auto begin = static_cast<std::uint64_t>(positions[row]);
    const std::uint64_t length = static_cast<std::uint64_t>(positions[row + 1]) - begin;
    for (std::uint64_t place = 0; place < warps; ++place)
      to.parts[first + place] = {static_cast<std::uint64_t>(row) << 8 | warps << 4 | place,
                                 begin << 16 | length};
  }
};

/// Whether rows of B and of the result consist of whole packs; if a lane reads several packs, they always do.
template <class Config, class P>
__device__ __forceinline__ bool has_whole_packs(const P& in) {
  return Config::packs > 1 || in.shape.columns == Config::columns;
}

/// The sums of one warp: those of the columns of its lanes' packs, over the segments of a row.
template <class Config, class P>
class DotSums {
  using T = typename P::dense_type;
  using Row = Pack<std::uint32_t, 4>;  // a pack of B, as words

 public:
  /// @param segments  segments of the row, 1, 2, 4 or 8; a lane holds the one of its row of the left operand
  /// @param column    this lane's first column
  /// @param step      columns from one of its packs to the next
  __device__ DotSums(const P& in, int segments, std::int64_t column, int step)
      : segments_(segments), column_(column), step_(step) {
#pragma unroll
    for (int p = 0; p < Config::packs; ++p) has_columns_[p] = column + p * step < in.columns;
  }

  /// Adds the products of the nonzeros [begin, end).
  __device__ __forceinline__ void add(const P& in, std::int64_t begin, std::int64_t end) {
    const int segment = MmaM16N8K8::row(lane_id()) & (segments_ - 1);
    std::int64_t at[2];  // this lane's two nonzeros of its segment
#pragma unroll
    for (int e = 0; e < 2; ++e)
      at[e] =
          begin + 8 * segment +
          (Config::is_narrow ? MmaM16N8K8::k_of_narrow(lane_id(), e) : MmaM16N8K8::k_of_tf32(lane_id(), e));
    for (; begin < end; begin += 8 * segments_) {
      Row rows[2][Config::packs]{};
      T values[2]{};
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (at[e] < end) {
          const auto coordinate = in.a.coordinates[at[e]];
          values[e] = in.a.values[at[e]];
          read_row(in, coordinate, rows[e]);
        }
        at[e] += 8 * segments_;
      }
#pragma unroll
      for (int p = 0; p < Config::packs; ++p) multiply(rows[0][p], rows[1][p], values, sums_[p]);
    }
  }

  /// The sums of two neighbouring columns of each of this lane's packs, the same in the lanes of all
  /// segments: the diagonal elements, added up over the segments.
  __device__ __forceinline__ Pack<float, 2 * Config::packs> of_diagonals() const {
    const int row = MmaM16N8K8::row(lane_id()), pair = lane_id() % 4;
    const int from = MmaM16N8K8::lane_of_diagonal(row);
    const bool is_second = MmaM16N8K8::register_of_diagonal(row) == 1;
    Pack<float, 2 * Config::packs> out{};
#pragma unroll
    for (int p = 0; p < Config::packs; ++p)
#pragma unroll
      for (int f = 0; f < Config::fragments; ++f) {
        const float low = shuffle(is_second ? sums_[p][f][1] : sums_[p][f][0], from);
        const float high = shuffle(is_second ? sums_[p][f][3] : sums_[p][f][2], from);
        if (f == pair) {
          out.at[2 * p] = low;
          out.at[2 * p + 1] = high;
        }
      }
    for (int step = 4; step < 4 * segments_; step *= 2)
#pragma unroll
      for (float& sum : out.at) sum += shuffle_xor(sum, step);
    return out;
  }

 private:
  using Sums = float[Config::fragments][4];

  __device__ __forceinline__ void read_row(const P& in, typename P::coordinate_type coordinate,
                                           Row (&to)[Config::packs]) const {
    const T* const from = in.b + static_cast<std::int64_t>(coordinate) * in.columns + column_;
    if (has_whole_packs<Config>(in)) {
#pragma unroll
      for (int p = 0; p < Config::packs; ++p)
        if (has_columns_[p]) to[p] = load_constant(reinterpret_cast<const Row*>(from + p * step_));
    } else {
#pragma unroll
      for (int p = 0; p < Config::packs; ++p) {
        Pack<T, Config::columns> row{};
#pragma unroll
        for (int c = 0; c < Config::columns; ++c)
          if (column_ + p * step_ + c < in.columns) row.at[c] = from[p * step_ + c];
        to[p] = std::bit_cast<Row>(row);
      }
    }
  }

  __device__ __forceinline__ static void multiply(const Row& first, const Row& second, const T (&values)[2],
                                                  Sums& sums) {
    if constexpr (Config::is_narrow) {
      const std::uint32_t b = std::bit_cast<std::uint16_t>(values[0]) |
                              static_cast<std::uint32_t>(std::bit_cast<std::uint16_t>(values[1]))
                                  << 16;  // [8 nonzeros, 8 segments]
#pragma unroll
      for (int f = 0; f < Config::fragments; ++f)
        ptx::mma_m16n8k8<T>(sums[f],
                            {__byte_perm(first.at[f], second.at[f], 0x5410),
                             __byte_perm(first.at[f], second.at[f], 0x7632)},  // [16, 8 nonzeros]
                            b);
    } else {
      const auto tf32 = [](std::uint32_t word) { return ptx::to_tf32(std::bit_cast<float>(word)); };
#pragma unroll
      for (int f = 0; f < Config::fragments; ++f)
        ptx::mma_m16n8k8_tf32(sums[f],
                              {tf32(first.at[2 * f]), tf32(first.at[2 * f + 1]), tf32(second.at[2 * f]),
                               tf32(second.at[2 * f + 1])},
                              ptx::to_tf32(values[0]), ptx::to_tf32(values[1]));
    }
  }

  int segments_;
  std::int64_t column_;
  int step_;
  bool has_columns_[Config::packs];
  Sums sums_[Config::packs]{};
};

/// Stores what the epilogue makes of two sums, of which the second may be past the last column.
template <class Config, class P>
__device__ __forceinline__ void store_pair(const P& in, std::int64_t row, std::int64_t column,
                                           const Pack<float, 2>& sums) {
  if (has_whole_packs<Config>(in)) return store_sums(in, row, column, sums);
#pragma unroll
  for (int c = 0; c < 2; ++c)
    if (column + c < in.columns) store_sums(in, row, column + c, Pack<float, 1>{sums.at[c]});
}

/// Stores what the epilogue makes of zero in the empty ones of 32 rows; all lanes of a warp call it.
template <class Config, class P>
__device__ __forceinline__ void store_empty_rows(const P& in, std::int64_t first_row,
                                                 std::int64_t first_column) {
  const std::int64_t own = first_row + lane_id();
  const unsigned are_empty =
      __ballot_sync(all_lanes, own < in.a.rows && in.a.positions[own] == in.a.positions[own + 1]);
  if (are_empty == 0) return;
  // A group of lanes stores a row, two columns a lane; where rows are short, a warp stores several at a time.
  const std::int64_t end = Kokkos::min(in.columns, first_column + Config::panel);
  int lanes = 1;
  while (lanes < warp_size && 2 * lanes < end - first_column) lanes *= 2;
  for (int row = lane_id() / lanes; row < warp_size; row += warp_size / lanes)
    if ((are_empty >> row & 1) != 0)
      for (std::int64_t column = first_column + 2 * (lane_id() % lanes); column < end; column += 2 * lanes)
        store_pair<Config>(in, first_row + row, column, Pack<float, 2>{});
}

template <class Config, class P>
__global__ __launch_bounds__(Config::threads,
                             Config::blocks) void spmm_dot_products_kernel(const __grid_constant__ P in,
                                                                           const RowWarps warps,
                                                                           std::int64_t row_blocks) {
  const bool is_piece = blockIdx.x < in.piece_blocks;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  if (blockIdx.x >= in.piece_blocks + row_blocks) {
    const std::int64_t block = blockIdx.x - in.piece_blocks - row_blocks;
    return store_empty_rows<Config>(in, block * Config::rows + warp * warp_size,
                                    (in.first_panel + blockIdx.y) * Config::panel);
  }
  int segments = Config::most_segments, place = warp;  // this warp's place among those of its row
  RowPiece piece{};
  if (is_piece) {
    if (blockIdx.x >= in.long_rows.counts->pieces) return;
    piece = in.long_rows.pieces[blockIdx.x];
  } else {
    const std::int64_t at = (blockIdx.x - in.piece_blocks) * Config::warps + warp;
    if (at >= (warps.counts.warps >= 0 ? warps.counts.warps : __ldg(warps.first + in.a.rows))) return;
    const auto words = __ldg(reinterpret_cast<const ulonglong2*>(warps.parts + at));
    const RowWarps::Part part{words.x, words.y};
    segments = part.warps();
    place = part.place();
    piece.row = part.row();
    piece.begin = part.begin();
    piece.end = part.end();
  }
  // The packs of a panel are dealt out to the row's warps, and within a warp to the groups of `segments` rows
  // of the left operand.
  const int row = MmaM16N8K8::row(lane_id()), groups = 8 / segments;
  const std::int64_t pack =
      ((in.first_panel + blockIdx.y) * 8 + place * groups) * Config::packs + row / segments;
  const std::int64_t column = pack * Config::columns;
  if (__all_sync(all_lanes, column >= in.columns)) return;
  DotSums<Config, P> dot(in, segments, column, groups * Config::columns);
  dot.add(in, piece.begin, piece.end);
  const int pair = lane_id() % 4;
  const bool stores = row % segments == 0 && pair < Config::fragments;
  Pack<float, 2 * Config::packs> sums = dot.of_diagonals();
  if (is_piece) {
    // A lane's sums are stored contiguously while they wait for those of other pieces.
    constexpr int chunk = Config::packs * Config::columns;
    const std::int64_t end = ceil_div(in.columns, chunk) * chunk;
    if (!add_pieces(in.long_rows, piece, all_lanes, stores, lane_id() == 0, pack / Config::packs,
                    in.shape.panels, pair < Config::fragments ? column + pair * (2 * Config::packs) : end,
                    end, sums))
      return;
  }
#pragma unroll
  for (int p = 0; p < Config::packs; ++p) {
    const std::int64_t of_pair = column + p * groups * Config::columns + 2 * pair;
    if (stores && of_pair < in.columns)
      store_pair<Config>(in, piece.row, of_pair, Pack<float, 2>{sums.at[2 * p], sums.at[2 * p + 1]});
  }
}

}  // namespace detail

/// Finds the warps of each row, in the order of the stream of `space`. Rows of more than `longest` nonzeros
/// get none, like empty ones.
template <class Position>
void find_row_warps(const Kokkos::Cuda& space, const Position* positions, std::int64_t rows,
                    std::int64_t longest, const RowWarps& to) {
  using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("sporos::count_row_warps", Range(space, 0, rows),
                       detail::CountRowWarps<Position>{positions, longest, to.warps});
  sizes_to_positions(space, rows, to.warps, to.first, nullptr, to.scratch, to.scratch_bytes);
  Kokkos::parallel_for("sporos::write_row_warps", Range(space, 0, rows),
                       detail::WriteRowWarps<Position>{positions, to});
}

/// Counts the warps that find_row_warps() has found, and waits for them.
template <class Position>
RowWarps::Counts count_row_warps(const Kokkos::Cuda& space, const Position* positions, std::int64_t rows,
                                 const RowWarps& found) {
  using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
  std::int64_t empty = 0;
  Kokkos::parallel_reduce("sporos::count_empty_rows", Range(space, 0, rows),
                          detail::CountEmptyRows<Position>{positions}, empty);
  return {read_back(space, found.first + rows), empty > 0};
}

/// C = f(A B) or C += f(A B), in the order of the stream of `space`.
/// @param pieces  the most pieces of long rows
/// Errors: 16-bit floats are multiplied exactly and added in float; floats are first rounded to tf32
/// (relative error 2^-11 each). Cost: one kernel; it reads a row of B for each nonzero, from the caches where
/// possible.
template <class Compute, class A, class B, class Out, class E>
void spmm_dot_products(const Kokkos::Cuda& space, RowsProduct<Compute, A, B, Out, E> in,
                       const RowWarps& warps, std::int64_t pieces) {
  in.piece_blocks = pieces;
  const std::int64_t count = warps.counts.warps >= 0 ? warps.counts.warps : warps.most;
  const bool stores_empty_rows = warps.counts.has_empty_rows && !(E::is_identity && in.accumulates);
  const auto start = [&]<int Packs>(std::integral_constant<int, Packs>) {
    using Config = DotConfig<B, Packs>;
    const std::int64_t panels = ceil_div(in.columns, Config::panel);
    const std::int64_t row_blocks = ceil_div(count, Config::warps),
                       empty_blocks = stores_empty_rows ? ceil_div(in.a.rows, Config::rows) : 0;
    constexpr std::int64_t most_panels = 65535;  // per launch
    for (; in.first_panel < panels; in.first_panel += most_panels)
      launch(space, "sporos::spmm_dot_products",
             &detail::spmm_dot_products_kernel<Config, RowsProduct<Compute, A, B, Out, E>>,
             Grid(pieces + row_blocks + empty_blocks, std::min(most_panels, panels - in.first_panel)),
             Config::threads, 0, in, warps, row_blocks);
  };
  if (in.shape.columns == DotConfig<B>::columns) {
    if (in.columns > DotConfig<B, 2>::panel) return start(std::integral_constant<int, 4>{});
    if (in.columns > DotConfig<B>::panel) return start(std::integral_constant<int, 2>{});
  }
  start(std::integral_constant<int, 1>{});
}

}  // namespace sporos::gpu
