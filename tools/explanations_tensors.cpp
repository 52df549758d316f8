// SPDX-License-Identifier: Apache-2.0
/// @file explanations_tensors.cpp
/// Products of a tensor of order 3 with factor matrices, with a vector, and with itself.
#include "explanation_of.hpp"

namespace sporos::tool {
namespace {

using namespace sporos::indices;

template <class F>
auto mttkrp(const StatementOperands& operands) {
  const auto T = first_operand<F>(operands);
  const Tensor<double, DenseMatrix<>> M({T.extent(0), operands.columns});
  return assign(M(i, r), T(i, k, l) * factor({T.extent(1), operands.columns})(k, r) *
                             factor({T.extent(2), operands.columns})(l, r));
}

template <class F, class Result>
auto ttv(const StatementOperands& operands) {
  const auto T = first_operand<F>(operands);
  const Tensor<double, Result> S({T.extent(0), T.extent(1)});
  return assign(S(i, j), T(i, j, k) * factor<DenseVector>({T.extent(2)})(k));
}

template <class F>
auto inner(const StatementOperands& operands) {
  return assign(Tensor<double, Scalar>(Extents<0>{})(),
                first_operand<F>(operands)(i, j, k) * second_operand<F>(operands)(i, j, k));
}

}  // namespace

std::vector<Explanation> explained_tensors() {
  return {explanation_of("mttkrp", "csf", 3, mttkrp<CSF<3>>),
          explanation_of("mttkrp", "coo", 3, mttkrp<COO<3>>),
          explanation_of("ttv", "csf", 3, ttv<CSF<3>, DCSR<>>),
          explanation_of("ttv", "coo", 3, ttv<COO<3>, COO<2>>),
          explanation_of("inner", "csf", 3, inner<CSF<3>>),
          explanation_of("inner", "coo", 3, inner<COO<3>>)};
}

}  // namespace sporos::tool
