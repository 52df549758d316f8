// SPDX-License-Identifier: Apache-2.0
/// @file operands.hpp
/// The operands that the host's specialised kernels admit, for the patterns of
/// `kernels/<operation>/pattern.hpp`.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "../../../core/statement.hpp"
#include "../../../formats/named.hpp"
#include "../../host/sparse_rows.hpp"
#include "../../protocol/compute_type.hpp"
#include "../../protocol/factors.hpp"

namespace sporos {

namespace detail {

/// Whether all operands of a statement are in host memory and have the type in which it computes, float or
/// double.
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

}  // namespace detail

/// Admits sparse and dense operands by rows, in host memory, with any type of values.
struct HostOperands {
  template <class S>
  static constexpr bool admits() {
    return HostSpace<typename S::result_type::tensor_type::space_type>;
  }
  template <class A>
  static constexpr bool is_csr = SparseRowsMatrix<typename A::tensor_type>;
  template <class A>
  static constexpr bool is_dense_vector = std::same_as<typename A::format, DenseVector>;
  template <class A>
  static constexpr bool is_dense_by_rows = std::same_as<typename A::format, DenseMatrix<>>;
};

/// Admits such operands if all values have one type, float or double, and the loops are in the derived order.
struct RealHostOperands : HostOperands {
  template <class S>
  static constexpr bool admits() {
    return HostOperands::admits<S>() && detail::has_one_real_type<S>() &&
           std::same_as<typename S::order, derived_order<typename S::result_type, typename S::right_type>>;
  }
};

}  // namespace sporos
