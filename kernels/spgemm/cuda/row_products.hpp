// SPDX-License-Identifier: Apache-2.0
/// @file row_products.hpp
/// How a team of threads visits the products of one row of A with rows of B.
///
/// A row of A with the columns k0, k1, … has one product for each nonzero of B's rows k0, k1, …. The number
/// of lanes that take one row of B is the average number of its entries, rounded to a power of two, so a team
/// of 8 lanes visits
///
///     rows of about 1:  k0 k1 k2 k3 k4 k5 k6 k7     one lane each
///     rows of about 4:  k0 k0 k0 k0 k1 k1 k1 k1     two rows at a time
///     longer ones:      k0 k0 k0 k0 k0 k0 k0 k0     the team is alone on one row
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../cuda/warp.hpp"

namespace sporos::gpu::detail {

/// How the products of a row are read.
enum class ProductsOf {
  columns,  ///< no values; each thread fetches its next row of B before it has finished the last
  values,   ///< with values
  lists     ///< with values; the lanes of a team fetch one row of B each, all at once, and pass them round
};

/// One thread's part of the products of a row of A: see for_each_product().
template <int Lanes, class MatrixA, class MatrixB>
class RowProducts {
  using A = std::remove_const_t<typename MatrixA::value_type>;
  using B = std::remove_const_t<typename MatrixB::value_type>;
  using PositionA = std::remove_const_t<typename MatrixA::position_type>;
  using PositionB = std::remove_const_t<typename MatrixB::position_type>;
  static constexpr int widest = Lanes < warp_size ? Lanes : warp_size;  ///< the most lanes on one row of B

 public:
  __device__ __forceinline__ RowProducts(const MatrixA& a, const MatrixB& b, std::int64_t row,
                                         std::int64_t products, int lane, int lanes)
      : a_(a), b_(b), begin_(a.positions[row]), end_(a.positions[row + 1]), lane_(lane) {
    const std::int64_t mean = products / static_cast<std::int64_t>(end_ - begin_);
    while (width_ < widest && width_ * 2 <= mean + 1) width_ *= 2;
    groups_ = lanes / width_;
    offset_ = static_cast<PositionB>(lane % width_);
  }

  /// Visits the products as in ProductsOf::columns.
  template <class Visit>
  __device__ __forceinline__ void columns(const Visit& visit) const {
    PositionA at = begin_ + static_cast<PositionA>(lane_ / width_);
    PositionB next{};
    PositionB next_end{};
    const auto ask = [&] {
      if (at >= end_) return;
      const auto k = static_cast<std::int64_t>(a_.coordinates[at]);
      next = b_.positions[k];  // used as late as possible: whatever uses it waits for it
      next_end = b_.positions[k + 1];
    };
    ask();
    while (at < end_) {
      PositionB q = next + offset_;
      const PositionB row_end = next_end;
      at += static_cast<PositionA>(groups_);
      ask();
      for (; q < row_end; q += static_cast<PositionB>(width_))
        visit(static_cast<std::uint32_t>(b_.coordinates[q]), A{}, B{}, false);
    }
  }

  /// Visits the products as in ProductsOf::values.
  template <class Visit>
  __device__ __forceinline__ void values(const Visit& visit) const {
    const bool alone = is_alone();
    const unsigned team = mask();
    for (PositionA at = begin_ + static_cast<PositionA>(lane_ / width_); at < end_;
         at += static_cast<PositionA>(groups_)) {
      const auto k = static_cast<std::int64_t>(a_.coordinates[at]);
      const PositionB row_end = b_.positions[k + 1];
      const A x = a_.values[at];
      if (alone) {
        for (PositionB first = b_.positions[k]; first < row_end; first += static_cast<PositionB>(widest)) {
          const PositionB q = first + static_cast<PositionB>(lane_);
          if (q < row_end) visit(static_cast<std::uint32_t>(b_.coordinates[q]), x, b_.values[q], true);
          __syncwarp(team);
        }
      } else {
        for (PositionB q = b_.positions[k] + offset_; q < row_end; q += static_cast<PositionB>(width_))
          visit(static_cast<std::uint32_t>(b_.coordinates[q]), x, b_.values[q], false);
      }
    }
  }

  /// Visits the products as in ProductsOf::lists.
  template <class Visit>
  __device__ __forceinline__ void lists(const Visit& visit) const {
    static_assert(Lanes <= warp_size, "values are passed round within a warp");
    const bool alone = is_alone();
    const unsigned team = mask();
    for (PositionA base = begin_; base < end_; base += static_cast<PositionA>(Lanes)) {
      const PositionA at = base + static_cast<PositionA>(lane_);
      PositionB first{};  // [Lanes rows of B]
      PositionB last{};   // [Lanes rows of B]
      A x{};              // [Lanes rows of B]
      if (at < end_) {
        const auto k = static_cast<std::int64_t>(a_.coordinates[at]);
        first = b_.positions[k];
        last = b_.positions[k + 1];
        x = a_.values[at];
      }
      const int count = end_ - base < static_cast<PositionA>(Lanes) ? static_cast<int>(end_ - base) : Lanes;
      for (int from = 0; from < count; from += groups_) {
        const int of = from + lane_ / width_;
        const PositionB row_end = shuffle_among(team, last, of, Lanes);
        const A factor = shuffle_among(team, x, of, Lanes);
        for (PositionB q = shuffle_among(team, first, of, Lanes) + offset_; q < row_end;
             q += static_cast<PositionB>(width_))
          visit(static_cast<std::uint32_t>(b_.coordinates[q]), factor, b_.values[q], alone);
        if (alone) __syncwarp(team);
      }
    }
  }

 private:
  /// Whether the whole team, within one warp, works on one row of B.
  __device__ __forceinline__ bool is_alone() const { return Lanes <= warp_size && groups_ == 1; }
  /// The mask of the team's lanes in its warp.
  __device__ __forceinline__ static unsigned mask() {
    return Lanes >= warp_size ? all_lanes
                              : ((1u << Lanes % warp_size) - 1) << (lane_id() - lane_id() % widest);
  }

  const MatrixA& a_;
  const MatrixB& b_;
  PositionA begin_;
  PositionA end_;
  int lane_;
  int width_ = 1;  // lanes on one row of B
  int groups_;     // rows of B visited at the same time
  PositionB offset_;
};

/// Calls visit(column, value of A, value of B, alone) for the products of a row of A, by thread `lane` of a
/// team of `lanes`. `alone` is true if the whole team, at most the `Lanes` lanes of a warp, works on one row
/// of B, whose columns differ: then its lanes wait for one another between visits.
///
/// @param products  number of products of the row; more than zero
template <int Lanes, ProductsOf Reading, class MatrixA, class MatrixB, class Visit>
__device__ __forceinline__ void for_each_product(const MatrixA& a, const MatrixB& b, std::int64_t row,
                                                 std::int64_t products, int lane, int lanes,
                                                 const Visit& visit) {
  const RowProducts<Lanes, MatrixA, MatrixB> of_row(a, b, row, products, lane, lanes);
  if constexpr (Reading == ProductsOf::columns)
    of_row.columns(visit);
  else if constexpr (Reading == ProductsOf::values)
    of_row.values(visit);
  else
    of_row.lists(visit);
}

}  // namespace sporos::gpu::detail
