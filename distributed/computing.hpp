// SPDX-License-Identifier: Apache-2.0
/// @file computing.hpp
/// Tensors that are distributed over processes, and statements of them, without files and pictures: what a
/// program parses that only computes.
#pragma once

#include "../compute.hpp"
#include "assemble.hpp"
#include "communicator.hpp"
#include "distribution.hpp"
#include "ghosted.hpp"
#include "partition.hpp"
#include "statement.hpp"
#include "tensor.hpp"
#include "traffic.hpp"
