// SPDX-License-Identifier: Apache-2.0
/// @file warp.hpp
/// What the lanes of a warp do together: sum, search, and find the row of each nonzero.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "../../core/value.hpp"
#include "ptx.hpp"

namespace sporos::gpu {

inline constexpr int warp_size = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x) % warp_size; }

/// a * b as tensors multiply: `and` for bool.
template <class T>
__device__ __forceinline__ T times(const T& a, const T& b) {
  return static_cast<T>(a * b);
}

/// Loads *at as other blocks of this kernel left it, bypassing the L1 cache.
template <class T>
__device__ __forceinline__ T load_fresh(const T* at) {
  if constexpr (is_complex_v<T>) {
    const auto* const parts = reinterpret_cast<const typename T::value_type*>(at);
    return T(__ldcg(parts), __ldcg(parts + 1));
  } else if constexpr (std::is_same_v<T, bool>) {
    return __ldcg(reinterpret_cast<const unsigned char*>(at)) != 0;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return __ldcg(reinterpret_cast<const long long*>(at));
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return __ldcg(reinterpret_cast<const unsigned long long*>(at));
  } else {
    return __ldcg(at);
  }
}

/// The value of `x` in lane `from`; complex values are exchanged part by part.
template <class T>
__device__ __forceinline__ T shuffle(T x, int from, int width = warp_size) {
  if constexpr (is_complex_v<T>)
    return T(__shfl_sync(all_lanes, x.real(), from, width), __shfl_sync(all_lanes, x.imag(), from, width));
  else if constexpr (sizeof(T) < 4)
    return static_cast<T>(__shfl_sync(all_lanes, static_cast<int>(x), from, width));
  else
    return __shfl_sync(all_lanes, x, from, width);
}
/// The value of `x` in lane `from`, among the lanes of `mask`, all of which call it.
template <class T>
__device__ __forceinline__ T shuffle_among(unsigned mask, T x, int from, int width) {
  if constexpr (is_complex_v<T>)
    return T(__shfl_sync(mask, x.real(), from, width), __shfl_sync(mask, x.imag(), from, width));
  else if constexpr (sizeof(T) < 4)
    return static_cast<T>(__shfl_sync(mask, static_cast<int>(x), from, width));
  else
    return __shfl_sync(mask, x, from, width);
}
template <class T>
__device__ __forceinline__ T shuffle_xor(T x, int mask) {
  if constexpr (is_complex_v<T>)
    return T(__shfl_xor_sync(all_lanes, x.real(), mask), __shfl_xor_sync(all_lanes, x.imag(), mask));
  else if constexpr (sizeof(T) < 4)
    return static_cast<T>(__shfl_xor_sync(all_lanes, static_cast<int>(x), mask));
  else
    return __shfl_xor_sync(all_lanes, x, mask);
}

/// The sum of `x` over each group of `lanes` neighbouring lanes, a power of two, returned to every lane of
/// the group. All lanes of the warp call it.
template <class T>
__device__ __forceinline__ T group_sum(T x, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2) x = plus(x, shuffle_xor(x, step));
  return x;
}

/// The sum of `x` over a lane and those before it in its group of `Lanes` neighbours, where it is the
/// lane-th. All lanes of the warp call it.
template <int Lanes>
__device__ __forceinline__ int inclusive_sum(int x, int lane) {
#pragma unroll
  for (int step = 1; step < Lanes; step *= 2) {
    const int lower = __shfl_up_sync(all_lanes, x, static_cast<unsigned>(step), Lanes);
    if (lane >= step) x += lower;
  }
  return x;
}

/// *at += x where other threads add too.
template <class T>
__device__ __forceinline__ void atomic_add(T* at, const T& x) {
  if constexpr (is_complex_v<T>) {
    auto* const parts = reinterpret_cast<typename T::value_type*>(at);
    ::atomicAdd(parts, x.real());
    ::atomicAdd(parts + 1, x.imag());
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    ::atomicAdd(at, x);
  } else {
    Kokkos::atomic_add(at, x);
  }
}

/// `Count` neighbouring values, loaded at once.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Pack {
  T at[Count];
};

/// The widest pack of T that one instruction loads.
template <class T>
inline constexpr int widest_pack = sizeof(T) >= 16  ? 1
                                   : sizeof(T) <= 2 ? 8
                                                    : 16 / static_cast<int>(sizeof(T));

/// Whether an array may be read as one of a wider type T.
template <class T>
bool is_aligned(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(T) == 0;
}

/// Loads a pack that is read once and that nothing writes while the kernel runs. It does not enter the L1
/// cache, which is left to data read again, unless no instruction has the pack's size.
template <class T, int Count>
__device__ __forceinline__ Pack<T, Count> load_once(const Pack<T, Count>* at) {
  if constexpr (sizeof(*at) == 16 || sizeof(*at) == 8) {
    std::uint32_t words[sizeof(*at) / 4];
    ptx::load_past_l1(at, words);
    Pack<T, Count> pack;
    memcpy(&pack, words, sizeof pack);
    return pack;
  } else {
    return *at;
  }
}

namespace detail {

/// Loads a pack in the widest words that it can be divided into.
template <class T, int Count, class LoadWord>
__device__ __forceinline__ Pack<T, Count> load_words(const Pack<T, Count>* at, const LoadWord& load) {
  constexpr int size = sizeof(*at);
  using Word = std::conditional_t<
      size % 16 == 0, uint4,
      std::conditional_t<
          size % 8 == 0, uint2,
          std::conditional_t<size % 4 == 0, unsigned,
                             std::conditional_t<size % 2 == 0, unsigned short, unsigned char>>>>;
  constexpr int count = size / static_cast<int>(sizeof(Word));
  Word words[count];
#pragma unroll
  for (int w = 0; w < count; ++w) words[w] = load(reinterpret_cast<const Word*>(at) + w);
  Pack<T, Count> pack;
  memcpy(static_cast<void*>(&pack), words, size);
  return pack;
}

}  // namespace detail

/// Loads a pack that nothing writes while the kernel runs.
template <class T, int Count>
__device__ __forceinline__ Pack<T, Count> load_constant(const Pack<T, Count>* at) {
  return detail::load_words(at, [](const auto* word) { return __ldg(word); });
}

/// Loads a pack as other blocks of this kernel left it, bypassing the L1 cache.
template <class T, int Count>
__device__ __forceinline__ Pack<T, Count> load_fresh(const Pack<T, Count>* at) {
  return detail::load_words(at, [](const auto* word) { return __ldcg(word); });
}

/// at[0 … Count-1] += x, where other threads add too.
template <class T, int Count>
__device__ __forceinline__ void atomic_add(T* at, const Pack<T, Count>& x) {
  if constexpr (std::is_same_v<T, float> && Count == 4) {
    ptx::red_add_v4(at, x.at[0], x.at[1], x.at[2], x.at[3]);
  } else if constexpr (std::is_same_v<T, float> && Count == 2) {
    ptx::red_add_v2(at, x.at[0], x.at[1]);
  } else {
#pragma unroll
    for (int k = 0; k < Count; ++k) atomic_add(at + k, x.at[k]);
  }
}

/// The first place in [begin, end) where `holds` is false, if it is true for all places before that. The
/// whole warp does a 33-ary search; all lanes pass the same arguments.
template <class Holds>
__device__ __forceinline__ std::int64_t warp_partition_point(std::int64_t begin, std::int64_t end,
                                                             const Holds& holds) {
  while (begin < end) {
    const std::int64_t step = (end - begin + warp_size) / (warp_size + 1);
    const std::int64_t probe = begin + (lane_id() + 1) * step - 1;
    const int passed = __popc(__ballot_sync(all_lanes, probe < end && holds(probe)));
    const std::int64_t next = begin + (passed + 1) * step - 1;
    begin += passed * step;
    if (passed < warp_size && next < end) end = next;
  }
  return begin;
}

/// The same place, found by one thread with a binary search.
template <class Holds>
__device__ __forceinline__ std::int64_t partition_point(std::int64_t begin, std::int64_t end,
                                                        const Holds& holds) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (holds(middle))
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// Finds parents of positions: the row p with positions[p] <= q < positions[p + 1], for 32 ascending q at a
/// time.
template <class Position>
class ParentFinder {
 public:
  __device__ ParentFinder(const Position* positions, std::int64_t parents)
      : positions_(positions), parents_(parents) {}

  /// The parent of this lane's q. All lanes call it; q ascends from lane to lane and from call to call.
  __device__ __forceinline__ std::int64_t operator()(std::int64_t q) {
    std::int64_t lowest = shuffle(q, 0);
    if (first_ < 0) first_ = search(0, lowest);
    std::int64_t parent = first_;
    bool open = true;
    while (true) {
      // Where this lane's q lies, and where its one of the next 32 parents ends, relative to the lowest q
      // without a parent.
      const std::int64_t at = first_ + 1 + lane_id();
      const int mine = near(q - lowest);
      const int end = at <= parents_ ? near(static_cast<std::int64_t>(positions_[at]) - lowest) : far;
      int below = 0;  // how many of the 32 parents end at or before q
      if (__shfl_sync(all_lanes, end, 0) <= __shfl_sync(all_lanes, mine, warp_size - 1)) {
#pragma unroll
        for (int step = warp_size / 2; step > 0; step /= 2)
          if (__shfl_sync(all_lanes, end, below + step - 1) <= mine) below += step;
        if (__shfl_sync(all_lanes, end, below) <= mine) ++below;
      }
      if (open && below < warp_size) {
        parent = first_ + below;
        open = false;
      }
      const unsigned still_open = __ballot_sync(all_lanes, open);
      if (still_open == 0) break;
      lowest = shuffle(q, __ffs(static_cast<int>(still_open)) - 1);
      first_ = search(first_ + warp_size, lowest);
    }
    first_ = shuffle(parent, warp_size - 1);
    return parent;
  }

 private:
  /// Distances fit 32 bits; whatever is `far` away or farther waits for the next round.
  static constexpr int far = 1 << 30;
  __device__ static int near(std::int64_t distance) {
    return distance < far ? static_cast<int>(distance > -far ? distance : -far) : far;
  }
  __device__ std::int64_t search(std::int64_t from, std::int64_t q) const {
    return warp_partition_point(
        from, parents_, [&](std::int64_t p) { return static_cast<std::int64_t>(positions_[p + 1]) <= q; });
  }

  const Position* positions_;
  std::int64_t parents_;
  std::int64_t first_ = -1;
};

/// Transposes the 4 x 4 matrix of each group of four lanes, of which a lane holds a row.
__device__ __forceinline__ void transpose_in_quads(std::uint32_t (&row)[4]) {
#pragma unroll
  for (int apart = 1; apart <= 2; apart *= 2) {
    const bool is_upper = lane_id() / apart % 2 == 1;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int first = apart == 1 ? pair * 2 : pair, second = first + apart;
      const std::uint32_t from = __shfl_xor_sync(~0u, is_upper ? row[first] : row[second], apart);
      row[first] = is_upper ? from : row[first];
      row[second] = is_upper ? row[second] : from;
    }
  }
}

}  // namespace sporos::gpu
