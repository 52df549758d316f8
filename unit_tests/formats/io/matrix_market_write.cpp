// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market_write.cpp
/// Writing Matrix Market files: the text itself, exact round trips of every type, symmetries that are
/// checked.
#include "files.hpp"

#include <cmath>
#include <random>
#include <sporos/formats/io/matrix_market.hpp>

namespace {
namespace matrix_market_write_tests {

using namespace sporos;
using namespace sporos_test;
using sporos::half;  // CUDA has one as well
using Complex = Kokkos::complex<double>;
using enum MatrixMarketSymmetry;
using Options = MatrixMarketWriteOptions;

template <class Value>
std::string written(const Entries<Value, 2>& entries, const Options& options = {}) {
  const Folder folder;
  write_matrix_market(folder.file("a.mtx"), entries, options);
  return content(folder.file("a.mtx"));
}

TEST(MatrixMarketWrite, WritesOneEntryALine) {
  const Entries<double, 2> entries({3, 4}, {{{2, 1}, 5.0}, {{0, 3}, -0.1}, {{2, 1}, 1e-300}});
  EXPECT_EQ(
      written(entries, {.comment = "two\nlines"}),
      "%%MatrixMarket matrix coordinate real general\n%two\n%lines\n3 4 3\n3 2 5\n1 4 -0.1\n3 2 1e-300\n");
}

TEST(MatrixMarketWrite, NamesTheFieldThatTheTypeCallsFor) {
  EXPECT_EQ(written(Entries<int, 2>({1, 1}, {{{0, 0}, -7}})),
            "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -7\n");
  EXPECT_EQ(written(Entries<Complex, 2>({1, 1}, {{{0, 0}, Complex(0.5, -1)}})),
            "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0.5 -1\n");
  EXPECT_EQ(written(Entries<bool, 2>({1, 1}, {{{0, 0}, true}})),
            "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n");
  EXPECT_EQ(written(Entries<bool, 2>({1, 2}, {{{0, 0}, true}, {{0, 1}, false}})),
            "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 1\n1 2 0\n");
}

TEST(MatrixMarketWrite, WritesTheFieldThatIsAskedFor) {
  const Entries<double, 2> entries({1, 2}, {{{0, 0}, 3.0}, {{0, 1}, 1e15}});
  EXPECT_EQ(written(entries, {.field = MatrixMarketField::integer}),
            "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 3\n1 2 1000000000000000\n");
  EXPECT_EQ(written(entries, {.field = MatrixMarketField::pattern}),
            "%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 1\n1 2\n");
  EXPECT_EQ(written(entries, {.field = MatrixMarketField::complex}),
            "%%MatrixMarket matrix coordinate complex general\n1 2 2\n1 1 3 0\n1 2 1e+15 0\n");
}

TEST(MatrixMarketWrite, WritesOneTriangleOfASymmetricMatrix) {
  const Entries<double, 2> entries({2, 2}, {{{0, 1}, 5.0}, {{1, 1}, 2.0}, {{1, 0}, 5.0}});
  EXPECT_EQ(written(entries, {.symmetry = symmetric}),
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 2 2\n2 1 5\n");
  const Entries<double, 2> triangle({2, 2}, {{{1, 1}, 2.0}, {{1, 0}, 5.0}});
  EXPECT_EQ(written(triangle, {.symmetry = symmetric, .expanded_symmetry = false}),
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 2 2\n2 1 5\n");
}

TEST(MatrixMarketWrite, WritesAnArrayWithZerosWhereNoEntryIs) {
  const Entries<double, 2> entries({2, 2}, {{{0, 1}, 5.0}, {{1, 0}, 2.0}});
  EXPECT_EQ(written(entries, {.layout = MatrixMarketLayout::array}),
            "%%MatrixMarket matrix array real general\n2 2\n0\n2\n5\n0\n");
  const Entries<double, 2> skew({3, 3}, {{{2, 1}, 5.0}, {{1, 2}, -5.0}});
  EXPECT_EQ(written(skew, {.layout = MatrixMarketLayout::array, .symmetry = skew_symmetric}),
            "%%MatrixMarket matrix array real skew-symmetric\n3 3\n0\n0\n5\n");
}

template <class Value>
void expect_refusal(const Entries<Value, 2>& entries, const Options& options, const std::string& reason) {
  const Folder folder;
  try {
    write_matrix_market(folder.file("a.mtx"), entries, options);
    ADD_FAILURE() << "no error, expected: " << reason;
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(MatrixMarketWrite, RefusesEntriesThatAreNotSymmetric) {
  using E = Entries<double, 2>;
  const Options options{.symmetry = symmetric};
  expect_refusal(E({2, 3}, {}), options, "2 x 3 is not square");
  expect_refusal(E({2, 2}, {{{0, 1}, 1.0}}), options, "entry (1, 2) has no mirror image");
  expect_refusal(E({2, 2}, {{{1, 0}, 1.0}}), options, "entry (2, 1) has no mirror image");
  expect_refusal(E({3, 3}, {{{1, 0}, 1.0}, {{0, 2}, 1.0}}), options, "entry (2, 1) has no mirror image");
  expect_refusal(E({2, 2}, {{{1, 0}, 1.0}, {{0, 1}, 1.5}}), options,
                 "entry (2, 1) is 1, its mirror image 1.5");
  expect_refusal(E({2, 2}, {{{1, 0}, 1.0}, {{0, 1}, 1.0}, {{0, 1}, 0.0}}), options, "has no mirror image");
  expect_refusal(E({2, 2}, {{{0, 1}, 1.0}}), {.symmetry = symmetric, .expanded_symmetry = false},
                 "entry (1, 2) lies above the diagonal");
  expect_refusal(E({2, 2}, {{{1, 0}, 1.0}, {{0, 1}, 1.0}}), {.symmetry = skew_symmetric},
                 "its mirror image 1,");
  expect_refusal(E({2, 2}, {{{1, 1}, 1.0}}), {.symmetry = skew_symmetric},
                 "entry (2, 2) lies on the diagonal");
  expect_refusal(Entries<Complex, 2>({1, 1}, {{{0, 0}, Complex(1, 1)}}), {.symmetry = hermitian},
                 "is not real");
  expect_refusal(Entries<Complex, 2>({2, 2}, {{{1, 0}, Complex(1, 1)}, {{0, 1}, Complex(1, 1)}}),
                 {.symmetry = hermitian}, "its mirror image 1 1");
}

TEST(MatrixMarketWrite, RefusesFieldsThatTheValuesDoNotFit) {
  const Entries<double, 2> entries({1, 1}, {{{0, 0}, 0.5}});
  expect_refusal(entries, {.field = MatrixMarketField::integer},
                 "the value 0.5 of entry 0 is not an integer");
  expect_refusal(Entries<double, 2>({1, 1}, {{{0, 0}, 1e19}}), {.field = MatrixMarketField::integer},
                 "is not an integer");
  expect_refusal(Entries<double, 2>({1, 1}, {{{0, 0}, NAN}}), {.field = MatrixMarketField::integer},
                 "is not an integer");
  expect_refusal(Entries<Complex, 2>({1, 1}, {{{0, 0}, Complex(1)}}), {.field = MatrixMarketField::real},
                 "complex values cannot be written as 'real'");
  expect_refusal(entries, {.symmetry = hermitian}, "'real hermitian' is not");
  expect_refusal(entries, {.layout = MatrixMarketLayout::array, .field = MatrixMarketField::pattern},
                 "'array pattern' is not");
}

TEST(MatrixMarketWrite, RefusesArraysWithTwoValuesAtOnePlaceOrTooMany) {
  expect_refusal(Entries<double, 2>({1, 1}, {{{0, 0}, 1.0}, {{0, 0}, 1.0}}),
                 {.layout = MatrixMarketLayout::array}, "entry (1, 1) occurs twice");
  expect_refusal(Entries<double, 2>({std::int64_t{1} << 40, std::int64_t{1} << 40}, {}),
                 {.layout = MatrixMarketLayout::array}, "has more values than 64 bits count");
}

/// Random entries, duplicates among them, of random bits where the type is a float.
template <class Value>
Entries<Value, 2> scattered_entries(std::int64_t count, const Extents<2>& extents) {
  std::mt19937_64 random(11);
  Entries<Value, 2> entries(extents, count);
  const auto scalar = [&]<class Scalar>(Scalar) {
    if constexpr (std::is_floating_point_v<Scalar>)
      return std::ldexp(static_cast<Scalar>(random()), static_cast<int>(random() % 100) - 90);
    else if constexpr (is_narrow_float_v<Scalar>)
      return Scalar(static_cast<float>(random() % 100'000) * 1e-3f);
    else if constexpr (std::same_as<Scalar, bool>)
      return random() % 2 == 0;
    else
      return static_cast<Scalar>(random());
  };
  for (std::int64_t q = 0; q < count; ++q) {
    const Extents<2> at = {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extents[0])),
                           static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extents[1]))};
    if constexpr (is_complex_v<Value>) {
      using Real = typename Value::value_type;
      const Real real = scalar(Real()), imaginary = scalar(Real());
      entries.set(q, at, Value(real, imaginary));
    } else {
      entries.set(q, at, scalar(Value()));
    }
  }
  return entries;
}

template <class Value>
class MatrixMarketRoundTrip : public testing::Test {};
using Types = testing::Types<double, float, half, bfloat16, bool, std::int8_t, std::uint16_t, std::int32_t,
                             std::uint32_t, std::int64_t, std::uint64_t, Complex, Kokkos::complex<float>,
                             std::complex<double>>;
TYPED_TEST_SUITE(MatrixMarketRoundTrip, Types);

TYPED_TEST(MatrixMarketRoundTrip, GivesTheSameBits) {
  const Folder folder;
  for (const std::string name : {"a.mtx", "a.mtx.gz"})
    for (const std::int64_t count : {0, 1, 1000}) {
      const auto entries = scattered_entries<TypeParam>(count, {std::int64_t{1} << 33, 70});
      write_matrix_market(folder.file(name), entries);
      EXPECT_TRUE(identical(read_matrix_market_entries<TypeParam>(folder.file(name)), entries))
          << name << ' ' << count;
    }
}

TEST(MatrixMarketWrite, GivesTheSameTextWithAnyNumberOfThreads) {
  const auto entries = scattered_entries<double>(100'000, {1000, 1000});
  const std::string one = written(entries, {.threads = 1});
  for (const int threads : {2, 4}) EXPECT_EQ(written(entries, {.threads = threads}), one);
}

/// Both triangles of random entries, in a random order of their own.
template <class Value>
Entries<Value, 2> mirror(const Entries<Value, 2>& half, MatrixMarketSymmetry symmetry) {
  Entries<Value, 2> all(half.extents, 2 * half.size());
  std::int64_t count = 0;
  for (std::int64_t q = 0; q < half.size(); ++q) {
    auto [i, j] = half.coordinate(q);
    if (i == j) continue;
    if (i < j) std::swap(i, j);
    const Value x = half.values(static_cast<std::size_t>(q));
    all.set(count++, {i, j}, x);
    all.set(count++, {j, i}, io::mirrored(x, symmetry));
  }
  Entries<Value, 2> used(half.extents, count);
  for (std::int64_t q = 0; q < count; ++q)
    used.set(q, all.coordinate(q), all.values(static_cast<std::size_t>(q)));
  return used;
}

TEST(MatrixMarketWrite, RoundTripsSymmetricMatricesInBothLayouts) {
  const Folder folder;
  const std::string path = folder.file("a.mtx");
  for (const auto symmetry : {symmetric, skew_symmetric}) {
    const auto entries = mirror(scattered_entries<double>(300, {90, 90}), symmetry);
    write_matrix_market(path, entries, {.symmetry = symmetry});
    EXPECT_EQ(read_matrix_market_header(path).symmetry, symmetry);
    EXPECT_TRUE(identical(read_matrix_market_entries<double>(path), entries));
  }
  const auto entries = mirror(scattered_entries<Complex>(300, {90, 90}), hermitian);
  write_matrix_market(path, entries, {.symmetry = hermitian});
  EXPECT_TRUE(identical(read_matrix_market_entries<Complex>(path), entries));
}

TEST(MatrixMarketWrite, RoundTripsArraysOfEverySymmetry) {
  const Folder folder;
  const std::string path = folder.file("a.mtx"), again = folder.file("b.mtx");
  for (const std::string banner :
       {"real general", "real symmetric", "real skew-symmetric", "complex hermitian"}) {
    const bool skew = banner.find("skew") != std::string::npos,
               is_general = banner.find("general") != std::string::npos;
    const bool is_complex = banner.starts_with("complex");
    const int n = 7, count = is_general ? 49 : skew ? 21 : 28;
    std::string text = "%%MatrixMarket matrix array " + banner + "\n7 7\n";
    int row = 0, column = 0;
    for (int k = 0; k < count; ++k) {
      text += std::to_string(k + 1);
      if (is_complex) text += row == column ? " 0" : " 2.5";
      if (++row == n) row = ++column;
      text += '\n';
    }
    std::ofstream(path) << text;
    const auto header = read_matrix_market_header(path);
    const auto entries = read_matrix_market_entries<Complex>(path);
    write_matrix_market(again, entries, {.layout = MatrixMarketLayout::array, .symmetry = header.symmetry});
    EXPECT_TRUE(identical(read_matrix_market_entries<Complex>(again), entries)) << banner;
  }
}

}  // namespace matrix_market_write_tests
}  // namespace
