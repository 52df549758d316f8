// SPDX-License-Identifier: Apache-2.0
/// @file uint128.hpp
/// Integers of 128 bits, for products of two of 64 bits.
#pragma once

namespace sporos::detail {

/// The compiler's own type, which ISO C++ does not have: the keyword allows it under -Wpedantic.
__extension__ typedef unsigned __int128 uint128;

}  // namespace sporos::detail
