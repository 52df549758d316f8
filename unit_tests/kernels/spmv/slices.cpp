// SPDX-License-Identifier: Apache-2.0
/// @file slices.cpp
/// Plans of SpMV that keep the matrix in slices: right for rows of every length, chosen where that pays.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../dense_products.hpp"

namespace sporos::test::spmv_slices {
namespace {

using namespace sporos::indices;

template <class Value, class Space>
using Vector = Tensor<Value, DenseVector, Space>;

/// The kinds of sparse_kinds(), and rows so long that they share no bucket of lengths, over several windows.
std::vector<std::pair<std::string, Pattern>> kinds() {
  auto all = sparse_kinds();
  all.emplace_back("several windows", of_all_lengths(1541, 90, 5));
  all.emplace_back("rows of up to 200 nonzeros", pattern(70, 400, [](std::int64_t row, auto& set) {
                     for (std::int64_t k = 0; k < row * 29 % 201; ++k) set.insert((row + 3 * k) % 400);
                   }));
  return all;
}

template <class Value, class Format, class Space>
void expect_products() {
  for (const auto& [name, rows] : kinds()) {
    const auto A = matrix<Value, Format, Space>(rows, small_value<Value>, 1);
    const Vector<Value, Space> x({A.extent(1)}), y({A.extent(0)}), expected({A.extent(0)});
    auto product = plan(assign(y(i), A(i, j) * x(j)).with_constant_operands().template use<SpmvBySlices>());
    for (const std::uint64_t seed : {2, 3}) {  // the vector may change
      Kokkos::deep_copy(x.values(), small_dense<Value, DenseVector, Space>({A.extent(1)}, seed).values());
      product.run();
      assign(expected(i), A(i, j) * x(j)).generic().run();
      EXPECT_EQ(first_difference(y, expected), "") << name;
    }
    assign(y(i), A(i, j) * x(j)).with_constant_operands().template use<SpmvBySlices>().run();
    EXPECT_EQ(first_difference(y, expected), "") << name << ", run once";
    auto added =
        plan(assign(y(i), A(i, j) * x(j)).accumulate().with_constant_operands().template use<SpmvBySlices>());
    added.run();
    expected(i) = 2 * y(i) - expected(i);
    added.run();
    EXPECT_EQ(first_difference(y, expected), "") << name << ", added";
  }
}

TEST(SlicesOfPlans, GiveTheProductInEveryType) {
  expect_products<double, CSR<>, Serial>();
  expect_products<float, CSR<std::int32_t, std::int64_t>, OpenMP>();
  expect_products<double, CSR<std::uint16_t, std::uint32_t>, OpenMP>();
}

TEST(SlicesOfPlans, AreTheSameForAnyNumberOfThreads) {
  const auto A = matrix<double, CSR<>, Serial>(of_all_lengths(5003, 3000, 7), real_value, 1);
  const auto x = real_dense<double, DenseVector, Serial>({3000}, 2);
  const Vector<double, Serial> y({A.extent(0)});
  plan(assign(y(i), A(i, j) * x(j)).with_constant_operands().use<SpmvBySlices>()).run();
  const auto B = A.move_to<OpenMP>();
  const auto z = x.move_to<OpenMP>();
  const Vector<double, OpenMP> w({A.extent(0)});
  plan(assign(w(i), B(i, j) * z(j)).with_constant_operands().use<SpmvBySlices>()).run();
  EXPECT_EQ(first_difference(w, y), "");
}

TEST(SlicesOfPlans, PassInfinitiesAndNaNToTheirRowsAlone) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto A = matrix<double>(of_all_lengths(83, 60, 3), [](auto& draw) { return 1.0 + draw() % 3; }, 1);
  for (const double special : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()})
    for (const std::int64_t column : {0, 17, 59}) {
      const auto x = small_dense<double, DenseVector>({60}, 2);
      x.values()(static_cast<std::size_t>(column)) = special;
      const Vector<double, Host> y({83}), expected({83});
      plan(assign(y(i), A(i, j) * x(j)).with_constant_operands().use<SpmvBySlices>()).run();
      assign(expected(i), A(i, j) * x(j)).generic().run();
      for (std::size_t row = 0; row < 83; ++row)
        EXPECT_TRUE(y.values()(row) == expected.values()(row) ||
                    (std::isnan(y.values()(row)) && std::isnan(expected.values()(row))))
            << "row " << row << ": " << y.values()(row) << " instead of " << expected.values()(row);
    }
}

TEST(SlicesOfPlans, AreChosenWhereRowsAreShortAndIrregularAndNeedLittlePadding) {
  std::mt19937_64 draw(7);
  const auto irregular = [&](std::int64_t least, std::int64_t most) {
    return matrix<double>(pattern(900, 900,
                                  [&](std::int64_t row, auto& set) {
                                    const auto more = static_cast<std::uint64_t>(most - least + 1);
                                    const auto count = least + static_cast<std::int64_t>(draw() % more);
                                    for (std::int64_t k = 0; k < count; ++k) set.insert((row + 7 * k) % 900);
                                  }),
                          small_value<double>, 1);
  };
  const auto A = irregular(1, 8), of_long_rows = irregular(10, 20);
  const auto regular = matrix<double>(diagonals(900, 900, {0, 4, 9}), small_value<double>, 1);
  const auto B = matrix<double>(pattern(900, 900,
                                        [](std::int64_t row, auto& set) {
                                          for (std::int64_t k = 0; k < (row % 600 == 0 ? 900 : 1); ++k)
                                            set.insert((row + k) % 900);
                                        }),
                                small_value<double>, 1);
  const Vector<double, Host> x({900}), y({900});
  const bool pays = !sporos::detail::gathers_eight_fast();
  const auto constant = [&](const auto& M) { return assign(y(i), M(i, j) * x(j)).with_constant_operands(); };
  EXPECT_EQ(plan(constant(A)).candidate(), pays ? SpmvBySlices::name : SpmvByRows::name);
  EXPECT_EQ(plan(constant(of_long_rows)).candidate(), SpmvByRows::name);
  EXPECT_EQ(plan(constant(regular)).candidate(), SpmvByRows::name);
  EXPECT_EQ(plan(constant(B)).candidate(), SpmvByRows::name) << "three of four lanes are padding";
  EXPECT_EQ(plan(assign(y(i), A(i, j) * x(j))).candidate(), SpmvByRows::name) << "its values may change";
  EXPECT_EQ(kernel_of(constant(A)), SpmvByRows::name) << "run once";
  const auto bounded = Resources<Host>().within(20'000);
  EXPECT_EQ(plan(constant(A).on(bounded)).candidate(), SpmvByRows::name) << "the copy does not fit";
}

TEST(SlicesOfPlans, TakeTheMemoryThatTheySay) {
  const auto A = matrix<double>(of_all_lengths(3000, 900, 7), small_value<double>, 1);
  const Vector<double, Host> x({900}), y({3000});
  auto product = plan(assign(y(i), A(i, j) * x(j)).with_constant_operands().use<SpmvBySlices>());
  const auto needs = product.estimate();
  product.run();
  EXPECT_GT(product.bytes(), A.nnz() * 12);
  EXPECT_LE(product.bytes(), needs.workspace);
}

}  // namespace
}  // namespace sporos::test::spmv_slices
