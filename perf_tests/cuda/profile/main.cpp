// SPDX-License-Identifier: Apache-2.0
/// @file main.cpp
/// Runs products once each for a profiler: scripts/gpu-profile makes a record of what it says.
///
///     perf_cuda_profile [BEGINNING OF A NAME...]
///
/// SPOROS_MATRICES names more matrices for SpMM: files, separated by colons.
#include "profile.hpp"

namespace sporos::perf {

namespace {

std::vector<std::string> asked_for;

__global__ void profiled_case() {}

}  // namespace

bool is_profiled(const std::string& beginning) {
  return asked_for.empty() || std::any_of(asked_for.begin(), asked_for.end(), [&](const std::string& name) {
           return name.starts_with(beginning) || beginning.starts_with(name);
         });
}

void profile(const std::string& name, const std::function<void()>& work) {
  static int cases = 0;
  if (!is_profiled(name)) return;
  for (int warming_up = 0; warming_up < 2; ++warming_up) work();
  check(cudaDeviceSynchronize(), "warming up");
  check(cudaProfilerStart(), "cudaProfilerStart");
  profiled_case<<<++cases, 32>>>();
  check(cudaDeviceSynchronize(), "the mark of a case");
  work();
  check(cudaDeviceSynchronize(), name.c_str());
  check(cudaProfilerStop(), "cudaProfilerStop");
  std::printf("case %d %s\n", cases, name.c_str());
  std::fflush(stdout);
}

}  // namespace sporos::perf

int main(int argc, char** argv) {
  using namespace sporos::perf;
  const sporos::ScopeGuard guard(argc, argv);
  asked_for.assign(argv + 1, argv + argc);
  profile_n_of_m_of_halfs();
  profile_n_of_m_of_floats();
  profile_two_four();
  profile_spmm();
}
