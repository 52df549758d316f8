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
  columns,  ///< no values
  values    ///< with values
};

/// One thread's part of the products of a row of A: see for_each_product(). It fetches its next row of B
/// before it has finished the last.
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

  template <ProductsOf Reading, class Visit>
  __device__ __forceinline__ void for_each(const Visit& visit) const {
    constexpr bool values = Reading == ProductsOf::values;
    const bool alone = values && is_alone();
    const unsigned team = mask();
    PositionA at = begin_ + static_cast<PositionA>(lane_ / width_);
    PositionB next{};
    PositionB next_end{};
    A next_x{};
    const auto ask = [&] {
      if (at >= end_) return;
      const auto k = static_cast<std::int64_t>(a_.coordinates[at]);
      next = b_.positions[k];  // used as late as possible: whatever uses it waits for it
      next_end = b_.positions[k + 1];
      if constexpr (values) next_x = a_.values[at];
    };
    const auto visit_at = [&](PositionB q, const A& x) {
      B y{};
      if constexpr (values) y = b_.values[q];
      visit(static_cast<std::uint32_t>(b_.coordinates[q]), x, y, alone);
    };
    ask();
    while (at < end_) {
      const PositionB first = next;
      const PositionB row_end = next_end;
      const A x = next_x;
      at += static_cast<PositionA>(groups_);
      ask();
      if (alone) {
        for (PositionB base = first; base < row_end; base += static_cast<PositionB>(widest)) {
          const PositionB q = base + static_cast<PositionB>(lane_);
          if (q < row_end) visit_at(q, x);
          __syncwarp(team);
        }
      } else {
        for (PositionB q = first + offset_; q < row_end; q += static_cast<PositionB>(width_)) visit_at(q, x);
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
  of_row.template for_each<Reading>(visit);
}

}  // namespace sporos::gpu::detail
