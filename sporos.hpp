// SPDX-License-Identifier: Apache-2.0
/// @file sporos.hpp
/// All of Sporos.
#pragma once

#include "core/components.hpp"
#include "core/entries.hpp"
#include "core/statement.hpp"
#include "formats/assemble.hpp"
#include "formats/named.hpp"
#include "kernels/explain.hpp"
#include "kernels/run.hpp"
