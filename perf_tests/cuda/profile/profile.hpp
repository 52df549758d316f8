// SPDX-License-Identifier: Apache-2.0
/// @file profile.hpp
/// Products that a profiler looks at: each runs a few times, and once more between the marks that ncu waits
/// for.
#pragma once

#include <cuda_profiler_api.h>

#include <functional>
#include <string>

#include "../cublas.hpp"

namespace sporos::perf {

/// Runs `work` under the profiler, if its name is one of those that the program was asked for. The first
/// kernel there is `profiled_case`, whose number of blocks is the number of the case, from 1 on, in what is
/// printed.
void profile(const std::string& name, const std::function<void()>& work);

/// Whether a case whose name begins so was asked for.
bool is_profiled(const std::string& beginning);

void profile_n_of_m_of_halfs();
void profile_n_of_m_of_floats();
void profile_two_four();
void profile_spmm();

}  // namespace sporos::perf
