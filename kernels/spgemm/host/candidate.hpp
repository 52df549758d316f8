// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of two sparse matrices by rows, on the host.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../../core/statement.hpp"
#include "../../../formats/storage_bound.hpp"
#include "../../../workspace/dense.hpp"
#include "../../host/operands.hpp"
#include "../../nest/bounds.hpp"
#include "../../nest/work.hpp"
#include "../../statement/candidate.hpp"
#include "../../statement/compute_type.hpp"
#include "../pattern.hpp"
#include "multiply.hpp"

namespace sporos {

/// A(i, j) = B(i, k) * C(k, j), all in CSR in host memory, with the loops in the order i, k, j: multiply.hpp.
struct SpgemmByRows {
  using Pattern = SpgemmPattern<HostOperands>;
  static constexpr std::string_view name = "SpGEMM by rows";
  static constexpr std::string_view takes =
      "A(i, j) = B(i, k) * C(k, j), all in CSR in host memory, the loops in the order i, k, j";
  static constexpr bool deterministic = true;
  static constexpr std::string_view less_memory =
      "compute it in parts, or one row at a time, with .generic().workspace(sorted_workspace)";

  /// The nest remains for rows that are too long for a dense accumulator, which take 64-bit coordinates.
  template <class S>
  static constexpr bool replaces_nest_for =
      sizeof(typename decltype(detail::sparse_rows(
          std::declval<const S&>().result().tensor()))::coordinate_type) < sizeof(std::int64_t);

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
  static Offer cost(const S& statement, const Resources<typename S::space_type>&) {
    constexpr double seconds_of_term = 1e-9;
    if (!replaces_nest_for<S> &&
        !fits_dense(statement.result().tensor().extent(1), sizeof(typename S::result_type::value_type)))
      return Declined{"the rows of the result are too long for a dense accumulator"};
    return Cost{detail::expected_terms(statement) * seconds_of_term};
  }

  template <class S>
  class Plan;
};

template <class S>
class SpgemmByRows::Plan {
  static auto rows(const auto& access) { return detail::sparse_rows(access.tensor()); }
  using Space = typename S::space_type;
  using A = decltype(rows(std::declval<typename S::result_type>()));
  using B = decltype(rows(Pattern::left(std::declval<S>())));
  using C = decltype(rows(Pattern::right(std::declval<S>())));
  using Acc =
      detail::product_accumulate_t<typename A::value_type, typename B::value_type, typename C::value_type>;
  using Product = detail::ProductByRows<Acc, B, C, typename A::value_type, typename A::position_type,
                                        typename A::coordinate_type>;

 public:
  Plan(const S& statement, const Resources<Space>& resources)
      : statement_(statement),
        product_((bounds_of(statement), resources.space()), rows(Pattern::left(statement)),
                 rows(Pattern::right(statement))) {}

  void prepare() { analyse(); }

  void run() {
    analyse();
    product_.read(rows(Pattern::left(statement_)), rows(Pattern::right(statement_)));
    detail::replace_rows(statement_.result().tensor(), product_.compute());
  }

  void refill() {
    const auto result = rows(statement_.result());
    product_.refill(rows(Pattern::left(statement_)), rows(Pattern::right(statement_)), result.positions,
                    result.coordinates, statement_.result().tensor().values().data());
  }

  Bytes bytes() const {
    analyse();
    const StorageBound bound = storage_bound<typename S::result_type::format, typename A::value_type>(
        statement_.result().tensor().extents(), product_.most_elements());
    return {bound.values, bound.bytes, product_.most_bytes() - bound.bytes};
  }
  std::int64_t held_bytes() const { return product_.held_bytes(); }
  void explain(std::ostream& out) const {
    out << "  result: gathered row by row in a dense accumulator; rows with similar patterns are computed "
           "together\n";
  }

 private:
  /// Analyses the patterns on the first call.
  void analyse() const {
    if (!is_analysed_) product_.prepare();
    is_analysed_ = true;
  }

  const S& statement_;
  mutable Product product_;
  mutable bool is_analysed_ = false;
};

}  // namespace sporos
