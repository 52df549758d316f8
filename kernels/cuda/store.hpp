// SPDX-License-Identifier: Apache-2.0
/// @file store.hpp
/// How kernels that compute tiles of a dense result store them.
#pragma once

#include <cstdint>

#include "../../core/value.hpp"

namespace sporos::gpu::detail {

/// Stores up to eight neighbouring results.
template <class Out>
__device__ __forceinline__ void store_eight(Out* at, std::int64_t left, bool is_aligned, bool accumulates,
                                            const float (&values)[8]) {
  alignas(16) Out out[8];
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    const auto before = accumulates && e < left ? static_cast<accumulate_t<Out>>(at[e]) : 0;
    out[e] = static_cast<Out>(before + static_cast<accumulate_t<Out>>(values[e]));
  }
  if (left >= 8 && is_aligned) {
#pragma unroll
    for (int part = 0; part < static_cast<int>(sizeof(out)) / 16; ++part)
      reinterpret_cast<uint4*>(at)[part] = reinterpret_cast<const uint4*>(out)[part];
  } else {
#pragma unroll
    for (int e = 0; e < 8; ++e)
      if (e < left) at[e] = out[e];
  }
}

}  // namespace sporos::gpu::detail
