// SPDX-License-Identifier: Apache-2.0
/// @file sums_of_product.hpp
/// The sums of the product in a statement with an epilogue, as a separate statement.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <type_traits>
#include <utility>

#include "../protocol/candidate.hpp"
#include "../protocol/demands.hpp"
#include "../protocol/parts.hpp"
#include "epilogue.hpp"

namespace sporos {

namespace detail {

/// The product of the factors of a statement's sums.
template <class S>
auto product_of_factors(const S& statement) {
  return [&]<int First, int... K>(std::integer_sequence<int, First, K...>) {
    return (factor_of_sums<First>(statement) * ... * factor_of_sums<K>(statement));
  }(std::make_integer_sequence<int, factors_of_sums<S>::size>{});
}

/// A statement that assigns the sums of another statement's product to another tensor, with the same demands
/// on how they are computed.
/// @param to     the access to that tensor
/// @param bytes  size of that tensor, if it is allocated for the statement
template <class To, class S>
auto assign_sums(const To& to, const S& of, std::int64_t bytes) {
  return with_demands_of(of, assign(to, product_of_factors(of)), bytes);
}

/// Computes the sums of a statement's product into another tensor, by whichever candidate is fastest.
/// @tparam To  the access to that tensor
template <class S, class To>
class SumsOfProduct {
 public:
  /// @param bytes  size of the other tensor, if it is allocated for the statement
  SumsOfProduct(const S& of, const To& to, std::int64_t bytes) : of_(of), to_(to), bytes_(bytes) {}

  auto statement() const { return assign_sums(to_, of_, bytes_); }

  void prepare() { plan_.emplace(statement()); }
  void run() { plan_ ? plan_->run() : statement().run(); }
  /// Call prepare() first.
  void refill() { plan_->run(); }

  std::int64_t workspace_bytes() const { return workspace_of_part(statement(), plan_); }
  std::int64_t held_bytes() const { return plan_ ? plan_->bytes() : 0; }

  void explain(std::ostream& out) const {
    const auto sums = statement();
    if (plan_) {
      out << "  sums: " << sums.str() << ", by " << plan_->candidate() << '\n';
      return plan_->explain(out);
    }
    with_candidate<void>(sums, Use::once, [&]<class K>() {
      out << "  sums: " << sums.str() << ", by " << K::name << '\n';
      typename K::template Plan<std::remove_const_t<decltype(sums)>>(sums, sums.resources()).explain(out);
    });
  }

 private:
  const S& of_;
  To to_;
  std::int64_t bytes_;
  std::optional<sporos::Plan<decltype(assign_sums(std::declval<const To&>(), std::declval<const S&>(), 0))>>
      plan_;
};

}  // namespace detail

}  // namespace sporos
