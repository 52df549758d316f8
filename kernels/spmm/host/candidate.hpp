// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a sparse and a dense matrix by rows, on the host.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

#include "../../host/row_chunks.hpp"
#include "../../nest/bounds.hpp"
#include "../../operands/host/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "rows.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j), with A in CSR, B and C dense and row-major, all in host memory, by rows.hpp.
struct SpmmByRows {
  using Pattern = SpmmPattern<RealHostOperands>;
  static constexpr std::string_view name = "SpMM by rows";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), A in CSR, B and C dense and row-major, all float or all double in host "
      "memory";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_term = 0.2e-9;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  class Plan;
};

template <class S>
class SpmmByRows::Plan {
 public:
  Plan(const S& statement, const Resources<typename S::space_type>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  void run() {
    const auto& result = statement_.result().tensor();
    using T = typename S::result_type::value_type;
    const auto a = detail::sparse_rows(Pattern::sparse(statement_).tensor());
    const T* const b = Pattern::dense(statement_).tensor().values().data();
    const detail::DenseTarget<S> target(statement_);
    T* const c = target.data();
    const std::int64_t width = result.extent(1);
    const detail::SpmmForm form = detail::spmm_form_for(a, width * std::int64_t{sizeof(T)});
    detail::for_each_row_chunk(
        statement_.resources().space(), a, width,
        [=, accumulates = statement_.accumulates()](std::int64_t begin, std::int64_t end) {
          detail::multiply_matrix_rows(form, accumulates, a, b, c, width, begin, end);
        });
    target.finish();
  }

  Bytes bytes() const {
    const auto& c = statement_.result().tensor();
    return {c.nnz(), c.bytes(), detail::DenseTarget<S>::bytes(statement_)};
  }
  void explain(std::ostream& out) const {
    out << "  result: located, columns of a row summed in registers\n";
  }

 private:
  const S& statement_;
};

}  // namespace sporos
