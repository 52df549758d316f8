// SPDX-License-Identifier: Apache-2.0
/// @file kokkos_kernels.hpp
/// Kokkos Kernels' sparse products, for a Kokkos built with or without deprecated code.
#pragma once

#include <Kokkos_Core.hpp>

// Kokkos Kernels 4.4 uses functions that a Kokkos built without deprecated code lacks; they are added here.
#if !defined(KOKKOS_ENABLE_DEPRECATED_CODE_4) && KOKKOS_VERSION < 50000
namespace Kokkos {
template <class T>
inline void atomic_assign(T* to, std::type_identity_t<std::remove_volatile_t<T>> value) {
  atomic_store(to, value);
}
template <class T>
inline void atomic_increment(T* at) {
  atomic_inc(at);
}
template <class T>
inline void atomic_decrement(T* at) {
  atomic_dec(at);
}
template <class T>
inline bool atomic_compare_exchange_strong(T* at, std::type_identity_t<std::remove_volatile_t<T>> expected,
                                           std::type_identity_t<std::remove_volatile_t<T>> desired) {
  return expected == atomic_compare_exchange(at, expected, desired);
}
}  // namespace Kokkos
#define KOKKOS_NONTEMPORAL_PREFETCH_LOAD(address) __builtin_prefetch(address, 0, 0)
#define KOKKOS_NONTEMPORAL_PREFETCH_STORE(address) __builtin_prefetch(address, 1, 0)
#define KOKKOS_ENABLE_DEPRECATED_CODE_4
#include <Kokkos_StaticCrsGraph.hpp>
#undef KOKKOS_ENABLE_DEPRECATED_CODE_4
#endif

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_spgemm.hpp>
