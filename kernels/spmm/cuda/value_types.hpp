// SPDX-License-Identifier: Apache-2.0
/// @file value_types.hpp
/// Which types of values a candidate for products of a sparse and a dense matrix takes.
#pragma once

#include <type_traits>
#include <utility>

#include "../../operands/cuda/operands.hpp"

namespace sporos::gpu {

/// The types of the values of A and B, of the result's, and in which products and sums are formed.
template <class T, class Out, class Compute>
struct ProductTypes {};

/// Whether a statement is a product that Pattern matches, A and B have values of one type T, and
/// takes(ProductTypes<T, Out, Compute>) holds.
template <class Pattern, class S, class Takes>
constexpr bool is_product_of_types(const Takes& takes) {
  if constexpr (Pattern::template matches<S>) {
    using T = typename std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>::value_type;
    using B = typename std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>::value_type;
    if constexpr (std::is_same_v<T, B>)
      return takes(ProductTypes<T, typename S::result_type::value_type, detail::compute_of<S>>{});
    else
      return false;
  } else {
    return false;
  }
}

}  // namespace sporos::gpu
