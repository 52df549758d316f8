// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// What is what in a product that may be MTTKRP.
#pragma once

#include <type_traits>
#include <utility>

#include "../../core/statement.hpp"
#include "../../formats/named.hpp"

namespace sporos::detail {

/// Which factor of a product is what: M(i, r) = T(i, k, l, …) * B(k, r) * C(l, r) * …, in any order.
struct MttkrpPlaces {
  int tensor = -1;                               ///< -1 where the product is no such one
  int result_level = -1;                         ///< the level of T that holds i
  int factor_of_level[NameList::capacity] = {};  ///< -1 for the result's
};

/// @tparam Kernel  Kernel::reads<Format>() says whether a format is one that T may have
template <class Kernel, class Result, class Operands>
class MttkrpMatch {
 public:
  static constexpr MttkrpPlaces places() {
    if constexpr (Operands::size >= 2 && std::is_same_v<typename Result::format, DenseMatrix<>>)
      return find(std::make_integer_sequence<int, Operands::size>{});
    else
      return {};
  }

 private:
  using Value = typename Result::value_type;

  template <int... K>
  static constexpr MttkrpPlaces find(std::integer_sequence<int, K...>) {
    MttkrpPlaces out;
    (try_tensor<K, K...>(out), ...);
    return out;
  }
  template <int At, int... K>
  static constexpr void try_tensor(MttkrpPlaces& out) {
    using A = typename Operands::template at<At>;
    if constexpr (Kernel::template reads<typename A::format>()) {
      if constexpr (std::is_same_v<typename A::value_type, Value> && A::format::levels == Operands::size &&
                    A::format::levels + 1 <= NameList::capacity) {
        MttkrpPlaces found;
        for (int k = 0; k < A::level_names.size; ++k) {
          const char name = A::level_names[k];
          found.factor_of_level[k] = -1;
          if (name == Result::names[1]) return;
          for (int before = 0; before < k; ++before)
            if (A::level_names[before] == name) return;
          if (name == Result::names[0]) {
            found.result_level = k;
            continue;
          }
          ((found.factor_of_level[k] =
                is_factor<typename Operands::template at<K>>(name) ? K : found.factor_of_level[k]),
           ...);
          if (found.factor_of_level[k] < 0) return;
        }
        if (found.result_level < 0) return;
        found.tensor = At;
        out = found;
      }
    }
  }
  template <class A>
  static constexpr bool is_factor(char row) {
    if constexpr (std::is_same_v<typename A::format, DenseMatrix<>> &&
                  std::is_same_v<typename A::value_type, Value>)
      return A::names[0] == row && A::names[1] == Result::names[1];
    else
      return false;
  }
};

}  // namespace sporos::detail
