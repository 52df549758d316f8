// SPDX-License-Identifier: Apache-2.0
/// @file threads.cpp
/// The limits of Kokkos' OpenMP space, and the environment variables with which users control it.
#include "threads.hpp"

#include <Kokkos_Core.hpp>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <sporos/core/error.hpp>
#include <string>

#include "command.hpp"

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>
#endif

namespace sporos::tool {

namespace {

constexpr const char* variable_of_kokkos = "KOKKOS_NUM_THREADS";

/// Kokkos reads its variable whatever else it is told, and aborts the program where that is no number of
/// threads.
void expect_threads_of_kokkos() {
  const char* const said = std::getenv(variable_of_kokkos);
  if (!said) return;
  char* end = nullptr;
  errno = 0;
  const long long threads = std::strtoll(said, &end, 10);
  if (end == said || *end != '\0' || threads < 1)
    throw UsageError(text(variable_of_kokkos, "='", said,
                          "' is no number of threads: set it to a positive number, or unset it"));
  if (errno == ERANGE || threads > std::numeric_limits<int>::max())
    throw UsageError(text(variable_of_kokkos, "='", said, "' is more threads than a machine has: set it to ",
                          "the number of its processors, or unset it"));
}

}  // namespace

#ifdef KOKKOS_ENABLE_OPENMP
namespace {

/// The variables that determine how threads of GNU's and LLVM's OpenMP libraries wait.
constexpr std::array wait_variables = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY"};

/// Kokkos keeps its threads in a table of this size, and writes past its end if there are more.
constexpr int most_threads = Kokkos::Impl::OpenMPTraits::MAX_THREAD_COUNT;

void expect_room(const std::string& source, long long threads) {
  if (threads > most_threads)
    throw UsageError(
        text(source, " asks for ", threads, " threads, but Kokkos' OpenMP runs at most ", most_threads));
}

}  // namespace

int threads_to_start(int asked) {
  expect_threads_of_kokkos();
  if (asked > 0) {
    expect_room("--threads", asked);
    return asked;
  }
  // In the order of their precedence.
  for (const char* const variable : {variable_of_kokkos, "OMP_NUM_THREADS"})
    if (const char* const threads = std::getenv(variable)) {
      expect_room(variable, std::strtoll(threads, nullptr, 10));
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
int threads_to_start(int asked) {
  expect_threads_of_kokkos();
  return asked;
}

void let_waiting_threads_sleep(char**) {}
#endif

}  // namespace sporos::tool
