// SPDX-License-Identifier: Apache-2.0
/// @file spgemm.cpp
/// The product of sparse matrices by rows equals the dense one, whatever its rows are like, in Serial and,
/// bit by bit the same, in OpenMP. This program runs with 1, 2 and 4 threads.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sparse_products.hpp"

namespace sporos::test {
namespace {

using Matrix = Tensor<double, CSR<>>;
using Offsets = std::vector<std::int64_t>;

/// A grid of n x n points or n x n x n, each beside its neighbours.
Offsets grid(std::int64_t n, bool corners) {
  if (!corners) return {-n * n, -n, -1, 0, 1, n, n * n};
  Offsets out;
  for (std::int64_t z = -1; z <= 1; ++z)
    for (std::int64_t y = -1; y <= 1; ++y)
      for (std::int64_t x = -1; x <= 1; ++x) out.push_back((z * n + y) * n + x);
  return out;
}

/// As `of`, but that every `period`-th row has one column fewer: runs of similar rows end there.
Pattern interrupted(Pattern of, std::size_t period) {
  for (std::size_t row = period - 1; row < of.rows.size(); row += period)
    if (!of.rows[row].empty()) of.rows[row].pop_back();
  return of;
}

/// Members of groups: rows that name stretches of 900 members, and the 1 to 4 groups that each member is in,
/// mostly those of the next.
Factors members_of(std::string name, std::int64_t groups) {
  return {std::move(name),
          [] {
            return pattern(70, 900, [](auto r, auto& s) {
              for (std::int64_t t = r * 5; t < r * 5 + 9 * (r % 17) && t < 900; ++t)
                if (r % 3 > 0 || t % 7 > 0) s.insert(t);
              if (r == 40) s.insert({0, 1, 897, 898, 899});
            });
          },
          [groups] {
            return pattern(900, 400, [groups](auto r, auto& s) {
              for (std::int64_t g = 0; g < groups; ++g) s.insert(g * 100 + r / (g % 2 ? 11 : 31));
            });
          }};
}

const std::vector<Factors>& kinds() {
  static const std::vector<Factors> all{
      {"one_entry_a_row", [] { return scattered(700, 500, 1, 1); },
       [] { return scattered(500, 900, 30, 2); }},
      {"few_products_of_short_rows", [] { return scattered(900, 800, 3, 3); },
       [] { return scattered(800, 850, 3, 4); }},
      {"few_products_of_a_long_row_and_a_short_one",
       [] { return pattern(500, 400, [](auto r, auto& s) { s = {r * 7 % 200, 200 + r * 3 % 200}; }); },
       [] {
         return pattern(400, 300, [](auto r, auto& s) {
           for (int t = 0; t < (r < 200 ? 6 : 2); ++t) s.insert((r * 11 + t * 37) % 300);
         });
       }},
      {"up_to_eight_products_in_few_columns",
       [] {
         return pattern(900, 600, [](auto r, auto& s) {
           for (int t = 0; t < r % 9; ++t) s.insert((r * 13 + t * 67) % 600);
         });
       },
       [] {
         return pattern(600, 5, [](auto r, auto& s) {
           if (r % 4 > 0) s = {r % 5};
         });
       }},
      {"few_products_and_many_in_some_rows",
       [] {
         return pattern(900, 600, [](auto r, auto& s) {
           for (int t = 0; t < r % 5; ++t) s.insert((r * 7 + t * 41) % 600);
         });
       },
       [] {
         return pattern(600, 300, [](auto r, auto& s) {
           for (int t = 0; t < (r % 7 == 0 ? 9 : 1); ++t) s.insert((r * 11 + t * 29) % 300);
         });
       }},
      {"few_products_at_the_end_of_the_operand",
       [] { return pattern(40, 40, [](auto, auto& s) { s = {36, 37, 38, 39}; }); },
       [] { return diagonals(40, 60, {0, 20}); }},
      {"rows_longer_than_places_can_number",
       [] { return pattern(5, 6, [](auto r, auto& s) { s = {r, 5}; }); },
       [] {
         return pattern(6, 70'000, [](auto r, auto& s) {
           if (r < 5)
             s = {r};
           else
             for (int c = 0; c < 70'000; ++c) s.insert(s.end(), c);
         });
       }},
      {"rows_alike", [] { return repeated(600, 300, 9, 11, 5); }, [] { return scattered(300, 700, 12, 6); }},
      {"rows_alike_in_both", [] { return repeated(620, 420, 14, 9, 7); },
       [] { return repeated(420, 380, 10, 6, 8); }},
      {"rows_of_the_right_alike_and_named_in_turn",
       [] {
         return pattern(400, 240, [](auto r, auto& s) {
           for (auto t = r % 40; t < r % 40 + 9; ++t)
             s.insert(t * 5 % 240), s.insert(t * 5 % 240 + 1), s.insert(t);
         });
       },
       [] { return repeated(240, 300, 20, 5, 9); }},
      members_of("groups_of_members", 1),
      members_of("two_groups_of_members", 2),
      members_of("three_groups_of_members", 3),
      members_of("four_groups_of_members", 4),
      {"rows_alike_over_a_wide_window", [] { return repeated(30, 60, 12, 8, 10); },
       [] { return scattered(60, 40000, 25, 11); }},
      {"three_diagonals", [] { return diagonals(5000, 5000, {-1, 0, 1}); },
       [] { return diagonals(5000, 5000, {-1, 0, 1}); }},
      {"diagonals_of_other_extents", [] { return diagonals(700, 900, {0, 3, 50, 51}); },
       [] { return diagonals(900, 650, {-200, -3, 0, 7}); }},
      {"a_grid_of_seven_points", [] { return diagonals(12 * 12 * 12, 12 * 12 * 12, grid(12, false)); },
       [] { return diagonals(12 * 12 * 12, 12 * 12 * 12, grid(12, false)); }},
      {"a_grid_of_27_points", [] { return diagonals(1000, 1000, grid(10, true)); },
       [] { return diagonals(1000, 1000, grid(10, true)); }},
      {"interrupted_diagonals", [] { return interrupted(diagonals(3000, 3000, {-40, -1, 0, 2, 41}), 13); },
       [] { return interrupted(diagonals(3000, 3000, {-40, -1, 0, 2, 41}), 29); }},
      {"interrupted_diagonals_of_many_columns",
       [] { return interrupted(diagonals(900, 1100, grid(9, true)), 22); },
       [] { return interrupted(diagonals(1100, 1000, grid(9, true)), 17); }},
      {"diagonals_with_too_many_products",
       [] {
         return pattern(300, 300, [](auto r, auto& s) {
           for (int k = 0; k < 60; ++k) s.insert(r + 2 * k - 50);
         });
       },
       [] {
         return pattern(300, 300, [](auto r, auto& s) {
           for (int k = 0; k < 60; ++k) s.insert(r + 3 * k - 90);
         });
       }},
      {"diagonals_of_the_left_alone", [] { return diagonals(800, 800, {-2, 0, 5}); },
       [] { return scattered(800, 800, 7, 12); }},
      {"a_narrow_crowded_window", [] { return scattered(300, 200, 40, 13); },
       [] { return scattered(200, 150, 60, 14); }},
      {"a_window_of_a_few_in_every_word", [] { return scattered(300, 500, 8, 15); },
       [] { return scattered(500, 3000, 10, 16); }},
      {"medium_rows_over_groups_of_columns", [] { return scattered(700, 600, 4, 41); },
       [] { return scattered(600, 9000, 4, 42); }},
      {"medium_rows_some_of_them_alike", [] { return repeated(600, 500, 4, 3, 43); },
       [] { return scattered(500, 700, 4, 44); }},
      {"a_wide_sparse_window", [] { return scattered(200, 400, 4, 17); },
       [] { return scattered(400, 90000, 6, 18); }},
      {"very_long_rows_beside_empty_ones",
       [] {
         return pattern(300, 500, [](auto r, auto& s) {
           for (int k = 0; k < (r % 100 == 7 ? 500 : r % 3); ++k) s.insert((r * 13 + k) % 500);
         });
       },
       [] {
         return pattern(500, 2000, [](auto r, auto& s) {
           for (int k = 0; k < (r % 90 == 3 ? 2000 : r % 4); ++k) s.insert((r * 17 + k) % 2000);
         });
       }},
      {"all_of_both", [] { return scattered(150, 70, 2000, 19); },
       [] { return scattered(70, 200, 4000, 20); }},
      {"a_result_larger_than_the_caches", [] { return scattered(3000, 40, 3, 21); },
       [] { return scattered(40, 1000, 1200, 22); }},
      {"one_row", [] { return scattered(1, 300, 60, 23); }, [] { return scattered(300, 400, 9, 24); }},
      {"one_column", [] { return scattered(300, 200, 9, 25); }, [] { return scattered(200, 1, 1, 26); }},
      {"an_outer_product", [] { return scattered(200, 1, 1, 27); }, [] { return scattered(1, 300, 90, 28); }},
      {"extents_1", [] { return scattered(1, 1, 1, 29); }, [] { return scattered(1, 1, 1, 30); }},
      {"an_empty_left", [] { return scattered(20, 30, 0, 31); }, [] { return scattered(30, 40, 5, 32); }},
      {"an_empty_right", [] { return scattered(20, 30, 5, 33); }, [] { return scattered(30, 40, 0, 34); }},
      {"patterns_that_never_meet", [] { return pattern(50, 60, [](auto r, auto& s) { s = {r % 30}; }); },
       [] {
         return pattern(60, 70, [](auto r, auto& s) {
           if (r >= 30) s = {r, r + 1};
         });
       }},
      {"no_rows", [] { return Pattern{30, {}}; }, [] { return scattered(30, 40, 5, 35); }},
      {"no_columns", [] { return scattered(20, 30, 5, 36); },
       [] { return pattern(30, 0, [](auto, auto&) {}); }},
      {"no_inner_extent", [] { return pattern(20, 0, [](auto, auto&) {}); }, [] { return Pattern{40, {}}; }},
  };
  return all;
}

/// The product of two operands of type M in index types of Matrix.
template <class M, class Operand = std::remove_const_t<M>>
using ByRows = sporos::detail::ProductByRows<double, Operand, Operand, double, std::int64_t, std::int32_t>;

/// A matrix of a product's own arrays.
template <class Arrays>
Matrix matrix_of(std::int64_t rows, std::int64_t columns, const Arrays& arrays) {
  const Matrix out({rows, columns});
  auto levels = out.levels();
  std::get<1>(levels).positions = arrays.positions;
  std::get<1>(levels).coordinates = arrays.coordinates;
  out.replace(out.extents(), levels, arrays.values);
  return out;
}

class RowsOfProducts : public testing::TestWithParam<std::size_t> {
 protected:
  const Factors& factors() const { return kinds()[GetParam()]; }
};

TEST_P(RowsOfProducts, AreThoseOfTheDenseProduct) {
  const auto B = matrix<double>(factors().left(), small_value<double>, 1);
  const auto C = matrix<double>(factors().right(), small_value<double>, 2);
  const Matrix A({B.extent(0), C.extent(1)});
  spgemm(A, B, C);
  EXPECT_EQ(wrong(A, B, C), "");
  spgemm(A, B, C);  // with workspaces that were used before
  EXPECT_EQ(wrong(A, B, C), "");
}

TEST_P(RowsOfProducts, AreTheSameForAnyNumberOfThreads) {
  const auto B = matrix<double>(factors().left(), real_value, 1);
  const auto C = matrix<double>(factors().right(), real_value, 2);
  const Tensor<double, CSR<>, Serial> serial({B.extent(0), C.extent(1)});
  const Tensor<double, CSR<>, OpenMP> parallel({B.extent(0), C.extent(1)});
  spgemm(serial, B, C);
  spgemm(parallel, B, C);
  EXPECT_TRUE(same_bytes(serial, parallel));
}

TEST_P(RowsOfProducts, AreTheSameInOnePassAndInTwo) {
  const auto B = matrix<double>(factors().left(), real_value, 1);
  const auto C = matrix<double>(factors().right(), real_value, 2);
  const auto left = sporos::detail::sparse_rows(B), right = sporos::detail::sparse_rows(C);
  const Matrix once({B.extent(0), C.extent(1)});
  spgemm(once, B, C);
  const auto in_two_passes = [&]<class Space>(const Space& space) {
    ByRows<decltype(left)> product(space, left, right, 0);
    product.prepare();
    return matrix_of(once.extent(0), once.extent(1), product.compute());
  };
  EXPECT_TRUE(same_bytes(once, in_two_passes(OpenMP())));
  EXPECT_TRUE(same_bytes(once, in_two_passes(Serial())));
}

TEST_P(RowsOfProducts, AreTheSameWhereThePatternIsKnown) {
  auto rows = [](const auto& matrix) { return sporos::detail::sparse_rows(matrix); };
  const Pattern left = factors().left(), right = factors().right();
  const auto B = matrix<double>(left, real_value, 1), C = matrix<double>(right, real_value, 2);
  const Matrix expected({B.extent(0), C.extent(1)});
  const OpenMP space;
  ByRows<decltype(rows(B))> product(space, rows(B), rows(C)), other(space, rows(B), rows(C));
  product.prepare();
  const Matrix A = matrix_of(B.extent(0), C.extent(1), product.compute());
  spgemm(expected, B, C);
  EXPECT_TRUE(same_bytes(A, expected));
  other.prepare();
  for (const unsigned seed : {3, 4}) {
    const auto D = matrix<double>(left, real_value, seed), E = matrix<double>(right, real_value, seed + 7);
    spgemm(expected, D, E);
    for (auto* by_rows :
         {&product, &other}) {  // with the workers that computed the pattern, and with new ones
      constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
      const auto refill = [&](bool as_first, std::int64_t most_for_places) {
        Kokkos::deep_copy(A.values(), 1e3);
        by_rows->refill(rows(D), rows(E), A.level<1>().positions.data(), A.level<1>().coordinates.data(),
                        A.values().data(), as_first, most_for_places);
      };
      refill(true, unlimited);
      EXPECT_TRUE(same_bytes(A, expected));
      for (const std::int64_t most_for_places : {std::int64_t{0}, std::int64_t{1}, unlimited, unlimited}) {
        refill(false, most_for_places);
        for (std::int64_t at = 0; at < A.nnz(); ++at)
          ASSERT_NEAR(A.values()(at), expected.values()(at), 1e-12) << at;
      }
    }
  }
}

/// The bytes that Kokkos has allocated since this was made, and the most that there were at once.
class Allocations {
 public:
  Allocations() {
    bytes_ = most_ = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t size) {
          most_ = std::max(most_, bytes_ += taken(size));
        });
    Kokkos::Tools::Experimental::set_deallocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t size) {
          bytes_ -= taken(size);
        });
  }
  ~Allocations() {
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
  }
  std::int64_t most() const { return most_; }

 private:
  /// Without the addresses by which the pool shifts what stands on large pages.
  static std::int64_t taken(std::uint64_t size) {
    const auto bytes = static_cast<std::int64_t>(size);
    return bytes > 2 * sporos::detail::large_page ? bytes - 2 * sporos::detail::large_page : bytes;
  }
  static inline std::int64_t bytes_ = 0, most_ = 0;
};

TEST_P(RowsOfProducts, TakeNoMoreMemoryThanTheySayBefore) {
  const auto B = matrix<double>(factors().left(), small_value<double>, 1);
  const auto C = matrix<double>(factors().right(), small_value<double>, 2);
  const auto left = sporos::detail::sparse_rows(B), right = sporos::detail::sparse_rows(C);
  const auto check = [&]<class Space>(const Space& space, std::int64_t most_reserved) {
    pool().release();
    const Allocations allocations;
    ByRows<decltype(left)> product(space, left, right, most_reserved);
    product.prepare();
    const std::int64_t most = product.most_bytes();
    const auto arrays = product.compute();
    EXPECT_LE(product.held_bytes(), most);
    for (const bool as_first : {true, false})
      product.refill(left, right, arrays.positions.data(), arrays.coordinates.data(), arrays.values.data(),
                     as_first);
    EXPECT_LE(allocations.most(), most);
    if (most_reserved > 0) {
      EXPECT_LE(most, 2 * allocations.most() + 2 * sporos::detail::large_page);
    }
    for (const std::int64_t most_for_places : {std::int64_t{1} << 10, std::int64_t{1} << 20}) {
      product.refill(left, right, arrays.positions.data(), arrays.coordinates.data(), arrays.values.data(),
                     false, most_for_places);
      EXPECT_LE(product.held_bytes(), most + most_for_places);
      EXPECT_LE(allocations.most(), most + most_for_places);
    }
  };
  check(OpenMP(), Pool::machine_bytes() / 2);
  check(Serial(), Pool::machine_bytes() / 2);
  check(OpenMP(), 0);
  check(Serial(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RowsOfProducts, testing::Range<std::size_t>(0, kinds().size()),
                         [](const auto& of) { return kinds()[of.param].name; });

TEST(Spgemm, RunsOnInstancesThatShareTheThreads) {
  if (OpenMP().concurrency() < 4) GTEST_SKIP() << "instances of two threads take four to share";
  const auto B = matrix<double>(scattered(2000, 2000, 12, 41), small_value<double>);
  const auto instances = Kokkos::Experimental::partition_space(OpenMP(), 1, 1);
  for (const auto& instance : instances) {
    const Matrix A(B.extents());
    spgemm(instance, A, B, B);
    EXPECT_EQ(wrong(A, B, B), "");
  }
}

// One thread that computes in two passes needs no room for all of the result besides the result.
TEST(Spgemm, InTwoPassesHoldsAChunkBesidesTheResult) {
  const auto B = matrix<double>(scattered(3000, 40, 3, 21), small_value<double>, 1);
  const auto C = matrix<double>(scattered(40, 1000, 1200, 22), small_value<double>, 2);
  const auto left = sporos::detail::sparse_rows(B), right = sporos::detail::sparse_rows(C);
  pool().release();
  const Allocations allocations;
  const Serial space;
  ByRows<decltype(left)> product(space, left, right, 0);
  product.prepare();
  const auto arrays = product.compute();
  const auto result = static_cast<std::int64_t>(arrays.values.extent(0) * (sizeof(double) + 4));
  EXPECT_GT(result, std::int64_t{8} << 20);
  EXPECT_LT(allocations.most(), result + (std::int64_t{2} << 20));
}

TEST(Spgemm, TakesColumnsFarBehindTheFirst) {
  const std::int64_t far = std::int64_t{1} << 28;
  const auto B = matrix<double>(scattered(50, 40, 2, 37), small_value<double>, 1);
  const Pattern near = scattered(40, 90, 3, 38);
  const auto C = matrix<double>(near, small_value<double>, 2);
  Pattern moved{far + near.columns, near.rows};
  for (auto& row : moved.rows)
    for (auto& column : row) column += far;
  const auto D = matrix<double>(moved, small_value<double>, 2);
  const Matrix A({50, C.extent(1)}), E({50, D.extent(1)});
  spgemm(A, B, C);
  spgemm(E, B, D);
  ASSERT_EQ(A.nnz(), E.nnz());
  for (std::size_t at = 0; at < static_cast<std::size_t>(A.nnz()); ++at) {
    EXPECT_EQ(A.level<1>().coordinates(at) + far, E.level<1>().coordinates(at));
    EXPECT_EQ(A.values()(at), E.values()(at));
  }
}

TEST(Spgemm, SquaresAMatrixWhoseRowsAreAlikeOrShift) {
  for (const auto& rows : {diagonals(1500, 1500, {-30, -1, 0, 1, 30}), repeated(800, 800, 10, 7, 1)}) {
    const auto B = matrix<double>(rows, small_value<double>);
    const Matrix A(B.extents());
    spgemm(A, B, B);
    EXPECT_EQ(wrong(A, B, B), "");
  }
}

TEST(Spgemm, MultipliesTwoMatricesOfOnePattern) {
  const auto B = matrix<double>(repeated(500, 500, 12, 4, 2), small_value<double>);
  const Matrix C(B.extents(), B.levels(), B.clone().values());
  for (std::size_t at = 0; at < C.values().extent(0); ++at) C.values()(at) = static_cast<double>(at % 5 + 1);
  const Matrix A(B.extents());
  spgemm(A, B, C);
  EXPECT_EQ(wrong(A, B, C), "");
}

TEST(Spgemm, ReplacesAnOperandByTheProduct) {
  const auto B = matrix<double>(scattered(90, 90, 6, 3), small_value<double>, 1);
  const auto C = matrix<double>(scattered(90, 90, 6, 4), small_value<double>, 2);
  const auto left = B.clone(), right = C.clone(), both = B.clone();
  spgemm(left, left, C);
  EXPECT_EQ(wrong(left, B, C), "");
  spgemm(right, B, right);
  EXPECT_EQ(wrong(right, B, C), "");
  const Matrix handle = both;
  spgemm(both, handle, both);
  EXPECT_EQ(wrong(handle, B, B), "");
}

TEST(Spgemm, ReplacesWhatTheResultHeld) {
  const auto B = matrix<double>(scattered(40, 40, 3, 5), small_value<double>, 1);
  const auto A = matrix<double>(scattered(40, 40, 30, 6), small_value<double>, 2);
  spgemm(A, B, B);
  EXPECT_EQ(wrong(A, B, B), "");
}

TEST(Spgemm, StoresWhatCancels) {
  const auto B = matrix<double>(pattern(1, 2, [](auto, auto& s) { s = {0, 1}; }), [](auto&) { return 1.0; });
  double sign = -1;
  const auto C =
      matrix<double>(pattern(2, 3, [](auto, auto& s) { s = {1}; }), [&](auto&) { return sign = -sign; });
  const Matrix A({1, 3});
  spgemm(A, B, C);
  ASSERT_EQ(A.nnz(), 1);
  EXPECT_EQ(A.level<1>().coordinates(0), 1);
  EXPECT_EQ(A.values()(0), 0.0);
}

TEST(Spgemm, ReadsInfinitiesAndNaNsOfNoOtherRow) {
  // Short rows are read four elements at a time, shifted rows in whole vectors: what is read too much must
  // not be seen.
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const auto& offsets : {Offsets{0}, Offsets{0, 1}, Offsets{-2, 0, 1, 4}}) {
    const auto B = matrix<double>(diagonals(64, 64, offsets), [](auto&) { return 1.0; });
    const auto C = matrix<double>(diagonals(64, 64, {-1, 0}), [](auto&) { return 1.0; });
    const auto& rows = C.level<1>().positions;
    for (auto q = rows(40); q < rows(41); ++q) C.values()(static_cast<std::size_t>(q)) = none;
    const Matrix A({64, 64});
    spgemm(A, B, C);
    for (std::size_t i = 0; i < 64; ++i) {
      const bool reads = std::count(offsets.begin(), offsets.end(), 40 - static_cast<std::int64_t>(i)) > 0;
      bool found = false;
      for (auto q = A.level<1>().positions(i); q < A.level<1>().positions(i + 1); ++q)
        found = found || std::isnan(A.values()(static_cast<std::size_t>(q)));
      EXPECT_EQ(found, reads) << "row " << i;
    }
  }
}

template <class Call>
std::string shape_error(const Call& call) {
  try {
    call();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Spgemm, RefusesExtentsThatDoNotFit) {
  const auto B = matrix<double>(scattered(20, 30, 3, 7), small_value<double>);
  const auto C = matrix<double>(scattered(30, 40, 3, 8), small_value<double>);
  const Matrix A({20, 40});
  EXPECT_THAT(shape_error([&] { spgemm(A, C, B); }), testing::HasSubstr("mode 0 of C"));
  EXPECT_THAT(shape_error([&] { spgemm(Matrix({21, 40}), B, C); }), testing::HasSubstr("21"));
  EXPECT_THAT(shape_error([&] { spgemm(Matrix({20, 41}), B, C); }), testing::HasSubstr("41"));
  EXPECT_EQ(A.nnz(), 0);
}

TEST(Spgemm, LeavesTheResultAsItWasWhereItsPositionsAreTooNarrow) {
  const auto B = matrix<double>(scattered(20, 20, 19, 9), small_value<double>);
  using Narrow = CSR<std::int8_t, std::int32_t>;
  const auto A = matrix<double, Narrow>(scattered(20, 20, 2, 10), small_value<double>);
  const auto before = A.clone();
  EXPECT_THROW(spgemm(A, B, B), RangeError);
  EXPECT_TRUE(same_bytes(A, before));
}

}  // namespace
}  // namespace sporos::test
