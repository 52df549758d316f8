// SPDX-License-Identifier: Apache-2.0
/// @file forms.cpp
/// Every form of SpMV that this program has, and how one is chosen.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference.hpp"
#include "sanitizers.hpp"

namespace sporos::test::spmv_forms {
namespace {

using detail::SpmvForm;

/// Rows of up to `longest` nonzeros; every length occurs at every alignment of the arrays.
template <class T, class Position, class Coordinate>
struct Rows {
  explicit Rows(std::int64_t longest) {
    std::mt19937_64 draw(static_cast<std::uint64_t>(longest));
    positions.push_back(0);
    for (std::int64_t row = 0; row < 40 * (longest + 1); ++row) {
      const auto length = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(longest + 1));
      for (std::int64_t q = 0; q < length; ++q) {
        coordinates.push_back(static_cast<Coordinate>(draw() % 1000));
        values.push_back(static_cast<T>(draw() % 19) / 4 - 2);
      }
      positions.push_back(static_cast<Position>(coordinates.size()));
    }
    for (int at = 0; at < 1000; ++at) x.push_back(static_cast<T>(draw() % 23) / 8 - 1);
  }
  SparseRows<T, Position, Coordinate> view() const {
    return {static_cast<std::int64_t>(positions.size()) - 1, 1000, positions.data(), coordinates.data(),
            values.data()};
  }

  std::vector<Position> positions;
  std::vector<Coordinate> coordinates;
  std::vector<T> values, x;
};

template <class T, class Position, class Coordinate>
void check_forms() {
  for (const std::int64_t longest : {1, 3, 4, 7, 8, 9, 15, 40, 200}) {
    const Rows<T, Position, Coordinate> rows(longest);
    const auto a = rows.view();
    for (const auto& form : detail::spmv_forms) {
      if (!form.is_compiled) continue;
      SCOPED_TRACE(text(form.name, ", rows of up to ", longest));
      for (const bool accumulates : {false, true}) {
        std::vector<T> y(static_cast<std::size_t>(a.rows), T{3});
        // In two parts, of which the second begins at any row.
        const std::int64_t cut = a.rows / 3 + 1;
        detail::SpmvRows<T, Position, Coordinate>::multiply(form.form, a, rows.x.data(), y.data(), 0, cut,
                                                            accumulates);
        detail::SpmvRows<T, Position, Coordinate>::multiply(form.form, a, rows.x.data(), y.data(), cut,
                                                            a.rows, accumulates);
        for (std::int64_t row = 0; row < a.rows; ++row) {
          long double sum = accumulates ? 3 : 0, size = sum;
          for (std::int64_t q = a.begin(row); q < a.begin(row + 1); ++q) {
            const auto term =
                static_cast<long double>(a.values[q]) * rows.x[static_cast<std::size_t>(a.coordinates[q])];
            sum += term;
            size += std::fabs(term);
          }
          const long double bound =
              static_cast<long double>(a.length(row) + 2) * std::numeric_limits<T>::epsilon() * size;
          ASSERT_LE(std::fabs(static_cast<long double>(y[static_cast<std::size_t>(row)]) - sum), bound)
              << "row " << row;
        }
      }
    }
  }
}

TEST(FormsOfSpmv, SumEveryRow) {
  check_forms<double, std::int64_t, std::int32_t>();
  check_forms<double, std::int32_t, std::int32_t>();
  check_forms<double, std::int64_t, std::int64_t>();
  check_forms<float, std::int64_t, std::int32_t>();
  check_forms<float, std::int32_t, std::int64_t>();
  check_forms<double, std::uint32_t, std::uint32_t>();
  check_forms<float, std::int64_t, std::uint16_t>();
}

TEST(FormsOfSpmv, ReadNothingBeyondTheArrays) {
  // One row at the very end of the arrays, of every length.
  for (std::int64_t length = 0; length <= 17; ++length) {
    const auto values = std::make_unique<double[]>(static_cast<std::size_t>(length));
    const auto coordinates = std::make_unique<std::int32_t[]>(static_cast<std::size_t>(length));
    for (std::int64_t q = 0; q < length; ++q) values[static_cast<std::size_t>(q)] = 2;
    const std::int64_t positions[] = {0, length};
    const double x[] = {0.5};
    const SparseRows<double, std::int64_t, std::int32_t> a{1, 1, positions, coordinates.get(), values.get()};
    for (const auto& form : detail::spmv_forms) {
      if (!form.is_compiled) continue;
      double y[] = {-1};
      detail::SpmvRows<double, std::int64_t, std::int32_t>::multiply(form.form, a, x, y, 0, 1, false);
      EXPECT_EQ(y[0], static_cast<double>(length)) << form.name;
    }
  }
}

/// y = A * x, computed in two parts.
template <class Rows>
auto product_in_parts(SpmvForm form, const Rows& rows, std::int64_t cut) {
  const auto a = rows.view();
  using A = std::remove_const_t<decltype(a)>;
  std::vector<typename A::value_type> y(static_cast<std::size_t>(a.rows));
  for (const auto& [begin, end] : {std::pair(std::int64_t{0}, cut), std::pair(cut, a.rows)})
    detail::SpmvRows<typename A::value_type, typename A::position_type,
                     typename A::coordinate_type>::multiply(form, a, rows.x.data(), y.data(), begin, end,
                                                            false);
  return y;
}

TEST(FormsOfSpmv, GiveTheSameBitsWhereverRowsAreDivided) {
  // Where rows are long, some blocks of them have too many products to be formed at once.
  for (const std::int64_t longest : {3, 9, 40, 300}) {
    Rows<double, std::int64_t, std::int32_t> rows(longest);
    for (std::size_t q = 0; q < rows.values.size(); ++q) rows.values[q] += 1e-3 / static_cast<double>(q + 1);
    for (const auto& form : detail::spmv_forms) {
      if (!form.is_compiled) continue;
      const auto expected = product_in_parts(form.form, rows, 0);
      for (const std::int64_t cut : {1, 2, 5, 13, 16, 31})
        EXPECT_EQ(product_in_parts(form.form, rows, cut), expected)
            << form.name << ", rows of up to " << longest << ", cut at " << cut;
    }
  }
}

TEST(FormsOfSpmv, PassInfinitiesAndNaNToTheirRowsAlone) {
  for (const double special : {HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
    Rows<double, std::int32_t, std::int32_t> rows(7);
    std::fill(rows.values.begin(), rows.values.end(), 2.0);
    const std::int32_t column = rows.coordinates[rows.coordinates.size() / 2];
    rows.x[static_cast<std::size_t>(column)] = special;
    const auto a = rows.view();
    for (const auto& form : detail::spmv_forms) {
      if (!form.is_compiled) continue;
      const auto y = product_in_parts(form.form, rows, a.rows / 2);
      for (std::int64_t row = 0; row < a.rows; ++row) {
        const auto* const end = a.coordinates + a.begin(row + 1);
        const bool has_it = std::find(a.coordinates + a.begin(row), end, column) != end;
        EXPECT_NE(std::isfinite(y[static_cast<std::size_t>(row)]), has_it) << form.name << ", row " << row;
      }
    }
  }
}

TEST(FormsOfSpmv, AreNamedByTheEnvironment) {
  ::setenv("SPOROS_TEST_FORM", "scalar", 1);
  const auto* const named = detail::form_from_environment("SPOROS_TEST_FORM", detail::spmv_forms);
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(named->form, SpmvForm::scalar);
  ::setenv("SPOROS_TEST_FORM", "fastest", 1);
  EXPECT_TRUE(contains(
      message_of<RangeError>([] { detail::form_from_environment("SPOROS_TEST_FORM", detail::spmv_forms); }),
      "SPOROS_TEST_FORM=fastest: this program has the forms scalar"));
  ::unsetenv("SPOROS_TEST_FORM");
  EXPECT_EQ(detail::form_from_environment("SPOROS_TEST_FORM", detail::spmv_forms), nullptr);
}

/// In a process of its own, since distances are found out before main.
void expect_prefetching(const char* name, std::int64_t of_doubles, std::int64_t of_floats) {
  SCOPED_TRACE(name);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("SPOROS_SPMV_PREFETCH", name, 1);
  const auto is_right = [&] {
    return detail::nonzeros_ahead<double> == of_doubles && detail::nonzeros_ahead<float> == of_floats;
  };
  EXPECT_EXIT(std::_Exit(is_right() ? 0 : 1), testing::ExitedWithCode(0), "");
  ::unsetenv("SPOROS_SPMV_PREFETCH");
}
TEST(FormsOfSpmv, PrefetchAsFarAsTheEnvironmentSays) {
  expect_prefetching("near", 512, 1024);
  expect_prefetching("far", 1024, 1024);
}
TEST(FormsOfSpmv, PrefetchAtNoOtherDistance) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("SPOROS_SPMV_PREFETCH", "nearest", 1);
  const auto refusal = [] {
    const std::int64_t positions[] = {0, 0};
    return message_of<RangeError>([&] {
      detail::spmv_form_for(SparseRows<double, std::int64_t, std::int32_t>{1, 1, positions, nullptr, nullptr},
                            false);
    });
  };
  EXPECT_EXIT(
      std::_Exit(
          contains(refusal(), "SPOROS_SPMV_PREFETCH=nearest: this program has the forms near, far") ? 0 : 1),
      testing::ExitedWithCode(0), "");
  ::unsetenv("SPOROS_SPMV_PREFETCH");
}

TEST(FormsOfSpmv, AreChosenByTheRegularityOfRows) {
  const auto regular = [](const std::vector<std::int64_t>& lengths) {
    std::vector<std::int64_t> positions{0};
    for (const std::int64_t length : lengths) positions.push_back(positions.back() + length);
    return detail::has_regular_rows(SparseRows<double, std::int64_t, std::int32_t>{
        static_cast<std::int64_t>(lengths.size()), 1, positions.data(), nullptr, nullptr});
  };
  std::vector<std::int64_t> lengths(1000, 7);
  EXPECT_TRUE(regular(lengths));
  for (std::size_t row = 0; row < lengths.size(); row += 10) lengths[row] = 6;
  EXPECT_TRUE(regular(lengths)) << "the boundary of a grid";
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = static_cast<std::int64_t>(row * row % 7);
  EXPECT_FALSE(regular(lengths));
  for (auto& length : lengths) length += 30;
  EXPECT_TRUE(regular(lengths)) << "one wrong prediction for a long row";
}

TEST(FormsOfSpmv, OfManyIrregularRowsDependOnHowLongTheseAre) {
  const auto form_for_rows_of = [](std::int64_t least) {
    std::vector<std::int64_t> positions{0};
    for (std::int64_t row = 0; row < 2 * detail::most_remembered_rows; ++row)
      positions.push_back(positions.back() + least + row * row % 7);
    return detail::spmv_form_for(
        SparseRows<double, std::int64_t, std::int32_t>{static_cast<std::int64_t>(positions.size()) - 1, 1,
                                                       positions.data(), nullptr, nullptr},
        false);
  };
  EXPECT_EQ(form_for_rows_of(1), detail::SpmvForms::for_many_short_rows());
  EXPECT_EQ(form_for_rows_of(12), detail::SpmvForms::for_many_irregular_rows());
}

TEST(FormsOfSpmv, OfMatricesBeyondTheCachesDependOnTheOrderOfTheirColumns) {
  if (std::getenv("SPOROS_SPMV_FORM")) GTEST_SKIP() << "the environment names a form";
  constexpr std::int64_t rows = 120'000, length = 12;
  static_assert(rows * length * 12 >= detail::far_bytes);
  const auto form_for = [](std::int64_t unevenness, const auto& column) {
    std::vector<std::int64_t> positions{0};
    std::vector<std::int32_t> coordinates;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t q = 0; q < length + row * row % (unevenness + 1); ++q)
        coordinates.push_back(static_cast<std::int32_t>(column(row, q) % rows));
      positions.push_back(static_cast<std::int64_t>(coordinates.size()));
    }
    return detail::spmv_form_for(SparseRows<double, std::int64_t, std::int32_t>{rows, rows, positions.data(),
                                                                                coordinates.data(), nullptr},
                                 false);
  };
  const auto in_order = [](auto row, auto q) { return row + q; };
  const auto scattered = [](auto row, auto q) { return row * 7919 + q * 10'007; };
  const SpmvForm regular = detail::SpmvForms::for_regular_rows();
  const SpmvForm irregular = detail::SpmvForms::for_many_irregular_rows();
  const SpmvForm widest = detail::widest_spmv_form();
  constexpr int even = 0, uneven = 6;
  EXPECT_EQ(form_for(even, in_order), regular);
  EXPECT_EQ(form_for(uneven, in_order), irregular);
  if (!detail::gathers_slowly()) {
    EXPECT_EQ(form_for(even, scattered), regular);
    EXPECT_EQ(form_for(uneven, scattered), irregular);
  } else if (detail::gathers_far_fast()) {
    EXPECT_EQ(form_for(even, scattered), widest >= SpmvForm::gather_four ? widest : regular);
    EXPECT_EQ(form_for(uneven, scattered), irregular);
  } else {
    EXPECT_EQ(form_for(even, scattered), SpmvForm::scalar);
    EXPECT_EQ(form_for(uneven, scattered), SpmvForm::scalar);
  }
}

TEST(FormsOfSpmv, AreMeasuredInLessThanSomeMilliseconds) {
  const auto begin = std::chrono::steady_clock::now();
  const SpmvForm chosen[] = {detail::SpmvForms::for_regular_rows(), detail::SpmvForms::for_irregular_rows(),
                             detail::SpmvForms::for_many_irregular_rows(),
                             detail::SpmvForms::for_many_short_rows()};
  const auto end = std::chrono::steady_clock::now();
#if defined(SPOROS_TEST_SANITIZED)
  constexpr double most_seconds = 2;
#else
  constexpr double most_seconds = 0.05;  // on a busy machine
#endif
  EXPECT_LT(std::chrono::duration<double>(end - begin).count(), most_seconds);
  for (const SpmvForm form : chosen)
    EXPECT_TRUE(detail::spmv_forms[static_cast<std::size_t>(form)].is_compiled);
}

}  // namespace
}  // namespace sporos::test::spmv_forms
