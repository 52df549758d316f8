// SPDX-License-Identifier: Apache-2.0
/// @file product.hpp
/// C(i, j) = A(i, k) * B(k, j) in each of its six loop orders, with the operands in formats that suit the
/// order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comparison.hpp"
#include "input.hpp"
#include "stored.hpp"
#include "timing.hpp"

namespace sporos::tool {

/// Loop orders, outermost loop first. If i is outside j, the result is stored by rows (CSR), otherwise by
/// columns (CSC); an operand is stored along the outer one of its two variables.
enum class ProductOrder { ikj, kij, ijk, jki, kji, jik };

std::string_view to_string(ProductOrder order);
std::optional<ProductOrder> product_order_named(std::string_view name);

/// The workspace in which results are gathered: "auto", "dense", "coordinate".
enum class WorkspaceChoice { automatic, dense, coordinate };

std::string_view to_string(WorkspaceChoice workspace);
std::optional<WorkspaceChoice> workspace_named(std::string_view name);

/// Rejects workspaces that a loop order does not need, or that cannot hold what it scatters.
/// @throws UsageError
void expect_workspace(ProductOrder order, WorkspaceChoice workspace);

struct Product {
  AnyEntries entries;
  Stored A, B, C;
  Times times;
};

/// The settings of a product.
struct ProductPlan {
  ProductOrder order = ProductOrder::ikj;
  WorkspaceChoice workspace = WorkspaceChoice::automatic;
  int repeats = 1;
};

/// Runs the product `repeats` times. The operands must be merged entries, extents must fit in 32 bits, and
/// the workspace must be one that expect_workspace accepts.
/// @throws UsageError, and what assemble and run throw
template <class Value>
Product multiply(const Entries<Value, 2>& A, const Entries<Value, 2>& B, const ProductPlan& plan);
extern template Product multiply(const Entries<double, 2>&, const Entries<double, 2>&, const ProductPlan&);
extern template Product multiply(const Entries<Complex, 2>&, const Entries<Complex, 2>&, const ProductPlan&);

/// How a product is rounded; by default, as in double.
struct Rounding {
  double sum = 0x1p-53;      ///< relative error of an addition or a multiplication: u
  double term = 0;           ///< further relative error of each product of two values: t
  double least = 0x1p-1074;  ///< absolute error of the smallest numbers
};

/// Compares C with the product of A and B formed in long double, row by row, from sorted and merged lists.
/// The error bound of an entry that is the sum of n products is n u / (1 - n u) + t times the sum of their
/// moduli.
Comparison compare_product(const AnyEntries& A, const AnyEntries& B, const AnyEntries& C,
                           const Rounding& rounding = {});

/// The number of multiplications in a row-wise product: for each entry (i, k) of A, the number of entries in
/// row k of B.
std::int64_t count_products(const AnyEntries& A, const AnyEntries& B);

}  // namespace sporos::tool
