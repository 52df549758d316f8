// SPDX-License-Identifier: Apache-2.0
/// @file inline.hpp
/// Compiler attributes and pragmas that kernels rely on: inlining, independent iterations, prefetching.
#pragma once

#include <Kokkos_Core.hpp>

// nvcc passes host functions on to the host compiler, which knows more pragmas than nvcc itself.
#if defined(__CUDACC__)
#pragma nv_diag_suppress 1675
#endif

// SPOROS_INLINE: a host and device function of the loop nest, always inlined, so that nested streams become
// plain loops. Without optimisation, inlining would only make compilation slower.
#if defined(__OPTIMIZE__) || defined(__CUDACC__)
#define SPOROS_INLINE KOKKOS_FORCEINLINE_FUNCTION
#define SPOROS_HOST_ALWAYS_INLINE __attribute__((always_inline))
#else
#define SPOROS_INLINE KOKKOS_INLINE_FUNCTION
#define SPOROS_HOST_ALWAYS_INLINE
#endif

/// A host function that is always inlined.
#define SPOROS_HOST_INLINE inline SPOROS_HOST_ALWAYS_INLINE

/// The parameters of a lambda that is always inlined, inside such a function: `[&] SPOROS_INLINE_LAMBDA(auto
/// x) { … }`. nvcc passes an attribute on to the host compiler only in the place where C++23 allows it, about
/// which clang warns.
#if defined(__CUDACC__)
#define SPOROS_INLINE_LAMBDA(...) [[gnu::always_inline]] (__VA_ARGS__)
#else
#define SPOROS_INLINE_LAMBDA(...) (__VA_ARGS__) SPOROS_HOST_ALWAYS_INLINE
#endif

/// The entry point of a loop nest, a host and device function. On the host it is never inlined.
#if defined(__CUDA_ARCH__)
#define SPOROS_KERNEL KOKKOS_INLINE_FUNCTION
#else
#define SPOROS_KERNEL KOKKOS_FUNCTION __attribute__((noinline))
#endif

/// A host function that is never inlined, so that the compiler keeps what it knows about the aliasing of its
/// pointer parameters.
#define SPOROS_HOST_KERNEL __attribute__((noinline))

/// Before a host and device function template that calls host functions when its arguments are on the host:
/// suppresses nvcc's warning about these calls.
#if defined(__CUDACC__)
#define SPOROS_MAY_CALL_HOST _Pragma("nv_exec_check_disable")
#else
#define SPOROS_MAY_CALL_HOST
#endif

/// Before a loop whose iterations write to different places, so that no iteration depends on another. The
/// loop is unrolled, since the loop overhead for every vector or two would delay the loads of later
/// iterations. clang is not told that iterations are independent: it would assume the same of temporaries in
/// memory, although all iterations share them. It compares addresses before the loop instead.
#if defined(__clang__)
#define SPOROS_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(enable)")
#elif defined(__GNUC__) && !defined(__CUDA_ARCH__)
#define SPOROS_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep") _Pragma("GCC unroll 4")
#else
#define SPOROS_INDEPENDENT_ITERATIONS
#endif

/// Before a short loop whose own instructions would cost as much as its body: unrolls it by four.
#if defined(__clang__)
#define SPOROS_UNROLLED_BY_FOUR _Pragma("unroll 4")
#elif defined(__GNUC__) && !defined(__CUDA_ARCH__)
#define SPOROS_UNROLLED_BY_FOUR _Pragma("GCC unroll 4")
#else
#define SPOROS_UNROLLED_BY_FOUR
#endif

/// Prefetches the cache line at an address that will be read soon.
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
#define SPOROS_PREFETCH(address) __builtin_prefetch(address)
#else
#define SPOROS_PREFETCH(address) static_cast<void>(address)
#endif

/// Fetches the cache line at an address for writing, taking it from the cache of another core that has read
/// it; a store would have to wait for that. The address need not belong to the program. The instruction is
/// not part of x86-64-v3, but all processors since 2014 have it, and others treat it as no operation.
#if defined(__CUDA_ARCH__) || !defined(__GNUC__)
#define SPOROS_PREFETCH_FOR_WRITE(address) static_cast<void>(address)
#elif defined(__x86_64__)
#define SPOROS_PREFETCH_FOR_WRITE(address) asm volatile("prefetchw %0" : : "m"(*(address)))
#else
#define SPOROS_PREFETCH_FOR_WRITE(address) __builtin_prefetch(address, 1)
#endif

/// Before a loop that adds to `sum` once per iteration: the terms may be added in any order, so each lane of
/// a vector forms a partial sum.
#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
#define SPOROS_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define SPOROS_SUM_IN_ANY_ORDER(sum) SPOROS_PRAGMA(omp simd reduction(+ : sum))
#else
#define SPOROS_SUM_IN_ANY_ORDER(sum)
#endif

/// In a loop that changes the integer `variable`: keeps the compiler from turning the loop into vector
/// instructions, which would load by gathering.
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
#define SPOROS_KEEP_SCALAR(variable) asm("" : "+r"(variable))
#else
#define SPOROS_KEEP_SCALAR(variable) static_cast<void>(variable)
#endif
