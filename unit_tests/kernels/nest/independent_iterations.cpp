// SPDX-License-Identifier: Apache-2.0
/// @file independent_iterations.cpp
/// Loops of independent iterations where the compiler vectorises them: this source alone of its program is
/// optimised, a little, so that what a semiring returns by reference stays in memory. Its semiring is its
/// own, so that what is instantiated here is not shared with the other sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sporos/sporos.hpp>
#include <string_view>

namespace sporos {
namespace {

using namespace sporos::indices;

struct Least {
  static constexpr std::string_view name() { return "least"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION static constexpr T neutral() {
    return Kokkos::Experimental::infinity_v<T>;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

TEST(IndependentIterations, EachColumnHasItsOwnResult) {
  constexpr std::int64_t rows = 20, columns = 15;
  Entries<float, 2> entries({rows, columns}, rows * 3);
  for (std::int64_t at = 0; at < rows * 3; ++at)
    entries.set(at, {at / 3, (at * 7 + at / 3) % columns}, static_cast<float>(at % 11 + 1));
  const auto A = assemble<CSR<>>(entries);
  for (const std::int64_t width : {1, 7, 8, 16, 33, 60}) {
    const Tensor<float, DenseMatrix<>> X({columns, width}), Y({rows, width});
    for (std::int64_t at = 0; at < columns * width; ++at)
      X.values()(at) = static_cast<float>(at * 2654435761 % 1000) / 100;
    assign(Y(i, j), A(i, k) * X(k, j)).over(Semiring<Least, Plus>{}).run();

    Tensor<float, DenseMatrix<>> expected({rows, width});
    Kokkos::deep_copy(expected.values(), std::numeric_limits<float>::infinity());
    for (const auto& [at, value] : sporos::entries(A))
      for (std::int64_t c = 0; c < width; ++c) {
        float& least = expected.values()(at[0] * width + c);
        least = std::min(least, value + X.values()(at[1] * width + c));
      }
    for (std::int64_t at = 0; at < rows * width; ++at)
      EXPECT_EQ(Y.values()(at), expected.values()(at)) << "row " << at / width << ", column " << at % width;
  }
}

}  // namespace
}  // namespace sporos
