// SPDX-License-Identifier: Apache-2.0
/// @file threads.hpp
/// The threads of a command: how many there may be, and what they do while they wait.
#pragma once

namespace sporos::tool {

/// The number of threads to request from Kokkos; 0 leaves the choice to it.
/// @param asked  the value of --threads; 0 if it is not given
/// @throws UsageError if --threads or a variable of the environment asks for more than Kokkos can run, or
/// KOKKOS_NUM_THREADS is no number of threads
int threads_to_start(int asked);

/// Restarts the program with OMP_WAIT_POLICY=passive, unless the environment already says how threads wait.
/// By default, OpenMP's threads wait actively, and on a machine that is busy with other work they take
/// processors away from the threads that they are waiting for. The policy has to be in the environment when
/// the program starts: GNU's OpenMP library reads it before main.
/// @param argv  the arguments of main
void let_waiting_threads_sleep(char** argv);

}  // namespace sporos::tool
