// SPDX-License-Identifier: Apache-2.0
/// @file forms.cpp
/// Products of matrices of short and of medium rows in every form that this program has, and how one is
/// chosen.
#include <cstdlib>

#include "../forms.hpp"
#include "sparse_products.hpp"

namespace sporos::test::spgemm_forms {
namespace {

namespace detail = sporos::detail;  // not that of the tests
using detail::SpgemmForm;

/// Small integers, whose sums are exact in any order.
double small(std::mt19937_64& draw) { return static_cast<double>(draw() % 9) - 4; }

using Rows = SparseRows<double, std::int64_t, std::int32_t>;
using Product = detail::ProductByRows<double, Rows, Rows, double, std::int64_t, std::int32_t>;

using PairsOfPatterns = std::vector<std::pair<Pattern, Pattern>>;

void expect_products(const PairsOfPatterns& factors) {
  const Serial serial;
  for (const auto& [left, right] : factors) {
    const auto a = matrix<double>(left, small, 1), b = matrix<double>(right, small, 2);
    for (const auto& form : detail::spgemm_forms) {
      if (!form.is_compiled) continue;
      Product product(serial, detail::sparse_rows(a), detail::sparse_rows(b));
      product.use(form.form);
      product.prepare();
      const Tensor<double, CSR<>> out({a.extent(0), b.extent(1)});
      detail::replace_rows(out, product.compute());
      EXPECT_EQ(wrong(out, a, b), "") << form.name;
    }
  }
}

TEST(FormsOfSpgemm, MultiplyMatricesOfShortRows) {
  expect_products({
      {scattered(500, 400, 3, 1), scattered(400, 300, 2, 2)},     // some rows have more than eight products
      {scattered(500, 400, 1, 3), scattered(400, 300, 7, 4)},     // most rows of A name one of B
      {diagonals(300, 300, {0, 1}), diagonals(300, 300, {0, 2})}  // no row is empty
  });
}

TEST(FormsOfSpgemm, MultiplyMatricesOfMediumRows) {
  const PairsOfPatterns factors{
      {uneven(500, 400, 7, 5), uneven(400, 300, 7, 6)},   // all columns in one group of marks
      {uneven(300, 200, 7, 7), uneven(200, 9000, 7, 8)},  // in several
      {uneven(400, 64, 9, 9), uneven(64, 64, 13, 10)}     // more than sixteen columns of one word
  };
  const auto is_regular = [](const Pattern& pattern) {
    const auto a = matrix<double>(pattern, small, 1);
    return detail::has_regular_rows(detail::sparse_rows(a));
  };
  for (const auto& [left, right] : factors) EXPECT_FALSE(is_regular(left));
  expect_products(factors);
  const Pattern of_equal_lengths = diagonals(500, 700, {0, 5, 40, 200});
  EXPECT_TRUE(is_regular(of_equal_lengths));
  expect_products({{of_equal_lengths, scattered(700, 410, 4, 11)}});
}

/// Runs of shifted rows, of rows in no order and of rows with the same columns, in turn: plain rows stand
/// before, between and behind rows that are computed together.
Pattern in_turn(std::int64_t rows, std::int64_t length, std::uint64_t seed) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t at = 0; at < length; ++at) offsets.push_back(7 * at);
  const Pattern parts[] = {diagonals(rows, rows, offsets), uneven(rows, rows, length, seed),
                           repeated(rows, rows, length, 3, seed + 1)};
  return pattern(rows, rows, [&](std::int64_t row, auto& set) {
    const auto& columns = parts[row / 50 % 3].rows[static_cast<std::size_t>(row)];
    set.insert(columns.begin(), columns.end());
  });
}

TEST(FormsOfSpgemm, MultiplyMatricesOfPlainRowsAmongOthers) {
  const Pattern medium = in_turn(2400, 4, 12), longer = in_turn(2400, 6, 13);
  expect_products({{medium, medium},  // few enough products for plain rows in all forms
                   {longer, longer},  // in one form alone
                   {medium, diagonals(2400, 2410, {0, 3, 4, 9})},  // all rows of B are shifted
                   {diagonals(2400, 2390, {0, 3, 4, 9}), scattered(2390, 9000, 5, 14)}});  // none of B
}

TEST(FormsOfSpgemm, SuitTheProcessor) {
  if (std::getenv("SPOROS_SPGEMM_FORM")) GTEST_SKIP() << "the environment names a form";
  const bool has_lanes = detail::spgemm_forms.back().is_compiled;
  EXPECT_EQ(detail::spgemm_form(), detail::is_zen_5_or_later() ? SpgemmForm::plain
                                   : detail::gathers_slowly()  ? SpgemmForm::in_a_row
                                   : has_lanes                 ? SpgemmForm::lanes
                                                               : SpgemmForm::sorted);
}

TEST(FormsOfSpgemm, AreNamedByTheEnvironment) { expect_named_by_the_environment(detail::spgemm_forms); }

}  // namespace
}  // namespace sporos::test::spgemm_forms
