// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// Dot products at the nonzeros of a sparse matrix as a pattern of statements.
#pragma once

#include <type_traits>

#include "../protocol/factors.hpp"

namespace sporos {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), with factors in any order. A and B are sparse, stored in the same
/// format, by rows; C and D are dense; all have the same value type. If Operands::turns_dense holds, C and D
/// may bind k first and be stored along either mode. If Operands::is_csr admits matrices by columns, whose
/// outer level holds the columns, the pattern describes the transpose: C is the factor that binds the
/// variable of the outer level.
template <class Operands>
struct SddmmPattern {
  template <class A, class B, class C, class D>
  static constexpr bool fits() {
    if constexpr (Operands::template is_csr<A> && std::is_same_v<typename B::format, typename A::format> &&
                  std::is_same_v<typename B::value_type, typename A::value_type> && is_dense<C>() &&
                  is_dense<D>() && std::is_same_v<typename C::value_type, typename D::value_type>) {
      if (A::level_names[0] == A::names[0]) return fits_factors<A, B, C, D>("ik", "ki", "jk", "kj");
      return fits_factors<A, B, C, D>("jk", "kj", "ik", "ki");
    } else {
      return false;
    }
  }
  /// The indices of B, C and D among the factors.
  template <class S>
  static constexpr auto places = places_of_factors<SddmmPattern, Operands, S, 3>();
  template <class S>
  static constexpr bool matches = places<S>[0] >= 0;

  /// B, whose pattern becomes the result's.
  template <class S>
  static const auto& sampled(const S& statement) {
    return factor<places<S>[0]>(statement.right());
  }
  /// C, the factor whose rows are selected by the outer level.
  template <class S>
  static const auto& of_rows(const S& statement) {
    return factor<places<S>[1]>(statement.right());
  }
  /// D, the factor whose rows are selected by the inner level.
  template <class S>
  static const auto& of_columns(const S& statement) {
    return factor<places<S>[2]>(statement.right());
  }

 private:
  /// @param c, d                the variables that they bind, in order
  /// @param turned_c, turned_d  the same in the opposite order
  template <class A, class B, class C, class D>
  static constexpr bool fits_factors(const char* c, const char* turned_c, const char* d,
                                     const char* turned_d) {
    return binds<A, B, C, D>("ij", "ij", c, d) ||
           (Operands::turns_dense &&
            (binds<A, B, C, D>("ij", "ij", turned_c, d) || binds<A, B, C, D>("ij", "ij", c, turned_d) ||
             binds<A, B, C, D>("ij", "ij", turned_c, turned_d)));
  }
  template <class A>
  static constexpr bool is_dense() {
    if constexpr (Operands::turns_dense)
      return A::format::is_dense && A::format::order == 2 && !A::format::is_blocked;
    else
      return Operands::template is_dense_by_rows<A>;
  }
};

}  // namespace sporos
