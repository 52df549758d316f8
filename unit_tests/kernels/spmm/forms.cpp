// SPDX-License-Identifier: Apache-2.0
/// @file forms.cpp
/// Every form of SpMM, and how one is chosen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <sporos/kernels/spmm/host/rows.hpp>
#include <vector>

#include "../forms.hpp"
#include "reference.hpp"

namespace sporos::test::spmm_forms {
namespace {

using detail::SpmmForm;

template <class T>
struct Product {
  Product(std::int64_t rows, std::int64_t columns, std::int64_t longest, std::int64_t width_of_all)
      : extents{rows, columns}, width(width_of_all) {
    std::mt19937_64 draw(static_cast<std::uint64_t>(width));
    const auto number = [&] { return static_cast<T>(static_cast<double>(draw() % 2048) / 1024 - 1); };
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto length = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(longest + 1));
      for (std::int64_t q = 0; q < length; ++q) {
        coordinates.push_back(static_cast<std::int32_t>(draw() % static_cast<std::uint64_t>(columns)));
        values.push_back(number());
      }
      positions.push_back(static_cast<std::int64_t>(coordinates.size()));
    }
    std::generate_n(std::back_inserter(b), columns * width, number);
    std::generate_n(std::back_inserter(old), rows * width, number);
  }
  SparseRows<T, std::int64_t, std::int32_t> a() const {
    return {extents[0], extents[1], positions.data(), coordinates.data(), values.data()};
  }
  std::vector<T> by(SpmmForm form, bool accumulates) const {
    std::vector<T> c = old;
    const std::int64_t cut = extents[0] / 3;
    detail::multiply_matrix_rows(form, accumulates, a(), b.data(), c.data(), width, 0, cut);
    detail::multiply_matrix_rows(form, accumulates, a(), b.data(), c.data(), width, cut, extents[0]);
    return c;
  }

  std::int64_t extents[2], width;
  std::vector<std::int64_t> positions{0};
  std::vector<std::int32_t> coordinates;
  std::vector<T> values, b, old;
};

/// Compares each form with loops in long double, and all forms bit by bit.
template <class T>
void check_forms(std::int64_t width) {
  const Product<T> product(40, 30, 20, width);
  const auto a = product.a();
  for (const bool accumulates : {false, true}) {
    const auto first = product.by(detail::spmm_forms[0].form, accumulates);
    for (std::int64_t row = 0; row < a.rows; ++row)
      for (std::int64_t j = 0; j < width; ++j) {
        const auto at = static_cast<std::size_t>(row * width + j);
        long double sum = accumulates ? product.old[at] : T{}, size = std::abs(sum);
        for (std::int64_t q = a.begin(row); q < a.begin(row + 1); ++q) {
          const long double term = static_cast<long double>(a.values[q]) *
                                   product.b[static_cast<std::size_t>(a.coordinates[q] * width + j)];
          sum += term;
          size += std::abs(term);
        }
        const long double bound = (a.length(row) + 2) * std::numeric_limits<T>::epsilon() * size;
        ASSERT_LE(std::abs(first[at] - sum), bound) << width << " columns, (" << row << ", " << j << ")";
      }
    for (const auto& form : detail::spmm_forms)
      EXPECT_EQ(product.by(form.form, accumulates), first) << form.name << ", " << width << " columns";
  }
}

TEST(FormsOfSpmm, ComputeTheSameBitsForAnyNumberOfColumns) {
  for (const std::int64_t width : {1, 2, 3, 7, 8, 9, 16, 31, 32, 63, 64, 65, 100, 130}) {
    check_forms<double>(width);
    check_forms<float>(width);
  }
}

TEST(FormsOfSpmm, AreNamedByTheEnvironment) {
  expect_named_by_the_environment(detail::spmm_forms);
  ::setenv("SPOROS_TEST_FORM", "ahead", 1);
  EXPECT_TRUE(contains(
      message_of<RangeError>([] { detail::form_from_environment("SPOROS_TEST_FORM", detail::spmm_forms); }),
      "SPOROS_TEST_FORM=ahead: this program has the forms near, ahead-4, ahead-8, near-past"));
  ::unsetenv("SPOROS_TEST_FORM");
}

/// The form for a matrix of so many rows and columns, each row with columns of no order.
SpmmForm form_of(std::int64_t rows, std::int64_t columns, std::int64_t row_bytes) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows + 1));
  std::iota(positions.begin(), positions.end(), 0);
  std::vector<std::int32_t> coordinates(static_cast<std::size_t>(rows));
  for (std::size_t row = 0; row < coordinates.size(); ++row)
    coordinates[row] = static_cast<std::int32_t>(row * 7919 % static_cast<std::size_t>(columns));
  return detail::spmm_form_for(SparseRows<double, std::int64_t, std::int32_t>{rows, columns, positions.data(),
                                                                              coordinates.data(), nullptr},
                               row_bytes);
}

TEST(FormsOfSpmm, PrefetchWhatIsFarAndWriteLargeResultsPastTheCaches) {
  if (std::getenv("SPOROS_SPMM_FORM")) GTEST_SKIP() << "the environment names a form";
  EXPECT_EQ(form_of(1000, 1000, 1024), SpmmForm{}) << "all of it is near";
  EXPECT_EQ(form_of(1000, 10'000, 1024).ahead, 4);
  EXPECT_EQ(form_of(1000, 100'000, 64), SpmmForm{}) << "a row is a line";
  EXPECT_TRUE(form_of(100'000, 1000, 1024).past);
  EXPECT_FALSE(form_of(10'000, 1000, 1024).past);
  EXPECT_EQ(form_of(1000, 10'000, 256).ahead, 0);
  EXPECT_EQ(form_of(1000, 100'000, 256).ahead, detail::is_made_by_amd() ? 8 : 0);
}

}  // namespace
}  // namespace sporos::test::spmm_forms
