// SPDX-License-Identifier: Apache-2.0
/// @file statement.hpp
/// Which statements the dot products at the nonzeros of a sparse matrix compute.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../../core/pool.hpp"
#include "../host/product.hpp"
#include "../host/row_chunks.hpp"
#include "../lower.hpp"
#include "rows.hpp"

namespace sporos {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), factors in any order, A and B in the same CSR, C and D dense and
/// row-major, all in host memory: rows.hpp. A gets the pattern of B, and where B's arrays are counted shares
/// them.
struct SddmmStatement {
  static constexpr std::string_view name = "SDDMM";
  static constexpr bool is_deterministic = true;

  struct Places {
    int pattern = -1;
    int rows = -1;     ///< the factor that has i
    int columns = -1;  ///< the factor that has j
  };
  template <class Result, class B, class C, class D>
  static constexpr bool fits() {
    if constexpr (std::same_as<typename B::format, typename Result::format> && detail::is_dense_by_rows<C> &&
                  detail::is_dense_by_rows<D>)
      return B::names == Result::names && B::names[0] != B::names[1] && C::names[0] == B::names[0] &&
             D::names[0] == B::names[1] && C::names[1] == D::names[1] && !B::names.contains(C::names[1]);
    else
      return false;
  }
  template <class S>
  static constexpr Places places() {
    using Result = typename S::result_type;
    if constexpr (detail::is_host_product<S>()) {
      using Factors = detail::factor_list<S>;
      if constexpr (detail::is_sparse_by_rows<Result> && Factors::size == 3) {
        Places out;
        const auto look = [&]<int B, int C, int D>() {
          if (fits<Result, typename Factors::template at<B>, typename Factors::template at<C>,
                   typename Factors::template at<D>>())
            out = {B, C, D};
        };
        look.template operator()<0, 1, 2>();
        look.template operator()<0, 2, 1>();
        look.template operator()<1, 0, 2>();
        look.template operator()<1, 2, 0>();
        look.template operator()<2, 0, 1>();
        look.template operator()<2, 1, 0>();
        return out;
      }
    }
    return {};
  }
  template <class S>
  static constexpr bool matches = places<S>().pattern >= 0;

  template <class S>
  static bool run(const S& statement) {
    bounds_of(statement);  // what does not fit is named by its variable
    const auto& pattern = pattern_of(statement);
    const auto& result = statement.result().tensor();
    // Sums of nothing are not there, and so is no element.
    if (detail::factor<places<S>().rows>(statement.right()).tensor().extent(1) == 0) return false;

    // The result's own values where nobody else has them and nothing reads them.
    auto values = result.values();
    if (result.nnz() != pattern.nnz() || values.use_count() != 2 || detail::reads_result(statement))
      values = pool().array<typename S::result_type::value_type>("sporos::Tensor values", pattern.nnz());
    compute(statement, values.data());
    result.replace(result.extents(), shared_levels(pattern), values);
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
    return detail::factor<places<S>().pattern>(statement.right()).tensor();
  }

  /// @param to  [nnz of B]
  template <class S>
  static void compute(const S& statement, typename S::result_type::value_type* to) {
    using T = typename S::result_type::value_type;
    static constexpr Places at = places<S>();
    const auto& left = detail::factor<at.rows>(statement.right()).tensor();
    const auto b = detail::sparse_rows(pattern_of(statement));
    const T* const c = left.values().data();
    const T* const d = detail::factor<at.columns>(statement.right()).tensor().values().data();
    const std::int64_t inner = left.extent(1);
    detail::for_each_row_chunk<typename S::result_type::tensor_type::space_type>(
        b, inner, [=](std::int64_t begin, std::int64_t end) {
          detail::scale_dots_of_rows(b, c, d, inner, to, begin, end);
        });
  }

  /// The levels of a pattern for a second tensor: the same arrays where they are counted, else a copy.
  template <class TensorType>
  static auto shared_levels(const TensorType& pattern) {
    if (pattern.template level<1>().positions.use_count() > 0) return pattern.levels();
    return pattern.clone().levels();
  }
};

}  // namespace sporos
