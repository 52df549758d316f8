// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a sparse and a dense matrix on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

#include "../../protocol/candidate.hpp"
#include "../pattern.hpp"
#include "rows.hpp"
#include "rows_plan.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), with A in CSR or CSC, B and C dense, or an epilogue of such a product
/// (kernels/epilogue/epilogue.hpp), on CUDA cores, by rows.hpp. A is copied first if it is not stored along
/// i, and B if it is not stored by rows.
///
/// Batches, C(b, i, j) = A(i, k) * B(b, k, j), also with A(b, i, k) in Batches<CSR<>> and one B or one for
/// each batch, are computed by one kernel.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SpmmByGroups {
  using Pattern = SpmmOfRowsPattern<GpuMatrixOperands>;
  static constexpr std::string_view name = "SpMM by groups of lanes";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, C row-major, or C(b, i, j) = A(i, k) * "
      "B(b, k, j), also with A(b, i, k) in Batches<CSR>, in the memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  /// For a plan that is kept, rows are measured.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
    Plan<S> plan(statement, resources);
    if (use == Use::often) plan.measure();
    return Cost{plan.seconds() + plan.seconds_of_copy(use)};
  }

  template <class S>
  using Plan = SpmmRowsPlan<SpmmByGroups, S>;

  // What SpmmRowsPlan asks for.

  template <class B>
  static constexpr int narrowest_panel = 8;

  static std::int64_t columns_of_slot(std::int64_t columns) { return ceil_div(columns, 2) * 2; }

  /// No index of rows is needed.
  struct Index {
    static constexpr bool is_there = false;
    struct Counts {};
    template <class B>
    static Index lay_out(const Kokkos::Cuda&, Layout&, std::int64_t, std::int64_t, std::int64_t) {
      return {};
    }
    template <class Position>
    void find(const Kokkos::Cuda&, const Position*, std::int64_t, std::int64_t) const {}
    template <class Position>
    Counts count(const Kokkos::Cuda&, const Position*, std::int64_t) const {
      return {};
    }
    void set_counts(Counts) {}
  };

  static constexpr bool deals_rows = true;

  template <class A, class B, class Out>
  static RowsShape shape(const A& a, std::int64_t columns, const B* b, const Out* c, int multiprocessors,
                         std::int64_t longest_row, bool is_dealt) {
    return RowsShape::of(a, columns, b, c, multiprocessors, longest_row,
                         is_dealt ? RowsShape::of_block : RowsShape::of_warp);
  }
  template <class Product>
  static void multiply(const Kokkos::Cuda& space, const Product& in, Index, std::int64_t pieces) {
    spmm_rows(space, in, pieces);
  }
  static void explain(std::ostream& out, const RowsShape& shape) {
    out << "a row by " << shape.lanes << (shape.lanes == 1 ? " lane" : " lanes") << " of a warp";
    if (shape.parts > 1) out << " in " << shape.parts << " parts";
    if (shape.panels > 1) out << ", in " << shape.panels << " panels of columns";
  }
  /// Seconds of a product, fitted on an H200 within 13 % (one standard deviation): launching it, reading B
  /// through the caches, and RowsTimes. Reading takes a quarter longer if B exceeds 8 MB, but not where few
  /// rows are so long that they are cut.
  static double seconds(const RowsWork& work) {
    constexpr double bytes_per_second = 15.6e12, near_bytes = 8e6, of_far = 1.25;
    const bool is_far = work.bytes_of_b > near_bytes && !work.has_pieces;
    return 2.6e-6 + work.bytes * (is_far ? of_far : 1) / bytes_per_second +
           work.lanes * (work.has_warps ? RowsTimes::lane_of_warps : RowsTimes::lane) +
           work.steps * (work.of_doubles ? RowsTimes::step_of_doubles : RowsTimes::step) +
           (work.has_pieces ? RowsTimes::pieces : 0);
  }
};

}  // namespace sporos::gpu
