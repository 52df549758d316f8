// SPDX-License-Identifier: Apache-2.0
/// @file product.hpp
/// C(i, j) = A(i, k) * B(k, j) in each of its six loop orders, the operands stored as the order wants them.
#pragma once

#include <cstdint>
#include <optional>
#include <sporos/core/schedule.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "comparison.hpp"
#include "input.hpp"
#include "stored.hpp"

namespace sporos::tool {

/// Loops from the outermost in. Where i is outside of j the result is stored by rows (CSR), else by columns
/// (CSC); an operand by whichever of its own variables is the outer one.
enum class ProductOrder { ikj, kij, ijk, jki, kji, jik };

std::string_view to_string(ProductOrder order);
std::optional<ProductOrder> product_order_named(std::string_view name);

/// Where an order's results are gathered: "auto", "dense", "coordinate".
std::string_view to_string(WorkspaceChoice workspace);
std::optional<WorkspaceChoice> workspace_named(std::string_view name);

/// Refuses workspaces that an order has no use for, or that do not hold what it scatters.
/// @throws UsageError
void expect_workspace(ProductOrder order, WorkspaceChoice workspace);

struct Product {
  AnyEntries entries;
  Stored A, B, C;
  std::vector<double> seconds;  ///< of each run
};

/// How a product is run.
struct ProductPlan {
  ProductOrder order = ProductOrder::ikj;
  WorkspaceChoice workspace = WorkspaceChoice::automatic;
  int repeats = 1;
};

/// Runs the product `repeats` times. Operands are merged entries, extents fit in 32 bits, the workspace is
/// one that expect_workspace passes.
/// @throws UsageError, and what assemble and run throw
template <class Value>
Product multiply(const Entries<Value, 2>& A, const Entries<Value, 2>& B, const ProductPlan& plan);
extern template Product multiply(const Entries<double, 2>&, const Entries<double, 2>&, const ProductPlan&);
extern template Product multiply(const Entries<Complex, 2>&, const Entries<Complex, 2>&, const ProductPlan&);

/// Compares C with the product of A and B formed in long double, row by row, from lists that are sorted and
/// added up. The bound of an entry that is the sum of n products is n u / (1 - n u) times the sum of their
/// moduli, u the unit roundoff of double.
Comparison compare_product(const AnyEntries& A, const AnyEntries& B, const AnyEntries& C);

/// The number of multiplications in a row-wise product: each entry of A with each of the row of B it meets.
std::int64_t count_products(const AnyEntries& A, const AnyEntries& B);

}  // namespace sporos::tool
