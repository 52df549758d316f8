// SPDX-License-Identifier: Apache-2.0
/// @file threads.cpp
/// The limits of Kokkos' OpenMP space, and the environment variables with which users control it.
#include "threads.hpp"

#include <Kokkos_Core.hpp>

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sporos/core/error.hpp>
#include <string>
#include <system_error>

#include "command.hpp"
#endif

namespace sporos::tool {

#ifdef KOKKOS_ENABLE_OPENMP
namespace {

/// The variables that determine how threads of GNU's and LLVM's OpenMP libraries wait.
constexpr std::array wait_variables = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY"};

/// Kokkos keeps its threads in a table of this size, and writes past its end if there are more.
constexpr int most_threads = Kokkos::Impl::OpenMPTraits::MAX_THREAD_COUNT;

void expect_room(const std::string& source, int threads) {
  if (threads > most_threads)
    throw UsageError(
        text(source, " asks for ", threads, " threads, but Kokkos' OpenMP runs at most ", most_threads));
}

}  // namespace

int threads_to_start(int asked) {
  if (asked > 0) {
    expect_room("--threads", asked);
    return asked;
  }
  // In order of precedence.
  for (const char* const variable : {"KOKKOS_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const char* const threads = std::getenv(variable)) {
      expect_room(variable, std::atoi(threads));
      return 0;
    }
  return omp_get_max_threads() > most_threads ? most_threads : 0;
}

void let_waiting_threads_sleep(char** argv) {
  for (const char* const variable : wait_variables)
    if (std::getenv(variable)) return;
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown || setenv("OMP_WAIT_POLICY", "passive", 1) != 0) return;
  execv(self.c_str(), argv);
  // If this fails, the command still runs, only slower on a busy machine.
}
#else
int threads_to_start(int asked) { return asked; }

void let_waiting_threads_sleep(char**) {}
#endif

}  // namespace sporos::tool
