// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Dot products at the nonzeros of a sparse matrix by its rows, on the host.
#pragma once

#include <cstdint>
#include <string_view>

#include "../../../core/pool.hpp"
#include "../../../formats/shared_levels.hpp"
#include "../../host/operands.hpp"
#include "../../host/row_chunks.hpp"
#include "../../nest/lower.hpp"
#include "../pattern.hpp"
#include "rows.hpp"

namespace sporos {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), factors in any order, A and B in the same CSR, C and D dense and
/// row-major, all in host memory: rows.hpp. A gets the pattern of B, and where B's arrays are counted shares
/// them.
struct SddmmByRows {
  struct Operands : RealHostOperands {
    static constexpr bool turns_dense = false;
  };
  using Pattern = SddmmPattern<Operands>;
  static constexpr std::string_view name = "SDDMM";
  static constexpr bool is_deterministic = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  static bool run(const S& statement) {
    bounds_of(statement);  // what does not fit is named by its variable
    const auto& pattern = Pattern::sampled(statement).tensor();
    const auto& result = statement.result().tensor();
    // Sums of nothing are not there, and so is no element.
    if (Pattern::of_rows(statement).tensor().extent(1) == 0) return false;

    // The result's own values where nobody else has them and nothing reads them.
    auto values = result.values();
    if (result.nnz() != pattern.nnz() || values.use_count() != 2 || detail::reads_result(statement))
      values = pool().array<typename S::result_type::value_type>("sporos::Tensor values", pattern.nnz());
    compute(statement, values.data());
    result.replace(result.extents(), detail::shared_levels(pattern), values);
    return true;
  }

  /// The values of such a statement anew, whose result has its pattern.
  template <class S>
  class Refill {
   public:
    explicit Refill(const S&) {}
    void run(const S& statement) {
      if (statement.result().tensor().nnz() > 0)
        compute(statement, statement.result().tensor().values().data());
    }
    std::int64_t bytes() const { return 0; }
  };

 private:
  /// @param to  [nnz of B]
  template <class S>
  static void compute(const S& statement, typename S::result_type::value_type* to) {
    using T = typename S::result_type::value_type;
    const auto& left = Pattern::of_rows(statement).tensor();
    const auto b = detail::sparse_rows(Pattern::sampled(statement).tensor());
    const T* const c = left.values().data();
    const T* const d = Pattern::of_columns(statement).tensor().values().data();
    const std::int64_t inner = left.extent(1);
    detail::for_each_row_chunk<typename S::result_type::tensor_type::space_type>(
        b, inner, [=](std::int64_t begin, std::int64_t end) {
          detail::scale_dots_of_rows(b, c, d, inner, to, begin, end);
        });
  }
};

}  // namespace sporos
