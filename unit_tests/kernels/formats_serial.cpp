// SPDX-License-Identifier: Apache-2.0
/// @file formats_serial.cpp
/// Instantiates assembling in Serial of every format that statements are tested in.
#define SPOROS_TEST_INSTANTIATES
#include "formats.hpp"

#define SPOROS_TEST_INSTANTIATE(F) SPOROS_TEST_ASSEMBLE(F, Serial)

namespace sporos {
SPOROS_TEST_FORMATS(SPOROS_TEST_INSTANTIATE)
}  // namespace sporos
