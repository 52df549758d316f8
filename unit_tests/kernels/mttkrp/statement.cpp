// SPDX-License-Identifier: Apache-2.0
/// @file statement.cpp
/// Which statements the product over compressed fibers takes from the loop nest, and that it computes what
/// the nest and a loop over all entries do.
#include "fiber_products.hpp"

namespace sporos::test {
namespace {

// Every width of a block of columns, alone and behind others.
TEST(MttkrpOverFibers, IsTheSumOverEntriesForAnyNumberOfColumns) {
  const auto entries = some_entries<double, 3>({11, 13, 17}, 300, 1);
  for (const std::int64_t columns : {0, 1, 2, 3, 7, 8, 16, 31, 64, 127, 130})
    compare_all<CSF<3>, OpenMP, true>(entries, columns);
}
#ifdef KOKKOS_ENABLE_SERIAL
TEST(MttkrpOverFibers, IsTheSumOverEntriesOnOneThread) {
  compare_all<CSF<3>, Serial>(some_entries<double, 3>({11, 13, 17}, 300, 8), 17);
}
#endif
TEST(MttkrpOverFibers, IsZeroWithoutEntries) {
  compare_all<CSF<3>, OpenMP, true>(Entries<double, 3>({4, 5, 6}, 0), 5);
  compare_all<CSF<3>, OpenMP, true>(Entries<double, 3>({0, 5, 6}, 0), 5);
}
// So many entries that several parts are made: of many root nodes, of few, and of one that all of them cut.
TEST(MttkrpOverFibers, IsTheSumOverEntriesOfManyParts) {
  compare_all<CSF<3>, OpenMP, true>(some_entries<double, 3>({500, 60, 70}, 60'000, 9), 5);
  compare_all<CSF<3>, OpenMP, true>(some_entries<double, 3>({3, 300, 200}, 100'000, 10), 5);
  compare_all<CSF<3>, OpenMP, true>(some_entries<double, 3>({1, 400, 300}, 90'000, 11), 5);
}

// Values whose sums depend on their order.
TEST(MttkrpOverFibers, IsTheSameForAnyNumberOfThreadsBitByBit) {
  auto entries = some_entries<double, 3>({3, 300, 200}, 100'000, 12);
  std::mt19937_64 draw(13);
  const auto part = [&] { return static_cast<double>(draw() >> 11) * 0x1p-53; };
  for (std::size_t at = 0; at < entries.values.extent(0); ++at) entries.values(at) = part();
  const auto t = assemble<CSF<3>>(entries);
  std::array<Tensor<double, DenseMatrix<>>, 3> u;
  for (std::size_t mode = 0; mode < 3; ++mode) {
    u[mode] = Tensor<double, DenseMatrix<>>({entries.extents[mode], 11});
    for (std::size_t at = 0; at < u[mode].values().extent(0); ++at) u[mode].values()(at) = part();
  }
  const Tensor<double, DenseMatrix<>> M({3, 11}), again({3, 11});
  product_of<0>(M, t, u).deterministic().run();
  product_of<0>(again, t, u).run();
  EXPECT_TRUE(same_bytes(M, again));
#ifdef KOKKOS_ENABLE_SERIAL
  const auto in_serial = [](const auto& x) { return x.template copy_to<Serial>(); };
  const std::array v{in_serial(u[0]), in_serial(u[1]), in_serial(u[2])};
  const Tensor<double, DenseMatrix<>, Serial> alone({3, 11});
  product_of<0>(alone, in_serial(t), v).run();
  EXPECT_EQ(std::memcmp(alone.values().data(), M.values().data(), 33 * sizeof(double)), 0);
#endif
}

class MttkrpStatements : public testing::Test {
 protected:
  const Tensor<double, CSF<3>> T{{4, 5, 6}};
  const Tensor<double, DenseMatrix<>> A{{4, 3}}, B{{5, 3}}, C{{6, 3}};
};

TEST_F(MttkrpStatements, AreTakenInAnyOrderOfTheirFactors) {
  EXPECT_EQ(kernel_of(assign(A(i, r), T(i, k, l) * B(k, r) * C(l, r))), outermost);
  EXPECT_EQ(kernel_of(assign(A(i, r), C(l, r) * (B(k, r) * T(i, k, l)))), outermost);
  EXPECT_EQ(kernel_of(assign(A(j, s), T(j, p, q) * C(q, s) * B(p, s))), outermost);
  EXPECT_EQ(kernel_of(assign(B(k, r), T(i, k, l) * A(i, r) * C(l, r))), inner);
}

TEST_F(MttkrpStatements, OfOtherKindsAreLeftToTheNest) {
  const auto nest = [](const auto& statement) { return kernel_of(statement) == ""; };
  const auto statement = assign(A(i, r), T(i, k, l) * B(k, r) * C(l, r));
  EXPECT_TRUE(nest(statement.generic()));
  EXPECT_TRUE(nest(statement.reorder(i, k, r, l)));
  EXPECT_TRUE(nest(statement.over(MinPlus{})));
  EXPECT_TRUE(nest(assign(B(k, r), T(i, k, l) * A(i, r) * C(l, r)).deterministic()));
  EXPECT_TRUE(nest(assign(A(i, r), 2.0 * T(i, k, l) * B(k, r) * C(l, r))));
  EXPECT_TRUE(nest(assign(A(i, r), T(i, k, l) * B(k, r))));
  EXPECT_TRUE(nest(assign(A(i, r), T(i, k, l) * B(k, r) * C(l, s))));
  EXPECT_TRUE(nest(assign(A(i, r), T(i, k, l) * B(k, r) * B(k, r))));
  const Tensor<double, DenseMatrix<ColumnMajor>> turned({5, 3});
  EXPECT_TRUE(nest(assign(A(i, r), T(i, k, l) * turned(k, r) * C(l, r))));
  const Tensor<float, DenseMatrix<>> narrow({5, 3});
  EXPECT_TRUE(nest(assign(A(i, r), T(i, k, l) * narrow(k, r) * C(l, r))));
  const Tensor<double, COO<3>> list({4, 5, 6});
  EXPECT_TRUE(nest(assign(A(i, r), list(i, k, l) * B(k, r) * C(l, r))));
  const Tensor<double, CSR<>> sparse({4, 3});
  EXPECT_TRUE(nest(assign(sparse(i, r), T(i, k, l) * B(k, r) * C(l, r))));
}

TEST(MttkrpOverFibers, MayReadTheResultThatItReplaces) {
  const auto entries = some_entries<double, 3>({6, 6, 7}, 90, 14);
  const auto t = assemble<CSF<3>>(entries);
  const auto M = some_rows<double, Host>(6, 4, 15);
  const std::array u{M.clone(), M.clone(), some_rows<double, Host>(7, 4, 16)};
  M(i, r) = t(i, k, l) * M(k, r) * u[2](l, r);
  const auto expected = by_entries(entries, u, 0, 4);
  for (std::size_t at = 0; at < expected.values().extent(0); ++at)
    EXPECT_EQ(M.values()(at), expected.values()(at));
}

TEST_F(MttkrpStatements, AreRefusedByTheNameOfTheirVariable) {
  std::string message;
  try {
    A(i, r) = T(i, k, l) * C(k, r) * C(l, r);
  } catch (const ShapeError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("index k"), std::string::npos) << message;
}

TEST_F(MttkrpStatements, AreExplainedWithTheKernelThatRunsThem) {
  EXPECT_NE(explain(assign(A(i, r), T(i, k, l) * B(k, r) * C(l, r)))
                .find("run by MTTKRP of the outermost mode, in place of these loops"),
            std::string::npos);
}

}  // namespace
}  // namespace sporos::test
