// SPDX-License-Identifier: Apache-2.0
/// @file level_without_a_view.fail.cpp
/// A format of something that is no level.
// expect: a level states its properties \(LevelProperties, not both full and branchless\) and its name\(\)
#include <sporos/compute.hpp>

using namespace sporos;

struct Nothing {};

void refused() { Tensor<double, Format<Map<Dim<0>>, Nothing>> A({9}); }
