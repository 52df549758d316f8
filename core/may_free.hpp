// SPDX-License-Identifier: Apache-2.0
/// @file may_free.hpp
/// Whether Kokkos Views may be freed here.
#pragma once

#include <Kokkos_Core.hpp>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace sporos::detail {

/// Set on threads of the library's own that a parallel loop may wait for.
inline thread_local bool serves_a_loop = false;

/// Whether this thread may free a Kokkos View: Kokkos then waits for all loops, and inside a loop it would
/// wait for ever. Nothing that a loop may wait for, such as a lock, may be held.
inline bool may_free_views() {
#if defined(KOKKOS_ENABLE_THREADS) || defined(KOKKOS_ENABLE_HPX)
  return false;  // it is not known whether this is inside a loop
#else
#if defined(_OPENMP)
  if (omp_in_parallel()) return false;
#endif
  return !serves_a_loop;
#endif
}

}  // namespace sporos::detail
