// SPDX-License-Identifier: Apache-2.0
/// @file passage_integer.cpp
/// Matrices of integer values through every format.
#include "passage_of.hpp"

namespace sporos::tool {

template Passage pass_matrix(FormatName, const Entries<std::int64_t, 2>&, const PassageOptions&);

}  // namespace sporos::tool
