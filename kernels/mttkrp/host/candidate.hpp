// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The matricised tensor times Khatri-Rao product over compressed fibers, on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../../core/statement.hpp"
#include "../../nest/bounds.hpp"
#include "../../operands/host/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "product.hpp"

namespace sporos {

/// M(i, r) = T(i, k, l, …) * B(k, r) * C(l, r) * …, with T in compressed fibers, M and the factors dense and
/// row-major, all float or all double in host memory, by product.hpp.
///
/// @tparam Outermost  whether i is T's outermost level, or one of the others
template <bool Outermost>
struct MttkrpByFibers {
  struct Operands : RealHostOperands {
    /// Three or more levels that store Segments; the outermost may be full instead.
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
  static constexpr std::string_view takes =
      "M(i, r) = T(i, k, l, ...) * B(k, r) * C(l, r) * ..., T in compressed fibers, the matrices dense and "
      "row-major, all float or all double in host memory";
  static constexpr bool deterministic = Outermost;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_term = 0.2e-9;

  template <class S>
  static constexpr bool matches =
      Pattern::template matches<S> && (Pattern::template places<S>.result_level == 0) == Outermost;

  template <class S>
  class Plan {
    static constexpr int result_level = Pattern::template places<S>.result_level;
    using Tensor = std::remove_cvref_t<decltype(Pattern::tensor(std::declval<const S&>()).tensor())>;
    using T = typename S::result_type::value_type;
    using Kernel = detail::Mttkrp<result_level, Tensor, T>;

   public:
    Plan(const S& statement, const Resources<typename S::space_type>&) : statement_(statement) {
      bounds_of(statement);  // throws ShapeError if extents do not match
    }

    void run() {
      const detail::DenseTarget<S> target(statement_);
      const Kernel product = kernel(target.data());
      product(product.form(), statement_.accumulates());
      target.finish();
    }

    Bytes bytes() const {
      const auto& m = statement_.result().tensor();
      return {m.nnz(), m.bytes(),
              detail::DenseTarget<S>::bytes(statement_) + kernel(m.values().data()).workspace_bytes()};
    }
    void explain(std::ostream& out) const {
      out << (Outermost ? "  result: located, sums over fibers in registers, each row written once\n"
                        : "  result: located, sums over fibers in registers, scattered into results of each "
                          "thread's own\n");
    }

   private:
    Kernel kernel(T* to) const {
      const auto& tensor = Pattern::tensor(statement_).tensor();
      const auto& result = statement_.result().tensor();
      detail::MttkrpOperands<typename Tensor::view_type, T> operands{tensor.view(), result.extent(1), {}};
      tensor.for_each_level([&](auto level, const auto&) {
        constexpr int k = decltype(level)::value;
        if constexpr (k != result_level)
          operands.factors[static_cast<std::size_t>(k)] =
              Pattern::template factor_of_level<k>(statement_).tensor().values().data();
      });
      return Kernel(statement_.resources().space(), tensor, operands, to, result.extent(0));
    }

    const S& statement_;
  };
};

}  // namespace sporos
