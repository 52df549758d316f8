// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of two sparse matrices by rows, on the host.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../../core/statement.hpp"
#include "../../host/operands.hpp"
#include "../../nest/lower.hpp"
#include "../../statement/compute_type.hpp"
#include "../pattern.hpp"
#include "multiply.hpp"

namespace sporos {

/// A(i, j) = B(i, k) * C(k, j), all in CSR in host memory, the loops in the order i, k, j: multiply.hpp.
struct SpgemmByRows {
  using Pattern = SpgemmPattern<HostOperands>;
  static constexpr std::string_view name = "SpGEMM";
  static constexpr bool is_deterministic = true;

  template <class S>
  static constexpr bool computes() {
    using Result = typename S::result_type;
    if constexpr (Pattern::matches<S>) {
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
  static bool run(const S& statement) {
    bounds_of(statement);  // what does not fit is named by its variable
    spgemm(statement.result().tensor(), Pattern::left(statement).tensor(),
           Pattern::right(statement).tensor());
    return true;
  }

  /// The values of such a statement anew, whose result has its pattern.
  template <class S>
  class Refill {
   public:
    explicit Refill(const S& statement)
        : product_(typename S::result_type::tensor_type::space_type(), rows(Pattern::left(statement)),
                   rows(Pattern::right(statement))) {
      product_.prepare();
    }
    void run(const S& statement) {
      const auto result = rows(statement.result());
      product_.refill(rows(Pattern::left(statement)), rows(Pattern::right(statement)), result.positions, result.coordinates,
                      statement.result().tensor().values().data());
    }
    std::int64_t bytes() const { return product_.held_bytes(); }

   private:
    static auto rows(const auto& access) { return detail::sparse_rows(access.tensor()); }
    using A = decltype(rows(std::declval<typename S::result_type>()));
    using B = decltype(rows(Pattern::left(std::declval<S>())));
    using C = decltype(rows(Pattern::right(std::declval<S>())));
    using Acc =
        detail::product_accumulate_t<typename A::value_type, typename B::value_type, typename C::value_type>;

    detail::ProductByRows<Acc, typename S::result_type::tensor_type::space_type, B, C, typename A::value_type,
                          typename A::position_type, typename A::coordinate_type>
        product_;
  };
};

}  // namespace sporos
