// SPDX-License-Identifier: Apache-2.0
/// @file explanations_sparse_products.cpp
/// Products of two sparse matrices in each loop order.
#include "explanation_of.hpp"

namespace sporos::tool {
namespace {

using namespace sporos::indices;

template <class Result, class Left, class Right, char... Names>
Explanation product(const char* order, Index<Names>... loops) {
  return explanation_of("spgemm", order, 2, [=](const StatementOperands& operands) {
    const auto A = first_operand<Left>(operands);
    const auto B = second_operand<Right>(operands);
    const Tensor<double, Result> C({A.extent(0), B.extent(1)});
    return assign(C(i, j), A(i, k) * B(k, j)).reorder(loops...);
  });
}

}  // namespace

std::vector<Explanation> explained_sparse_products() {
  return {product<CSR<>, CSR<>, CSR<>>("ikj", i, k, j), product<CSR<>, CSC<>, CSR<>>("kij", k, i, j),
          product<CSR<>, CSR<>, CSC<>>("ijk", i, j, k), product<CSC<>, CSC<>, CSC<>>("jki", j, k, i),
          product<CSC<>, CSC<>, CSR<>>("kji", k, j, i), product<CSC<>, CSR<>, CSC<>>("jik", j, i, k)};
}

}  // namespace sporos::tool
