// SPDX-License-Identifier: Apache-2.0
/// @file compiled.cpp
/// Compiles what compiled.hpp declares.
#include "compiled.hpp"

namespace sporos {
SPOROS_FOR_COMPILED_TENSORS(SPOROS_READ_ON_RANKS, )
}  // namespace sporos
