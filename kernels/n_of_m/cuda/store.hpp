// SPDX-License-Identifier: Apache-2.0
/// @file store.hpp
/// Stores neighbouring results of a thread.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "../../../core/value.hpp"

namespace sporos::gpu::detail {

/// The type with which one instruction stores `Bytes` bytes.
template <int Bytes>
using StoredWord = std::conditional_t<
    Bytes == 16, uint4,
    std::conditional_t<Bytes == 8, uint2, std::conditional_t<Bytes == 4, unsigned, unsigned short>>>;

/// Stores up to `Count` neighbouring results, or adds them to what is there.
/// @param left        how many there are, if fewer than Count
/// @param is_aligned  whether `at` is aligned to the size of Count results, or to 16 bytes
template <int Count, class Out, class Compute>
__device__ __forceinline__ void store_values(Out* at, std::int64_t left, bool is_aligned, bool accumulates,
                                             const Compute (&values)[Count]) {
  using Sum = std::common_type_t<Compute, accumulate_t<Out>>;
  constexpr int bytes = Count * static_cast<int>(sizeof(Out));
  using Word = StoredWord<(bytes < 16 ? bytes : 16)>;
  alignas(16) Out out[Count];
#pragma unroll
  for (int e = 0; e < Count; ++e) {
    const Sum before = accumulates && e < left ? static_cast<Sum>(static_cast<accumulate_t<Out>>(at[e])) : 0;
    out[e] = static_cast<Out>(static_cast<accumulate_t<Out>>(before + static_cast<Sum>(values[e])));
  }
  if (left >= Count && is_aligned) {
#pragma unroll
    for (int word = 0; word < bytes / static_cast<int>(sizeof(Word)); ++word)
      reinterpret_cast<Word*>(at)[word] = reinterpret_cast<const Word*>(out)[word];
  } else {
#pragma unroll
    for (int e = 0; e < Count; ++e)
      if (e < left) at[e] = out[e];
  }
}

}  // namespace sporos::gpu::detail
