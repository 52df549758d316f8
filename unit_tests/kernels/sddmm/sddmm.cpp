// SPDX-License-Identifier: Apache-2.0
/// @file sddmm.cpp
/// Dot products at the nonzeros of a sparse matrix: which statements the kernel takes, and that it computes
/// what dense loops and the nest do.
#include <algorithm>

#include "../dense_products.hpp"

namespace sporos::test {
namespace {

using namespace sporos::indices;

template <class Value, class Space>
using Matrix = Tensor<Value, DenseMatrix<>, Space>;

/// What is wrong with A as B .* (C * D'), "" for nothing.
template <class TensorA, class TensorB, class C, class D>
std::string wrong_dots(const TensorA& A, const TensorB& B, const C& c, const D& d) {
  const auto& a = A.template level<1>();
  const auto& b = B.template level<1>();
  if (A.extents() != B.extents() || A.nnz() != B.nnz()) return "the shape or the number of values is another";
  const std::int64_t inner = c.extent(1);
  for (std::size_t row = 0; row < static_cast<std::size_t>(B.extent(0)); ++row) {
    if (a.positions(row + 1) != b.positions(row + 1)) return text("row ", row, " is of another length");
    for (auto q = static_cast<std::size_t>(b.positions(row));
         q < static_cast<std::size_t>(b.positions(row + 1)); ++q) {
      if (a.coordinates(q) != b.coordinates(q)) return text("row ", row, " has other columns");
      typename TensorB::value_type sum{};
      for (std::int64_t at = 0; at < inner; ++at)
        sum += c.values().data()[static_cast<std::int64_t>(row) * inner + at] *
               d.values().data()[static_cast<std::int64_t>(b.coordinates(q)) * inner + at];
      if (!(A.values()(q) == B.values()(q) * sum))
        return text("the value at (", row, ", ", +b.coordinates(q), ")");
    }
  }
  return "";
}

template <class Value, class Format, class Space>
void expect_dots(const std::vector<std::int64_t>& inners) {
  for (const auto& [name, rows] : sparse_kinds())
    for (const std::int64_t inner : inners) {
      const auto B = matrix<Value, Format, Space>(rows, small_value<Value>, 1);
      const auto C = small_dense<Value, DenseMatrix<>, Space>({B.extent(0), inner}, 2);
      const auto D = small_dense<Value, DenseMatrix<>, Space>({B.extent(1), inner}, 3);
      const Tensor<Value, Format, Space> A(B.extents()), nest(B.extents());
      EXPECT_EQ(kernel_of(assign(A(i, j), B(i, j) * C(i, k) * D(j, k))), SddmmByRows::name);
      A(i, j) = B(i, j) * C(i, k) * D(j, k);
      EXPECT_EQ(wrong_dots(A, B, C, D), "") << name << ", " << inner << " columns";
      A(i, j) = D(j, k) * (B(i, j) * C(i, k));
      EXPECT_EQ(wrong_dots(A, B, C, D), "") << name << ", " << inner << " columns, again";
      assign(nest(i, j), B(i, j) * C(i, k) * D(j, k)).generic().run();
      EXPECT_EQ(wrong_dots(nest, B, C, D), "") << name << ", " << inner << " columns, by the nest";
    }
}

TEST(DotsAtNonzeros, AreTheDenseOnesForAnyNumberOfColumns) {
  expect_dots<double, CSR<>, Serial>({1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 32, 67, 128});
  expect_dots<float, CSR<>, Serial>({1, 7, 8, 16, 17, 33, 128});
}

TEST(DotsAtNonzeros, AreTheDenseOnesForIndicesOfAnyWidth) {
  expect_dots<double, CSR<std::int32_t, std::int32_t>, OpenMP>({3, 32});
  expect_dots<float, CSR<std::int64_t, std::int64_t>, OpenMP>({16, 19});
  expect_dots<double, CSR<std::uint16_t, std::uint8_t>, Serial>({9});
}

struct Relu {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x > T(0) ? x : T(0);
  }
};
struct PlusOne {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x + T(1);
  }
};

/// Whether two matrices have one pattern and equal values; zeros may differ in their sign.
template <class T>
bool is_equal(const T& a, const T& b) {
  const auto equals = [](const auto& x, const auto& y) {
    return std::equal(x.data(), x.data() + x.size(), y.data(), y.data() + y.size());
  };
  const auto &of_a = a.template level<1>(), &of_b = b.template level<1>();
  return equals(of_a.positions, of_b.positions) && equals(of_a.coordinates, of_b.coordinates) &&
         equals(a.values(), b.values());
}

/// Statements with an epilogue, by the kernel, as plans and by the nest.
template <class Value, class Space>
void expect_epilogues() {
  for (const auto& [name, rows] : sparse_kinds()) {
    SCOPED_TRACE(name);
    const auto B = matrix<Value, CSR<>, Space>(rows, small_value<Value>, 1);
    const auto C = small_dense<Value, DenseMatrix<>, Space>({B.extent(0), 9}, 2);
    const auto D = small_dense<Value, DenseMatrix<>, Space>({B.extent(1), 9}, 3);
    const auto s = small_dense<Value, DenseVector, Space>({B.extent(0)}, 4);
    const auto t = small_dense<Value, DenseVector, Space>({B.extent(1)}, 5);
    const auto E = small_dense<Value, DenseMatrix<>, Space>(B.extents(), 6);
    const Tensor<Value, CSR<>, Space> A(B.extents()), nest(B.extents());
    const auto expect = [&](const auto& make) {
      const auto statement = make(A);
      SCOPED_TRACE(statement.str());
      EXPECT_EQ(kernel_of(statement), SddmmByRows::name);
      make(nest).generic().run();
      statement.run();
      EXPECT_TRUE(is_equal(A, nest));
      const Tensor<Value, CSR<>, Space> planned(B.extents());
      auto product = plan(make(planned));
      product.run();
      EXPECT_TRUE(is_equal(planned, nest));
      for (std::int64_t at = 0; at < B.nnz(); at += 2) B.values().data()[at] = static_cast<Value>(-3);
      Kokkos::deep_copy(planned.values(), static_cast<Value>(77));
      product.run();
      make(nest).generic().run();
      EXPECT_TRUE(is_equal(planned, nest));
    };
    expect([&](const auto& to) { return assign(to(i, j), 0.25 * B(i, j) * C(i, k) * D(j, k)); });
    expect(
        [&](const auto& to) { return assign(to(i, j), map(Relu{}, sum(k, B(i, j) * C(i, k) * D(j, k)))); });
    expect([&](const auto& to) { return assign(to(i, j), s(i) * B(i, j) * C(i, k) * D(j, k) * t(j)); });
    expect([&](const auto& to) {
      return assign(to(i, j), -map(Relu{}, 0.5 * sum(k, C(i, k) * B(i, j) * D(j, k)) * E(i, j)) * t(j));
    });
    expect([&](const auto& to) {
      return assign(to(i, j), map(where_stored(PlusOne{}), sum(k, B(i, j) * C(i, k) * D(j, k))));
    });
  }
}
TEST(DotsAtNonzeros, HaveEpilogues) {
  expect_epilogues<double, Serial>();
  expect_epilogues<float, OpenMP>();
}

/// The result of a statement may be the matrix whose pattern it has.
TEST(DotsAtNonzeros, HaveEpiloguesOverTheirPattern) {
  const auto B = matrix<double>(scattered(20, 30, 4, 1), small_value<double>, 1);
  const auto C = small_dense<double, DenseMatrix<>, Host>({20, 3}, 2);
  const auto D = small_dense<double, DenseMatrix<>, Host>({30, 3}, 3);
  const auto own = B.copy_to<Host>();
  const Tensor<double, CSR<>> nest(B.extents());
  assign(nest(i, j), 2.0 * B(i, j) * C(i, k) * D(j, k)).generic().run();
  own(i, j) = 2.0 * own(i, j) * C(i, k) * D(j, k);
  EXPECT_TRUE(is_equal(own, nest));
}

struct RefusesNegative {
  double operator()(double x) const {
    if (x < 0) throw RangeError("negative");
    return x;
  }
};
TEST(DotsAtNonzeros, KeepTheirOldValuesWhereAFunctionThrows) {
  const auto B = matrix<double>(scattered(20, 30, 4, 1), small_value<double>, 1);
  const auto C = small_dense<double, DenseMatrix<>, Host>({20, 3}, 2);
  const auto D = small_dense<double, DenseMatrix<>, Host>({30, 3}, 3);
  B.values().data()[B.nnz() - 1] = 1;
  C.values().data()[19 * 3] = -1000;
  for (std::int64_t at = 0; at < D.nnz(); ++at) D.values().data()[at] = 1;
  const auto own = B.copy_to<Host>(), before = B.copy_to<Host>();
  const auto statement = assign(own(i, j), map(RefusesNegative{}, sum(k, B(i, j) * C(i, k) * D(j, k))));
  EXPECT_EQ(kernel_of(statement), SddmmByRows::name);
  EXPECT_THROW(statement.run(), RangeError);
  EXPECT_TRUE(is_equal(own, before));
}

/// What does not keep zeros has more elements than the pattern.
TEST(DotsAtNonzeros, HaveNoEpiloguesThatDoNotKeepZeros) {
  const auto B = matrix<double>(scattered(20, 30, 4, 1), small_value<double>, 1);
  const auto C = small_dense<double, DenseMatrix<>, Host>({20, 3}, 2),
             E = small_dense<double, DenseMatrix<>, Host>({20, 30}, 4);
  const auto D = small_dense<double, DenseMatrix<>, Host>({30, 3}, 3);
  const Tensor<double, CSR<>> A(B.extents()), S = B.copy_to<Host>();
  EXPECT_NE(kernel_of(assign(A(i, j), B(i, j) * C(i, k) * D(j, k) + E(i, j))), SddmmByRows::name);
  EXPECT_NE(kernel_of(assign(A(i, j), map(everywhere(PlusOne{}), sum(k, B(i, j) * C(i, k) * D(j, k))))),
            SddmmByRows::name);
  EXPECT_NE(kernel_of(assign(A(i, j), S(i, j) * B(i, j) * C(i, k) * D(j, k))), SddmmByRows::name);
  EXPECT_NE(kernel_of(assign(A(i, j), B(i, j) * C(i, k) * D(j, k) + S(i, j))), SddmmByRows::name);
}

TEST(DotsAtNonzeros, OfNoColumnsAreNotThere) {
  const auto B = matrix<double>(scattered(20, 30, 4, 1), small_value<double>, 1);
  const Matrix<double, Host> C({20, 0}), D({30, 0});
  const Tensor<double, CSR<>> A(B.extents()), nest(B.extents());
  A(i, j) = B(i, j) * C(i, k) * D(j, k);
  assign(nest(i, j), B(i, j) * C(i, k) * D(j, k)).generic().run();
  EXPECT_TRUE(same_bytes(A, nest));
}

TEST(DotsAtNonzeros, AreTheSameForAnyNumberOfThreads) {
  const auto B = matrix<double, CSR<>, Serial>(of_all_lengths(1203, 1000, 7), real_value, 1);
  const auto C = real_dense<double, DenseMatrix<>, Serial>({1203, 37}, 2);
  const auto D = real_dense<double, DenseMatrix<>, Serial>({1000, 37}, 3);
  const Tensor<double, CSR<>, Serial> A(B.extents());
  A(i, j) = B(i, j) * C(i, k) * D(j, k);
  const auto E = B.move_to<OpenMP>();
  const auto F = C.move_to<OpenMP>();
  const auto G = D.move_to<OpenMP>();
  const Tensor<double, CSR<>, OpenMP> H(B.extents());
  H(i, j) = E(i, j) * F(i, k) * G(j, k);
  EXPECT_TRUE(same_bytes(A, H));
}

TEST(DotsAtNonzeros, MayBeWrittenOverTheirPattern) {
  const auto B = matrix<double>(scattered(40, 50, 9, 1), small_value<double>, 1);
  const auto before = B.clone();
  const auto C = small_dense<double, DenseMatrix<>>({40, 12}, 2);
  const auto D = small_dense<double, DenseMatrix<>>({50, 12}, 3);
  B(i, j) = B(i, j) * C(i, k) * D(j, k);
  EXPECT_EQ(wrong_dots(B, before, C, D), "");
}

TEST(DotsAtNonzeros, LeaveAloneWhatSharesTheResultsOldValues) {
  const auto B = matrix<double>(scattered(40, 50, 9, 1), small_value<double>, 1);
  const auto C = small_dense<double, DenseMatrix<>>({40, 12}, 2);
  const auto D = small_dense<double, DenseMatrix<>>({50, 12}, 3);
  const Tensor<double, CSR<>> A(B.extents());
  A(i, j) = B(i, j) * C(i, k) * D(j, k);
  const auto old = A.values();
  const double first = old(0);
  const auto E = small_dense<double, DenseMatrix<>>({40, 12}, 4);
  A(i, j) = B(i, j) * E(i, k) * D(j, k);
  EXPECT_EQ(old(0), first);
  EXPECT_EQ(wrong_dots(A, B, E, D), "");
}

TEST(DotsAtNonzeros, OfAPlanAreThoseOfTheNewValues) {
  const auto B = matrix<double>(of_all_lengths(90, 50, 1), small_value<double>, 1);
  const auto C = small_dense<double, DenseMatrix<>>({90, 12}, 2);
  const auto D = small_dense<double, DenseMatrix<>>({50, 12}, 3);
  const Tensor<double, CSR<>> A(B.extents()), empty(B.extents());
  auto dots = plan(assign(A(i, j), B(i, j) * C(i, k) * D(j, k)));
  dots.run();
  EXPECT_EQ(wrong_dots(A, B, C, D), "");
  B.values()(0) = 17;
  C.values()(13) = 5;
  dots.run();
  EXPECT_EQ(wrong_dots(A, B, C, D), "");
  const Matrix<double, Host> E({90, 0}), F({50, 0});
  auto none = plan(assign(empty(i, j), B(i, j) * E(i, k) * F(j, k)));
  none.run();
  EXPECT_EQ(empty.nnz(), 0);
}

TEST(DotsAtNonzeros, OfAWrappedPatternDoNotShareItsArrays) {
  std::vector<std::int64_t> positions{0, 1, 3};
  std::vector<std::int32_t> coordinates{2, 0, 1};
  const std::vector<std::int32_t> kept = coordinates;
  std::vector<double> values{1, 2, 3};
  const auto B = wrap<CSR<>, Host>(Extents<2>{2, 3}, 3, positions.data(), coordinates.data(), values.data());
  const auto C = small_dense<double, DenseMatrix<>>({2, 12}, 2);
  const auto D = small_dense<double, DenseMatrix<>>({3, 12}, 3);
  const Tensor<double, CSR<>> A(B.extents());
  A(i, j) = B(i, j) * C(i, k) * D(j, k);
  EXPECT_EQ(wrong_dots(A, B, C, D), "");
  coordinates.assign(3, 0);
  for (std::size_t q = 0; q < 3; ++q) EXPECT_EQ(A.level<1>().coordinates(q), kept[q]);
}

TEST(DotsAtNonzeros, OfOtherKindsAreLeftToTheNest) {
  const Tensor<double, CSR<>> A({40, 40}), B({40, 40});
  const Tensor<double, CSC<>> S({40, 40});
  const Matrix<double, Host> C({40, 40}), D({40, 40});
  EXPECT_EQ(kernel_of(assign(A(i, j), B(i, j) * C(i, k) * D(j, k)).generic()), "");
  EXPECT_EQ(kernel_of(assign(A(i, j), B(i, j) * C(i, k) * D(k, j))), "");
  EXPECT_EQ(kernel_of(assign(A(i, j), B(i, j) * C(k, i) * D(j, k))), "");
  EXPECT_EQ(kernel_of(assign(A(i, j), B(j, i) * C(i, k) * D(j, k))), "");
  EXPECT_EQ(kernel_of(assign(S(i, j), B(i, j) * C(i, k) * D(j, k))), "");
  EXPECT_EQ(kernel_of(assign(A(i, j), B(i, j) * C(i, k))), "");
}

}  // namespace
}  // namespace sporos::test
