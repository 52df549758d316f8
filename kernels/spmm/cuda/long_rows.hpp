// SPDX-License-Identifier: Apache-2.0
/// @file long_rows.hpp
/// Rows of a matrix that are too long for one group of lanes: they are cut into pieces, whose sums are then
/// added in a fixed order.
///
/// Pieces are the leaves of a tree in which a node has up to 32 children. A group that has computed a piece
/// stores its sums; the last group to arrive at a node adds the sums of its children, from first to last, and
/// goes on to the node's parent. So the result does not depend on the order of arrival, and no group adds
/// more than 32 partial sums per level.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// A piece of a row that is cut, or all of it.
struct RowPiece {
  std::int64_t row;
  std::int64_t begin, end;  ///< its nonzeros
  std::int64_t slot;        ///< the first of the row's slots for partial sums
  std::int32_t at;          ///< its index among the pieces of its row
  std::int32_t pieces;      ///< number of pieces of its row
};

/// The number of pieces and slots.
struct RowPieceCounts {
  unsigned long long pieces, slots;
};

/// The most children of a node.
inline constexpr int pieces_of_node = 32;

/// The slots needed by the pieces of a row and by the nodes above them, except the root.
KOKKOS_INLINE_FUNCTION std::int64_t slots_of_pieces(std::int64_t pieces) {
  std::int64_t slots = 0;
  for (; pieces > 1; pieces = ceil_div(pieces, pieces_of_node)) slots += pieces;
  return slots;
}

/// The pieces of a matrix's long rows, and where their sums are added.
struct LongRows {
  std::int64_t cut = 0;          ///< rows of more nonzeros are computed as pieces
  std::int64_t of_piece = 0;     ///< a multiple of 4, not below `cut`: the most nonzeros of a piece
  std::int64_t most_pieces = 0;  ///< upper bounds from the number of nonzeros
  std::int64_t most_slots = 0;
  RowPiece* pieces = nullptr;        ///< [most_pieces]
  RowPieceCounts* counts = nullptr;  ///< those of this matrix
  unsigned* arrivals = nullptr;  ///< [most_slots, panels], at the slots of first children; zero between runs
  char* sums = nullptr;          ///< [most_slots, columns], each as many bytes as a sum has

  /// The bounds for a matrix with this many nonzeros.
  static LongRows of(std::int64_t nonzeros, std::int64_t cut, std::int64_t of_piece) {
    LongRows out;
    out.cut = cut;
    out.of_piece = of_piece;
    // A long row has one piece more than it has whole ones at most. Slots are for rows of two pieces or more,
    // which are fewer than 2 for every `of_piece` nonzeros. A tree has at most a tenth more slots than
    // leaves: 1/31 more, plus one per level, and a second level only from 33 leaves on.
    if (nonzeros > cut) out.most_pieces = ceil_div(nonzeros, cut) + ceil_div(nonzeros, of_piece);
    if (nonzeros > of_piece) out.most_slots = ceil_div(11 * ceil_div(2 * nonzeros, of_piece), 10);
    return out;
  }
};

namespace detail {

template <class Position>
__global__ __launch_bounds__(256) void find_long_rows_kernel(const Position* positions, std::int64_t rows,
                                                             LongRows to) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  std::int64_t begin = 0, length = 0;
  if (row < rows) {
    begin = static_cast<std::int64_t>(positions[row]);
    length = static_cast<std::int64_t>(positions[row + 1]) - begin;
  }
  unsigned are_long = __ballot_sync(all_lanes, length > to.cut);
  for (; are_long != 0; are_long &= are_long - 1) {
    const int leader = __ffs(static_cast<int>(are_long)) - 1;
    const std::int64_t pieces = ceil_div(shuffle(length, leader), to.of_piece);
    const std::int64_t from = shuffle(begin, leader), of_row = shuffle(row, leader);
    unsigned long long piece = 0, slot = 0;
    if (lane_id() == 0) {
      piece = atomicAdd(&to.counts->pieces, static_cast<unsigned long long>(pieces));
      slot = atomicAdd(&to.counts->slots, static_cast<unsigned long long>(slots_of_pieces(pieces)));
    }
    piece = __shfl_sync(all_lanes, piece, 0);
    slot = __shfl_sync(all_lanes, slot, 0);
    const std::int64_t whole = shuffle(length, leader);
    const std::int64_t of_piece = ceil_div(whole, 4 * pieces) * 4;
    for (std::int64_t at = lane_id(); at < pieces; at += warp_size)
      to.pieces[static_cast<std::int64_t>(piece) + at] = {of_row,
                                                          from + Kokkos::min(at * of_piece, whole),
                                                          from + Kokkos::min((at + 1) * of_piece, whole),
                                                          static_cast<std::int64_t>(slot),
                                                          static_cast<std::int32_t>(at),
                                                          static_cast<std::int32_t>(pieces)};
  }
}

}  // namespace detail

/// Finds the pieces of the rows of a matrix, in the order of the stream of `space`. Their order varies from
/// run to run.
/// @param arrivals  number of arrival counters
template <class Position>
void find_long_rows(const Kokkos::Cuda& space, const Position* positions, std::int64_t rows,
                    const LongRows& to, std::int64_t arrivals) {
  if (to.most_pieces == 0) return;
  zero(space, to.counts, 1);
  zero(space, to.arrivals, arrivals);
  launch(space, "sporos::find_long_rows", &detail::find_long_rows_kernel<Position>, Grid(ceil_div(rows, 256)),
         256, 0, positions, rows, to);
}

/// Adds a piece's sums to those of the other pieces of its row, if there are any; all lanes of the group call
/// it.
///
/// @param lanes       mask of the group's lanes
/// @param stores      whether this lane stores sums: one of the lanes with the same sums does
/// @param is_leader   true in one lane
/// @param panel       the panel of columns that the group computes, of `panels`
/// @param column      this lane's first column; it has none if this is not below `columns`
/// @param sums        of this lane's columns: in the piece, and on return, if that is true, in all pieces
/// @return  whether this group was the last of the row to arrive, and so has the row's sums
template <class T, int Count>
__device__ __forceinline__ bool add_pieces(const LongRows& in, const RowPiece& piece, unsigned lanes,
                                           bool stores, bool is_leader, std::int64_t panel,
                                           std::int64_t panels, std::int64_t column, std::int64_t columns,
                                           Pack<T, Count>& sums) {
  using Sums = Pack<T, Count>;
  if (piece.pieces == 1) return true;
  std::int64_t first = piece.slot;  // first slot of this level
  std::int64_t at = piece.at, nodes = piece.pieces;
  const auto slot = [&](std::int64_t number) {
    return reinterpret_cast<Sums*>(in.sums) + (number * columns + column) / Count;
  };
  while (true) {
    if (stores && column < columns) *slot(first + at) = sums;
    __threadfence();
    __syncwarp(lanes);
    const std::int64_t parent = at / pieces_of_node;
    const int children =
        static_cast<int>(Kokkos::min(std::int64_t{pieces_of_node}, nodes - parent * pieces_of_node));
    bool is_last = false;
    unsigned* const arrivals = in.arrivals + (first + parent) * panels + panel;
    if (is_leader) {
      is_last = atomicAdd(arrivals, 1u) == static_cast<unsigned>(children - 1);
      if (is_last) *arrivals = 0;  // for the next run
    }
    if (!__any_sync(lanes, is_last)) return false;
    __threadfence();
    if (column < columns) {
      sums = load_fresh(slot(first + parent * pieces_of_node));
#pragma unroll 4
      for (int child = 1; child < children; ++child) {
        const Sums other = load_fresh(slot(first + parent * pieces_of_node + child));
#pragma unroll
        for (int c = 0; c < Count; ++c) sums.at[c] = plus(sums.at[c], other.at[c]);
      }
    }
    first += nodes;
    nodes = ceil_div(nodes, pieces_of_node);
    at = parent;
    if (nodes == 1) return true;
  }
}

}  // namespace sporos::gpu
