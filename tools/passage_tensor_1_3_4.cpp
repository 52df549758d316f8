// SPDX-License-Identifier: Apache-2.0
/// @file passage_tensor_1_3_4.cpp
/// Vectors and tensors of order 3 and 4 through every format that holds them.
#include "passage_of.hpp"

namespace sporos::tool {

template Passage pass_tensor(FormatName, const Entries<double, 1>&, const PassageOptions&);
template Passage pass_tensor(FormatName, const Entries<double, 3>&, const PassageOptions&);
template Passage pass_tensor(FormatName, const Entries<double, 4>&, const PassageOptions&);

template Tensor<double, WideCoo<1>> assembled<WideCoo<1>>(const Entries<double, 1>&, Duplicates);
template Tensor<double, COO<3>> assembled<COO<3>>(const Entries<double, 3>&, Duplicates);
template Tensor<double, WideCoo<3>> assembled<WideCoo<3>>(const Entries<double, 3>&, Duplicates);
template Tensor<double, CSF<3>> assembled<CSF<3>>(const Entries<double, 3>&, Duplicates);
template Tensor<double, WideCoo<4>> assembled<WideCoo<4>>(const Entries<double, 4>&, Duplicates);
template Tensor<double, CSF<4>> assembled<CSF<4>>(const Entries<double, 4>&, Duplicates);

}  // namespace sporos::tool
