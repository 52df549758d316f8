// SPDX-License-Identifier: Apache-2.0
/// @file packed.hpp
/// An N:M sparse matrix packed for tensor cores: fragments in the order in which lanes load them, and for
/// each kept row the place in shared memory of the row of the dense matrix that it meets.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../../core/extents.hpp"
#include "../../../core/value.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/warp.hpp"
#include "../view.hpp"
#include "split.hpp"

namespace sporos::gpu {

/// How a packed matrix is cut. Its rows are cut into stages, as many dense rows as a block holds in shared
/// memory at a time. Of each stage, a group of 32 columns (of 16 or 8 if units are no wider) keeps up to
/// `steps` * 16 rows. What a block multiplies by in one step is copied together:
///
///     for each `together` groups of columns, for each stage, for each step:
///         fragments   [together][planes][2 pairs of mma][32 lanes][16 bytes]
///         places      [together][this step, the next][16] of 16 bits
///
/// Groups of 16 columns have one pair of mma; groups of 8 have half a pair, 8 bytes per lane.
struct NmPacking {
  int stage_rows = 0;                    ///< dense rows per stage
  int steps = 0;                         ///< 16 kept rows each
  int planes = 1;                        ///< 2 if each value is split into a high and a low part
  int together = 0;                      ///< groups of columns that a block computes together
  int columns = ColumnsOfWarp::columns;  ///< columns per group

  static constexpr int step_rows = MmaM16N8K16::k;
  static constexpr int most_kept_rows = 128;  ///< per stage
  static constexpr int bytes_of_places = 2 * step_rows * 2;
  /// The bytes of the fragments of 16 rows of a group.
  KOKKOS_INLINE_FUNCTION constexpr int fragment_bytes() const { return step_rows * columns * 2; }

  KOKKOS_INLINE_FUNCTION constexpr int kept_rows() const { return steps * step_rows; }
  /// Where the places of a step begin, and how many bytes a step has.
  KOKKOS_INLINE_FUNCTION constexpr int places_at() const { return together * planes * fragment_bytes(); }
  KOKKOS_INLINE_FUNCTION constexpr int step_bytes() const { return places_at() + together * bytes_of_places; }

  KOKKOS_INLINE_FUNCTION constexpr std::int64_t stages(std::int64_t rows) const {
    return ceil_div(rows, stage_rows);
  }
  /// The number of groups in a matrix, padded to a multiple of `together`.
  KOKKOS_INLINE_FUNCTION constexpr std::int64_t groups(std::int64_t of_matrix) const {
    return ceil_div(of_matrix, together * columns) * together;
  }
  constexpr std::int64_t bytes_of(std::int64_t rows, std::int64_t of_matrix) const {
    return groups(of_matrix) / together * stages(rows) * steps * step_bytes();
  }

  /// The most rows that N:M keeps among `stage` consecutive ones beginning at a multiple of `stage`.
  static constexpr int most_kept(int kept, int window, int stage) {
    int most = 0;
    int begin = 0;
    do {  // every way in which a stage can lie among windows
      int sum = 0;
      for (int at = begin, left = stage; left > 0;) {
        const int part = std::min(window - at % window, left);
        sum += std::min(kept, part);
        at += part;
        left -= part;
      }
      most = std::max(most, sum);
      begin = (begin + stage) % window;
    } while (begin != 0);
    return most;
  }
};

namespace detail {

/// Loads *at through the read-only cache; nothing may write it while the kernel runs.
template <class T>
__device__ __forceinline__ T load(const T* at) {
  if constexpr (sizeof(T) == 2) {
    T out;
    out.bits = __ldg(&at->bits);
    return out;
  } else {
    return __ldg(at);
  }
}

/// Warps of a block that packs: as many as fit what they pack in shared memory.
template <class T>
inline constexpr int pack_nm_warps = 8 / static_cast<int>(sizeof(T));

/// Packs one stage of one group of columns with one warp.
///
/// A step sums over its 16 rows in any order, so they are arranged by their remainders modulo 8: few of the 8
/// rows of one matrix in shared memory then share a bank (Swizzle128). Units that are zero are left out: they
/// refer to rows of zeros after the stage, so that padding is never multiplied by infinities or NaN of the
/// dense matrix.
template <class T>
__global__ __launch_bounds__(pack_nm_warps<T>* warp_size) void pack_nm_kernel(NmView<T> b, NmPacking packing,
                                                                              std::int64_t groups,
                                                                              const int* exponents,
                                                                              int* too_wide, char* packed) {
  using Packed = packed_t<T>;
  constexpr int warps = pack_nm_warps<T>, most = NmPacking::most_kept_rows;
  __shared__ T values_of[warps][most][warp_size];  // values of each kept row
  __shared__ std::uint8_t rows_of[warps][most];    // index of each kept row in the stage, below 256
  __shared__ std::uint8_t order_of[warps][most];   // which kept row is the at-th of the packed stage, if any
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t stages = packing.stages(b.rows);
  const std::int64_t piece = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
  if (piece >= groups * stages) return;
  const std::int64_t column = piece / stages * packing.columns + lane_id();
  const std::int64_t first_row = piece % stages * packing.stage_rows;
  const std::int64_t end_row =
      first_row + packing.stage_rows < b.rows ? first_row + packing.stage_rows : b.rows;
  const bool is_inside = lane_id() < packing.columns && column < b.columns;
  const std::int64_t unit = (column - lane_id()) / b.unit, place = column - unit * b.unit;
  auto& values = values_of[warp];
  auto& rows = rows_of[warp];
  auto& order = order_of[warp];
  constexpr std::uint8_t no_row = 255;

  int count = 0;
  if (column - lane_id() < b.columns)
    for (std::int64_t w = first_row / b.window; w * b.window < end_row; ++w)
#pragma unroll 8
      for (int slot = 0; slot < b.kept; ++slot) {
        const std::int64_t q = b.position(w, unit) + slot;
        const std::int64_t row = w * b.window + __ldg(b.indices + q);
        T value{};
        if (is_inside) value = load(b.values + q * b.unit + place);
        const bool is_zero = static_cast<float>(value) == 0;
        if (__all_sync(~0u, is_zero) || row < first_row || row >= end_row) continue;
        values[count][lane_id()] = value;
        if (lane_id() == 0) rows[count] = static_cast<std::uint8_t>(row - first_row);
        ++count;
      }
  __syncwarp();
  // While there are rows of every remainder, each group of 8 gets one of each. The remaining rows are spread
  // so that those with the same remainder are far apart, since a group of 8 that lacks one remainder has
  // another twice.
  constexpr int parts = most / warp_size;
  int remainder[parts], earlier[parts];  // for rows lane, lane + 32, …; earlier ones with the same remainder
  int of_remainder[8] = {};              // number of rows with each remainder
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    const int at = part * warp_size + lane_id();
    remainder[part] = at < count ? rows[at] % 8 : -1;
    earlier[part] = 0;
    order[at] = no_row;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      const unsigned same = __ballot_sync(~0u, remainder[part] == r);
      if (remainder[part] == r) earlier[part] = of_remainder[r] + __popc(same & ((1u << lane_id()) - 1));
      of_remainder[r] += __popc(same);
    }
  }
  __syncwarp();
  int of_each = of_remainder[0];
#pragma unroll
  for (int r = 1; r < 8; ++r) of_each = ::min(of_each, of_remainder[r]);
  const int others = ::max((count - of_each * 8 + 7) / 8, 1);  // groups of 8 without one of each
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    if (remainder[part] < 0) continue;
    int to = earlier[part] * 8 + remainder[part];
    if (earlier[part] >= of_each) {
      int before = earlier[part] - of_each;  // among the remaining rows
#pragma unroll
      for (int r = 0; r < 8; ++r) before += r < remainder[part] ? of_remainder[r] - of_each : 0;
      to = (of_each + before % others) * 8 + before / others;
    }
    order[to] = static_cast<std::uint8_t>(part * warp_size + lane_id());
  }
  __syncwarp();

  const std::int64_t group = piece / stages, in_block = group % packing.together;
  char* const out =
      packed + (group / packing.together * stages + piece % stages) * packing.steps * packing.step_bytes();
  for (int at = lane_id(); at < packing.kept_rows(); at += warp_size) {
    const unsigned row =
        order[at] != no_row ? rows[order[at]] : static_cast<unsigned>(packing.stage_rows + at % 8);
    const auto place = static_cast<std::uint16_t>(Swizzle128::row_offset(row));
    auto* const places =
        reinterpret_cast<std::uint16_t*>(out + at / NmPacking::step_rows * packing.step_bytes() +
                                         packing.places_at() + in_block * NmPacking::bytes_of_places) +
        at % NmPacking::step_rows;
    *places = place;
    // Steps lie one after another, also across stages.
    const bool is_first = piece % stages == 0 && at < NmPacking::step_rows;
    const bool is_last = piece % stages == stages - 1 && at >= packing.kept_rows() - NmPacking::step_rows;
    if (!is_first) *(places + NmPacking::step_rows - packing.step_bytes() / 2) = place;
    if (is_last) places[NmPacking::step_rows] = 0;
  }
  for (int step = 0; step < packing.steps; ++step)
    for (int pair = 0; pair * 2 < packing.columns / MmaM16N8K16::n; ++pair) {
      alignas(16) Packed high[8] = {};  // two registers of two elements for each of two mma
      alignas(16) Packed low[8] = {};
      int tiny = 0;
      for (int e = 0; e < 8; ++e) {
        const auto in_mma = MmaM16N8K16::of_b(lane_id(), e / 2 % 2, e % 2);
        const int at = step * NmPacking::step_rows + in_mma.row;
        const int tile = pair * 2 + e / 4, j = ColumnsOfWarp::column(tile, in_mma.column, packing.columns);
        if (order[at] == no_row || tile * MmaM16N8K16::n >= packing.columns) continue;
        const T value = values[order[at]][j];
        if constexpr (is_scaled<T>) {
          if (column - lane_id() + j >= b.columns) continue;
          const int exponent = exponents[column - lane_id() + j];
          tiny += packing.planes == 2 ? split(value, exponent, high[e], low[e])
                                      : round_to_half(value, exponent, high[e]);
        } else {
          high[e] = value;
        }
      }
      const bool has_pairs = packing.columns > MmaM16N8K16::n;
      char* const fragments = out + step * packing.step_bytes() +
                              in_block * packing.planes * packing.fragment_bytes() + pair * 512 +
                              lane_id() * (has_pairs ? 16 : 8);
      const auto store = [&](const Packed(&part)[8], char* to) {
        if (has_pairs)
          *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(part);
        else
          *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(part);
      };
      store(high, fragments);
      if constexpr (is_scaled<T>) {
        if (packing.planes == 2) store(low, fragments + packing.fragment_bytes());
        if (tiny >= most_tiny) *too_wide = 1;
      }
    }
}

}  // namespace detail

/// Packs a matrix whose units are multiples of packing.columns columns.
/// @param exponents  one for each column, if values are scaled (split.hpp)
/// @param too_wide   set if scaling loses too much
/// @param packed     [packing.bytes_of(b.rows, b.columns)]
template <class T>
void pack_nm(const Kokkos::Cuda& space, const NmView<T>& b, const NmPacking& packing, const int* exponents,
             int* too_wide, char* packed) {
  constexpr int warps = detail::pack_nm_warps<T>;
  const std::int64_t groups = packing.groups(b.columns);
  launch(space, "sporos::pack_nm", &detail::pack_nm_kernel<T>,
         ceil_div(groups * packing.stages(b.rows), warps), warps * warp_size, 0, b, packing, groups,
         exponents, too_wide, packed);
}

}  // namespace sporos::gpu
