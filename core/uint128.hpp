// SPDX-License-Identifier: Apache-2.0
/// @file uint128.hpp
/// 128-bit integers, for products of two 64-bit integers.
#pragma once

namespace sporos::detail {

/// The compiler's own type, which ISO C++ does not have: the keyword allows it under -Wpedantic.
__extension__ typedef unsigned __int128 uint128;

}  // namespace sporos::detail
