// SPDX-License-Identifier: Apache-2.0
/// @file lane_sums.hpp
/// The sums of the lanes of several packets at once.
#pragma once

#include <type_traits>
#include <utility>

#include "packet.hpp"
#include "unrolled.hpp"

namespace sporos::detail {

#ifdef SPOROS_VECTOR_EXTENSION

/// out = lanes of x and y, selected by number. There is a function for each number of lanes, because nvcc
/// loses parameter packs among the arguments of the builtin.
template <int A, int B, class Vector, class Out>
SPOROS_HOST_INLINE void select(const Vector& x, const Vector& y, Out& out) {
  out = __builtin_shufflevector(x, y, A, B);
}
template <int A, int B, int C, int D, class Vector, class Out>
SPOROS_HOST_INLINE void select(const Vector& x, const Vector& y, Out& out) {
  out = __builtin_shufflevector(x, y, A, B, C, D);
}
template <int A, int B, int C, int D, int E, int F, int G, int H, class Vector, class Out>
SPOROS_HOST_INLINE void select(const Vector& x, const Vector& y, Out& out) {
  out = __builtin_shufflevector(x, y, A, B, C, D, E, F, G, H);
}
template <int A, int B, int C, int D, int E, int F, int G, int H, int I, int J, int K, int L, int M, int N,
          int O, int P, class Vector, class Out>
SPOROS_HOST_INLINE void select(const Vector& x, const Vector& y, Out& out) {
  out = __builtin_shufflevector(x, y, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P);
}

/// out = blocks of `Grain` lanes, alternately from x and y: the blocks of each with an even (`Odd` = 0) or
/// odd (1) number.
template <int Grain, int Odd, class Vector, int... Lane>
SPOROS_HOST_INLINE void blocks_in_turn(const Vector& x, const Vector& y, Vector& out,
                                       std::integer_sequence<int, Lane...> /*lanes*/) {
  constexpr int lanes = static_cast<int>(sizeof...(Lane));
  select<(Lane / (2 * Grain) * (2 * Grain) + Odd * Grain + Lane % Grain + (Lane / Grain % 2 ? lanes : 0))...>(
      x, y, out);
}

/// If x and y each hold partial sums of packets, `Grain` lanes at a time in turn, returns partial sums of all
/// these packets, in turn.
template <int Grain, class T, int Lanes>
SPOROS_HOST_INLINE Packet<T, Lanes> add_in_turn(const Packet<T, Lanes>& x, const Packet<T, Lanes>& y) {
  using All = std::make_integer_sequence<int, Lanes>;
  Packet<T, Lanes> even, odd;
  blocks_in_turn<Grain, 0>(x.v, y.v, even.v, All{});
  blocks_in_turn<Grain, 1>(x.v, y.v, odd.v, All{});
  even.add(odd);
  return even;
}

/// The lower half of the lanes plus the upper half.
template <class T, int Lanes, int... Lane>
SPOROS_HOST_INLINE Packet<T, Lanes / 2> add_halves(const Packet<T, Lanes>& x,
                                                   std::integer_sequence<int, Lane...> /*lanes*/) {
  Packet<T, Lanes / 2> low, high;
  select<Lane...>(x.v, x.v, low.v);
  select<(Lane + Lanes / 2)...>(x.v, x.v, high.v);
  low.add(high);
  return low;
}
template <int N, class T, int Lanes>
SPOROS_HOST_INLINE Packet<T, N> fold_to(const Packet<T, Lanes>& x) {
  if constexpr (Lanes == N)
    return x;
  else
    return fold_to<N>(add_halves(x, std::make_integer_sequence<int, Lanes / 2>{}));
}

/// Reduces N packets to one, packets[0], whose lanes hold partial sums of each of them in turn.
template <int Grain, int N, class T, int Lanes>
SPOROS_HOST_INLINE void add_pairs(Packet<T, Lanes>* packets) {
  unrolled<N / 2>([&] SPOROS_INLINE_LAMBDA(auto n) {
    packets[n] = add_in_turn<Grain>(packets[2 * n], packets[2 * n + 1]);
  });
  if constexpr (N > 2) add_pairs<2 * Grain, N / 2>(packets);
}

#endif

#ifdef SPOROS_VECTOR_EXTENSION
/// A packet whose lane n is the sum of the lanes of packets[n]; overwrites the packets.
template <class T>
SPOROS_HOST_INLINE Packet<T, 8> sums_of_lanes(Packet<T, 8> (&packets)[8]) {
  add_pairs<1, 8>(packets);
  return packets[0];
}
#endif

/// to[n] = the sum of the lanes of packets[n], n < 8; overwrites the packets. The order in which lanes are
/// added does not depend on n. `Lanes` is a power of two.
template <class T, int Lanes>
SPOROS_HOST_INLINE void sum_lanes(Packet<T, Lanes> (&packets)[8], T* to) {
#ifdef SPOROS_VECTOR_EXTENSION
  constexpr int at_once = Lanes < 8 ? Lanes : 8;
  unrolled<8 / at_once>([&] SPOROS_INLINE_LAMBDA(auto part) {
    Packet<T, Lanes>* const some = packets + part * at_once;
    add_pairs<1, at_once>(some);
    fold_to<at_once>(some[0]).store(to + part * at_once, 0);
  });
#else
  for (int n = 0; n < 8; ++n) {
    to[n] = packets[n].get(0);
    for (int lane = 1; lane < Lanes; ++lane) to[n] += packets[n].get(lane);
  }
#endif
}

}  // namespace sporos::detail
