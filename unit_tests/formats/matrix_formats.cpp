// SPDX-License-Identifier: Apache-2.0
/// @file matrix_formats.cpp
/// Instantiates what the tests of these formats share.
#define SPOROS_TEST_COMPILES_HERE
#include "matrix_formats.hpp"

namespace sporos {
SPOROS_TEST_MATRIX_FORMATS(SPOROS_TEST_COMPILED_HERE)
}  // namespace sporos
