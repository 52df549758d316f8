// SPDX-License-Identifier: Apache-2.0
/// @file explanations_products.cpp
/// Products of a sparse matrix with a vector, and with a dense matrix.
#include "explanation_of.hpp"

namespace sporos::tool {
namespace {

using namespace sporos::indices;

template <class F>
auto spmv(const StatementOperands& operands) {
  const auto A = first_operand<F>(operands);
  const Tensor<double, DenseVector> y({A.extent(0)});
  return assign(y(i), A(i, j) * factor<DenseVector>({A.extent(1)})(j));
}

template <class F>
auto spmm(const StatementOperands& operands) {
  const auto A = first_operand<F>(operands);
  const Tensor<double, DenseMatrix<>> C({A.extent(0), operands.columns});
  return assign(C(i, r), A(i, k) * factor({A.extent(1), operands.columns})(k, r));
}

}  // namespace

std::vector<Explanation> explained_products() {
  return {explanation_of("spmv", "csr", 2, spmv<CSR<>>),
          explanation_of("spmv", "csc", 2, spmv<CSC<>>),
          explanation_of("spmv", "coo", 2, spmv<COO<2>>),
          explanation_of("spmv", "dcsr", 2, spmv<DCSR<>>),
          explanation_of("spmv", "bcsr2x2", 2, spmv<BCSR<2, 2>>),
          explanation_of("spmm", "csr", 2, spmm<CSR<>>),
          explanation_of("spmm", "csc", 2, spmm<CSC<>>),
          explanation_of("spmm", "coo", 2, spmm<COO<2>>),
          explanation_of("spmm", "dcsr", 2, spmm<DCSR<>>),
          explanation_of("spmm", "bcsr2x2", 2, spmm<BCSR<2, 2>>)};
}

}  // namespace sporos::tool
