// SPDX-License-Identifier: Apache-2.0
/// @file sporos.hpp
/// All of Sporos.
#pragma once

#include "compute.hpp"
#include "formats/io/read.hpp"
#include "formats/spy.hpp"
