// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The matricised tensor times Khatri-Rao product as a pattern of statements.
#pragma once

#include <type_traits>
#include <utility>

#include "../../core/statement.hpp"
#include "../protocol/factors.hpp"

namespace sporos {

/// The roles of the factors of M(i, r) = T(i, k, l, …) * B(k, r) * C(l, r) * ….
struct MttkrpPlaces {
  int tensor = -1;                               ///< -1 if the product does not match
  int result_level = -1;                         ///< the level of T that holds i
  int factor_of_level[NameList::capacity] = {};  ///< -1 for the result's level
};

/// M(i, r) = T(i, k, l, …) * B(k, r) * C(l, r) * …, with i at any level of T and a matrix for each other
/// level. Matrices are dense and stored by rows, all values have one type, and factors may come in any order.
///
/// @tparam Operands  also has Operands::is_fibers<F>, which says whether T may have the format F
template <class Operands>
class MttkrpPattern {
  template <class Result, class Factors>
  static constexpr MttkrpPlaces find() {
    MttkrpPlaces out;
    if constexpr (Factors::size >= 2 && Operands::template is_dense_by_rows<Result>) {
      [&]<int... K>(std::integer_sequence<int, K...>) {
        ((out =
              out.tensor >= 0 ? out : places_around<Result, Factors, K>(std::integer_sequence<int, K...>{})),
         ...);
      }(std::make_integer_sequence<int, Factors::size>{});
    }
    return out;
  }

  /// The roles if factor number At is T and the factors K are the matrices.
  template <class Result, class Factors, int At, int... K>
  static constexpr MttkrpPlaces places_around(std::integer_sequence<int, K...>) {
    using T = typename Factors::template at<At>;
    using F = typename T::format;
    if constexpr (Operands::template is_fibers<F>) {
      if constexpr (std::is_same_v<typename T::value_type, typename Result::value_type> &&
                    F::levels == Factors::size && F::levels < NameList::capacity) {
        constexpr NameList names = T::level_names;
        MttkrpPlaces found;
        for (int level = 0; level < names.size; ++level) {
          const char name = names[level];
          if (name == Result::names[1] || names.find(name) < level) return {};
          int& factor = found.factor_of_level[level] = -1;
          if (name == Result::names[0]) {
            found.result_level = level;
            continue;
          }
          ((factor = is_factor<Result, typename Factors::template at<K>>(name) ? K : factor), ...);
          if (factor < 0) return {};
        }
        if (found.result_level < 0) return {};
        found.tensor = At;
        return found;
      }
    }
    return {};
  }
  template <class Result, class A>
  static constexpr bool is_factor(char row) {
    if constexpr (Operands::template is_dense_by_rows<A> &&
                  std::is_same_v<typename A::value_type, typename Result::value_type>)
      return A::names[0] == row && A::names[1] == Result::names[1];
    else
      return false;
  }

 public:
  template <class S>
  static constexpr MttkrpPlaces places = [] {
    if constexpr (Operands::template admits<S>())
      return find<typename S::result_type, factor_list<S>>();
    else
      return MttkrpPlaces{};
  }();
  template <class S>
  static constexpr bool matches = places<S>.tensor >= 0;

  /// The tensor T.
  template <class S>
  static const auto& tensor(const S& statement) {
    return factor<places<S>.tensor>(statement.right());
  }
  /// The matrix whose rows are selected by the coordinates of a level of T.
  template <int Level, class S>
  static const auto& factor_of_level(const S& statement) {
    static_assert(Level != places<S>.result_level, "the result's level has no factor");
    return factor<places<S>.factor_of_level[Level]>(statement.right());
  }
};

}  // namespace sporos
