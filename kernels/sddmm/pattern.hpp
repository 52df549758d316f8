// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// Dot products at the nonzeros of a sparse matrix as a pattern of statements.
#pragma once

#include <type_traits>

#include "../statement/factors.hpp"

namespace sporos {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), with factors in any order. A and B are sparse, stored by rows in
/// the same format; C and D are dense; all have the same value type. If Operands::turns_dense holds, C and D
/// may bind k first and be stored along either mode.
template <class Operands>
struct SddmmPattern {
  template <class A, class B, class C, class D>
  static constexpr bool fits() {
    if constexpr (Operands::template is_csr<A> && std::is_same_v<typename B::format, typename A::format> &&
                  std::is_same_v<typename B::value_type, typename A::value_type> && is_dense<C>() &&
                  is_dense<D>() && std::is_same_v<typename C::value_type, typename D::value_type>)
      return binds<A, B, C, D>("ij", "ij", "ik", "jk") ||
             (Operands::turns_dense &&
              (binds<A, B, C, D>("ij", "ij", "ki", "jk") || binds<A, B, C, D>("ij", "ij", "ik", "kj") ||
               binds<A, B, C, D>("ij", "ij", "ki", "kj")));
    else
      return false;
  }
  /// The places of B, C and D in the product.
  template <class S>
  static constexpr auto places = places_of_factors<SddmmPattern, Operands, S, 3>();
  template <class S>
  static constexpr bool matches = places<S>[0] >= 0;

  /// B, whose pattern becomes the result's.
  template <class S>
  static const auto& sampled(const S& statement) {
    return factor<places<S>[0]>(statement.right());
  }
  /// C, the factor selected by rows.
  template <class S>
  static const auto& of_rows(const S& statement) {
    return factor<places<S>[1]>(statement.right());
  }
  /// D, the factor selected by columns.
  template <class S>
  static const auto& of_columns(const S& statement) {
    return factor<places<S>[2]>(statement.right());
  }

 private:
  template <class A>
  static constexpr bool is_dense() {
    if constexpr (Operands::turns_dense)
      return A::format::is_dense && A::format::order == 2 && !A::format::is_blocked;
    else
      return Operands::template is_dense_by_rows<A>;
  }
};

}  // namespace sporos
