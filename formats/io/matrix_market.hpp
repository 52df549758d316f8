// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market.hpp
/// Matrix Market files: their headers, reading, writing.
#pragma once

#include "matrix_market_header.hpp"
#include "matrix_market_read.hpp"
#include "matrix_market_write.hpp"
