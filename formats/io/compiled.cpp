// SPDX-License-Identifier: Apache-2.0
/// @file compiled.cpp
/// What compiled.hpp declares.
#include "compiled.hpp"

namespace sporos {
#define SPOROS_COMPILE(Value, Order) SPOROS_READ_AND_WRITE(, Value, Order)
SPOROS_FOR_COMPILED_TENSORS(SPOROS_COMPILE)
}  // namespace sporos
