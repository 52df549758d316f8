// SPDX-License-Identifier: Apache-2.0
/// @file copied_matrix_plan.hpp
/// What candidates for SpMV have in common if their plans copy the matrix into another layout at the first
/// run.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>
#include <utility>

#include "../../nest/bounds.hpp"
#include "../../operands/host/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"

namespace sporos::detail {

/// A plan of y(i) = A(i, j) * x(j) whose matrix does not change; the vectors may.
/// @tparam Copy  the matrix in that layout: Slices or BlockDiagonals
template <class S, class Pattern, class Copy>
class CopiedMatrixPlan {
 public:
  CopiedMatrixPlan(const S& statement, const Resources<typename S::space_type>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  void run() {
    const auto a = matrix();
    const auto& space = statement_.resources().space();
    if (copy_.is_empty()) copy_.copy(space, a, S::schedule::is_deterministic);
    const DenseTarget<S> target(statement_);
    copy_.multiply(space, a, Pattern::dense(statement_).tensor().values().data(), target.data(),
                   statement_.accumulates());
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

/// y(i) = A(i, j) * x(j), with A in CSR, x and y dense, all in host memory, in plans of statements with
/// `.with_constant_operands()`.
template <template <class T, class Position, class Coordinate> class Layout>
struct SpmvOfCopiedMatrix {
  using Pattern = SpmvPattern<RealHostOperands>;
  static constexpr std::string_view takes =
      "y(i) = A(i, j) * x(j), A in CSR, x and y dense, all float or all double in host memory, "
      ".with_constant_operands()";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches = [] {
    if constexpr (S::schedule::has_constant_operands)
      return Pattern::matches<S>;
    else
      return false;
  }();

  template <class S>
  using Matrix = decltype(sparse_rows(Pattern::sparse(std::declval<const S&>()).tensor()));
  template <class S>
  using Copy = Layout<typename Matrix<S>::value_type, typename Matrix<S>::position_type,
                      typename Matrix<S>::coordinate_type>;
  template <class S>
  using Plan = CopiedMatrixPlan<S, Pattern, Copy<S>>;
};

}  // namespace sporos::detail
