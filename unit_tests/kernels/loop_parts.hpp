// SPDX-License-Identifier: Apache-2.0
/// @file loop_parts.hpp
/// Names for the loops into which schedules cut those over i, j and k, and over what is fused.
#pragma once

#include <sporos/sporos.hpp>

namespace sporos::test::loop_parts {

inline constexpr Index<'a'> i0;
inline constexpr Index<'b'> i1;
inline constexpr Index<'c'> j0;
inline constexpr Index<'d'> j1;
inline constexpr Index<'e'> k0;
inline constexpr Index<'g'> k1;
inline constexpr Index<'f'> f;   ///< loops that are fused
inline constexpr Index<'h'> fp;  ///< positions
inline constexpr Index<'u'> f0;
inline constexpr Index<'v'> f1;
inline constexpr Index<'w'> f10;
inline constexpr Index<'x'> f11;

}  // namespace sporos::test::loop_parts
