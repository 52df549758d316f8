// SPDX-License-Identifier: Apache-2.0
/// @file passage_tensor_5_6.cpp
/// Tensors of order 5 and 6 through every format that holds them.
#include "passage_of.hpp"

namespace sporos::tool {

template Passage pass_tensor(FormatName, const Entries<double, 5>&, const PassageOptions&);
template Passage pass_tensor(FormatName, const Entries<double, 6>&, const PassageOptions&);

template Tensor<double, WideCoo<5>> assembled<WideCoo<5>>(const Entries<double, 5>&, Duplicates);
template Tensor<double, CSF<5>> assembled<CSF<5>>(const Entries<double, 5>&, Duplicates);
template Tensor<double, WideCoo<6>> assembled<WideCoo<6>>(const Entries<double, 6>&, Duplicates);
template Tensor<double, CSF<6>> assembled<CSF<6>>(const Entries<double, 6>&, Duplicates);

}  // namespace sporos::tool
