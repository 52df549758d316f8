// SPDX-License-Identifier: Apache-2.0
/// @file thread_spread.hpp
/// The processors on which the threads of reading and writing may run.
#pragma once

#include <sched.h>

#include <Kokkos_Core.hpp>
#include <mutex>

namespace sporos::io {

/// The processors of the default host space. A new thread inherits the processors of the thread that creates
/// it; under OMP_PROC_BIND that is a single one, which all threads would share. Created by the parent,
/// applied by the child.
class ThreadSpread {
 public:
  ThreadSpread() {
    CPU_ZERO(&processors_);
    if (sched_getaffinity(0, sizeof processors_, &processors_) != 0) return;
    own_ = CPU_COUNT(&processors_);
#if defined(_OPENMP) && defined(KOKKOS_ENABLE_OPENMP)
    if (own_ > 1) return;
    std::mutex mutex;
    cpu_set_t all = processors_;
#pragma omp parallel
    {
      cpu_set_t other;
      CPU_ZERO(&other);
      if (sched_getaffinity(0, sizeof other, &other) == 0) {
        const std::lock_guard lock(mutex);
        CPU_OR(&all, &all, &other);
      }
    }
    const std::lock_guard lock(mutex);
    processors_ = all;
#endif
  }

  /// Lets the calling thread run on any of these processors.
  void apply() const {
    if (CPU_COUNT(&processors_) > own_) sched_setaffinity(0, sizeof processors_, &processors_);
  }

 private:
  cpu_set_t processors_;
  int own_ = 0;  ///< processors of the thread that made this
};

}  // namespace sporos::io
