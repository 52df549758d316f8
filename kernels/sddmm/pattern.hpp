// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// Dot products at the nonzeros of a sparse matrix as a pattern of statements.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../../formats/named.hpp"
#include "../epilogue/epilogue.hpp"
#include "../protocol/factors.hpp"

namespace sporos {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), with factors in any order, or an epilogue of such a product that
/// keeps zeros (kernels/epilogue/epilogue.hpp). A and B are sparse, stored in the same format, by rows; C and
/// D are dense; both pairs have one value type. If Operands::turns_dense holds, C and D
/// may bind k first and be stored along either mode. If Operands::is_csr admits matrices by columns, whose
/// outer level holds the columns, the pattern describes the transpose: C is the factor that binds the
/// variable of the outer level. If it admits batches, they are A(b, i, j) = B(b, i, j) * C(b, i, k) * D(b, j,
/// k), by rows.
template <class Operands>
struct SddmmPattern {
  template <class A, class B, class C, class D>
  static constexpr bool fits() {
    if constexpr (Operands::template is_csr<A> && std::is_same_v<typename B::format, typename A::format> &&
                  std::is_same_v<typename B::value_type, typename A::value_type> && is_dense<A, C>() &&
                  is_dense<A, D>() && std::is_same_v<typename C::value_type, typename D::value_type>) {
      if constexpr (A::format::order == 3) return fits_factors<A, B, C, D>("bik", "bki", "bjk", "bkj");
      if (A::level_names[0] == A::names[0]) return fits_factors<A, B, C, D>("ik", "ki", "jk", "kj");
      return fits_factors<A, B, C, D>("jk", "kj", "ik", "ki");
    } else {
      return false;
    }
  }
  /// Whether a statement is the product and nothing else.
  template <class S>
  static constexpr bool is_bare = factor_list<S>::size == 3;
  /// The indices of B, C and D among the factors.
  template <class S>
  static constexpr auto places = [] {
    if constexpr (!Operands::template admits<S>() || is_bare<S>)
      return places_of_factors<SddmmPattern, Operands, S, 3>();
    else
      return places_of_factors<SddmmPattern, Operands, S, 3, factors_of_sums<S>>();
  }();
  template <class S>
  static constexpr bool matches = places<S>[0] >= 0;

  /// B, whose pattern becomes the result's.
  template <class S>
  static const auto& sampled(const S& statement) {
    return the_factor<0>(statement);
  }
  /// C, the factor whose rows are selected by the outer level.
  template <class S>
  static const auto& of_rows(const S& statement) {
    return the_factor<1>(statement);
  }
  /// D, the factor whose rows are selected by the inner level.
  template <class S>
  static const auto& of_columns(const S& statement) {
    return the_factor<2>(statement);
  }

  /// What becomes of a product: a function of it and of the coordinates of the result.
  template <class S>
  static auto epilogue(const S& statement) {
    if constexpr (is_bare<S>)
      return NoEpilogue<compute_t<typename S::result_type, typename S::right_type>>{};
    else
      return epilogue_of(statement);
  }

 private:
  template <std::size_t Which, class S>
  static const auto& the_factor(const S& statement) {
    if constexpr (is_bare<S>)
      return factor<places<S>[Which]>(statement.right());
    else
      return factor_of_sums<places<S>[Which]>(statement);
  }
  /// @param c, d                the variables that they bind, in order
  /// @param turned_c, turned_d  the same in the opposite order
  template <class A, class B, class C, class D>
  static constexpr bool fits_factors(const char* c, const char* turned_c, const char* d,
                                     const char* turned_d) {
    constexpr const char* of_sparse = A::format::order == 3 ? "bij" : "ij";
    const auto bind = [&](const char* of_c, const char* of_d) {
      return binds<A, B, C, D>(of_sparse, of_sparse, of_c, of_d);
    };
    return bind(c, d) ||
           (Operands::turns_dense && (bind(turned_c, d) || bind(c, turned_d) || bind(turned_c, turned_d)));
  }
  /// Whether a factor of a product into A is dense.
  template <class A, class C>
  static constexpr bool is_dense() {
    if constexpr (A::format::order == 3)
      return std::is_same_v<typename C::format, DenseTensor<3>>;
    else if constexpr (Operands::turns_dense)
      return C::format::is_dense && C::format::order == 2 && !C::format::is_blocked;
    else
      return Operands::template is_dense_by_rows<C>;
  }
};

}  // namespace sporos
