// SPDX-License-Identifier: Apache-2.0
/// @file compiled_once.hpp
/// What many tests of formats call is compiled once for each format, in matrix_formats.cpp and
/// tensor_formats.cpp, instead of with every test.
#pragma once

#include <sporos/formats/assemble.hpp>
#include <sporos/formats/validate.hpp>

#include "reference.hpp"

/// Instantiates assemble, validate and table of the format `...`; after `extern`, says that this is done
/// elsewhere.
#define SPOROS_TEST_COMPILE(extern_or_none, ...)                                                             \
  extern_or_none template Tensor<double, __VA_ARGS__> assemble<__VA_ARGS__, Host, double>(                   \
      const Host&, const Entries<double, __VA_ARGS__::order>&, Duplicates);                                  \
  extern_or_none template Tensor<double, __VA_ARGS__> sporos::detail::Builder<__VA_ARGS__, double>::build(); \
  extern_or_none template void validate(const Tensor<double, __VA_ARGS__>&);                                 \
  extern_or_none template test::Table<double, __VA_ARGS__::order> test::table(                               \
      const Tensor<double, __VA_ARGS__>&, Duplicates);
#define SPOROS_TEST_COMPILED_ELSEWHERE(...) SPOROS_TEST_COMPILE(extern, __VA_ARGS__)
#define SPOROS_TEST_COMPILED_HERE(...) SPOROS_TEST_COMPILE(, __VA_ARGS__)
