// SPDX-License-Identifier: Apache-2.0
/// @file compiled_once.hpp
/// What can be compiled once for all sources of a project, instead of in each that uses it.
///
/// Most of the time that a statement takes to compile goes into its kernel, which depends on the types of
/// values and coordinates alone, not on the statement. In a program that links the CMake target
/// Sporos::kernels, the host's kernels and the assembly of the usual formats are compiled only once: for
/// values of type double and float, with the formats' default types of coordinates and positions. For other
/// types, each source compiles what it uses. Without CMake: define SPOROS_COMPILED_KERNELS in all sources,
/// and compile kernels/compiled.cpp with them. (For reading files, the target is Sporos::io:
/// formats/io/compiled.hpp.)
///
/// A function that is compiled once must not be inline, nor one that compilers treat as inline: otherwise
/// they would instantiate it, and all that it calls, in each source as well.
#pragma once

/// Calls `what(EXTERN, Value)` for each type of value whose kernels are compiled once. Where `EXTERN` is
/// extern, this declares them; where it is empty, it compiles them.
#define SPOROS_FOR_COMPILED_VALUES(what, EXTERN) what(EXTERN, double) what(EXTERN, float)

/// Declares these kernels where they are compiled once.
#ifdef SPOROS_COMPILED_KERNELS
#define SPOROS_DECLARE_COMPILED(what) SPOROS_FOR_COMPILED_VALUES(what, extern)
#else
#define SPOROS_DECLARE_COMPILED(what)
#endif
