// SPDX-License-Identifier: Apache-2.0
/// @file hoisted.cpp
/// Results that scatter over several variables inside loops over the others: gathered block by block.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <sporos/core/peak_memory.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "../kernel_of.hpp"
#include "../statements.hpp"
#include "reference.hpp"
#include "spread.hpp"

namespace sporos::test::hoisted_results {
namespace {

using namespace sporos::indices;

using RowsOfLists = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Compressed<>, Compressed<>>;
using DenseFibers = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Compressed<>, Compressed<>, Dense>;
using DenseSlices = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Dense, Compressed<>>;

/// Policies that fill several accumulation arrays with a handful of values.
constexpr AccumulationSettings few{.capacity = 3, .growth = {0, 0, 0, 0, 0}};
constexpr AccumulationSettings in_a_pipeline{.capacity = 4, .pipelined = true, .double_buffered = false};

enum class Policies { some, all };

/// Checks a statement in one loop order and set of formats, on one thread and on all, in the workspace of its
/// own choice and in lists; with Policies::all in all workspaces.
/// @tparam Order  in which the loops over the result's outer variables stay outside of the workspace
template <class N, NameList Order, class ResultFormat, class... OperandFormats>
class Check {
  template <class Space, Policies Which, std::size_t... Place>
  static void run_case(const Case& c, std::uint64_t seed, std::index_sequence<Place...>) {
    const auto operands = std::tuple(
        random_tensor<OperandFormats>(c.sizes, N::operands[Place], c.density, c.skewed, seed + Place)
            .template move_to<Space>()...);
    const auto result =
        random_tensor<ResultFormat>(c.sizes, N::result, 0.5, false, seed + 50).template move_to<Space>();
    const auto statement = reordered<Order>(N::write(result, std::get<Place>(operands)...));
    using S = std::remove_cvref_t<decltype(statement)>;
    static_assert(HoistedNest::matches<S>);
    const auto expect_right = [&](const std::string& how) {
      EXPECT_EQ(difference(result.template move_to<Host>(),
                           expected_terms<N>(c.sizes, read(std::get<Place>(operands)).terms...)),
                "")
          << c.name << ", " << how;
    };
    const auto check_with = [&](const auto& of_policy, const std::string& how) {
      const auto hoisted = of_policy.template use<HoistedNest>();
      hoisted.run();
      expect_right(how);
      auto planned = plan(hoisted);
      planned.run();
      expect_right(how + ", planned");
      for (int again = 0; again < 2; ++again) {
        auto& values = std::get<0>(operands).values();
        for (std::size_t at = 0; at < values.extent(0); ++at) values(at) = values(at) * -2;
        planned.run();
        expect_right(how + ", refilled");
      }
    };
    check_with(statement, "of its own choice");
    if constexpr (std::is_same_v<Space, OpenMP>)
      check_with(statement.workspace(AdaptiveBoxPolicy{.settings = few, .most_dense = 0}), "list");
    if constexpr (std::is_same_v<Space, OpenMP> && Which == Policies::all) {
      check_with(statement.workspace(dense_workspace), "dense");
      check_with(statement.workspace(HashPolicy{.settings = few}), "hash");
      check_with(statement.workspace(BucketPolicy{.settings = in_a_pipeline}), "bucket");
      check_with(statement.workspace(CoordinatePolicy{.settings = few}).deterministic(), "deterministic");
    }
  }

 public:
  template <Policies Which = Policies::some>
  static void run() {
    SCOPED_TRACE(ResultFormat::str() + " in the order " + Order.str());
    std::uint64_t seed = 1;
    for (const Case& c : cases({N::variables.names, static_cast<std::size_t>(N::variables.size)})) {
      seed += 100;
      run_case<Serial, Which>(c, seed, std::index_sequence_for<OperandFormats...>{});
      run_case<OpenMP, Which>(c, seed, std::index_sequence_for<OperandFormats...>{});
    }
  }
};

template <Letters Text>
inline constexpr NameList loops = [] {
  NameList out;
  for (const char name : Text.view()) out.push(name);
  return out;
}();

/// A(i, j, l) = B(i, k, j) * C(k, l): i stays outside.
struct ProductOfSlices : Notation<"ijl", "ikj", "kl"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, l), B(i, k, j) * C(k, l));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j, auto l) {
    return sum(n['k'], [&](auto k) { return B(i, k, j) * C(k, l); });
  }
};
TEST(HoistedResults, OfOrderTwoInEachSlice) {
  Check<ProductOfSlices, loops<"ikjl">, CSF<3>, CSF<3>, CSR<>>::run<Policies::all>();
  Check<ProductOfSlices, loops<"ikjl">, RowsOfLists, CSF<3>, DCSR<>>::run();
  Check<ProductOfSlices, loops<"iklj">, CSF<3>, COO<3>, CSR<>>::run();
  Check<ProductOfSlices, loops<"ikjl">, COO<3>, RepeatedCube, CSR<>>::run();
}
TEST(HoistedResults, IntoLevelsInAnotherOrder) {
  Check<ProductOfSlices, loops<"ikjl">, Csf021, CSF<3>, CSR<>>::run();          // stored as i, l, j
  Check<ProductOfSlices, loops<"lkij">, Csf201, DenseTensor<3>, CSC<>>::run();  // stored as l, i, j
  Check<ProductOfSlices, loops<"jkil">, Csf120, Csf210, DenseMatrix<>>::run();  // stored as j, l, i
}
TEST(HoistedResults, IntoDenseLevelsBelowAndAbove) {
  Check<ProductOfSlices, loops<"ikjl">, DenseFibers, CSF<3>, CSR<>>::run();
  Check<ProductOfSlices, loops<"ikjl">, DenseSlices, CSF<3>, CSR<>>::run();
}

/// A(i, j, l, m) = B(i, k, j, l) * C(k, m): of order 3 inside i.
struct ProductOfCubes : Notation<"ijlm", "ikjl", "km"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, l, m), B(i, k, j, l) * C(k, m));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j, auto l, auto m) {
    return sum(n['k'], [&](auto k) { return B(i, k, j, l) * C(k, m); });
  }
};
TEST(HoistedResults, OfOrderThreeInEachSlice) {
  Check<ProductOfCubes, loops<"ikjlm">, CSF<4>, CSF<4>, CSR<>>::run<Policies::all>();
}

/// A(i, j, l, m) = B(i, j, k, l) * C(k, m): of order 2 inside i and j.
struct ProductOfMatrices : Notation<"ijlm", "ijkl", "km"> {
  static auto write(const auto& A, const auto& B, const auto& C) {
    return assign(A(i, j, l, m), B(i, j, k, l) * C(k, m));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j, auto l, auto m) {
    return sum(n['k'], [&](auto k) { return B(i, j, k, l) * C(k, m); });
  }
};
TEST(HoistedResults, OfOrderTwoInEachOfTwoLoops) {
  Check<ProductOfMatrices, loops<"ijklm">, CSF<4>, CSF<4>, CSR<>>::run();
  Check<ProductOfMatrices, loops<"ijkml">, COO<4>, CSF<4>, DCSR<>>::run();
}

/// A(i, j, l) = B(i, l, j), stored in another order below i, and a sum of terms with different variables.
struct SumOfSlices : Notation<"ijl", "ilj", "ikl", "kj"> {
  static auto write(const auto& A, const auto& B, const auto& C, const auto& D) {
    return assign(A(i, j, l), B(i, l, j) + C(i, k, l) * D(k, j));
  }
  static auto element(const Sizes& n, const auto& B, const auto& C, const auto& D, auto i, auto j, auto l) {
    return B(i, l, j) + sum(n['k'], [&](auto k) { return C(i, k, l) * D(k, j); });
  }
};
TEST(HoistedResults, OfSumsWhoseTermsHaveDifferentVariables) {
  Check<SumOfSlices, loops<"iklj">, CSF<3>, CSF<3>, CSF<3>, CSR<>>::run();
}

struct OtherOrder : Notation<"ijl", "ilj"> {
  static auto write(const auto& A, const auto& B) { return assign(A(i, j, l), B(i, l, j)); }
  static auto element(const Sizes&, const auto& B, auto i, auto j, auto l) { return B(i, l, j); }
};
TEST(HoistedResults, OfTensorsInAnotherOrderBelowTheOutermostLevel) {
  Check<OtherOrder, loops<"ilj">, CSF<3>, CSF<3>>::run();
  Check<OtherOrder, loops<"ilj">, RowsOfLists, COO<3>>::run();
}

/// A tensor of `slices` slices of rows x columns with `each` nonzeros.
auto slices(std::int64_t count, std::int64_t rows, std::int64_t columns, std::int64_t each) {
  Entries<double, 3> out({count, rows, columns}, count * each);
  for (std::int64_t e = 0; e < count * each; ++e)
    out.set(e, {e / each, e * 7 % rows, (e * 11 + e / each) % columns}, static_cast<double>(e % 9 - 4));
  return assemble<CSF<3>>(out, Duplicates::sum);
}

TEST(HoistedResults, InLoopsThatAreCutAreTheSame) {
  const auto B = slices(30, 20, 25, 40);
  const auto C = spread<CSR<>>(20, 40, 5, 3);
  const Tensor<double, CSF<3>> A({30, 25, 40}), expected({30, 25, 40});
  assign(expected(i, j, l), B(i, k, j) * C(k, l)).reorder(i, k, j, l).use<ListedNest>().run();
  const auto statement = assign(A(i, j, l), B(i, k, j) * C(k, l)).reorder(i, k, j, l);
  statement.split(k, p, q, 3).use<HoistedNest>().run();
  expect_same_entries(A, expected);
  statement.split(l, p, q, 7).reorder(i, p, k, j, q).use<HoistedNest>().run();
  expect_same_entries(A, expected);
  statement.split(i, p, q, 4).parallelize(p).run();
  expect_same_entries(A, expected);
}

TEST(HoistedResults, AreSummedToTheSameBitsOnAnyNumberOfThreads) {
  // The first slice is long: an accumulation array that has grown for it would add up others in other parts.
  Entries<double, 3> entries({60, 50, 60}, 60 * 400);
  for (std::int64_t e = 0; e < entries.size(); ++e)
    entries.set(e, {std::max<std::int64_t>(0, e / 200 - 60), e * 7 % 50, (e * 11 + e / 400) % 60},
                1.0 / static_cast<double>(e + 3));
  const auto B = assemble<CSF<3>>(entries, Duplicates::sum);
  const auto C = spread<CSR<>>(50, 30, 12, 7);
  const auto B1 = B.move_to<Serial>();
  const auto C1 = C.move_to<Serial>();
  const Tensor<double, CSF<3>, OpenMP> many({60, 60, 30});
  const Tensor<double, CSF<3>, Serial> one({60, 60, 30});
  const auto check = [&](const auto& policy) {
    assign(many(i, j, l), B(i, k, j) * C(k, l))
        .reorder(i, k, j, l)
        .workspace(policy)
        .deterministic()
        .template use<HoistedNest>()
        .run();
    assign(one(i, j, l), B1(i, k, j) * C1(k, l))
        .reorder(i, k, j, l)
        .workspace(policy)
        .deterministic()
        .template use<HoistedNest>()
        .run();
    expect_same_entries(many.move_to<Serial>(), one);
  };
  check(AdaptiveBoxPolicy{});
  check(AdaptiveBoxPolicy{.settings = {.capacity = 100}, .most_dense = 0});
  check(CoordinatePolicy{.settings = {.capacity = 100}});
  check(HashPolicy{.settings = {.capacity = 100}});
}

TEST(HoistedResults, AreSummedToTheSameBitsOnAnyNumberOfThreadsWithinABound) {
  // Four arrays over (j, l) fit in the bound, but not in half of it.
  constexpr std::int64_t rows = 500, columns = 400, bound = 12'000'000;
  const auto B = slices(6, 50, rows, 3000);
  make_inexact(B);
  const auto C = spread<CSR<>>(50, columns, 5, 7);
  const auto B1 = B.move_to<Serial>();
  const auto C1 = C.move_to<Serial>();
  const Tensor<double, CSF<3>, OpenMP> many({6, rows, columns});
  const Tensor<double, CSF<3>, Serial> one({6, rows, columns});
  const auto bounded = [&]<class Space>(const auto& statement, Space) {
    return statement.reorder(i, k, j, l)
        .workspace(AdaptiveBoxPolicy{.settings = {.capacity = 100}})
        .on(Resources<Space>().within(bound))
        .template use<HoistedNest>();
  };
  const auto of_many = bounded(assign(many(i, j, l), B(i, k, j) * C(k, l)), OpenMP());
  const auto of_one = bounded(assign(one(i, j, l), B1(i, k, j) * C1(k, l)), Serial());
  EXPECT_TRUE(contains(explain(of_one), "dense workspace")) << explain(of_one);
  of_many.deterministic().run();
  of_one.deterministic().run();
  expect_same_entries(many.move_to<Serial>(), one);
}

TEST(HoistedResults, RunWithinTheirEstimates) {
  const auto within = [](const auto& statement) {
    const Estimate most = estimate(statement);
    pool().release();
    const PeakMemory peak;
    statement.on(Resources<Host>().within(most.result + most.workspace)).run();
    EXPECT_LE(peak.bytes(), most.result + most.workspace);
  };
  // Small blocks, which a list would exceed.
  const auto B = slices(10, 10, 10, 100);
  const auto C = spread<CSR<>>(10, 10, 10, 1);
  const Tensor<double, CSF<3>> A({10, 10, 10});
  within(assign(A(i, j, l), B(i, k, j) * C(k, l)).reorder(i, k, j, l).use<HoistedNest>());
  within(assign(A(i, j, l), B(i, k, j) * C(k, l)).reorder(i, k, j, l).deterministic());
  const Tensor<double, CSF<3>> none({7, 9, 0}), result({7, 0, 10});
  const auto D = spread<CSR<>>(9, 10, 3, 1);
  within(assign(result(i, j, l), none(i, k, j) * D(k, l)).reorder(i, k, j, l).use<HoistedNest>());
}

TEST(HoistedResults, SayWhatMemoryLimitTheirListsNeed) {
  const auto B = slices(10, 50, 60, 400);
  const auto C = spread<CSR<>>(50, 64, 8, 7);
  const Tensor<double, CSF<3>> A({10, 60, 64});
  const auto within = [&](std::int64_t limit) {
    return assign(A(i, j, l), B(i, k, j) * C(k, l))
        .reorder(i, k, j, l)
        .workspace(AdaptiveBoxPolicy{.settings = {.memory_limit = limit}, .most_dense = 0})
        .use<HoistedNest>();
  };
  const std::string refused = message_of<MemoryError>([&] { within(1000).run(); });
  const auto at = refused.find("needs up to ");
  ASSERT_NE(at, std::string::npos) << refused;
  const std::int64_t enough = std::stoll(refused.substr(at + 12));
  EXPECT_GT(enough, 1000) << refused;
  EXPECT_NO_THROW(within(enough).run()) << refused;
}

TEST(HoistedResults, CountTheBlocksOfEachCoordinateThatNoOperandHas) {
  const auto B = spread<CSR<>>(50, 60, 8, 7), C = spread<CSR<>>(50, 30, 5, 3);
  const Tensor<double, CSF<3>> A({40, 60, 30});
  const auto statement = assign(A(i, j, l), B(k, j) * C(k, l)).reorder(i, k, j, l);
  const sporos::detail::NestRun<std::remove_cvref_t<decltype(statement)>> nest(statement);
  sporos::detail::TermBound<typename decltype(nest)::Traits> bound(nest.bounds());
  EXPECT_EQ(bound.of(nest.source()), 40 * 50 * 8 * 5);
  EXPECT_EQ(bound.blocks(), 40);
  EXPECT_EQ(bound.largest_block(), 50 * 8 * 5);
  statement.use<HoistedNest>().run();
  EXPECT_EQ(A.nnz() % 40, 0);
  EXPECT_EQ(at(A, {0, 7, 3}), at(A, {39, 7, 3}));
}

struct CountedPolicy;

/// A workspace that tells how many of its kind were made, and the most elements that one of them has held.
template <class T, int Order>
class CountedWorkspace {
 public:
  static constexpr bool in_order = true;

  CountedWorkspace(const CountedPolicy& policy, const Extents<Order>&);
  void add(const Extents<Order>& at, const T& value) {
    values_[at] += value;
    std::int64_t before = most_->load();
    const auto now = static_cast<std::int64_t>(values_.size());
    while (before < now && !most_->compare_exchange_weak(before, now)) {
    }
  }
  template <class Take>
  void drain(const Take& take) {
    for (const auto& [at, value] : values_) take(at, value);
    values_.clear();
  }
  static std::int64_t most_bytes(const CountedPolicy&, const Extents<Order>&, std::int64_t adds) {
    return adds;
  }

 private:
  std::atomic<std::int64_t>* most_;
  std::map<Extents<Order>, T> values_;
};
struct CountedPolicy {
  static constexpr std::string_view name = "counted workspace";
  static constexpr bool takes(int) { return true; }
  template <class T, int Order>
  using workspace = CountedWorkspace<T, Order>;

  std::atomic<std::int64_t>* made;
  std::atomic<std::int64_t>* most;
};
template <class T, int Order>
CountedWorkspace<T, Order>::CountedWorkspace(const CountedPolicy& policy, const Extents<Order>&)
    : most_(policy.most) {
  ++*policy.made;
}

TEST(HoistedResults, ComeFromOneWorkspaceForEachThreadThatHoldsOneSlice) {
  constexpr std::int64_t count = 200;
  const auto B = slices(count, 50, 60, 400);
  const auto C = spread<CSR<>>(50, 64, 8, 7);
  const Tensor<double, CSF<3>> A({count, 60, 64}), expected({count, 60, 64});
  assign(expected(i, j, l), B(i, k, j) * C(k, l)).reorder(i, k, j, l).use<ListedNest>().run();
  std::atomic<std::int64_t> made{0}, most{0};
  assign(A(i, j, l), B(i, k, j) * C(k, l))
      .reorder(i, k, j, l)
      .workspace(CountedPolicy{&made, &most})
      .use<HoistedNest>()
      .run();
  expect_same_entries(A, expected);
  const auto& slice = A.level<1>().positions;
  std::int64_t largest = 0;
  for (std::size_t s = 0; s < count; ++s) {
    const auto& row = A.level<2>().positions;
    largest = std::max<std::int64_t>(
        largest, row(static_cast<std::size_t>(slice(s + 1))) - row(static_cast<std::size_t>(slice(s))));
  }
  EXPECT_GE(made, 1);
  EXPECT_LE(made, Host().concurrency());
  EXPECT_EQ(most, largest);
}

TEST(HoistedResults, TakeNoMoreMemoryThanEstimatedAndLessThanAWholeList) {
  const auto B = slices(80, 50, 60, 400);
  const auto C = spread<CSR<>>(50, 100'000, 40, 7);
  const Tensor<double, CSF<3>> A({80, 60, 100'000});
  const auto statement = assign(A(i, j, l), B(i, k, j) * C(k, l)).reorder(i, k, j, l);
  const auto peak_of = [](const auto& some) {
    const PeakMemory peak;
    some.run();
    return peak.bytes();
  };
  const auto hoisted = statement.use<HoistedNest>();
  const auto listed = statement.use<ListedNest>();
  EXPECT_LT(estimate(hoisted).workspace, estimate(listed).workspace);
  const std::int64_t of_hoisted = peak_of(hoisted), of_listed = peak_of(listed);
  EXPECT_LE(of_hoisted, estimate(hoisted).workspace + estimate(hoisted).result);
  EXPECT_LT(of_hoisted, of_listed / 2);
}

TEST(HoistedResults, AreChosenWhereTheirWorkspaceIsCheaper) {
  const auto B = slices(100, 50, 60, 400);
  const auto C = spread<CSR<>>(50, 64, 8, 7);
  const Tensor<double, CSF<3>> A({100, 60, 64});
  const auto statement = assign(A(i, j, l), B(i, k, j) * C(k, l)).reorder(i, k, j, l);
  EXPECT_EQ(candidate_of(statement), "loop nest, hoisted");
  const std::string explained = explain(statement);
  EXPECT_TRUE(contains(explained, "inside the loop over i, dense workspace of order 2 over (j, l)"))
      << explained;
  EXPECT_TRUE(contains(explained, "inserted as (i, j, l), stored as (i, j, l)")) << explained;
  EXPECT_EQ(contains(explained, "parallel: chunks of about equal nonzeros"), OpenMP().concurrency() > 1)
      << explained;
  // Over all variables, where the user asks for that.
  EXPECT_EQ(candidate_of(statement.use<ListedNest>()), "loop nest, listed");
}

TEST(HoistedResults, AreTakenWhereADenseWorkspaceOverAllVariablesDoesNotFit) {
  const auto B = slices(40, 50, 60, 400);
  const auto C = spread<CSR<>>(50, 64, 8, 7);
  const Tensor<double, CSF<3>> A({std::int64_t{1} << 30, 60, 64});
  const auto wide = [&] {
    Entries<double, 3> all({std::int64_t{1} << 30, 50, 60}, B.nnz());
    const auto from = entries(B);
    for (std::int64_t e = 0; e < from.size(); ++e)
      all.set(e, {from.coordinate(e)[0] << 24, from.coordinate(e)[1], from.coordinate(e)[2]},
              from.values(static_cast<std::size_t>(e)));
    return assemble<CSF<3>>(all);
  }();
  assign(A(i, j, l), wide(i, k, j) * C(k, l)).reorder(i, k, j, l).workspace(dense_workspace).run();
  const Tensor<double, CSF<3>> narrow({40, 60, 64});
  assign(narrow(i, j, l), B(i, k, j) * C(k, l)).reorder(i, k, j, l).use<ListedNest>().run();
  ASSERT_EQ(A.nnz(), narrow.nnz());
  const auto a = entries(A), b = entries(narrow);
  for (std::int64_t e = 0; e < a.size(); ++e) {
    EXPECT_EQ(a.coordinate(e)[0], b.coordinate(e)[0] << 24);
    EXPECT_EQ(a.values(static_cast<std::size_t>(e)), b.values(static_cast<std::size_t>(e)));
  }
}

}  // namespace
}  // namespace sporos::test::hoisted_results
