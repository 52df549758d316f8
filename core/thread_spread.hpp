// SPDX-License-Identifier: Apache-2.0
/// @file thread_spread.hpp
/// The processors that threads outside an execution space may run on.
#pragma once

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(_OPENMP)
#include <omp.h>
#endif

#include <cstddef>
#include <vector>

namespace sporos {

/// The processors that a new thread may use. A thread inherits those of its creator. Under OMP_PROC_BIND that
/// is a single processor, which both would share, so the new thread may use all that OpenMP has. Created by
/// the parent, applied by the child. Has no effect on systems other than Linux.
class ThreadSpread {
#if defined(__linux__)
 public:
  ThreadSpread() {
    CPU_ZERO(&processors_);
    if (sched_getaffinity(0, sizeof processors_, &processors_) != 0) return;
    own_ = CPU_COUNT(&processors_);
#if defined(_OPENMP)
    if (own_ > 1) return;
    std::vector<int> of_place;
    for (int place = 0; place < omp_get_num_places(); ++place) {
      of_place.resize(static_cast<std::size_t>(omp_get_place_num_procs(place)));
      omp_get_place_proc_ids(place, of_place.data());
      for (const int processor : of_place)
        if (processor < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(processor), &processors_);
    }
#endif
  }

  /// Lets the calling thread run on any of these processors.
  void apply() const {
    if (CPU_COUNT(&processors_) > own_) sched_setaffinity(0, sizeof processors_, &processors_);
  }

 private:
  cpu_set_t processors_;
  int own_ = 0;  ///< processors of the thread that made this
#else
 public:
  void apply() const {}
#endif
};

}  // namespace sporos
