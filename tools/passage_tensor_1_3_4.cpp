// SPDX-License-Identifier: Apache-2.0
/// @file passage_tensor_1_3_4.cpp
/// Vectors and tensors of order 3 and 4 through every format that holds them.
#include "passage_of.hpp"

namespace sporos::tool {

template Passage pass_tensor(FormatName, const Entries<double, 1>&, const PassageOptions&);
template Passage pass_tensor(FormatName, const Entries<double, 3>&, const PassageOptions&);
template Passage pass_tensor(FormatName, const Entries<double, 4>&, const PassageOptions&);

}  // namespace sporos::tool
