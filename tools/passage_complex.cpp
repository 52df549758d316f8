// SPDX-License-Identifier: Apache-2.0
/// @file passage_complex.cpp
/// Matrices of complex values through every format.
#include "passage_of.hpp"

namespace sporos::tool {

template Passage pass_matrix(FormatName, const Entries<Complex, 2>&, const PassageOptions&);

template Tensor<Complex, CSR<>> assembled<CSR<>>(const Entries<Complex, 2>&, Duplicates);
template Tensor<Complex, CSC<>> assembled<CSC<>>(const Entries<Complex, 2>&, Duplicates);

}  // namespace sporos::tool
