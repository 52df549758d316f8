// SPDX-License-Identifier: Apache-2.0
/// @file explanations_sums.cpp
/// Sampled products of dense matrices, and sums of sparse ones.
#include "explanation_of.hpp"

namespace sporos::tool {
namespace {

using namespace sporos::indices;

template <class F>
auto sddmm(const StatementOperands& operands) {
  const auto A = first_operand<F>(operands);
  const Tensor<double, F> S({A.extent(0), A.extent(1)});
  return assign(S(i, j), A(i, j) * factor({A.extent(0), operands.columns})(i, k) *
                             factor({A.extent(1), operands.columns})(j, k));
}

template <class F>
auto add(const StatementOperands& operands) {
  const auto A = first_operand<F>(operands);
  const Tensor<double, F> C({A.extent(0), A.extent(1)});
  return assign(C(i, j), A(i, j) + second_operand<F>(operands)(i, j));
}

}  // namespace

std::vector<Explanation> explained_sums() {
  return {explanation_of("sddmm", "csr", 2, sddmm<CSR<>>), explanation_of("sddmm", "coo", 2, sddmm<COO<2>>),
          explanation_of("add", "csr", 2, add<CSR<>>), explanation_of("add", "csc", 2, add<CSC<>>),
          explanation_of("add", "coo", 2, add<COO<2>>)};
}

}  // namespace sporos::tool
