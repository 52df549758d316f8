// SPDX-License-Identifier: Apache-2.0
/// @file copied_matrices.cpp
/// Plans of SpMV that keep the matrix in slices, in diagonals of blocks of rows, or in groups of rows with
/// the same columns: right for rows of every length, chosen where that pays.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sporos/core/peak_memory.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../dense_products.hpp"

namespace sporos::test::spmv_copies {
namespace {

using namespace sporos::indices;

template <class Value, class Space>
using Vector = Tensor<Value, DenseVector, Space>;

/// A 9-point stencil on a grid: rows at the ends of its lines lack some of the diagonals.
Pattern stencil(std::int64_t lines, std::int64_t length) {
  return pattern(lines * length, lines * length, [=](std::int64_t row, auto& set) {
    const std::int64_t line = row / length, place = row % length;
    for (std::int64_t y = std::max<std::int64_t>(line - 1, 0); y < std::min(line + 2, lines); ++y)
      for (std::int64_t x = std::max<std::int64_t>(place - 1, 0); x < std::min(place + 2, length); ++x)
        set.insert(y * length + x);
  });
}

/// Runs of 1 to 20 rows with the same columns, over more rows than a window has; some rows are empty.
Pattern runs_of_alike_rows() {
  std::vector<std::int64_t> first_of;
  for (std::int64_t run = 1; first_of.size() < 1700; run = run % 20 + 1)
    first_of.insert(first_of.end(), static_cast<std::size_t>(run),
                    static_cast<std::int64_t>(first_of.size()));
  return pattern(1700, 300, [&](std::int64_t row, auto& set) {
    const std::int64_t first = first_of[static_cast<std::size_t>(row)];
    for (std::int64_t k = 0; k < first % 14; ++k) set.insert((first * 37 + k * k * 11) % 300);
  });
}

/// The kinds of sparse_kinds(), rows so long that they share no bucket of lengths, over several windows,
/// matrices whose blocks of rows are all, partly or nowhere in diagonals, and such with alike rows.
std::vector<std::pair<std::string, Pattern>> kinds() {
  auto all = sparse_kinds();
  all.emplace_back("several windows", of_all_lengths(1541, 90, 5));
  all.emplace_back("rows of up to 200 nonzeros", pattern(70, 400, [](std::int64_t row, auto& set) {
                     for (std::int64_t k = 0; k < row * 29 % 201; ++k) set.insert((row + 3 * k) % 400);
                   }));
  all.emplace_back("a stencil", stencil(9, 77));
  all.emplace_back("a stencil on lines shorter than a block", stencil(30, 20));
  all.emplace_back("diagonals of a wide matrix", diagonals(500, 900, {0, 3, 100, 390}));
  all.emplace_back("diagonals of a tall matrix", diagonals(900, 500, {-399, -1, 0}));
  all.emplace_back("rows with the same columns", runs_of_alike_rows());
  all.emplace_back("rows of one length in part", pattern(700, 800, [](std::int64_t row, auto& set) {
                     const std::int64_t length = row / 40 % 3 == 0 ? 5 : row % 7;
                     for (std::int64_t k = 0; k < length; ++k) set.insert((row * 53 + k * k * 17) % 800);
                   }));
  all.emplace_back("diagonals in some blocks alone", pattern(640, 640, [](std::int64_t row, auto& set) {
                     for (std::int64_t k = 0; k < 4; ++k)
                       set.insert(row / 128 % 2 == 0 ? (row + 5 * k) % 640 : (row * 37 + k * k * 11) % 640);
                   }));
  return all;
}

template <class Candidate, class Value, class Format, class Space>
void expect_products() {
  for (const auto& [name, rows] : kinds()) {
    const auto A = matrix<Value, Format, Space>(rows, small_value<Value>, 1);
    const Vector<Value, Space> x({A.extent(1)}), y({A.extent(0)}), expected({A.extent(0)});
    auto product = plan(assign(y(i), A(i, j) * x(j)).with_constant_operands().template use<Candidate>());
    for (const std::uint64_t seed : {2, 3}) {  // the vector may change
      Kokkos::deep_copy(x.values(), small_dense<Value, DenseVector, Space>({A.extent(1)}, seed).values());
      product.run();
      assign(expected(i), A(i, j) * x(j)).generic().run();
      EXPECT_EQ(first_difference(y, expected), "") << name;
    }
    assign(y(i), A(i, j) * x(j)).with_constant_operands().template use<Candidate>().run();
    EXPECT_EQ(first_difference(y, expected), "") << name << ", run once";
    auto added =
        plan(assign(y(i), A(i, j) * x(j)).accumulate().with_constant_operands().template use<Candidate>());
    added.run();
    expected(i) = 2 * y(i) - expected(i);
    added.run();
    EXPECT_EQ(first_difference(y, expected), "") << name << ", added";
  }
}

template <class Candidate>
class CopiedMatrices : public testing::Test {};
using Candidates = testing::Types<SpmvBySlices, SpmvByDiagonals, SpmvBySharedColumns>;
TYPED_TEST_SUITE(CopiedMatrices, Candidates);

TYPED_TEST(CopiedMatrices, GiveTheProductInEveryType) {
  expect_products<TypeParam, double, CSR<>, Serial>();
  expect_products<TypeParam, float, CSR<std::int32_t, std::int64_t>, OpenMP>();
  expect_products<TypeParam, double, CSR<std::uint16_t, std::uint32_t>, OpenMP>();
}

TYPED_TEST(CopiedMatrices, AreTheSameForAnyNumberOfThreads) {
  for (const auto& rows : {of_all_lengths(5003, 3000, 7), stencil(60, 77), runs_of_alike_rows()}) {
    const auto A = matrix<double, CSR<>, Serial>(rows, real_value, 1);
    const auto x = real_dense<double, DenseVector, Serial>({A.extent(1)}, 2);
    const Vector<double, Serial> y({A.extent(0)});
    plan(assign(y(i), A(i, j) * x(j)).with_constant_operands().template use<TypeParam>()).run();
    const auto B = A.template move_to<OpenMP>();
    const auto z = x.template move_to<OpenMP>();
    const Vector<double, OpenMP> w({A.extent(0)});
    plan(assign(w(i), B(i, j) * z(j)).with_constant_operands().template use<TypeParam>()).run();
    EXPECT_EQ(first_difference(w, y), "");
  }
}

TYPED_TEST(CopiedMatrices, PassInfinitiesAndNaNToTheirRowsAlone) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<Pattern, std::vector<std::int64_t>>> all{
      {of_all_lengths(83, 60, 3), {0, 17, 59}},
      {stencil(7, 20), {0, 19, 20, 70, 139}},
      {runs_of_alike_rows(), {0, 11, 37, 299}}};
  for (const auto& [rows, columns] : all)
    for (const std::int64_t column : columns)
      for (const double special : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
        const auto A = matrix<double>(rows, [](auto& draw) { return 1.0 + draw() % 3; }, 1);
        const auto x = small_dense<double, DenseVector>({A.extent(1)}, 2);
        x.values()(static_cast<std::size_t>(column)) = special;
        const Vector<double, Host> y({A.extent(0)}), expected({A.extent(0)});
        plan(assign(y(i), A(i, j) * x(j)).with_constant_operands().template use<TypeParam>()).run();
        assign(expected(i), A(i, j) * x(j)).generic().run();
        for (std::size_t row = 0; row < y.values().extent(0); ++row)
          EXPECT_TRUE(y.values()(row) == expected.values()(row) ||
                      (std::isnan(y.values()(row)) && std::isnan(expected.values()(row))))
              << "row " << row << ": " << y.values()(row) << " instead of " << expected.values()(row);
      }
}

TEST(FormsOfSlices, GiveTheSameProduct) {
  const Serial serial;
  for (const auto& form : sporos::detail::slice_forms)
    for (const auto& [name, rows] : kinds()) {
      const auto check = [&]<class Value, class Format>() {
        const auto A = matrix<Value, Format, Serial>(rows, small_value<Value>, 1);
        const auto x = small_dense<Value, DenseVector, Serial>({A.extent(1)}, 2);
        const Vector<Value, Serial> y({A.extent(0)}), expected({A.extent(0)});
        const auto a = sporos::detail::sparse_rows(A);
        sporos::detail::Slices<Value, typename decltype(a)::position_type,
                               typename decltype(a)::coordinate_type>
            slices(form);
        slices.copy(serial, a, false);
        slices.multiply(serial, a, x.values().data(), y.values().data(), false);
        assign(expected(i), A(i, j) * x(j)).generic().run();
        EXPECT_EQ(first_difference(y, expected), "") << name << ", " << form.rows << " rows";
        EXPECT_EQ(slices.bytes(), slices.bytes(a.rows, slices.padded_elements(a, form.rows), form.rows));
      };
      check.template operator()<double, CSR<>>();
      check.template operator()<float, CSR<std::int64_t, std::int64_t>>();
      check.template operator()<double, CSR<std::uint32_t, std::uint32_t>>();
    }
}

TEST(CopiesOfPlans, AreChosenWhereTheyPay) {
  constexpr std::int64_t many = 10'000;
  std::mt19937_64 draw(7);
  const auto irregular = [&](std::int64_t least, std::int64_t most) {
    return matrix<double>(pattern(many, many,
                                  [&](std::int64_t row, auto& set) {
                                    const auto more = static_cast<std::uint64_t>(most - least + 1);
                                    const auto count = least + static_cast<std::int64_t>(draw() % more);
                                    for (std::int64_t k = 0; k < count; ++k) set.insert((row + 7 * k) % many);
                                  }),
                          small_value<double>, 1);
  };
  const auto A = irregular(1, 8), of_long_rows = irregular(10, 20);
  const auto regular = matrix<double>(diagonals(many, many, {0, 4, 9}), small_value<double>, 1);
  const auto B = matrix<double>(pattern(many, many,
                                        [](std::int64_t row, auto& set) {
                                          for (std::int64_t k = 0; k < (row % 600 == 0 ? 900 : 1); ++k)
                                            set.insert((row * 37 + k) % many);
                                        }),
                                small_value<double>, 1);
  const auto in_threes = matrix<double>(pattern(many, many,
                                                [](std::int64_t row, auto& set) {
                                                  for (std::int64_t k = 0; k < 6; ++k)
                                                    set.insert((row / 3 * 37 + k * k * 11) % many);
                                                }),
                                        small_value<double>, 1);
  const Vector<double, Host> x({many}), y({many});
  const bool gathers = sporos::detail::slice_form().gathers;
  const auto constant = [&](const auto& M) { return assign(y(i), M(i, j) * x(j)).with_constant_operands(); };
  EXPECT_EQ(plan(constant(A)).candidate(), SpmvBySlices::name);
  EXPECT_EQ(plan(constant(of_long_rows)).candidate(), gathers ? SpmvBySlices::name : SpmvByRows::name);
  EXPECT_EQ(plan(constant(regular)).candidate(), SpmvByDiagonals::name);
  EXPECT_EQ(plan(constant(in_threes)).candidate(), SpmvBySharedColumns::name);
  EXPECT_EQ(plan(constant(B)).candidate(), SpmvByRows::name) << "most of the lanes are padding";
  EXPECT_EQ(plan(assign(y(i), A(i, j) * x(j))).candidate(), SpmvByRows::name) << "its values may change";
  const auto bounded = Resources<Host>().within(20'000);
  for (const auto& M : {A, regular, in_threes}) {
    EXPECT_EQ(plan(constant(M).on(bounded)).candidate(), SpmvByRows::name) << "the copy does not fit";
    EXPECT_EQ(kernel_of(constant(M)), SpmvByRows::name) << "run once";
  }
}

TEST(CopiesOfPlans, TakeTheMemoryThatTheySay) {
  const auto A = matrix<double>(of_all_lengths(3000, 900, 7), small_value<double>, 1);
  const auto B = matrix<double>(stencil(40, 77), small_value<double>, 1);
  const auto C = matrix<double>(runs_of_alike_rows(), small_value<double>, 1);
  const auto check = [](const auto& M, auto candidate, std::int64_t of_nonzero) {
    const Vector<double, Host> x({M.extent(1)}), y({M.extent(0)});
    auto product =
        plan(assign(y(i), M(i, j) * x(j)).with_constant_operands().template use<decltype(candidate)>());
    const auto needs = product.estimate();
    const PeakMemory peak;
    product.run();
    EXPECT_LE(peak.bytes(), needs.workspace);
    EXPECT_GT(product.bytes(), M.nnz() * of_nonzero);
    EXPECT_LE(product.bytes(), needs.workspace);
  };
  check(A, SpmvBySlices{}, 12);
  check(B, SpmvByDiagonals{}, 8);
  check(C, SpmvBySharedColumns{}, 8);
}

}  // namespace
}  // namespace sporos::test::spmv_copies
