// SPDX-License-Identifier: Apache-2.0
/// @file may_free.hpp
/// Whether Kokkos Views may be freed here.
#pragma once

#include <utility>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace sporos::detail {

/// Whether this thread runs a part of a parallel loop, or something that such a loop may wait for.
inline thread_local bool serves_a_loop = false;

/// Sets serves_a_loop for a scope.
class ServesALoop {
 public:
  ServesALoop() : before_(std::exchange(serves_a_loop, true)) {}
  ~ServesALoop() { serves_a_loop = before_; }
  ServesALoop(const ServesALoop&) = delete;
  ServesALoop& operator=(const ServesALoop&) = delete;

 private:
  const bool before_;
};

/// Whether this thread may free a Kokkos View: Kokkos then waits for all loops, so inside a loop it would
/// wait for ever. The caller must not hold anything that a loop may wait for, such as a lock.
inline bool may_free_views() {
#if defined(_OPENMP)
  if (omp_in_parallel()) return false;
#endif
  return !serves_a_loop;
}

}  // namespace sporos::detail
