// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The matricised tensor times Khatri-Rao product on the GPU, as a candidate for statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../nest/bounds.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../../spmm/cuda/candidate.hpp"
#include "../pattern.hpp"
#include "mttkrp.hpp"

namespace sporos::gpu {

/// M(i, r) = T(i, k, l, …) * B(k, r) * C(l, r) * …, with T in coordinates, compressed fibers or CSR and i any
/// of its modes, and M and the factors row-major, by mttkrp.hpp. A matrix in CSR is left to SpmmByGroups.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct MttkrpByNonzeros {
  struct Operands : GpuOperands {
    /// Sums are formed in the result, so its values must have a type in which sums can be formed.
    template <class S>
    static constexpr bool admits() {
      using Value = typename S::result_type::value_type;
      return std::is_same_v<Value, accumulate_t<Value>> && !std::is_same_v<Value, bool> &&
             GpuOperands::admits<S>();
    }
    /// A format in which the coordinates of nonzeros can be found from their positions.
    template <class F>
    static constexpr bool is_fibers = [] {
      if constexpr (F::is_blocked || F::is_dense || F::levels != F::order) {
        return false;
      } else {
        return []<std::size_t... K>(std::index_sequence<K...>) {
          return ((F::template level<static_cast<int>(K) + 1>::properties.branchless ||
                   StoresSegments<typename F::template level<static_cast<int>(K) + 1>>) &&
                  ...);
        }(std::make_index_sequence<static_cast<std::size_t>(F::levels - 1)>{});
      }
    }();
  };
  using Pattern = MttkrpPattern<Operands>;
  static constexpr std::string_view name = "MTTKRP by nonzeros";
  static constexpr std::string_view takes =
      "M(i, r) = T(i, k, l, ...) * B(k, r) * C(l, r) * ..., T in coordinates, compressed fibers or CSR, the "
      "matrices dense and row-major, in the memory of the GPU";
  static constexpr bool deterministic = false;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_launch = 8e-6;
  static constexpr double seconds_of_term = 3e-12;

  template <class S>
  static constexpr bool matches = Pattern::matches<S> && !SpmmByGroups::matches<S>;

  template <class S>
  class Plan {
    static constexpr int result_level = Pattern::places<S>.result_level;
    using Tensor = std::remove_cvref_t<decltype(Pattern::tensor(std::declval<const S&>()).tensor())>;
    using T = typename Tensor::value_type;

   public:
    Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement) {
      bounds_of(statement);  // throws ShapeError if extents do not match
    }

    void run() {
      const auto& tensor = Pattern::tensor(statement_).tensor();
      const auto& result = statement_.result().tensor();
      const Kokkos::Cuda& space = statement_.resources().space();
      const sporos::detail::DenseTarget<S> target(statement_);
      MttkrpArguments<typename Tensor::view_type, T> arguments{};
      arguments.tensor = tensor.view();
      arguments.columns = result.extent(1);
      arguments.result = target.data();
      std::int64_t positions = 1;
      tensor.for_each_level([&](auto level, const auto& storage) {
        constexpr int k = decltype(level)::value;
        arguments.sizes[k] = positions = storage.size(positions);
        if constexpr (k != result_level)
          arguments.factors[k] = Pattern::factor_of_level<k>(statement_).tensor().values().data();
      });
      if (!statement_.accumulates()) zero(space, arguments.result, result.nnz());
      mttkrp<result_level>(space, arguments);
      target.finish();
    }

    Bytes bytes() const {
      const auto& m = statement_.result().tensor();
      return {m.nnz(), m.bytes(), sporos::detail::DenseTarget<S>::bytes(statement_)};
    }
    void explain(std::ostream& out) const {
      out << "  result: located, nonzeros dealt to warps, columns to their lanes; rows added to by atomics\n";
    }

   private:
    const S& statement_;
  };
};

}  // namespace sporos::gpu
