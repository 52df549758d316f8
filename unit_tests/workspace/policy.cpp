// SPDX-License-Identifier: Apache-2.0
/// @file policy.cpp
/// A workspace made outside of the library, gathering rows and whole results.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sporos/sporos.hpp>
#include <string_view>

#include "reference.hpp"

namespace {

using namespace sporos;
using namespace sporos::indices;

struct MapPolicy;

/// Gathers in a balanced tree, over any number of variables.
template <class T, int Order>
class MapWorkspace {
 public:
  static constexpr bool in_order = true;

  MapWorkspace(const MapPolicy&, const Extents<Order>&) {}
  void add(const Extents<Order>& at, const T& value) {
    const auto [found, is_new] = sums_.try_emplace(at, value);
    if (!is_new) found->second = plus(found->second, value);
  }
  template <class Take>
  void drain(const Take& take) {
    for (const auto& [at, sum] : sums_) take(at, sum);
    sums_.clear();
  }
  static std::int64_t most_bytes(const MapPolicy&, const Extents<Order>&, std::int64_t adds) {
    return adds * static_cast<std::int64_t>(sizeof(std::pair<Extents<Order>, T>) + 64);
  }

 private:
  std::map<Extents<Order>, T> sums_;
};

struct MapPolicy {
  static constexpr std::string_view name = "tree workspace";
  static constexpr bool takes(int) { return true; }
  template <class T, int Order>
  using workspace = MapWorkspace<T, Order>;
};

static_assert(WorkspacePolicy<MapPolicy> && WorkspacePolicy<DensePolicy> &&
              WorkspacePolicy<CoordinatePolicy>);
static_assert(Workspace<MapWorkspace<double, 3>, MapPolicy, double, 3>);
static_assert(Workspace<DenseWorkspace<double>, DensePolicy, double, 1>);
static_assert(Workspace<CoordinatePolicy::workspace<double, 2>, CoordinatePolicy, double, 2>);
static_assert(!Workspace<DenseWorkspace<double>, DensePolicy, double, 2>);
static_assert(!WorkspacePolicy<AutomaticWorkspace>);

/// Entries here and there, several at some coordinates.
template <class F>
Tensor<double, F> spread(std::int64_t rows, std::int64_t columns, std::int64_t count) {
  Entries<double, 2> entries({rows, columns}, count);
  for (std::int64_t e = 0; e < count; ++e)
    entries.set(e, {e * 7919 % rows, (e * 104729 + e * e) % columns}, static_cast<double>(e % 5) - 1.5);
  return assemble<F>(entries);
}

class OwnPolicy : public testing::Test {
 protected:
  const Tensor<double, CSR<>> B = spread<CSR<>>(40, 50, 300), C = spread<CSR<>>(50, 60, 300);
  const Tensor<double, CSC<>> by_columns = convert<CSC<>>(B);
};

TEST_F(OwnPolicy, GathersRowsThatAreThenAppended) {
  const Tensor<double, CSR<>> A({40, 60}), expected({40, 60});
  assign(A(i, j), B(i, k) * C(k, j)).workspace(MapPolicy{}).run();
  assign(expected(i, j), B(i, k) * C(k, j)).generic().run();
  EXPECT_EQ(sporos::test::table(A), sporos::test::table(expected));
  EXPECT_NE(explain(assign(A(i, j), B(i, k) * C(k, j)).workspace(MapPolicy{}))
                .find("tree workspace of order 1 over j"),
            std::string::npos);
}

TEST_F(OwnPolicy, GathersResultsThatScatterOverSeveralVariables) {
  const Tensor<double, CSR<>> A({40, 60}), expected({40, 60});
  const auto statement = assign(A(i, j), by_columns(i, k) * C(k, j)).workspace(MapPolicy{});
  statement.run();
  assign(expected(i, j), by_columns(i, k) * C(k, j)).run();
  EXPECT_EQ(sporos::test::table(A), sporos::test::table(expected));
  EXPECT_NE(explain(statement).find("several variables, tree workspace"), std::string::npos);
}

TEST_F(OwnPolicy, IsPlannedAndRunAgain) {
  const Tensor<double, CSR<>> rows({40, 60}), outer({40, 60}), expected({40, 60});
  auto by_rows = plan(assign(rows(i, j), B(i, k) * C(k, j)).workspace(MapPolicy{}));
  auto by_outer_products = plan(assign(outer(i, j), by_columns(i, k) * C(k, j)).workspace(MapPolicy{}));
  for (const double value : {1.0, 3.0}) {
    Kokkos::deep_copy(C.values(), value);
    by_rows.run();
    by_outer_products.run();
    expected(i, j) = B(i, k) * C(k, j);
    EXPECT_EQ(sporos::test::table(rows), sporos::test::table(expected));
    EXPECT_EQ(sporos::test::table(outer), sporos::test::table(expected));
  }
}

}  // namespace
