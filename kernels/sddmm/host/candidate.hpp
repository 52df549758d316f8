// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Dot products at the nonzeros of a sparse matrix by its rows, on the host.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>
#include <utility>

#include "../../../core/pool.hpp"
#include "../../../formats/shared_levels.hpp"
#include "../../host/row_chunks.hpp"
#include "../../nest/bounds.hpp"
#include "../../operands/host/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../pattern.hpp"
#include "rows.hpp"

namespace sporos {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), factors in any order, with A and B in the same CSR format, C and D
/// dense and row-major, all in host memory, or an epilogue of such a product that keeps zeros
/// (kernels/epilogue/epilogue.hpp), by rows.hpp. A gets the pattern of B, and shares B's arrays if
/// they are reference counted.
struct SddmmByRows {
  struct Operands : RealHostOperands {
    static constexpr bool turns_dense = false;
  };
  using Pattern = SddmmPattern<Operands>;
  static constexpr std::string_view name = "SDDMM by rows";
  static constexpr std::string_view takes =
      "A(i, j) = B(i, j) * C(i, k) * D(j, k), A and B in the same CSR, C and D dense and row-major, all "
      "float or all double in host memory";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_term = 0.2e-9;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  class Plan;
};

template <class S>
class SddmmByRows::Plan {
  using Tensor = typename S::result_type::tensor_type;
  using T = typename Tensor::value_type;
  using Epilogue = decltype(Pattern::epilogue(std::declval<const S&>()));

 public:
  Plan(const S& statement, const Resources<typename S::space_type>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  void run() {
    const auto& pattern = Pattern::sampled(statement_).tensor();
    const auto& result = statement_.result().tensor();
    // A sum over nothing is absent, so the result has no elements.
    if (inner() == 0) {
      const Tensor empty(result.extents());
      result.replace(empty.extents(), empty.levels(), empty.values());
      return;
    }
    // The result's own values, unless they are shared with another tensor or read by an operand. A function
    // in an epilogue may throw; the result must then keep its old values.
    auto values = result.values();
    if (!Epilogue::is_identity || result.nnz() != pattern.nnz() || values.use_count() != 2 ||
        reads_result(statement_))
      values = pool().array<T>("sporos::Tensor values", pattern.nnz());
    compute(values.data());
    result.replace(result.extents(), detail::shared_levels(pattern), values);
  }

  void refill() {
    if (statement_.result().tensor().nnz() > 0) compute(statement_.result().tensor().values().data());
  }

  Bytes bytes() const {
    const auto& pattern = Pattern::sampled(statement_).tensor();
    // The levels are shared with the pattern or copied from it.
    return {pattern.nnz(), pattern.bytes(), 0};
  }
  void explain(std::ostream& out) const {
    out << "  result: a dot product at each nonzero of the sparse operand, whose pattern it shares\n";
    if (!Epilogue::is_identity) out << "  epilogue: applied after each chunk of rows\n";
  }

 private:
  std::int64_t inner() const { return Pattern::of_rows(statement_).tensor().extent(1); }

  /// @param to  [nnz of B]
  void compute(T* to) const {
    const auto b = detail::sparse_rows(Pattern::sampled(statement_).tensor());
    const T* const c = Pattern::of_rows(statement_).tensor().values().data();
    const T* const d = Pattern::of_columns(statement_).tensor().values().data();
    const Epilogue epilogue = Pattern::epilogue(statement_);
    const detail::SddmmForm form = detail::sddmm_form_for(inner() * std::int64_t{sizeof(T)});
    detail::for_each_row_chunk(statement_.resources().space(), b, inner(),
                               [=, inner = inner()](std::int64_t begin, std::int64_t end) {
                                 detail::scale_dots_of_rows(form, b, c, d, inner, to, begin, end);
                                 if constexpr (!Epilogue::is_identity)
                                   for (std::int64_t row = begin; row < end; ++row)
                                     for (std::int64_t q = b.begin(row); q < b.begin(row + 1); ++q)
                                       to[q] = epilogue(to[q], row, b.coordinates[q]);
                               });
  }

  const S& statement_;
};

}  // namespace sporos
