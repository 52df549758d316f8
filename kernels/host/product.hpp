// SPDX-License-Identifier: Apache-2.0
/// @file product.hpp
/// What the host's kernels for products with dense operands ask of a statement.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "../../core/statement.hpp"
#include "../../formats/named.hpp"
#include "../spgemm/host/multiply.hpp"
#include "../statement/compute_type.hpp"
#include "../statement/factors.hpp"

namespace sporos::detail {

/// Whether all accesses of a statement are in host memory, of the type in which it computes, float or double.
template <class S>
constexpr bool has_one_real_type() {
  using Result = typename S::result_type;
  using Value = typename Result::value_type;
  return (std::same_as<Value, double> || std::same_as<Value, float>) &&
         std::same_as<compute_t<Result, typename S::right_type>, Value> &&
         []<class... Accesses>(TypeList<Accesses...>) {
           return ((std::same_as<typename Accesses::value_type, Value> &&
                    HostSpace<typename Accesses::tensor_type::space_type>) &&
                   ...);
         }(accesses_of<typename S::right_type>{});
}

/// Whether a kernel may look into a statement: a product of accesses into a result in host memory, its loops
/// in the order that was derived, its values of one type.
template <class S>
constexpr bool is_host_product() {
  using Result = typename S::result_type;
  using Right = typename S::right_type;
  if constexpr (!HostSpace<typename Result::tensor_type::space_type> || std::is_void_v<factors_of<Right>>)
    return false;
  else
    return has_one_real_type<S>() && std::same_as<typename S::order, derived_order<Result, Right>>;
}

/// The factors of such a product, by their places.
template <class S>
using factor_list = ListOf<factors_of<typename S::right_type>>;

template <class A>
inline constexpr bool is_sparse_by_rows = SparseRowsMatrix<typename A::tensor_type>;
template <class A>
inline constexpr bool is_dense_vector = std::same_as<typename A::format, DenseVector>;
template <class A>
inline constexpr bool is_dense_by_rows = std::same_as<typename A::format, DenseMatrix<>>;

}  // namespace sporos::detail
