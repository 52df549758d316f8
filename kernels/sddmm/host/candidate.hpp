// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Which statements the dot products at the nonzeros of a sparse matrix compute.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../../../core/pool.hpp"
#include "../../../formats/shared_levels.hpp"
#include "../../host/product.hpp"
#include "../../host/row_chunks.hpp"
#include "../../nest/lower.hpp"
#include "rows.hpp"

namespace sporos {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), factors in any order, A and B in the same CSR, C and D dense and
/// row-major, all in host memory: rows.hpp. A gets the pattern of B, and where B's arrays are counted shares
/// them.
struct SddmmStatement {
  static constexpr std::string_view name = "SDDMM";
  static constexpr bool is_deterministic = true;

  template <class Result, class B, class C, class D>
  static constexpr bool fits() {
    if constexpr (detail::is_sparse_by_rows<Result> &&
                  std::same_as<typename B::format, typename Result::format> && detail::is_dense_by_rows<C> &&
                  detail::is_dense_by_rows<D>)
      return B::names == Result::names && B::names[0] != B::names[1] && C::names[0] == B::names[0] &&
             D::names[0] == B::names[1] && C::names[1] == D::names[1] && !B::names.contains(C::names[1]);
    else
      return false;
  }
  /// Where the product has the pattern B, the factor of its rows C and that of its columns D.
  template <class S>
  static constexpr std::array<int, 3> places() {
    if constexpr (detail::is_host_product<S>())
      return detail::places_of_factors<SddmmStatement, S, 3>();
    else
      return {-1, -1, -1};
  }
  template <class S>
  static constexpr bool matches = places<S>()[0] >= 0;

  template <class S>
  static bool run(const S& statement) {
    bounds_of(statement);  // what does not fit is named by its variable
    const auto& pattern = pattern_of(statement);
    const auto& result = statement.result().tensor();
    // Sums of nothing are not there, and so is no element.
    if (detail::factor<places<S>()[1]>(statement.right()).tensor().extent(1) == 0) return false;

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
  template <class S>
  static const auto& pattern_of(const S& statement) {
    return detail::factor<places<S>()[0]>(statement.right()).tensor();
  }

  /// @param to  [nnz of B]
  template <class S>
  static void compute(const S& statement, typename S::result_type::value_type* to) {
    using T = typename S::result_type::value_type;
    static constexpr auto at = places<S>();
    const auto& left = detail::factor<at[1]>(statement.right()).tensor();
    const auto b = detail::sparse_rows(pattern_of(statement));
    const T* const c = left.values().data();
    const T* const d = detail::factor<at[2]>(statement.right()).tensor().values().data();
    const std::int64_t inner = left.extent(1);
    detail::for_each_row_chunk<typename S::result_type::tensor_type::space_type>(
        b, inner, [=](std::int64_t begin, std::int64_t end) {
          detail::scale_dots_of_rows(b, c, d, inner, to, begin, end);
        });
  }
};

}  // namespace sporos
