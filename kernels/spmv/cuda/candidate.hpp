// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a sparse matrix and a vector on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

#include "../../nest/bounds.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "spmv.hpp"

namespace sporos::gpu {

/// y(i) = A(i, j) * x(j), A in CSR, by spmv.hpp.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SpmvByTiles {
  using Pattern = SpmvPattern<GpuOperands>;
  static constexpr std::string_view name = "SpMV by tiles";
  static constexpr std::string_view takes =
      "y(i) = A(i, j) * x(j), A in CSR, x and y dense, in the memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_launch = 5e-6;
  static constexpr double seconds_of_term = 2e-12;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  class Plan;
};

template <class S>
class SpmvByTiles::Plan {
  using Compute = detail::compute_of<S>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  /// Finds where each tile starts, once for all runs, and allocates what these need: a few bytes per tile,
  /// which the plan does not share with others.
  void prepare() {
    const auto a = matrix();
    reserve_spmv<Compute>(room_, a.rows, a.nonzeros);
    starts_ = make_array<SpmvTileStart, Memory>("sporos::SpMV tiles", spmv_tiles(a.rows, a.nonzeros) + 1);
    plan_spmv(space(), arguments(a, nullptr), a.nonzeros, starts_.data());
  }

  void run() {
    const sporos::detail::DenseTarget<S> target(statement_);
    if (starts_.extent(0) > 0)
      multiply(target.data(), room_);
    else
      multiply(target.data(), *statement_.resources().scratch().template borrow<SpmvWorkspace>());
    target.finish();
  }

  Bytes bytes() const {
    const auto& y = statement_.result().tensor();
    const auto a = matrix();
    return {y.nnz(), y.bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) +
                spmv_workspace_bytes<Compute>(a.rows, a.nonzeros)};
  }
  std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(starts_.extent(0) * sizeof(SpmvTileStart)) + room_.size();
  }
  void explain(std::ostream& out) const {
    out << "  result: located, " << spmv_tiles(matrix().rows, matrix().nonzeros)
        << " tiles of about equally many rows and nonzeros, a thread block each\n";
  }

 private:
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  auto matrix() const { return detail::csr_view(Pattern::sparse(statement_).tensor()); }
  template <class A>
  auto arguments(const A& a, typename S::result_type::value_type* y) const {
    return SpmvArguments{a.rows,
                         a.positions,
                         a.coordinates,
                         a.values,
                         Pattern::dense(statement_).tensor().values().data(),
                         y,
                         statement_.accumulates()};
  }
  void multiply(typename S::result_type::value_type* y, SpmvWorkspace& workspace) const {
    const auto a = matrix();
    spmv<Compute>(space(), arguments(a, y), a.nonzeros, workspace,
                  starts_.extent(0) > 0 ? starts_.data() : nullptr);
  }

  const S& statement_;
  SpmvWorkspace room_;                   ///< of a plan that is kept
  Array<SpmvTileStart, Memory> starts_;  ///< the same
};

}  // namespace sporos::gpu
