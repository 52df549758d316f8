// SPDX-License-Identifier: Apache-2.0
/// @file wrap_of_a_temporary.fail.cpp
/// A tensor over a vector that is gone at once.
// expect: a temporary one frees at once: give the array a name
// alone
#include <sporos/compute.hpp>

using namespace sporos;

void refused() { const auto x = wrap(std::vector<double>(9)); }
