// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a sparse matrix and a vector by rows, on the host.
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
#include "form.hpp"

namespace sporos {

/// y(i) = A(i, j) * x(j), A in CSR, x and y dense, all in host memory, by rows.hpp.
struct SpmvByRows {
  using Pattern = SpmvPattern<RealHostOperands>;
  static constexpr std::string_view name = "SpMV by rows";
  static constexpr std::string_view takes =
      "y(i) = A(i, j) * x(j), A in CSR, x and y dense, all float or all double in host memory";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_term = 0.7e-9;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  class Plan;
};

template <class S>
class SpmvByRows::Plan {
 public:
  Plan(const S& statement, const Resources<typename S::space_type>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  void run() {
    const auto a = detail::sparse_rows(Pattern::sparse(statement_).tensor());
    const auto* const x = Pattern::dense(statement_).tensor().values().data();
    const detail::DenseTarget<S> target(statement_);
    auto* const y = target.data();
    const bool accumulates = statement_.accumulates();
    using A = std::remove_const_t<decltype(a)>;
    using Rows =
        detail::SpmvRows<typename A::value_type, typename A::position_type, typename A::coordinate_type>;
    const detail::SpmvForm form = detail::spmv_form_for(a, S::schedule::is_deterministic);
    detail::for_each_row_chunk(statement_.resources().space(), a, 1,
                               [=](std::int64_t begin, std::int64_t end) {
                                 Rows::multiply(form, a, x, y, begin, end, accumulates);
                               });
    target.finish();
  }

  Bytes bytes() const {
    const auto& y = statement_.result().tensor();
    return {y.nnz(), y.bytes(), detail::DenseTarget<S>::bytes(statement_)};
  }
  void explain(std::ostream& out) const {
    const auto form = detail::spmv_form_for(detail::sparse_rows(Pattern::sparse(statement_).tensor()),
                                            S::schedule::is_deterministic);
    out << "  result: located, each row summed in registers (form "
        << detail::spmv_forms[static_cast<std::size_t>(form)].name << ")\n";
  }

 private:
  const S& statement_;
};

}  // namespace sporos
