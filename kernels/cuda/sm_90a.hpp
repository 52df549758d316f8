// SPDX-License-Identifier: Apache-2.0
/// @file sm_90a.hpp
/// Which GPUs have the instructions of sm_90a: matrix instructions that four warps issue together, registers
/// that change hands among them, and the copy engine that feeds both.
#pragma once

#include <string_view>

namespace sporos::gpu {

/// Whether a kernel with instructions of sm_90a runs on a GPU: only on those of compute capability 9.0, since
/// neither older nor newer ones have all of these instructions, and only if code for it was compiled.
/// @param major        of the GPU's compute capability, of which 9.0 is the only one with 9
/// @param is_compiled  whether the program has the kernel's body for sm_90a: `has_wgmma`
constexpr bool runs_sm_90a(int major, bool is_compiled) { return major == 9 && is_compiled; }

/// Why a candidate declines statements on other GPUs.
inline constexpr std::string_view no_sm_90a =
    "it needs a GPU of compute capability 9.0, and code that was compiled for sm_90a";

}  // namespace sporos::gpu
