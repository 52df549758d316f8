// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Which statements the product by rows computes.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../../core/statement.hpp"
#include "../../nest/lower.hpp"
#include "../../statement/compute_type.hpp"
#include "../../statement/factors.hpp"
#include "multiply.hpp"
#include "refill.hpp"

namespace sporos {

/// A(i, j) = B(i, k) * C(k, j), all in CSR in host memory, the loops in the order i, k, j: spgemm.hpp.
struct SpgemmStatement {
  static constexpr std::string_view name = "SpGEMM";
  static constexpr bool is_deterministic = true;

  /// Whether A = B * C, accesses of matrices, is the product of sparse matrices by rows.
  template <class A, class B, class C>
  static constexpr bool fits() {
    if constexpr (SparseRowsMatrix<typename A::tensor_type> && SparseRowsMatrix<typename B::tensor_type> &&
                  SparseRowsMatrix<typename C::tensor_type>)
      return A::names[0] == B::names[0] && B::names[1] == C::names[0] && C::names[1] == A::names[1] &&
             A::names[0] != A::names[1] && !A::names.contains(B::names[1]);
    else
      return false;
  }
  /// Which of two factors is the left matrix; -1 where the product is no such one.
  template <class S>
  static constexpr int left_place() {
    return detail::places_of_factors<SpgemmStatement, S, 2>()[0];
  }
  template <class S>
  static constexpr bool computes() {
    using Result = typename S::result_type;
    if constexpr (left_place<S>() >= 0) {
      constexpr NameList order = S::order::names;
      return order[0] == Result::names[0] && order[2] == Result::names[1] &&
             is_complex_v<compute_t<Result, typename S::right_type>> ==
                 is_complex_v<typename Result::value_type>;
    } else {
      return false;
    }
  }
  template <class S>
  static constexpr bool matches = computes<S>();

  template <class S>
  static const auto& left(const S& statement) {
    return detail::factor<left_place<S>()>(statement.right());
  }
  template <class S>
  static const auto& right(const S& statement) {
    return detail::factor<1 - left_place<S>()>(statement.right());
  }

  template <class S>
  static bool run(const S& statement) {
    bounds_of(statement);  // what does not fit is named by its variable
    spgemm(statement.result().tensor(), left(statement).tensor(), right(statement).tensor());
    return true;
  }

  /// The values of such a statement anew, whose result has its pattern.
  template <class S>
  class Refill {
   public:
    explicit Refill(const S& statement) : product_(rows(left(statement)), rows(right(statement))) {}
    void run(const S& statement) {
      const auto result = rows(statement.result());
      product_.run(rows(left(statement)), rows(right(statement)), result.positions, result.coordinates,
                   statement.result().tensor().values().data());
    }
    std::int64_t bytes() const { return product_.bytes(); }

   private:
    static auto rows(const auto& access) { return detail::sparse_rows(access.tensor()); }
    using A = decltype(rows(std::declval<typename S::result_type>()));
    using B = decltype(rows(left(std::declval<S>())));
    using C = decltype(rows(right(std::declval<S>())));
    using Acc =
        detail::product_accumulate_t<typename A::value_type, typename B::value_type, typename C::value_type>;

    detail::ProductRefill<Acc, typename S::result_type::tensor_type::space_type, B, C, typename A::value_type,
                          typename A::position_type, typename A::coordinate_type>
        product_;
  };
};

}  // namespace sporos
