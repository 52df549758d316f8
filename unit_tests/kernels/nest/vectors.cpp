// SPDX-License-Identifier: Apache-2.0
/// @file vectors.cpp
/// Sums and products of vectors, over combinations of formats, loop orders and spaces.
#include "../statements.hpp"

namespace sporos::test {
namespace {

struct VectorSum : Notation<"i", "i", "i"> {
  static auto write(const auto& a, const auto& x, const auto& y) { return assign(a(i), x(i) + y(i)); }
  static auto element(const Sizes&, const auto& x, const auto& y, auto i) { return x(i) + y(i); }
};
TEST(VectorSum, EqualsTheDenseOneInEveryFormatAndOrder) { check<VectorSum, 3>(); }

struct VectorProduct : Notation<"i", "i", "i"> {
  static auto write(const auto& a, const auto& x, const auto& y) { return assign(a(i), x(i) * y(i)); }
  static auto element(const Sizes&, const auto& x, const auto& y, auto i) { return x(i) * y(i); }
};
TEST(VectorProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<VectorProduct, 1>(); }

struct SumTimesVectors : Notation<"i", "i", "i", "i"> {
  static auto write(const auto& a, const auto& x, const auto& y, const auto& z) {
    return assign(a(i), (x(i) + y(i)) * x(i) * z(i));
  }
  static auto element(const Sizes&, const auto& x, const auto& y, const auto& z, auto i) {
    return (x(i) + y(i)) * x(i) * z(i);
  }
};
TEST(SumTimesVectors, EqualsTheDenseOneInEveryFormatAndOrder) { check<SumTimesVectors, 2>(); }

struct ProductPlusVector : Notation<"i", "i", "i", "i"> {
  static auto write(const auto& a, const auto& x, const auto& y, const auto& z) {
    return assign(a(i), x(i) * y(i) + z(i));
  }
  static auto element(const Sizes&, const auto& x, const auto& y, const auto& z, auto i) {
    return x(i) * y(i) + z(i);
  }
};
TEST(ProductPlusVector, EqualsTheDenseOneInEveryFormatAndOrder) { check<ProductPlusVector, 1>(); }

struct OuterProduct : Notation<"ij", "i", "j"> {
  static auto write(const auto& A, const auto& x, const auto& y) { return assign(A(i, j), x(i) * y(j)); }
  static auto element(const Sizes&, const auto& x, const auto& y, auto i, auto j) { return x(i) * y(j); }
};
TEST(OuterProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<OuterProduct, 2>(); }

struct OuterSum : Notation<"ij", "i", "j"> {
  static auto write(const auto& A, const auto& x, const auto& y) { return assign(A(i, j), x(i) + y(j)); }
  static auto element(const Sizes&, const auto& x, const auto& y, auto i, auto j) { return x(i) + y(j); }
};
TEST(OuterSum, EqualsTheDenseOneInEveryFormatAndOrder) { check<OuterSum, 2>(); }

struct DotProduct : Notation<"", "i", "i"> {
  static auto write(const auto& a, const auto& x, const auto& y) { return assign(a(), x(i) * y(i)); }
  static auto element(const Sizes& n, const auto& x, const auto& y) {
    return sum(n['i'], [&](auto i) { return x(i) * y(i); });
  }
};
TEST(DotProduct, EqualsTheDenseOneInEveryFormatAndOrder) { check<DotProduct, 1>(); }

struct SumTimesVectorReduced : Notation<"", "i", "i", "i"> {
  static auto write(const auto& a, const auto& x, const auto& y, const auto& z) {
    return assign(a(), (x(i) - y(i)) * z(i));
  }
  static auto element(const Sizes& n, const auto& x, const auto& y, const auto& z) {
    return sum(n['i'], [&](auto i) { return (x(i) - y(i)) * z(i); });
  }
};
TEST(SumTimesVectorReduced, EqualsTheDenseOneInEveryFormatAndOrder) { check<SumTimesVectorReduced, 1>(); }

}  // namespace
}  // namespace sporos::test
