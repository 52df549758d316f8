// SPDX-License-Identifier: Apache-2.0
/// @file inline.hpp
/// The one thing the engine asks of a compiler beyond the standard: to inline what it is told to.
#pragma once

#include <Kokkos_Core.hpp>

/// A function of the loop nest: for host and device, always inlined, so that nested streams become plain
/// loops.
#define SPOROS_INLINE KOKKOS_FORCEINLINE_FUNCTION

/// The same for functions of the host alone.
#define SPOROS_HOST_INLINE inline __attribute__((always_inline))

/// The same as SPOROS_INLINE for a lambda inside such a function: `[&](auto x) SPOROS_INLINE_LAMBDA { … }`.
#if defined(__CUDACC__)
#define SPOROS_INLINE_LAMBDA
#else
#define SPOROS_INLINE_LAMBDA __attribute__((always_inline))
#endif

/// The entry of a loop nest: for host and device, a function of its own on the host.
#if defined(__CUDACC__)
#define SPOROS_KERNEL KOKKOS_INLINE_FUNCTION
#else
#define SPOROS_KERNEL __attribute__((noinline))
#endif

/// A function of the host alone that is to be one of its own: its pointers are then told apart.
#define SPOROS_HOST_KERNEL __attribute__((noinline))

/// Before a function template for host and device that calls functions of the host alone where its arguments
/// are of the host: nvcc need not say so.
#if defined(__CUDACC__)
#define SPOROS_MAY_CALL_HOST _Pragma("nv_exec_check_disable")
#else
#define SPOROS_MAY_CALL_HOST
#endif

/// Before a loop whose iterations write to different places: no two of them depend on each other. Unrolled,
/// since the bookkeeping of a vector or two at a time would crowd out loads of the iterations to come.
#if defined(__clang__)
#define SPOROS_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define SPOROS_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep") _Pragma("GCC unroll 4")
#else
#define SPOROS_INDEPENDENT_ITERATIONS
#endif

/// Asks for the cache line at an address that will be read soon.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define SPOROS_PREFETCH(address) __builtin_prefetch(address)
#else
#define SPOROS_PREFETCH(address) static_cast<void>(address)
#endif

/// Before a loop that adds to `sum` once an iteration: the terms may be added in any order, so in as many
/// partial sums as a vector has lanes.
#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define SPOROS_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define SPOROS_SUM_IN_ANY_ORDER(sum) SPOROS_PRAGMA(omp simd reduction(+ : sum))
#else
#define SPOROS_SUM_IN_ANY_ORDER(sum)
#endif
