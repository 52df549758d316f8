// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The matricised tensor times Khatri-Rao product on the GPU, as a candidate for statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../../cuda/operands.hpp"
#include "../../nest/lower.hpp"
#include "../pattern.hpp"
#include "mttkrp.hpp"

namespace sporos::cuda {

/// M(i, r) = T(i, k, l, …) * B(k, r) * C(l, r) * …, T in coordinates, compressed fibers or CSR, for any mode
/// i of it; M and the factors row-major: mttkrp.hpp.
///
/// Returns before the GPU is through: what follows on the default stream of Kokkos runs behind it, and copies
/// to the host wait for it, as do Kokkos::fence() and the end of an array's life.
struct MttkrpByNonzeros {
  struct Operands : GpuOperands {
    /// Sums are formed in the result, so its values are of a type that sums are formed in.
    template <class S>
    static constexpr bool admits() {
      using Value = typename S::result_type::value_type;
      return std::is_same_v<Value, accumulate_t<Value>> && !std::is_same_v<Value, bool> &&
             GpuOperands::admits<S>();
    }
    /// A format whose nonzeros' coordinates can be found from their positions.
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
  static constexpr std::string_view name = "MTTKRP on the GPU";
  static constexpr bool is_deterministic = false;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  static bool run(const S& statement) {
    constexpr int result_level = Pattern::places<S>.result_level;
    const auto& tensor = Pattern::tensor(statement).tensor();
    using Tensor = std::remove_cvref_t<decltype(tensor)>;
    using T = typename Tensor::value_type;
    const auto& result = statement.result().tensor();
    bounds_of(statement);  // what does not fit is named by its variable
    if (detail::reads_result(statement)) return false;

    MttkrpArguments<typename Tensor::view_type, T> arguments{};
    arguments.tensor = tensor.view();
    arguments.columns = result.extent(1);
    arguments.result = result.values().data();
    std::int64_t positions = 1;
    tensor.for_each_level([&](auto level, const auto& storage) {
      constexpr int k = decltype(level)::value;
      arguments.sizes[k] = positions = storage.size(positions);
      if constexpr (k != result_level)
        arguments.factors[k] = Pattern::factor_of_level<k>(statement).tensor().values().data();
    });
    const Kokkos::Cuda space;
    if (!statement.accumulates()) zero(space, arguments.result, result.nnz());
    mttkrp<result_level>(space, arguments);
    return true;
  }
};

}  // namespace sporos::cuda
