// SPDX-License-Identifier: Apache-2.0
/// @file distributed.hpp
/// All of Sporos, and tensors that are distributed over processes.
#pragma once

#include "../sporos.hpp"
#include "assemble.hpp"
#include "communicator.hpp"
#include "compiled.hpp"
#include "distribution.hpp"
#include "ghosted.hpp"
#include "partition.hpp"
#include "read.hpp"
#include "statement.hpp"
#include "tensor.hpp"
#include "traffic.hpp"
#include "write.hpp"
