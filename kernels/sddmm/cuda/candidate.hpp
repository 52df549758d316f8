// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Dot products at the nonzeros of a sparse matrix on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "../../../formats/shared_levels.hpp"
#include "../../cuda/operands.hpp"
#include "../../nest/lower.hpp"
#include "../pattern.hpp"
#include "sddmm.hpp"

namespace sporos::cuda {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), A and B in CSR, C and D dense and stored along either mode:
/// sddmm.hpp. A gets the pattern of B, and where B's arrays are counted shares them.
///
/// Returns before the GPU is through: what follows on the default stream of Kokkos runs behind it, and copies
/// to the host wait for it, as do Kokkos::fence() and the end of an array's life.
struct SddmmByWarps {
  struct Operands : GpuOperands {
    static constexpr bool turns_dense = true;
  };
  using Pattern = SddmmPattern<Operands>;
  static constexpr std::string_view name = "SDDMM on the GPU";
  static constexpr bool is_deterministic = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  static bool run(const S& statement) {
    constexpr char i = S::result_type::names[0];
    constexpr char j = S::result_type::names[1];
    const auto& pattern = Pattern::sampled(statement).tensor();
    const auto& c = Pattern::of_rows(statement);
    const auto& d = Pattern::of_columns(statement);
    const auto& result = statement.result().tensor();
    using Tensor = std::remove_cvref_t<decltype(result)>;
    using T = typename std::remove_cvref_t<decltype(c.tensor())>::value_type;
    bounds_of(statement);  // what does not fit is named by its variable
    const auto b = detail::csr_view(pattern);
    const std::int64_t inner = b.rows > 0 ? c.tensor().nnz() / b.rows : 0;

    // Both dense matrices with the summed mode contiguous: transposed where they are not.
    const Kokkos::Cuda space;
    constexpr bool turn_c = std::remove_cvref_t<decltype(c)>::level_names[0] != i;
    constexpr bool turn_d = std::remove_cvref_t<decltype(d)>::level_names[0] != j;
    const auto cut = [&](char* memory) {
      Layout layout(memory);
      T* const turned_c = turn_c ? layout.template take<T>(c.tensor().nnz()) : nullptr;  // [rows, inner]
      T* const turned_d = turn_d ? layout.template take<T>(d.tensor().nnz()) : nullptr;  // [columns, inner]
      return std::tuple(layout.bytes(), turned_c, turned_d);
    };
    const auto [bytes, turned_c, turned_d] = cut(shared_workspace().reserve(std::get<0>(cut(nullptr))));
    if (turn_c) transpose(space, inner, b.rows, c.tensor().values().data(), turned_c);
    if (turn_d) transpose(space, inner, b.columns, d.tensor().values().data(), turned_d);

    // The result's own values where nobody else has them and nothing reads them.
    auto values = result.values();  // [nonzeros]
    if (result.nnz() != b.nonzeros || values.use_count() > 2 || values.use_count() == 0 ||
        detail::reads_result(statement))
      values = make_array<typename Tensor::value_type, Memory>("sporos::Tensor values", b.nonzeros);
    sddmm<detail::compute_of<S>>(
        space,
        SddmmArguments{b.rows, b.nonzeros, inner, b.positions, b.coordinates, b.values,
                       turn_c ? static_cast<const T*>(turned_c) : c.tensor().values().data(),
                       turn_d ? static_cast<const T*>(turned_d) : d.tensor().values().data(), values.data()});
    result.replace(result.extents(), sporos::detail::shared_levels(pattern), values);
    return true;
  }
};

}  // namespace sporos::cuda
