// SPDX-License-Identifier: Apache-2.0
/// @file distributed.hpp
/// All of Sporos, including tensors distributed over processes.
#pragma once

#include "../sporos.hpp"
#include "compiled.hpp"
#include "computing.hpp"
#include "read.hpp"
#include "write.hpp"
