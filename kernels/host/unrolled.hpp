// SPDX-License-Identifier: Apache-2.0
/// @file unrolled.hpp
/// Loops that are always unrolled, so that the arrays that they index are kept in registers.
#pragma once

#include <type_traits>
#include <utility>

#include "../../core/inline.hpp"

namespace sporos::detail {

/// f(0), f(1), …, f(N - 1), each argument an integral_constant.
template <int N, class F>
SPOROS_HOST_INLINE void unrolled(const F& f) {
  [&]<int... K> SPOROS_INLINE_LAMBDA(std::integer_sequence<int, K...>) {
    (f(std::integral_constant<int, K>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

}  // namespace sporos::detail
