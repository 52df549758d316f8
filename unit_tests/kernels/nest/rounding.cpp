// SPDX-License-Identifier: Apache-2.0
/// @file rounding.cpp
/// Results of random reals lie within the error that the number of operations allows, in every loop order.
///
/// A sum of n products in arithmetic of unit roundoff u differs from the exact one by gamma(n) times the sum
/// of their magnitudes at most, gamma(n) = n u / (1 - n u), whatever the order of the additions, with fused
/// operations and without (Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1). A complex
/// product costs gamma(2) times the root of 2 (section 3.6).
#include <cmath>
#include <limits>

#include "../typed.hpp"

namespace sporos::test {
namespace {

template <class Value>
struct Arithmetic {
  static constexpr long double unit = std::numeric_limits<Value>::epsilon() / 2.0L;
  static constexpr long double rounding = 0;  ///< of the result as it is stored, relative
  static constexpr long double underflow = 0;
  static constexpr int extra_operations = 0;
  static constexpr long double factor = 1;
};
template <class Real>
struct Arithmetic<Kokkos::complex<Real>> : Arithmetic<Real> {
  static constexpr int extra_operations = 1;
  static constexpr long double factor = 1.41421356237309504880L;
};
template <>
struct Arithmetic<half> : Arithmetic<float> {
  static constexpr long double rounding = 0x1p-11L;
  static constexpr long double underflow = 0x1p-25L;
};

template <class Value>
class Rounding : public testing::Test {
 public:
  static constexpr std::int64_t n = 60;
  static inline const Sizes sizes{"ijk", n};

  template <class F>
  static auto operand(std::string_view modes, double density, std::uint64_t seed) {
    return tensor_with<Value, F>(sizes, modes, density, seed, [](std::mt19937_64& draw) {
      std::uniform_real_distribution<float> real(-1, 1);
      if constexpr (is_complex_v<Value>)
        return Value(real(draw), real(draw));
      else
        return Value(real(draw));
    });
  }

  struct Real {
    long double re, im;
  };
  static Real real(const oracle_value<Value>& value) {
    if constexpr (is_complex_v<Value>)
      return {value.real(), value.imag()};
    else
      return {value, 0};
  }

  /// The first element of a result that is further from the sum of products than it may be.
  /// @param term  term(i, j, k): two factors of a product, as terms
  template <class Found, class Factors>
  static std::string beyond(const Found& found, std::int64_t columns, const Factors& factors) {
    using Precision = Arithmetic<Value>;
    const auto terms = read(found).terms;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        Real exact{};
        long double magnitude = 0;
        int products = 0;
        for (std::int64_t k = 0; k < n; ++k) {
          const auto [left, right] = factors(i, j, k);
          if (!left.present || !right.present) continue;
          const Real a = real(left.value), b = real(right.value);
          exact.re += a.re * b.re - a.im * b.im;
          exact.im += a.re * b.im + a.im * b.re;
          magnitude += std::hypot(a.re, a.im) * std::hypot(b.re, b.im);
          ++products;
        }
        const long double operations = (products + Precision::extra_operations) * Precision::unit;
        const long double computed = Precision::factor * operations / (1 - operations) * magnitude;
        const long double bound = computed +
                                  Precision::rounding * (std::hypot(exact.re, exact.im) + computed) +
                                  Precision::underflow;
        const Real have = real(terms.terms[static_cast<std::size_t>(i * columns + j)].value);
        const long double error = std::hypot(have.re - exact.re, have.im - exact.im);
        if (!(error <= bound))
          return text("at ", i, ' ', j, ": off by ", static_cast<double>(error), ", allowed ",
                      static_cast<double>(bound));
      }
    return "";
  }
};

using Values = testing::Types<double, half, Kokkos::complex<float>>;
TYPED_TEST_SUITE(Rounding, Values);

TYPED_TEST(Rounding, OfMatrixTimesVectorStaysWithinItsBound) {
  using Test = Rounding<TypeParam>;
  const auto A = Test::template operand<CSR<>>("ij", 0.5, 1);
  const auto columns = Test::template operand<CSC<>>("ij", 0.5, 2);
  const auto x = Test::template operand<DenseVector>("j", 1, 3);
  const Tensor<TypeParam, DenseVector> y({Test::n});
  const auto vector = read(x).terms;
  y(i) = A(i, j) * x(j);
  EXPECT_EQ(Test::beyond(y, 1,
                         [&, matrix = read(A).terms](auto i, auto, auto k) {
                           return std::pair(matrix(i, k), vector(k));
                         }),
            "");
  y(i) = columns(i, j) * x(j);
  EXPECT_EQ(Test::beyond(y, 1,
                         [&, matrix = read(columns).terms](auto i, auto, auto k) {
                           return std::pair(matrix(i, k), vector(k));
                         }),
            "");
}

TYPED_TEST(Rounding, OfSparseProductsStaysWithinItsBoundInThreeLoopOrders) {
  using Test = Rounding<TypeParam>;
  const auto B = Test::template operand<CSR<>>("ik", 0.4, 4);
  const auto C = Test::template operand<CSR<>>("kj", 0.4, 5);
  const auto D = Test::template operand<CSC<>>("kj", 0.4, 6);
  const auto E = Test::template operand<CSC<>>("ik", 0.4, 7);
  const Tensor<TypeParam, CSR<>> A({Test::n, Test::n});
  const auto factors = [](const auto& left, const auto& right) {
    return [left = read(left).terms, right = read(right).terms](auto i, auto j, auto k) {
      return std::pair(left(i, k), right(k, j));
    };
  };
  A(i, j) = B(i, k) * C(k, j);
  EXPECT_EQ(Test::beyond(A, Test::n, factors(B, C)), "");
  assign(A(i, j), B(i, k) * D(k, j)).reorder(i, j, k).run();
  EXPECT_EQ(Test::beyond(A, Test::n, factors(B, D)), "");
  assign(A(i, j), E(i, k) * C(k, j)).reorder(k, i, j).run();
  EXPECT_EQ(Test::beyond(A, Test::n, factors(E, C)), "");
}

}  // namespace
}  // namespace sporos::test
