// SPDX-License-Identifier: Apache-2.0
/// @file copied_matrix_plan.hpp
/// Plans of SpMV that copy the matrix at the first run into a layout of their own.
#pragma once

#include <ostream>

#include "../../nest/bounds.hpp"
#include "../../spgemm/host/multiply.hpp"
#include "../../statement/candidate.hpp"
#include "../../statement/dense_target.hpp"

namespace sporos::detail {

/// A plan of y(i) = A(i, j) * x(j) whose matrix does not change; the vectors may.
/// @tparam Copy  the matrix in its layout: Slices, BlockDiagonals
template <class S, class Pattern, class Copy>
class CopiedMatrixPlan {
 public:
  CopiedMatrixPlan(const S& statement, const Resources<typename S::space_type>&) : statement_(statement) {
    bounds_of(statement);  // reports extents that do not match, by variable
  }

  void run() {
    const auto a = matrix();
    const auto& space = statement_.resources().space();
    if (copy_.is_empty()) copy_.copy(space, a);
    const DenseTarget<S> target(statement_);
    copy_.multiply(space, a, Pattern::dense(statement_).tensor().values().data(), target.data(),
                   statement_.accumulates(), S::schedule::is_deterministic);
    target.finish();
  }

  Bytes bytes() const {
    const auto& y = statement_.result().tensor();
    return {y.nnz(), y.bytes(), Copy::most_bytes(matrix()) + DenseTarget<S>::bytes(statement_)};
  }
  std::int64_t held_bytes() const { return copy_.bytes(); }
  void explain(std::ostream& out) const { copy_.explain(out, matrix()); }

 private:
  auto matrix() const { return sparse_rows(Pattern::sparse(statement_).tensor()); }

  const S& statement_;
  Copy copy_;
};

}  // namespace sporos::detail
