// SPDX-License-Identifier: Apache-2.0
/// @file passage_real.cpp
/// Matrices of real values through every format.
#include "passage_of.hpp"

namespace sporos::tool {

template Passage pass_matrix(FormatName, const Entries<double, 2>&, const PassageOptions&);

}  // namespace sporos::tool
