// SPDX-License-Identifier: Apache-2.0
/// @file compiled_once.hpp
/// What can be compiled once for all sources of a project, instead of in each that uses it.
///
/// Most of the time that a statement takes to compile goes into its kernel, which does not depend on the
/// statement but on the types of values and coordinates alone. A program that links the CMake target
/// Sporos::kernels has the kernels of the host, and the assembling of the usual formats, compiled once: for
/// values of type double and float, with the coordinates and positions that formats have by default. Of other
/// types each source compiles what it uses. Without CMake: define SPOROS_COMPILED_KERNELS in all sources, and
/// compile kernels/compiled.cpp with them. (Files are read by Sporos::io: formats/io/compiled.hpp.)
///
/// What is compiled once is a function that is not inline, and that compilers do not take for inline:
/// otherwise they would instantiate it, and all that it calls, in each source as well.
#pragma once

/// Calls `what(EXTERN, Value)` for the values whose kernels are compiled once: what declares them where
/// `EXTERN` is extern, and compiles them where it is empty.
#define SPOROS_FOR_COMPILED_VALUES(what, EXTERN) what(EXTERN, double) what(EXTERN, float)

/// Declares the same where they are compiled once.
#ifdef SPOROS_COMPILED_KERNELS
#define SPOROS_DECLARE_COMPILED(what) SPOROS_FOR_COMPILED_VALUES(what, extern)
#else
#define SPOROS_DECLARE_COMPILED(what)
#endif
