// SPDX-License-Identifier: Apache-2.0
/// @file explanations.cpp
/// The operands of explained statements, made up or from a file.
#include "explanations.hpp"

#include <algorithm>

#include "command.hpp"
#include "memory.hpp"
#include "modes.hpp"
#include "operands.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

/// Entries on the diagonal and next to it, with the same coordinate in all modes except the first.
template <int Order>
Entries<double, Order> entries_of_band() {
  constexpr std::int64_t extent = 1000;  // of every mode
  Extents<Order> extents;
  extents.fill(extent);
  Entries<double, Order> entries(extents, 3 * extent - 2);
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < extent; ++row)
    for (std::int64_t column = std::max<std::int64_t>(row - 1, 0); column <= std::min(row + 1, extent - 1);
         ++column) {
      Extents<Order> place;
      place.fill(column);
      place[0] = row;
      entries.set(at++, place, 1.0);
    }
  return entries;
}

/// The other sparse operand of a statement about A.
AnyEntries second_of(const Explanation& what, const AnyEntries& A) {
  if (what.order != 2) return A;
  const auto& matrix = std::get<Entries<double, 2>>(A);
  const bool square = matrix.extents[0] == matrix.extents[1];
  if (what.name != (square ? "add" : "spgemm")) return A;
  return merged(permuted(matrix, {1, 0}), Duplicates::sum, false);
}

}  // namespace

Entries<double, 2> band() { return entries_of_band<2>(); }

StatementOperands made_up_operands(const Explanation& what, int columns) {
  const AnyEntries A = what.order == 2 ? AnyEntries(band()) : AnyEntries(entries_of_band<3>());
  return {A, A, columns};
}

StatementOperands operands_from(const Input& input, const Explanation& what, int columns,
                                std::string_view command) {
  if (input.order() != what.order)
    throw UsageError(text(input.path, ": holds a tensor of order ", input.order(), "; ", what.name, " takes ",
                          what.order == 2 ? "a matrix" : "one of order 3"));
  expect_real(input, command);
  expect_narrow(input, command);
  double rows = 0;
  for (const std::int64_t extent : input.extents()) rows += static_cast<double>(extent);
  expect_memory(rows * columns * sizeof(double),
                text(input.path, ": ", command, " with dense factors of ", columns, " columns"));
  const AnyEntries A = what.order == 2 ? AnyEntries(operand_of<double>(input))
                                       : merged(input.entries, input.duplicates(), false);
  return {A, second_of(what, A), columns};
}

std::string Explanation::statement() const {
  const std::string all = text(made_up_operands(*this));
  return all.substr(0, all.find('\n'));  // the statement is the first line of its explanation
}

std::vector<Explanation> explanations() {
  std::vector<Explanation> all;
  for (const auto& part : {explained_products, explained_sparse_products, explained_sums, explained_tensors})
    for (Explanation& one : part()) all.push_back(std::move(one));
  return all;
}

}  // namespace sporos::tool
