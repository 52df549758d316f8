// SPDX-License-Identifier: Apache-2.0
/// @file passage_real.cpp
/// Matrices of real values through every format.
#include "passage_of.hpp"

namespace sporos::tool {

template Passage pass_matrix(FormatName, const Entries<double, 2>&, const PassageOptions&);

template Tensor<double, COO<2>> assembled<COO<2>>(const Entries<double, 2>&, Duplicates);
template Tensor<double, WideCoo<2>> assembled<WideCoo<2>>(const Entries<double, 2>&, Duplicates);
template Tensor<double, CSR<>> assembled<CSR<>>(const Entries<double, 2>&, Duplicates);
template Tensor<double, CSC<>> assembled<CSC<>>(const Entries<double, 2>&, Duplicates);
template Tensor<double, DCSR<>> assembled<DCSR<>>(const Entries<double, 2>&, Duplicates);
template Tensor<double, BCSR<2, 2>> assembled<BCSR<2, 2>>(const Entries<double, 2>&, Duplicates);

}  // namespace sporos::tool
