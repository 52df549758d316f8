// SPDX-License-Identifier: Apache-2.0
/// @file dot_products.hpp
/// The product of a sparse matrix in CSR and a dense one as matricised dot products on tensor cores
/// (TCA-SpMM: the matrix is used as it is stored, without another format).
///
/// A dot product of 8 s numbers is the sum of s products of 8 numbers: one factor is cut into s rows of 8,
/// the other into s columns of 8. A row of A with s segments of 8 nonzeros is the right operand of an
/// instruction m16n8k8, segment n its column n. A row of the left operand is 8 gathered elements of a column
/// of B, those that belong to one segment. Of the 128 results of an instruction, 16 are used: in each row,
/// the one where a segment meets its own.
///
///     nonzeros of a row     1 – 8   9 – 16   17 – 32   33 – 64   more
///     segments                  1        2         4         8   8 a step, summed over steps
///     columns of a fragment    16        8         4         2   2
///     warps of a row            1        2         4         8   8 for each piece that the row is cut into
///
/// (for 256 columns of 16 bits, or 128 floats; if B has fewer, as many fewer warps, at least one). An empty
/// row has no warp: separate blocks, each for 256 rows of A, fill empty rows with what the epilogue makes of
/// zero, unless there is nothing to store.
///
/// A warp gathers what it multiplies, up to 8 s rows of B, into a buffer of its own in shared memory;
/// neighbouring lanes copy neighbouring pieces of a row. The two halves of a left operand are tiles of 8
/// columns and 8 nonzeros, which lie in the buffer by columns of the operand: two segments of the same
/// columns, or, of a single segment, 16 columns. So of s segments of 8 columns, s / 2 instructions leave
/// their sums in as many accumulators, which are added up once, after the last step. Rows of the buffer
/// without a nonzero are zero, not what B holds there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/once_per_device.hpp"
#include "row_warps.hpp"
#include "rows.hpp"

namespace sporos::gpu {

/// How tiles are distributed over warps.
/// @tparam T      type of A and B: half, bfloat16, or float, which is multiplied in tf32
/// @tparam Tiles  tiles of 8 columns of a panel, which the warps of a row compute
template <class T, int Tiles, DotTuning Tuning>
struct DotConfig {
  static constexpr bool is_narrow = is_narrow_float_v<T>;
  static constexpr int threads = 256;
  static constexpr int warps = threads / warp_size;  ///< per block
  static constexpr int blocks = Tuning.blocks;
  static constexpr int most_segments = Tuning.most_segments;
  static constexpr int columns = widest_pack<T>;  ///< per piece of 16 bytes
  static constexpr int tile_columns = 8;
  static constexpr int tile_pieces = tile_columns / columns;
  static constexpr int tiles = Tiles;
  static constexpr int panel = Tiles * tile_columns;
  static constexpr int rows = warps * warp_size;  ///< in which a block looks for empty ones
  static constexpr int most_tiles = Tuning.buffer_bytes / (8 * 16 * tile_pieces);  ///< of a single segment
  static constexpr int buffer_bytes = Tuning.buffer_bytes;
  static constexpr int stages = 2;  ///< buffers of a warp
  static constexpr int shared_bytes = warps * stages * buffer_bytes;

  static constexpr int tiles_of_warp(int segments) { return std::min(Tiles, most_tiles / segments); }
  static constexpr int warps_of_row(int segments) { return Tiles / tiles_of_warp(segments); }

  static_assert(Tiles <= most_tiles && most_tiles % most_segments == 0);
  static_assert(warps % warps_of_row(most_segments) == 0, "a block has all warps of a piece");
};

namespace detail {

/// Whether rows of B and of the result consist of whole packs.
template <class Config, class P>
__device__ __forceinline__ bool has_whole_packs(const P& in) {
  return in.shape.columns == Config::columns;
}

/// The sums of one warp: those of some tiles of 8 columns, over the segments of a row.
/// @tparam Segments  segments of a step
template <class Config, int Segments, class P>
class DotSums {
  using T = typename P::dense_type;
  using Coordinate = std::remove_const_t<typename P::coordinate_type>;
  using Value = std::remove_const_t<typename P::value_type>;

 public:
  static constexpr int tiles = Config::tiles_of_warp(Segments);
  static constexpr int columns = tiles * Config::tile_columns;
  static constexpr int step = 8 * Segments;  ///< nonzeros

  /// @param column  the warp's first column
  /// @param buffer  the address of the warp's buffers in shared memory
  __device__ DotSums(const P& in, std::int64_t column, std::uint32_t buffer) : buffer_(buffer) {
    const int piece = static_cast<int>(lane_ % pieces);
    const std::int64_t of_piece = column + piece * Config::columns;
    from_ = reinterpret_cast<const char*>(in.b + of_piece);
    columns_left_ = static_cast<int>(Kokkos::min(std::int64_t{Config::columns}, in.columns - of_piece));
    to_write_ = static_cast<std::uint32_t>(Rows::offset(static_cast<int>(lane_ / pieces), piece));
    if constexpr (Config::is_narrow) {
      // Eight lanes address the rows of one of four tiles: of up to four segments, then of other columns.
      constexpr unsigned segments = std::min(Segments, 4);
      to_read_ = static_cast<std::uint32_t>(Rows::offset(
          static_cast<int>(lane_ / 8 % segments * 8 + lane_ % 8), static_cast<int>(lane_ / 8 / segments)));
    } else {
      to_read_ = static_cast<std::uint32_t>(
                     Rows::offset(static_cast<int>(lane_ % 4), static_cast<int>(lane_ / 16))) +
                 lane_ / 4 % 4 * 4;
    }
  }

  /// Adds the products of the nonzeros [begin, begin + count); while some are multiplied, the rows of B for
  /// the next step are on their way.
  /// @tparam IsOneStep  whether there are at most as many as in a step
  template <bool IsOneStep>
  __device__ __forceinline__ void add(const P& in, std::int64_t begin, int count) {
    const Coordinate* coordinates = in.a.coordinates + begin;
    const Value* values = in.a.values + begin;
    Nonzeros now(coordinates, values, count);
    gather(in, now, count, 0);
    ptx::commit_pieces();
    if constexpr (IsOneStep) {
      ptx::wait_for_pieces<0>();
      __syncwarp();
      multiply(now, count, 0);
    } else {
      coordinates += step;
      values += step;
      Nonzeros next(coordinates, values, count - step);
      for (int stage = 0;; stage ^= 1) {
        Nonzeros after = next;
        if (count > step) {
          gather(in, next, count - step, stage ^ 1);
          coordinates += step;
          values += step;
          after = Nonzeros(coordinates, values, count - 2 * step);
        }
        ptx::commit_pieces();
        ptx::wait_for_pieces<1>();
        __syncwarp();
        multiply(now, count, stage);
        count -= step;
        if (count <= 0) break;
        __syncwarp();  // what was multiplied is overwritten
        now = next;
        next = after;
      }
    }
  }

  /// The number of sums that a lane has in the end, and of the lanes of four neighbours that have them alone.
  static constexpr int count = std::max(1, tiles / 4), holders = std::min(4, tiles);

  /// Whether this lane is the one, of those with the same sums, that stores them.
  __device__ static bool is_holder() { return lane_id() % 4 < holders; }
  /// The column, of the warp's, of a sum of this lane.
  __device__ static int column(int sum) {
    return (4 * sum + lane_id() % 4 % holders) * Config::tile_columns + MmaM16N8K8::row(lane_id());
  }

  /// Adds up the segments: the sums of columns `column(0)`, `column(1)` and so on.
  __device__ __forceinline__ Pack<float, count> total() const {
    const int quarter = lane_id() % 4;  // it has the results of segments 2 quarter and 2 quarter + 1
    float sums[tiles];
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
      if constexpr (Segments == 1) {
        sums[t] = sums_[t / 2][t % 2 * 2];
      } else {
        sums[t] = sums_[t * pairs][0] + sums_[t * pairs][3];
#pragma unroll
        for (int q = 1; q < pairs; ++q) {
          const float other = sums_[t * pairs + q][0] + sums_[t * pairs + q][3];
          if (quarter % pairs == q) sums[t] = other;
        }
      }
    }
    share_out<1, tiles>(sums);
    share_out<2, (tiles + 1) / 2>(sums);
    Pack<float, count> out;
#pragma unroll
    for (int c = 0; c < count; ++c) out.at[c] = sums[c];
    return out;
  }

 private:
  static constexpr int pieces = tiles * Config::tile_pieces;  ///< of 16 bytes, of a row in the buffer
  static constexpr int at_once = warp_size / pieces;       ///< rows of which a warp copies a piece each lane
  static constexpr int pairs = std::max(1, Segments / 2);  ///< pairs of segments
  static constexpr int instructions = tiles * Segments / 2;  ///< of a step
  using Rows = GatheredRows<pieces, Config::is_narrow>;
  static_assert(step * Rows::row_bytes <= Config::buffer_bytes);

  /// Lanes whose number, of four, differs in this bit share `Left` tiles out: a lane keeps every other one.
  template <int Bit, int Left>
  __device__ __forceinline__ static void share_out(float (&sums)[tiles]) {
    constexpr bool adds = Bit < pairs;  // else both lanes have the same sums
    const bool is_upper = (lane_id() & Bit) != 0;
    if constexpr (Left > 1) {
#pragma unroll
      for (int t = 0; t < Left / 2; ++t) {
        const float kept = is_upper ? sums[2 * t + 1] : sums[2 * t];
        const float given = is_upper ? sums[2 * t] : sums[2 * t + 1];
        sums[t] = adds ? kept + shuffle_xor(given, Bit) : kept;
      }
    } else if constexpr (adds) {
      sums[0] += shuffle_xor(sums[0], Bit);
    }
  }

  /// What a lane knows of the nonzeros of a step: its share of the coordinates, and its two elements of the
  /// right operand.
  struct Nonzeros {
    static constexpr int shares = (step + warp_size - 1) / warp_size;
    Coordinate coordinates[shares];
    Value values[2];

    /// @param count  of the nonzeros that there are, which may be more than those of a step
    __device__ __forceinline__ Nonzeros(const Coordinate* of_step, const Value* values_of_step, int count) {
#pragma unroll
      for (int share = 0; share < shares; ++share) {
        const int at = share * warp_size + lane_id();
        coordinates[share] = at < count ? of_step[at] : Coordinate{};
      }
      const int segment = MmaM16N8K8::row(lane_id()) & (Segments - 1);
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int at = 8 * segment + (Config::is_narrow ? MmaM16N8K8::k_of_narrow(lane_id(), e)
                                                        : MmaM16N8K8::k_of_tf32(lane_id(), e));
        values[e] = at < count ? values_of_step[at] : Value{};
      }
    }
  };

  /// Starts to copy the rows of B of a step, and zeros up to the end of a pair of segments.
  __device__ __forceinline__ void gather(const P& in, const Nonzeros& nonzeros, int count, int stage) const {
    const int filled = Segments == 1 ? step : (count + 15) / 16 * 16;
    const int in_first = static_cast<int>(lane_ / pieces);  // this lane's row, of those copied at once
    const int left = columns_left_ > 0 ? count - in_first : 0;
    const std::uint32_t to = buffer_ + static_cast<std::uint32_t>(stage * Config::buffer_bytes);
    if (has_whole_packs<Config>(in)) {
#pragma unroll
      for (int first = 0; first < step; first += at_once) {
        const char* const from =
            row_of(in, shuffle(nonzeros.coordinates[first / warp_size], first % warp_size + in_first));
        const int bytes = first < left ? Rows::piece_bytes : 0;
        if (first < filled) ptx::copy_piece(to + place(first), from, bytes);
      }
    } else {
#pragma unroll 1
      for (int first = 0; first < step; first += at_once) {
        Coordinate coordinate = nonzeros.coordinates[0];
        if (first >= warp_size) coordinate = nonzeros.coordinates[Nonzeros::shares - 1];
        const T* const from =
            reinterpret_cast<const T*>(row_of(in, shuffle(coordinate, first % warp_size + in_first)));
        Pack<T, Config::columns> piece{};
#pragma unroll
        for (int c = 0; c < Config::columns; ++c)
          if (first < left && c < columns_left_) piece.at[c] = from[c];
        if (first < filled)
          ptx::store_shared(to + place(first), std::bit_cast<Pack<std::uint32_t, 4>>(piece).at);
      }
    }
  }
  /// This lane's piece of a row of B.
  __device__ __forceinline__ const char* row_of(const P& in, Coordinate coordinate) const {
    return from_ + static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Coordinate>>(coordinate)) *
                       in.row_bytes;
  }
  /// This lane's place in a buffer for its piece of the rows from `first` on that are copied at once.
  __device__ __forceinline__ std::uint32_t place(int first) const {
    return (to_write_ ^ static_cast<std::uint32_t>(Rows::place_of_first(first) * Rows::piece_bytes)) +
           static_cast<std::uint32_t>(first * Rows::row_bytes);
  }

  /// Multiplies what has been gathered for `count` nonzeros.
  __device__ __forceinline__ void multiply(const Nonzeros& nonzeros, int count, int stage) {
    const std::uint32_t from = buffer_ + static_cast<std::uint32_t>(stage * Config::buffer_bytes);
    if constexpr (Config::is_narrow) {
      const std::uint32_t b = std::bit_cast<std::uint16_t>(nonzeros.values[0]) |
                              static_cast<std::uint32_t>(std::bit_cast<std::uint16_t>(nonzeros.values[1]))
                                  << 16;  // [8 nonzeros, 8 segments]
      constexpr int tiles_at_once = 4 / std::min(Segments, 4);
#pragma unroll
      for (int segment = 0; segment < Segments; segment += 4) {
        if (8 * segment >= count) break;
        const bool has_second = Segments < 4 || 8 * segment + 16 < count;
#pragma unroll
        for (int tile = 0; tile < tiles; tile += tiles_at_once) {
          std::uint32_t a[4];  // two operands, [16, 8 nonzeros] each
          ptx::load_matrices_transposed(from + (to_read_ ^ static_cast<unsigned>(tile * Rows::piece_bytes)) +
                                            segment * 8 * Rows::row_bytes,
                                        a);
          const int first = tile * Segments / 2 + segment / 2;
          ptx::mma_m16n8k8<T>(sums_[first], {a[0], a[1]}, b);
          if (has_second) ptx::mma_m16n8k8<T>(sums_[first + 1], {a[2], a[3]}, b);
        }
      }
    } else {
      const std::uint32_t b[2] = {ptx::to_tf32(nonzeros.values[0]), ptx::to_tf32(nonzeros.values[1])};
#pragma unroll
      for (int pair = 0; pair < pairs; ++pair) {
        if (16 * pair >= count) break;
#pragma unroll
        for (int at = pair; at < instructions; at += pairs) {
          std::uint32_t a[2][2];  // nonzeros k and k + 4 of each half of the operand
#pragma unroll
          for (int half_of_a = 0; half_of_a < 2; ++half_of_a) {
            const int tile = Segments == 1 ? 2 * at + half_of_a : at / pairs;
            const int segment = Segments == 1 ? 0 : 2 * pair + half_of_a;
            const unsigned place = from + (to_read_ ^ static_cast<unsigned>(tile * 2 * Rows::piece_bytes)) +
                                   segment * 8 * Rows::row_bytes;
#pragma unroll
            for (int e = 0; e < 2; ++e)
              a[half_of_a][e] = ptx::to_tf32(ptx::load_shared_float(place + e * 4 * Rows::row_bytes));
          }
          ptx::mma_m16n8k8_tf32(sums_[at], {a[0][0], a[1][0], a[0][1], a[1][1]}, b[0], b[1]);
        }
      }
    }
  }

  const unsigned lane_ = static_cast<unsigned>(lane_id());
  std::uint32_t buffer_;
  const char* from_;        ///< this lane's piece of row 0 of B
  int columns_left_;        ///< of B from this lane's piece on, up to those of a piece
  std::uint32_t to_write_;  ///< this lane's offset in a buffer for the pieces that are copied first
  std::uint32_t to_read_;   ///< this lane's offset in a buffer for the first operands
  float sums_[instructions][4]{};
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

/// The most columns of a warp that computes a piece of a row that is cut.
inline constexpr int most_columns_of_piece = 64;

/// Computes one warp's columns of a row, or of a piece of one.
/// @param place  this warp's among those of the row
template <class Config, int Segments, class P>
__device__ __forceinline__ void multiply_row(const P& in, const RowPiece& piece, bool is_piece, int place,
                                             std::uint32_t buffer) {
  using Sums = DotSums<Config, Segments, P>;
  const std::int64_t group = (in.first_panel + blockIdx.y) * Config::warps_of_row(Segments) + place;
  const std::int64_t column = group * Sums::columns;
  if (column >= in.columns) return;
  Sums dot(in, column, buffer);
  dot.template add<(Segments < Config::most_segments)>(in, piece.begin,
                                                       static_cast<int>(piece.end - piece.begin));
  Pack<float, Sums::count> sums = dot.total();
  if constexpr (Segments == Config::most_segments) {
    static_assert(most_columns_of_piece % Sums::columns == 0);
    if (is_piece) {
      // A lane's sums are stored contiguously while they wait for those of other pieces.
      const std::int64_t own = lane_id() % 4 % Sums::holders * 8 + MmaM16N8K8::row(lane_id());
      if (!add_pieces(in.long_rows, piece, all_lanes, Sums::is_holder(), lane_id() == 0, group,
                      in.shape.panels, column + own * Sums::count,
                      ceil_div(in.columns, Sums::columns) * Sums::columns, sums))
        return;
    }
  }
  if (!Sums::is_holder()) return;
#pragma unroll
  for (int c = 0; c < Sums::count; ++c)
    if (column + Sums::column(c) < in.columns)
      store_sums(in, piece.row, column + Sums::column(c), Pack<float, 1>{sums.at[c]});
}

template <class Config, class P>
__global__ __launch_bounds__(Config::threads,
                             Config::blocks) void spmm_dot_products_kernel(const __grid_constant__ P in,
                                                                           const RowWarps warps,
                                                                           std::int64_t row_blocks) {
  extern __shared__ __align__(512) char gathered[];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  if (blockIdx.x >= in.piece_blocks + row_blocks) {
    const std::int64_t block = blockIdx.x - in.piece_blocks - row_blocks;
    return store_empty_rows<Config>(in, block * Config::rows + warp * warp_size,
                                    (in.first_panel + blockIdx.y) * Config::panel);
  }
  const std::uint32_t buffer = ptx::shared_address(gathered) +
                               static_cast<std::uint32_t>(warp * Config::stages * Config::buffer_bytes);
  if (blockIdx.x < in.piece_blocks) {
    constexpr int of_piece = Config::warps_of_row(Config::most_segments);
    const std::int64_t at = blockIdx.x * (Config::warps / of_piece) + warp / of_piece;
    if (at < static_cast<std::int64_t>(in.long_rows.counts->pieces))
      multiply_row<Config, Config::most_segments>(in, in.long_rows.pieces[at], true, warp % of_piece, buffer);
    return;
  }
  const std::int64_t at = (blockIdx.x - in.piece_blocks) * Config::warps + warp;
  if (at >= (warps.counts.warps >= 0 ? warps.counts.warps : __ldg(warps.first + in.a.rows))) return;
  const auto words = __ldg(reinterpret_cast<const ulonglong2*>(warps.parts + at));
  const RowWarps::Part part{words.x, words.y};
  const RowPiece row{part.row(), part.begin(), part.end(), 0, 0, 1};
  const int segments = DotDealing::segments_of(row.end - row.begin);
  if (segments == 1)
    multiply_row<Config, 1>(in, row, false, part.place(), buffer);
  else if (segments == 2)
    multiply_row<Config, 2>(in, row, false, part.place(), buffer);
  else if (segments == 4 || Config::most_segments == 4)
    multiply_row<Config, 4>(in, row, false, part.place(), buffer);
  else if constexpr (Config::most_segments == 8)
    multiply_row<Config, 8>(in, row, false, part.place(), buffer);
}

}  // namespace detail

/// C = f(A B) or C += f(A B), in the order of the stream of `space`.
/// @param warps   dealt for these columns and the same tuning
/// @param pieces  the most pieces of long rows
/// @throws RangeError if a row of B has 4 GiB or more
/// Errors: 16-bit floats are multiplied exactly and added in float; floats are first rounded to tf32
/// (relative error 2^-11 each). Cost: one kernel; it reads a row of B for each nonzero, from the caches where
/// possible.
template <DotTuning Tuning = DotTuning{}, class Compute, class A, class B, class Out, class E>
void spmm_dot_products(const Kokkos::Cuda& space, RowsProduct<Compute, A, B, Out, E> in,
                       const RowWarps& warps, std::int64_t pieces) {
  in.row_bytes = narrow<std::uint32_t>(in.columns * static_cast<std::int64_t>(sizeof(B)),
                                       "the bytes of a row of the dense factor");
  const std::int64_t count = warps.counts.warps >= 0 ? warps.counts.warps : warps.most;
  const bool stores_empty_rows = warps.counts.has_empty_rows && !(E::is_identity && in.accumulates);
  const auto start = [&]<int Tiles>(std::integral_constant<int, Tiles>) {
    using Config = DotConfig<B, Tiles, Tuning>;
    constexpr int of_piece = Config::warps_of_row(Config::most_segments);
    in.piece_blocks = ceil_div(pieces * of_piece, Config::warps);
    const std::int64_t panels = ceil_div(in.columns, Config::panel);
    const std::int64_t row_blocks = ceil_div(count, Config::warps),
                       empty_blocks = stores_empty_rows ? ceil_div(in.a.rows, Config::rows) : 0;
    constexpr std::int64_t most_panels = 65535;  // per launch
    const auto kernel = &detail::spmm_dot_products_kernel<Config, RowsProduct<Compute, A, B, Out, E>>;
    set_once_per_device(space,
                        [&] { divide_memory(kernel, Config::blocks * (Config::shared_bytes / 1024 + 1)); });
    for (; in.first_panel < panels; in.first_panel += most_panels)
      launch(
          space, "sporos::spmm_dot_products",
          &detail::spmm_dot_products_kernel<Config, RowsProduct<Compute, A, B, Out, E>>,
          Grid(in.piece_blocks + row_blocks + empty_blocks, std::min(most_panels, panels - in.first_panel)),
          Config::threads, Config::shared_bytes, in, warps, row_blocks);
  };
  constexpr int most = dot_tiles<B>(std::numeric_limits<std::int64_t>::max(), Tuning);
  const int tiles = dot_tiles<B>(in.columns, Tuning);
  if (tiles == 4) return start(std::integral_constant<int, 4>{});
  if (tiles == 8) return start(std::integral_constant<int, std::min(8, most)>{});
  if (tiles == 16) return start(std::integral_constant<int, std::min(16, most)>{});
  start(std::integral_constant<int, most>{});
}

}  // namespace sporos::gpu
