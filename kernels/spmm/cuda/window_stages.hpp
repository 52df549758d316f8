// SPDX-License-Identifier: Apache-2.0
/// @file window_stages.hpp
/// A warp's part of a window of 16-bit floats in a panel of columns, by way of shared memory: several steps
/// ahead, neighbouring lanes copy a row of B in pieces of 16 bytes to a ring that the warp has to itself,
/// from which it is loaded transposed, as the instruction takes it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/warp.hpp"
#include "windows_config.hpp"

namespace sporos::gpu::detail {

/// The steps [begin, end) of a window.
template <class Config, class Product>
class StagedWindowPart {
  using Mma = typename Config::Mma;
  static constexpr int stages = Config::stages;
  static constexpr int pieces = Config::columns / 8;          ///< of a row of B
  static constexpr int rows_at_once = warp_size / pieces;     ///< rows that the lanes copy together
  static constexpr int rows_of_lane = Mma::k / rows_at_once;  ///< of which a lane copies a piece each
  using Columns = std::conditional_t<rows_of_lane == 4, int4, int2>;
  static_assert(rows_of_lane * sizeof(int) == sizeof(Columns));
  static constexpr int pieces_of_values = Config::value_bytes / 16;
  static_assert(pieces_of_values <= warp_size, "a lane copies one piece of the values");

 public:
  /// @param first_column  of the panel
  /// @param ring          Config::ring_bytes bytes of shared memory, a multiple of 128
  __device__ StagedWindowPart(const Product& product, std::int64_t first_column, int begin, int end,
                              std::uint32_t ring)
      : in_(product),
        begin_(begin),
        end_(end),
        row_bytes_(static_cast<std::uint32_t>(product.stride * 2)),
        lane_bytes_(static_cast<std::uint32_t>(first_column + lane_id() % pieces * 8) * 2),
        bytes_of_piece_(first_column + lane_id() % pieces * 8 < product.n ? 16 : 0),
        ring_(ring) {
    if (bytes_of_piece_ == 0) lane_bytes_ = 0;
  }

  /// Adds the products of these steps, if there are any, to the sums of this lane, which are those of the
  /// columns in their order. Ends when no lane reads the ring.
  template <class Sums>
  __device__ __forceinline__ void multiply(Sums& sums) const {
    if (begin_ < end_) {
      Columns first[stages - 1];
#pragma unroll
      for (int s = 0; s < stages - 1; ++s) first[s] = load_columns(begin_ + s);
      Columns next = load_columns(begin_ + stages - 1), after_next = load_columns(begin_ + stages);
#pragma unroll
      for (int s = 0; s < stages - 1; ++s) copy(begin_ + s, s, first[s]);
      int stage = 0;
#pragma unroll 1
      for (int step = begin_; step < end_; ++step) {
        ptx::wait_for_pieces<stages - 2>();
        __syncwarp();
        copy(step + stages - 1, stage == 0 ? stages - 1 : stage - 1, next);
        next = after_next;
        after_next = load_columns(step + stages + 1);
        multiply(stage, sums);
        stage = stage == stages - 1 ? 0 : stage + 1;
      }
    }
    __syncwarp();
  }

 private:
  /// The offset of a piece of the row of B that the instruction sums at k.
  __device__ __forceinline__ static std::uint32_t place(int k, int piece) {
    if constexpr (pieces == 8)
      return Swizzle128::row_offset(static_cast<unsigned>(k)) ^
             static_cast<unsigned>(piece * Swizzle128::piece_bytes);
    else
      return static_cast<std::uint32_t>(SwizzledRows<pieces>::place(k, piece));
  }

  /// The columns of a step whose rows this lane copies; after the end, those of the last step.
  __device__ __forceinline__ Columns load_columns(int step) const {
    const auto* const from = reinterpret_cast<const char*>(in_.windows.column);
    return __ldg(reinterpret_cast<const Columns*>(
        from +
        static_cast<std::uint32_t>(::min(step, end_ - 1) * Mma::k + lane_id() / pieces * rows_of_lane) * 4));
  }
  __device__ __forceinline__ static int column(const Columns& of, int which) {
    if constexpr (rows_of_lane == 4)
      return which == 0 ? of.x : which == 1 ? of.y : which == 2 ? of.z : of.w;
    else
      return which == 0 ? of.x : of.y;
  }
  /// Begins to copy a step, if there is one, as the next group of pieces.
  __device__ __forceinline__ void copy(int step, int stage, const Columns& columns) const {
    if (step < end_) {
      const std::uint32_t at = ring_ + static_cast<std::uint32_t>(stage * Config::stage_bytes);
      const auto* const b = reinterpret_cast<const char*>(in_.b);
#pragma unroll
      for (int r = 0; r < rows_of_lane; ++r)
        ptx::copy_piece(
            at + place(Mma::k_of_neighbours(lane_id() / pieces * rows_of_lane + r), lane_id() % pieces),
            b + (static_cast<std::uint32_t>(column(columns, r)) * row_bytes_ + lane_bytes_), bytes_of_piece_);
      const auto* const values = reinterpret_cast<const char*>(in_.windows.values);
      if (pieces_of_values == warp_size || lane_id() < pieces_of_values)
        ptx::copy_piece(at + Config::dense_bytes + static_cast<std::uint32_t>(lane_id()) * 16,
                        values + static_cast<std::uint32_t>(step) * Config::value_bytes +
                            static_cast<std::uint32_t>(lane_id()) * 16,
                        16);
    }
    ptx::commit_pieces();
  }
  template <class Sums>
  __device__ __forceinline__ void multiply(int stage, Sums& sums) const {
    const std::uint32_t at = ring_ + static_cast<std::uint32_t>(stage * Config::stage_bytes);
    typename Mma::Values of_a[Config::row_tiles];
#pragma unroll
    for (int tile = 0; tile < Config::row_tiles; ++tile)
      ptx::load_shared(
          at + Config::dense_bytes + static_cast<std::uint32_t>(tile * warp_size + lane_id()) * 8,
          of_a[tile].x, of_a[tile].y);
#pragma unroll
    for (int tile = 0; tile < Config::column_tiles; ++tile) {
      std::uint32_t of_b[4];
      ptx::load_matrices_transposed(
          at + place(Mma::column_of_address(lane_id()), tile * 2 + Mma::rows_of_address(lane_id())), of_b);
#pragma unroll
      for (int row_tile = 0; row_tile < Config::row_tiles; ++row_tile)
        Mma::multiply(sums[row_tile][tile], of_b, of_a[row_tile]);
    }
  }

  const Product& in_;
  const int begin_, end_;
  const std::uint32_t row_bytes_;
  std::uint32_t lane_bytes_;  ///< of the piece that this lane copies of each of its rows
  const int bytes_of_piece_;  ///< 0 after the last column
  const std::uint32_t ring_;
};

/// Exchanges sums among the lanes of a warp, from columns in their order to those that Config gives a lane,
/// which are neighbours.
/// @param memory  in shared memory, of the warp
template <class Config, class Sums>
__device__ __forceinline__ void reorder_sums(float* memory, Sums& sums) {
  constexpr int pitch = Config::columns + 4;  // so that a store reaches all banks
  static_assert(8 * pitch * 4 <= Config::ring_bytes);
  const int line = lane_id() / 4, pair = lane_id() % 4 * 2;
#pragma unroll
  for (auto& of_row : sums) {
    __syncwarp();
#pragma unroll
    for (int tile = 0; tile < Config::column_tiles; ++tile)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        memory[(pair + r % 2) * pitch + tile * Config::Mma::m + r / 2 * 8 + line] = of_row[tile][r];
    __syncwarp();
#pragma unroll
    for (int tile = 0; tile < Config::column_tiles; ++tile)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const auto two = *reinterpret_cast<const float2*>(
            memory + (pair + e) * pitch + Config::column_of_lane(lane_id()) + Config::column_of_pair(tile));
        of_row[tile][e] = two.x;
        of_row[tile][2 + e] = two.y;
      }
  }
}

}  // namespace sporos::gpu::detail
