// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a sparse matrix and a vector on the GPU, as a candidate for statements.
#pragma once

#include <string_view>

#include "../../cuda/operands.hpp"
#include "../../nest/lower.hpp"
#include "../pattern.hpp"
#include "spmv.hpp"

namespace sporos::cuda {

/// y(i) = A(i, j) * x(j), A in CSR: spmv.hpp.
///
/// Returns before the GPU is through: what follows on the default stream of Kokkos runs behind it, and copies
/// to the host wait for it, as do Kokkos::fence() and the end of an array's life.
struct SpmvByTiles {
  using Pattern = SpmvPattern<GpuOperands>;
  static constexpr std::string_view name = "SpMV on the GPU";
  static constexpr bool is_deterministic = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  static bool run(const S& statement) {
    const auto& x = Pattern::vector(statement).tensor();
    const auto& y = statement.result().tensor();
    bounds_of(statement);  // what does not fit is named by its variable
    if (detail::reads_result(statement)) return false;
    const auto a = detail::csr_view(Pattern::matrix(statement).tensor());
    const Kokkos::Cuda space;
    spmv<detail::compute_of<S>>(space,
                                SpmvArguments{a.rows, a.positions, a.coordinates, a.values, x.values().data(),
                                              y.values().data(), statement.accumulates()},
                                a.nonzeros, shared_workspace<SpmvWorkspace>());
    return true;
  }
};

}  // namespace sporos::cuda
