// SPDX-License-Identifier: Apache-2.0
/// @file version.hpp
/// The version of Sporos, for programs that are compiled with several: `#if SPOROS_VERSION >= 200`. CMake
/// reads it from here.
#pragma once

#define SPOROS_VERSION_MAJOR 0
#define SPOROS_VERSION_MINOR 1
#define SPOROS_VERSION_PATCH 0

/// One number that grows with the version: 10203 is 1.2.3.
#define SPOROS_VERSION (SPOROS_VERSION_MAJOR * 10000 + SPOROS_VERSION_MINOR * 100 + SPOROS_VERSION_PATCH)

#define SPOROS_DETAIL_TEXT_OF(number) #number
#define SPOROS_DETAIL_VERSION_TEXT(major, minor, patch) \
  SPOROS_DETAIL_TEXT_OF(major) "." SPOROS_DETAIL_TEXT_OF(minor) "." SPOROS_DETAIL_TEXT_OF(patch)
/// "0.1.0"
#define SPOROS_VERSION_STRING \
  SPOROS_DETAIL_VERSION_TEXT(SPOROS_VERSION_MAJOR, SPOROS_VERSION_MINOR, SPOROS_VERSION_PATCH)
