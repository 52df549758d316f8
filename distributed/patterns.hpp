// SPDX-License-Identifier: Apache-2.0
/// @file patterns.hpp
/// What the patterns of distributed products (kernels/<operation>/pattern.hpp) take as operands.
#pragma once

#include <type_traits>

#include "../formats/named.hpp"
#include "../kernels/statement/ranks.hpp"
#include "row_fetch.hpp"
#include "tensor.hpp"

namespace sporos::detail {

/// Whether an access is to a distributed matrix stored by rows.
template <class A>
inline constexpr bool is_distributed_csr =
    AnyDistributed<typename A::tensor_type> && is_rows_of_columns<typename A::format>;

/// Whether an access is to a distributed vector, or matrix of consecutive rows.
template <class A>
inline constexpr bool is_distributed_rows =
    AnyDistributed<typename A::tensor_type> &&
    (std::is_same_v<typename A::format, DenseVector> || std::is_same_v<typename A::format, DenseMatrix<>>);

/// What patterns of statements on distributed tensors admit.
struct DistributedOperands {
  template <class S>
  static constexpr bool admits() {
    return is_distributed_statement<S>;
  }
  template <class A>
  static constexpr bool is_csr = is_distributed_csr<A>;
};

}  // namespace sporos::detail
