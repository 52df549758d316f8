// SPDX-License-Identifier: Apache-2.0
/// @file cp_als.cpp
/// The CP decomposition of the examples: it finds the rank of tensors that have one, and its fit is what it
/// says.
#include "../../examples/cp_als/cp_als.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "formats/io/files.hpp"

namespace {

using namespace sporos;

double random_number(std::mt19937_64& bits) { return static_cast<double>(bits() >> 11) * 0x1p-53; }

/// Every coordinate of a small tensor, one after the other.
template <std::size_t Order, class Visit>
void for_each_coordinate(const std::array<std::int64_t, Order>& extents, Visit visit) {
  std::array<std::int64_t, Order> at{};
  for (bool more = true; more;) {
    visit(at);
    more = false;
    for (std::size_t mode = Order; mode-- > 0 && !more;) {
      more = ++at[mode] < extents[mode];
      if (!more) at[mode] = 0;
    }
  }
}

/// A tensor that is the sum of `rank` outer products of sparse vectors of positive numbers.
template <int Order>
Tensor<double, CSF<Order>> tensor_of_rank(int rank, const Extents<Order>& extents, unsigned seed) {
  std::mt19937_64 bits(seed);
  std::vector<std::vector<double>> factors;
  for (const std::int64_t extent : extents) {
    std::vector<double> factor(static_cast<std::size_t>(extent * rank));
    for (double& value : factor) value = bits() % 4 == 0 ? 0 : 0.1 + random_number(bits);
    factors.push_back(factor);
  }
  std::vector<std::pair<Extents<Order>, double>> places;
  for_each_coordinate(extents, [&](const Extents<Order>& at) {
    double sum = 0;
    for (int r = 0; r < rank; ++r) {
      double product = 1;
      for (std::size_t mode = 0; mode < at.size(); ++mode)
        product *= factors[mode][static_cast<std::size_t>(at[mode] * rank + r)];
      sum += product;
    }
    if (sum != 0) places.emplace_back(at, sum);
  });
  Entries<double, Order> entries(extents, std::ssize(places));
  for (std::size_t q = 0; q < places.size(); ++q)
    entries.set(static_cast<std::int64_t>(q), places[q].first, places[q].second);
  return assemble<CSF<Order>>(entries);
}

/// 1 - |X - M| / |X|, element by element.
template <class T>
double plain_fit(const T& X, const cp::Model& model) {
  double difference = 0, norm = 0;
  for_each_coordinate(X.extents(), [&](const auto& place) {
    double sum = 0;
    for (std::size_t r = 0; r < model.lambda.size(); ++r) {
      double product = model.lambda[r];
      for (std::size_t mode = 0; mode < place.size(); ++mode)
        product *= at(model.factors[mode], {place[mode], static_cast<std::int64_t>(r)});
      sum += product;
    }
    const double x = at(X, place);
    difference += (x - sum) * (x - sum);
    norm += x * x;
  });
  return 1 - std::sqrt(difference / norm);
}

void expect_never_decreases(const cp::Model& model) {
  for (std::size_t at = 1; at < model.fits.size(); ++at)
    EXPECT_GE(model.fits[at], model.fits[at - 1] - 1e-7) << "iteration " << at + 1;
}

/// Half of the digits cancel in the fit.
constexpr double fit_rounding = 1e-7;

template <int Order>
void expect_recovers(int rank, const Extents<Order>& extents) {
  const auto X = tensor_of_rank<Order>(rank, extents, 5);
  const cp::Model model = cp::als(X, {.rank = rank, .iterations = 1000, .tolerance = 1e-9, .seed = 3});
  EXPECT_GT(model.fits.back(), 0.9999);
  EXPECT_NEAR(plain_fit(X, model), model.fits.back(), fit_rounding);
  expect_never_decreases(model);
}

TEST(CpAls, RecoversTensorsOfKnownRank) {
  expect_recovers<3>(1, {9, 8, 7});
  expect_recovers<3>(3, {12, 10, 8});
  expect_recovers<4>(2, {7, 6, 5, 4});
  expect_recovers<5>(2, {5, 4, 4, 3, 3});
}

TEST(CpAls, StatesTheFitOfATensorThatHasNoSuchRank) {
  const auto X = tensor_of_rank<3>(6, {9, 8, 7}, 11);
  for (const int rank : {1, 2, 4}) {
    const cp::Model model = cp::als(X, {.rank = rank, .iterations = 30, .tolerance = 0});
    EXPECT_EQ(model.fits.size(), 30u);
    EXPECT_FALSE(model.converged);
    EXPECT_LT(model.fits.back(), 0.9999);
    EXPECT_NEAR(plain_fit(X, model), model.fits.back(), fit_rounding);
    expect_never_decreases(model);
  }
}

TEST(CpAls, HasColumnsOfLengthOne) {
  const auto X = tensor_of_rank<3>(3, {12, 10, 8}, 5);
  const cp::Model model = cp::als(X, {.rank = 4, .iterations = 5});
  ASSERT_EQ(model.factors.size(), 3u);
  for (std::size_t mode = 0; mode < 3; ++mode) {
    EXPECT_EQ(model.factors[mode].extents(), (Extents<2>{X.extent(static_cast<int>(mode)), 4}));
    for (std::int64_t r = 0; r < 4; ++r) {
      double squares = 0;
      for (std::int64_t i = 0; i < X.extent(static_cast<int>(mode)); ++i)
        squares += at(model.factors[mode], {i, r}) * at(model.factors[mode], {i, r});
      EXPECT_NEAR(squares, 1, 1e-12);
    }
  }
}

TEST(CpAls, StopsWhereTheFitStaysAsItIs) {
  const auto X = tensor_of_rank<3>(3, {12, 10, 8}, 5);
  const cp::Model model = cp::als(X, {.rank = 2, .iterations = 1000, .tolerance = 1e-4});
  EXPECT_TRUE(model.converged);
  ASSERT_GE(model.fits.size(), 2u);
  ASSERT_LT(model.fits.size(), 1000u);
  for (std::size_t at = 1; at < model.fits.size(); ++at)
    EXPECT_EQ(std::abs(model.fits[at] - model.fits[at - 1]) < 1e-4, at + 1 == model.fits.size()) << at;
}

TEST(CpAls, TakesMoreOuterProductsThanTheTensorHas) {
  // The normal equations are singular: columns that depend on others get nothing.
  const Entries<double, 3> one({3, 3, 3}, {{{1, 2, 0}, -4.0}});
  const cp::Model model = cp::als(assemble<CSF<3>>(one), {.rank = 5, .iterations = 10, .tolerance = 1e-9});
  EXPECT_GT(model.fits.back(), 0.9999);
  for (const double weight : model.lambda) EXPECT_TRUE(std::isfinite(weight));
  EXPECT_NEAR(plain_fit(assemble<CSF<3>>(one), model), 1, fit_rounding);
}

TEST(CpAls, RefusesRanksAndIterationsBelowOne) {
  const auto X = tensor_of_rank<3>(1, {3, 3, 3}, 1);
  EXPECT_THROW(cp::als(X, {.rank = 0}), ShapeError);
  EXPECT_THROW(cp::als(X, {.iterations = 0}), ShapeError);
}

TEST(CpAls, TellsTheIterationsAsTheyCome) {
  std::vector<double> told;
  const cp::Model model =
      cp::als(tensor_of_rank<3>(2, {5, 6, 7}, 1), {.rank = 2, .iterations = 8, .tolerance = 0},
              [&](int iteration, double fit) {
                told.push_back(fit);
                EXPECT_EQ(iteration, std::ssize(told));
              });
  EXPECT_EQ(told, model.fits);
}

TEST(CpAls, FindsTheThreeAminoAcids) {
  const auto X = read<CSF<3>>(sporos_test::example_data("aminoacid.tns.gz"), {.progress = false});
  const cp::Model model = cp::als(X, {.rank = 3, .iterations = 200, .tolerance = 1e-6});
  EXPECT_TRUE(model.converged);
  EXPECT_GT(model.fits.back(), 0.97);
  EXPECT_NEAR(plain_fit(X, model), model.fits.back(), fit_rounding);
  expect_never_decreases(model);
  // Samples 0 to 2 are of one amino acid each.
  std::vector<std::int64_t> found;
  for (std::int64_t sample = 0; sample < 3; ++sample) {
    std::int64_t most = 0;
    double sum = 0;
    for (std::int64_t r = 0; r < 3; ++r) {
      sum += std::abs(at(model.factors[0], {sample, r}));
      if (std::abs(at(model.factors[0], {sample, r})) > std::abs(at(model.factors[0], {sample, most})))
        most = r;
    }
    EXPECT_GT(std::abs(at(model.factors[0], {sample, most})), 0.9 * sum) << sample;
    found.push_back(most);
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(CpAls, SolvesForRowsExactly) {
  // V = L L^T of L = (2 0 0; 1 3 0; -1 2 1); A V = B has the solution that B was made of.
  const std::vector<double> V = {4, 2, -2, 2, 10, 5, -2, 5, 6};
  const double rows[2][3] = {{1, -2, 3}, {0.5, 0, -1}};
  const cp::Matrix A({2, 3}), B({2, 3});
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t s = 0; s < 3; ++s)
      for (std::size_t r = 0; r < 3; ++r) B.values()(i * 3 + s) += rows[i][r] * V[r * 3 + s];
  cp::solve(A, B, V);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t r = 0; r < 3; ++r) EXPECT_NEAR(A.values()(i * 3 + r), rows[i][r], 1e-13);
}

TEST(CpAls, SolvesSingularEquationsThatHaveASolution) {
  // The second row and column of V are twice the first: x = (1, 2) V = (5, 10) has many solutions.
  const std::vector<double> V = {1, 2, 2, 4};
  const cp::Matrix A({1, 2}), B({1, 2});
  B.values()(0) = 5;
  B.values()(1) = 10;
  cp::solve(A, B, V);
  EXPECT_NEAR(A.values()(0) * V[0] + A.values()(1) * V[2], 5, 1e-13);
  EXPECT_NEAR(A.values()(0) * V[1] + A.values()(1) * V[3], 10, 1e-13);
}

}  // namespace
