// SPDX-License-Identifier: Apache-2.0
/// @file own_candidate.cpp
/// A user-defined way to run statements: a tiled product of dense matrices, which joins the library's
/// candidates and runs the statements for which it is the cheapest.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <sporos/sporos.hpp>
#include <string_view>
#include <type_traits>

using namespace sporos;
using namespace sporos::indices;

/// C(i, j) = A(i, k) * B(k, j), all dense and row-major, with double values, on the host.
struct TiledProduct {
  static constexpr std::string_view name = "dense product in tiles";
  static constexpr std::string_view takes = "C(i, j) = A(i, k) * B(k, j), all dense, row-major, of double";
  static constexpr bool deterministic = true;
  static constexpr std::int64_t tile = 64;  ///< of k and j: 32 KiB of B stay in the L1 cache

  template <class A>
  static constexpr bool is_row_major =
      std::is_same_v<typename A::format, DenseMatrix<>> && std::is_same_v<typename A::value_type, double>;

  /// Decides by type: can the candidate compute this statement?
  template <class S>
  static constexpr bool matches = [] {
    using C = typename S::result_type;
    if constexpr (std::is_same_v<typename S::space_type, Host> && is_row_major<C> &&
                  factor_list<S>::size == 2) {
      using A = typename factor_list<S>::template at<0>;
      using B = typename factor_list<S>::template at<1>;
      return is_row_major<A> && is_row_major<B> && binds<C, A, B>("ij", "ik", "kj");
    }
    return false;
  }();

  /// Decides for a given statement: how long will it take?
  template <class S>
  static Offer cost(const S& statement, const Resources<Host>&) {
    const auto& A = factor<0>(statement.right()).tensor();
    const auto& C = statement.result().tensor();
    if (std::min({C.extent(0), C.extent(1), A.extent(1)}) < tile)
      return Declined{"matrices of less than a tile are left to the loop nest"};
    if (statement.accumulates()) return Declined{"it does not add to its result"};
    if (reads_result(statement)) return Declined{"the result is one of the operands"};
    const double products = 1.0 * C.extent(0) * C.extent(1) * A.extent(1);
    return Cost{products * 0.25e-9};
  }

  /// The candidate's work for one statement.
  template <class S>
  class Plan {
   public:
    Plan(const S& statement, const Resources<Host>& resources)
        : statement_(statement), space_(resources.space()) {
      bounds_of(statement);  // throws if extents do not match
    }

    void run() {
      const auto& C = statement_.result().tensor();
      const std::int64_t rows = C.extent(0), columns = C.extent(1);
      const std::int64_t inner = factor<0>(statement_.right()).tensor().extent(1);
      const double* const a = factor<0>(statement_.right()).tensor().values().data();  // [rows, inner]
      const double* const b = factor<1>(statement_.right()).tensor().values().data();  // [inner, columns]
      double* const c = C.values().data();                                             // [rows, columns]
      const auto row_of_tiles = [=](std::int64_t block) {
        const std::int64_t end = std::min(rows, (block + 1) * tile);
        std::fill(c + block * tile * columns, c + end * columns, 0.0);
        for (std::int64_t k0 = 0; k0 < inner; k0 += tile)
          for (std::int64_t j0 = 0; j0 < columns; j0 += tile)
            for (std::int64_t i = block * tile; i < end; ++i)
              for (std::int64_t k = k0; k < std::min(inner, k0 + tile); ++k)
                for (std::int64_t j = j0; j < std::min(columns, j0 + tile); ++j)
                  c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
      };
      Kokkos::parallel_for("tiles", Kokkos::RangePolicy<Host>(space_, 0, (rows + tile - 1) / tile),
                           row_of_tiles);
      space_.fence("tiles");
    }

    /// Nothing is allocated: the result exists already.
    Bytes bytes() const {
      return {statement_.result().tensor().nnz(), statement_.result().tensor().bytes(), 0};
    }

    void explain(std::ostream& out) const { out << "  result: located, in tiles of 64 x 64\n"; }

   private:
    const S& statement_;
    Host space_;
  };
};

/// The one line that adds it to the library's candidates.
template <>
struct sporos::OwnCandidates<sporos::Program> {
  using type = TypeList<TiledProduct>;
};

namespace {

Tensor<double, DenseMatrix<>> ramp(std::int64_t rows, std::int64_t columns) {
  const Tensor<double, DenseMatrix<>> out({rows, columns});
  for (std::int64_t at = 0; at < rows * columns; ++at)
    out.values()(static_cast<std::size_t>(at)) = static_cast<double>(at % 7) - 3;
  return out;
}

/// Whether the product that the engine chooses agrees with that of the loop nest.
bool is_right(std::int64_t size) {
  const auto A = ramp(size, size), B = ramp(size, size);
  const Tensor<double, DenseMatrix<>> C({size, size}), expected({size, size});
  C(i, j) = A(i, k) * B(k, j);
  assign(expected(i, j), A(i, k) * B(k, j)).generic().run();
  for (std::size_t at = 0; at < C.values().extent(0); ++at)
    if (C.values()(at) != expected.values()(at)) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto A = ramp(200, 200);
  const Tensor<double, DenseMatrix<>> C({200, 200});
  std::cout << explain(assign(C(i, j), A(i, k) * A(k, j)));

  const auto small = ramp(10, 10);
  const Tensor<double, DenseMatrix<>> D({10, 10});
  try {
    assign(D(i, j), small(i, k) * small(k, j)).use<TiledProduct>().run();
  } catch (const ScheduleError& error) {
    std::cout << error.what() << '\n';
  }
  const bool right = is_right(200) && is_right(10);
  std::cout << (right ? "both products are right\n" : "a product is wrong\n");
  return right ? 0 : 1;
}
