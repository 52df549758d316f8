// SPDX-License-Identifier: Apache-2.0
/// @file computing.hpp
/// Tensors distributed over processes and statements on them, without files and pictures: the header for
/// programs that only compute.
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
