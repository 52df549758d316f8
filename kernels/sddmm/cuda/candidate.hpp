// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Dot products at the nonzeros of a sparse matrix on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../../formats/shared_levels.hpp"
#include "../../cuda/operands.hpp"
#include "../../cuda/transpose.hpp"
#include "../../nest/bounds.hpp"
#include "../../statement/candidate.hpp"
#include "../pattern.hpp"
#include "sddmm.hpp"

namespace sporos::gpu {

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
  static constexpr std::string_view name = "SDDMM by warps";
  static constexpr std::string_view takes =
      "A(i, j) = B(i, j) * C(i, k) * D(j, k), A and B in the same CSR, C and D dense, in the memory of the "
      "GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_launch = 8e-6;
  static constexpr double seconds_of_term = 2e-12;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  template <class S>
  class Plan;
};

template <class S>
class SddmmByWarps::Plan {
  using Tensor = typename S::result_type::tensor_type;
  using Value = typename Tensor::value_type;
  using C = std::remove_cvref_t<decltype(Pattern::of_rows(std::declval<const S&>()))>;
  using D = std::remove_cvref_t<decltype(Pattern::of_columns(std::declval<const S&>()))>;
  using T = typename C::value_type;
  /// Whether a dense matrix is transposed first, so that the summed mode is contiguous.
  static constexpr bool turn_c = C::level_names[0] != S::result_type::names[0];
  static constexpr bool turn_d = D::level_names[0] != S::result_type::names[1];

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement) {
    bounds_of(statement);  // what does not fit is named by its variable
  }

  void run() {
    const auto& pattern = Pattern::sampled(statement_).tensor();
    const auto& result = statement_.result().tensor();
    // The result's own values where nobody else has them and nothing reads them.
    auto values = result.values();  // [nonzeros]
    if (result.nnz() != pattern.nnz() || values.use_count() > 2 || values.use_count() == 0 ||
        reads_result(statement_))
      values = make_array<Value, Memory>("sporos::Tensor values", pattern.nnz());
    compute(values.data());
    result.replace(result.extents(), sporos::detail::shared_levels(pattern), values);
  }

  void refill() { compute(statement_.result().tensor().values().data()); }

  Bytes bytes() const {
    const auto& pattern = Pattern::sampled(statement_).tensor();
    return {pattern.nnz(), pattern.bytes(), with_room_to_grow(turned_bytes())};
  }
  void explain(std::ostream& out) const {
    out << "  result: a dot product at each nonzero of the sparse operand, whose pattern it shares\n";
    if (turn_c || turn_d)
      out << "  dense matrices are transposed first where the summed mode is not contiguous\n";
  }

 private:
  const auto& c() const { return Pattern::of_rows(statement_).tensor(); }
  const auto& d() const { return Pattern::of_columns(statement_).tensor(); }

  std::int64_t turned_bytes() const {
    Layout layout;
    if (turn_c) layout.template take<T>(c().nnz());
    if (turn_d) layout.template take<T>(d().nnz());
    return layout.bytes();
  }

  void compute(Value* values) const {
    const Kokkos::Cuda& space = statement_.resources().space();
    const auto b = detail::csr_view(Pattern::sampled(statement_).tensor());
    const std::int64_t inner = b.rows > 0 ? c().nnz() / b.rows : 0;
    auto workspace = statement_.resources().scratch().template borrow<Workspace>();
    Layout layout(workspace->reserve(turned_bytes()));
    T* const turned_c = turn_c ? layout.template take<T>(c().nnz()) : nullptr;  // [rows, inner]
    T* const turned_d = turn_d ? layout.template take<T>(d().nnz()) : nullptr;  // [columns, inner]
    if (turn_c) transpose(space, inner, b.rows, c().values().data(), turned_c);
    if (turn_d) transpose(space, inner, b.columns, d().values().data(), turned_d);
    sddmm<detail::compute_of<S>>(
        space, SddmmArguments{b.rows, b.nonzeros, inner, b.positions, b.coordinates, b.values,
                              turn_c ? static_cast<const T*>(turned_c) : c().values().data(),
                              turn_d ? static_cast<const T*>(turned_d) : d().values().data(), values});
  }

  const S& statement_;
};

}  // namespace sporos::gpu
