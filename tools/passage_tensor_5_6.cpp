// SPDX-License-Identifier: Apache-2.0
/// @file passage_tensor_5_6.cpp
/// Tensors of order 5 and 6 through every format that holds them.
#include "passage_of.hpp"

namespace sporos::tool {

template Passage pass_tensor(FormatName, const Entries<double, 5>&, const PassageOptions&);
template Passage pass_tensor(FormatName, const Entries<double, 6>&, const PassageOptions&);

}  // namespace sporos::tool
