// SPDX-License-Identifier: Apache-2.0
/// @file forms.cpp
/// Every form of SDDMM that this program has, and how one is chosen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <sporos/kernels/sddmm/host/rows.hpp>
#include <vector>

#include "../forms.hpp"
#include "reference.hpp"

namespace sporos::test::sddmm_forms {
namespace {

using detail::SddmmForm;

/// Rows of 0 to 20 nonzeros; the dense factors end where their memory does.
template <class T>
void check_forms(std::int64_t inner) {
  constexpr std::int64_t rows = 21, columns = 25;
  std::mt19937_64 draw(static_cast<std::uint64_t>(inner));
  const auto number = [&] { return static_cast<T>(static_cast<double>(draw() % 2048) / 1024 - 1); };
  std::vector<std::int64_t> positions{0};
  std::vector<std::int32_t> coordinates;
  std::vector<T> values;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t q = 0; q < row; ++q) {
      coordinates.push_back(static_cast<std::int32_t>(columns - 1 - q));
      values.push_back(number());
    }
    positions.push_back(static_cast<std::int64_t>(coordinates.size()));
  }
  const auto c = std::make_unique<T[]>(static_cast<std::size_t>(rows * inner));
  const auto d = std::make_unique<T[]>(static_cast<std::size_t>(columns * inner));
  std::generate_n(c.get(), rows * inner, number);
  std::generate_n(d.get(), columns * inner, number);
  const SparseRows<T, std::int64_t, std::int32_t> b{rows, columns, positions.data(), coordinates.data(),
                                                    values.data()};
  for (const auto& form : detail::sddmm_forms) {
    if (!form.is_compiled) continue;
    std::vector<T> to(values.size());
    detail::scale_dots_of_rows(form.form, b, c.get(), d.get(), inner, to.data(), 0, rows / 2);
    detail::scale_dots_of_rows(form.form, b, c.get(), d.get(), inner, to.data(), rows / 2, rows);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t q = b.begin(row); q < b.begin(row + 1); ++q) {
        long double sum = 0, size = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          const long double term =
              static_cast<long double>(c[static_cast<std::size_t>(row * inner + k)]) *
              d[static_cast<std::size_t>(static_cast<std::int64_t>(b.coordinates[q]) * inner + k)];
          sum += term;
          size += std::fabs(term);
        }
        const long double bound =
            static_cast<long double>(inner + 2) * std::numeric_limits<T>::epsilon() * size;
        ASSERT_LE(std::fabs(to[static_cast<std::size_t>(q)] - b.values[q] * sum), bound)
            << form.name << ", K = " << inner << ", row " << row << ", element " << q;
      }
  }
}

TEST(FormsOfSddmm, ComputeDotProductsOfAnyLength) {
  for (std::int64_t inner = 1; inner <= 70; ++inner) {
    check_forms<double>(inner);
    check_forms<float>(inner);
  }
}

TEST(FormsOfSddmm, AddUpTheLanesOfShortRowsInHalfTheWidth) {
  if (std::getenv("SPOROS_SDDMM_FORM")) GTEST_SKIP() << "the environment names a form";
  const SddmmForm of_short_rows = detail::has_half_vectors ? SddmmForm::half : SddmmForm::full;
  EXPECT_EQ(detail::sddmm_form_for(8), of_short_rows);
  EXPECT_EQ(detail::sddmm_form_for(128), of_short_rows);
  EXPECT_EQ(detail::sddmm_form_for(256), SddmmForm::full);
}

TEST(FormsOfSddmm, AreNamedByTheEnvironment) { expect_named_by_the_environment(detail::sddmm_forms); }

}  // namespace
}  // namespace sporos::test::sddmm_forms
