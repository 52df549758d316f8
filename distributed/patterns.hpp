// SPDX-License-Identifier: Apache-2.0
/// @file patterns.hpp
/// The operands that the patterns of distributed products (`kernels/<operation>/pattern.hpp`) take, and which
/// of these products the kernels of one rank can compute.
#pragma once

#include <type_traits>
#include <utility>

#include "../formats/named.hpp"
#include "../formats/structure.hpp"
#include "../kernels/protocol/compute_type.hpp"
#include "../kernels/spgemm/host/multiply.hpp"
#include "../kernels/statement/ranks.hpp"
#include "row_fetch.hpp"
#include "tensor.hpp"

namespace sporos::detail {

/// Whether an access is to a distributed matrix stored by rows.
template <class A>
inline constexpr bool is_distributed_csr =
    AnyDistributed<typename A::tensor_type> && is_by_rows<typename A::format>;

/// Whether an access is to a distributed vector or a matrix of consecutive rows.
template <class A>
inline constexpr bool is_distributed_rows =
    AnyDistributed<typename A::tensor_type> &&
    (std::is_same_v<typename A::format, DenseVector> || std::is_same_v<typename A::format, DenseMatrix<>>);

/// Admits the statements on distributed tensors that patterns may match.
struct DistributedOperands {
  template <class S>
  static constexpr bool admits() {
    return is_distributed_statement<S>;
  }
  template <class A>
  static constexpr bool is_csr = is_distributed_csr<A>;
};

/// Whether a statement is a product of distributed matrices whose local parts the host can multiply by rows.
/// @tparam Pattern  SpgemmPattern<DistributedOperands>
template <class Pattern, class S>
constexpr bool multiplies_by_rows() {
  if constexpr (Pattern::template matches<S> && HostSpace<typename S::space_type> &&
                !S::schedule::is_deterministic) {
    using Left = std::remove_cvref_t<decltype(Pattern::left(std::declval<const S&>()))>;
    using Right = std::remove_cvref_t<decltype(Pattern::right(std::declval<const S&>()))>;
    return SparseRowsMatrix<typename S::result_type::tensor_type::local_type> &&
           SparseRowsMatrix<typename Left::tensor_type::local_type> &&
           SparseRowsMatrix<typename Right::tensor_type::local_type> && is_complex_like_result<S>;
  } else {
    return false;
  }
}

}  // namespace sporos::detail
