// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The matricised tensor times Khatri-Rao product over compressed fibers, on the host.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "../../../core/statement.hpp"
#include "../../host/operands.hpp"
#include "../../nest/lower.hpp"
#include "../pattern.hpp"
#include "product.hpp"

namespace sporos {

/// M(i, r) = T(i, k, l, …) * B(k, r) * C(l, r) * …, T in compressed fibers, M and the factors row-major, all
/// in host memory and of one type, float or double: product.hpp.
///
/// @tparam Outermost  whether i is T's outermost level, or one of the others
template <bool Outermost>
struct MttkrpByFibers {
  struct Operands : RealHostOperands {
    /// A tree of compressed levels, three or more, the outermost of which may be dense.
    template <class F>
    static constexpr bool is_fibers = [] {
      if constexpr (F::is_blocked || F::is_dense || F::levels != F::order || F::levels < 3) {
        return false;
      } else if constexpr (!StoresSegments<typename F::template level<1>>) {
        return false;
      } else {
        for (int k = 0; k < F::levels; ++k) {
          const LevelProperties level = F::properties[static_cast<std::size_t>(k)];
          if (k > 0 && level.full) return false;
          if (!level.full && (level.branchless || !level.unique)) return false;
        }
        return true;
      }
    }();
  };
  using Pattern = MttkrpPattern<Operands>;
  static constexpr std::string_view name =
      Outermost ? "MTTKRP of the outermost mode" : "MTTKRP of an inner mode";
  static constexpr bool is_deterministic = Outermost;

  template <class S>
  static constexpr bool matches =
      Pattern::template matches<S> && (Pattern::template places<S>.result_level == 0) == Outermost;

  template <class S>
  static bool run(const S& statement) {
    constexpr int result_level = Pattern::template places<S>.result_level;
    const auto& tensor = Pattern::tensor(statement).tensor();
    using Tensor = std::remove_cvref_t<decltype(tensor)>;
    using Result = std::remove_cvref_t<decltype(statement.result().tensor())>;
    using T = typename Result::value_type;
    const Result& result = statement.result().tensor();
    bounds_of(statement);  // what does not fit is named by its variable
    if (detail::reads_result(statement)) return false;
    detail::MttkrpOperands<typename Tensor::view_type, T> operands{tensor.view(), result.extent(1), {}};
    tensor.for_each_level([&](auto level, const auto&) {
      constexpr int k = decltype(level)::value;
      if constexpr (k != result_level)
        operands.factors[static_cast<std::size_t>(k)] =
            Pattern::template factor_of_level<k>(statement).tensor().values().data();
    });
    detail::Mttkrp<typename Result::space_type, result_level, Tensor, T>(
        tensor, operands, result.values().data(), result.extent(0))(statement.accumulates());
    return true;
  }
};

}  // namespace sporos
