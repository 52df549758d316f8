// SPDX-License-Identifier: Apache-2.0
/// @file ceil_div.hpp
/// Division that rounds up, on the host and in kernels.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace sporos::gpu {

/// a / b, rounded up.
KOKKOS_INLINE_FUNCTION constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace sporos::gpu
