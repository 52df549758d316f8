// SPDX-License-Identifier: Apache-2.0
/// @file loop_schedule.cpp
/// The examples of Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces* (PLDI 2024),
/// about loop orders: how much a result scatters (section 2.2, Figure 5), and which loops over the
/// statement's variables a schedule stands for (section 6.2, Figures 11 to 13).
#include <gtest/gtest.h>

#include <iterator>
#include <sporos/core/loop_schedule.hpp>
#include <sporos/sporos.hpp>
#include <string_view>
#include <type_traits>

#include "order_of_paper.hpp"

namespace sporos::test::loop_schedules {
namespace {

using namespace sporos::indices;

template <class... Chars>
constexpr NameList names(Chars... of) {
  return NameList::of(of...);
}
using Kind = LoopRelation::Kind;

constexpr LoopSchedule over(const NameList& loops) {
  LoopSchedule out;
  out.current = loops;
  return out;
}

/// Loops, the order in which a result stores its levels, and over how many variables it scatters.
struct Example {
  NameList loops, levels;
  int scatters_over;
  std::string_view what;
};
constexpr Example examples[] = {
    {names('i', 'j'), names('i', 'j'), 0, "B(i, j) * C(i, j), by elements"},
    {names('i', 'j', 'k'), names('i', 'j'), 0, "a product by inner products"},
    {names('i', 'k', 'j'), names('i', 'j'), 1, "a product by rows"},
    {names('k', 'i', 'j'), names('i', 'j'), 2, "a product by outer products"},
    {names('i', 'j'), names('j', 'i'), 2, "a transposition"},
    {names('i', 'j', 'k'), names('i', 'k', 'j'), 2, "of the inner modes alone"},
    {names('k', 'l', 'i', 'j'), names('i', 'j'), 2, "MTTKRP, the mode last"},
    {names('i', 'k', 'l', 'j'), names('i', 'j'), 1, "MTTKRP, the mode first"},
    {names('i', 'j', 'k', 'l'), names('i', 'j', 'l'), 1, "TTM over the middle"},
    {names('k', 'i', 'j', 'l'), names('i', 'j', 'l'), 3, "TTM, summed outermost"},
    {names('i', 'j'), names('j'), 1, "a vector times a matrix by rows"},
    {names('i', 'j'), names(), 0, "a scalar"},
};

// Figure 11: A(j, i) = B(i, k) * C(k, j), with the nonzeros of B in strips of four.
constexpr LoopSchedule figure_11 = over(names('i', 'k', 'j'))
                                       .with({Kind::fuse, 'i', 'k', 'f'})
                                       .with({Kind::pos, 'f', ' ', 'p', ' ', 0})
                                       .with({Kind::split, 'p', ' ', 'u', 'v'});
static_assert(figure_11.current == names('u', 'v', 'j'));
static_assert(input_order(figure_11, names('j', 'i')) == names('i', 'k', 'j'));
constexpr WorkspaceOrder transposed{{1, 0}, 2};
static_assert(workspace_order(input_order(figure_11, names('j', 'i')), names('j', 'i')) == transposed);
static_assert(scattering_order(input_order(figure_11, names('j', 'i')), names('j', 'i')) == 2);
static_assert(figure_11.lowered().order == names('i', 'k', 'j'));
static_assert(figure_11.lowered().count == 1);
static_assert(figure_11.lowered().strips[0].variables == names('i', 'k'));
static_assert(figure_11.lowered().strips[0].operand == 0);

// A split variable of the result stands where its inner loop does, one that is summed where its outer one
// does.
constexpr LoopSchedule split_i = over(names('i', 'k', 'j')).with({Kind::split, 'i', ' ', 'u', 'v'});
static_assert(input_order(split_i, names('i', 'j')) == names('i', 'k', 'j'));
constexpr LoopSchedule moved(LoopSchedule schedule, const NameList& loops) {
  schedule.current = loops;
  return schedule;
}
static_assert(input_order(moved(split_i, names('u', 'k', 'v', 'j')), names('i', 'j')) ==
              names('k', 'i', 'j'));
constexpr LoopSchedule split_k = over(names('i', 'k', 'j')).with({Kind::split, 'k', ' ', 'u', 'v'});
static_assert(input_order(moved(split_k, names('u', 'i', 'v', 'j')), names('i', 'j')) ==
              names('k', 'i', 'j'));
static_assert(moved(split_k, names('u', 'i', 'v', 'j')).is_nested());
static_assert(!moved(split_k, names('v', 'i', 'u', 'j')).is_nested(),
              "a strip's coordinates outside the strips");

// Strips of strips, and of what was fused.
constexpr LoopSchedule twice = split_k.with({Kind::split, 'v', ' ', 'x', 'y'});
static_assert(twice.current == names('i', 'u', 'x', 'y', 'j'));
static_assert(input_order(twice, names('i', 'j')) == names('i', 'k', 'j'));
static_assert(twice.lowered().count == 2 && twice.lowered().order == names('i', 'k', 'j'));
constexpr LoopSchedule coarser = split_k.with({Kind::split, 'u', ' ', 'x', 'y'});
static_assert(coarser.lowered().strips[0].sizes == 0b11 && coarser.lowered().strips[1].sizes == 0b01);
constexpr LoopSchedule tiles =
    over(names('i', 'j')).with({Kind::split, 'i', ' ', 'u', 'v'}).with({Kind::split, 'j', ' ', 'x', 'y'});
static_assert(moved(tiles, names('u', 'x', 'v', 'y')).with({Kind::fuse, 'u', 'x', 't'}).lowered().count == 2);
static_assert(!moved(tiles, names('u', 'x', 'v', 'y')).with({Kind::fuse, 'u', 'x', 't'}).can_be_split('t'));

/// Over how many variables the library finds that a result scatters.
template <class Result>
int classified(const NameList& order, const StrippedLoops& stripped = {}) {
  return Result::level_names.size - classify<Result>(order, Result::level_names.size, stripped).prefix;
}
template <class Result>
int classified(const LoopSchedule& schedule) {
  const StrippedLoops loops = schedule.lowered();
  return classified<Result>(loops.order, loops.without_idle());
}
using ByRows = Access<Tensor<double, CSR<>>, 'i', 'j'>;
using ByColumns = Access<Tensor<double, CSC<>>, 'i', 'j'>;

TEST(LoopSchedules, ScatterAsTheResultIsClassified) {
  std::size_t looked_at = 0;
  const auto look = [&]<class Result>(std::type_identity<Result>) {
    for (const Example& example : examples) {
      if (!(example.levels == Result::level_names)) continue;
      EXPECT_EQ(scattering_order(example.loops, example.levels), example.scatters_over) << example.what;
      EXPECT_EQ(classified<Result>(example.loops), example.scatters_over) << example.what;
      ++looked_at;
    }
  };
  look(std::type_identity<ByRows>{});
  look(std::type_identity<ByColumns>{});
  look(std::type_identity<Access<Tensor<double, CSF<3>>, 'i', 'k', 'j'>>{});
  look(std::type_identity<Access<Tensor<double, CSF<3>>, 'i', 'j', 'l'>>{});
  look(std::type_identity<Access<Tensor<double, SparseVector<>>, 'j'>>{});
  look(std::type_identity<Access<Tensor<double, Scalar>>>{});
  EXPECT_EQ(looked_at, std::size(examples));

  for (const NameList& order : {names('i', 'k', 'j'), names('k', 'i', 'j'), names('i', 'j', 'k'),
                                names('j', 'i', 'k'), names('j', 'k', 'i'), names('k', 'j', 'i')}) {
    EXPECT_EQ(classified<ByRows>(order), scattering_order(order, ByRows::level_names));
    EXPECT_EQ(classified<ByColumns>(order), scattering_order(order, ByColumns::level_names));
  }
}

TEST(LoopSchedules, OfStripsScatterAsTheResultIsClassified) {
  for (const LoopSchedule& schedule : {split_i, moved(split_i, names('u', 'k', 'v', 'j')), split_k,
                                       moved(split_k, names('u', 'i', 'v', 'j')), twice, coarser, tiles}) {
    EXPECT_EQ(classified<ByRows>(schedule),
              scattering_order(input_order(schedule, ByRows::level_names), ByRows::level_names));
    EXPECT_EQ(classified<ByColumns>(schedule),
              scattering_order(input_order(schedule, ByColumns::level_names), ByColumns::level_names));
  }
}

TEST(LoopSchedules, ScatterMoreWhereStripsCutWhatIsInOrder) {
  const LoopSchedule of_tiles = moved(tiles, names('u', 'x', 'v', 'y'));
  EXPECT_EQ(input_order(of_tiles, ByRows::level_names), names('i', 'j'));
  EXPECT_EQ(scattering_order(input_order(of_tiles, ByRows::level_names), ByRows::level_names), 0);
  EXPECT_EQ(classified<ByRows>(of_tiles), 2);
  // Strips of the nonzeros of B begin inside rows; the result by columns scatters over both variables anyway.
  EXPECT_EQ(scattering_order(input_order(figure_11, ByRows::level_names), ByRows::level_names), 1);
  EXPECT_EQ(classified<ByRows>(figure_11), 2);
  EXPECT_EQ(classified<ByColumns>(figure_11), 2);
}

TEST(LoopSchedules, ComeOutOfAStatementAsTheyAreWritten) {
  constexpr Index<'f'> f;
  constexpr Index<'p'> p;
  constexpr Index<'u'> u;
  constexpr Index<'v'> v;
  const Tensor<double, DCSR<>> A({8, 6});
  const Tensor<double, CSR<>> B({6, 7}), C({7, 8});
  const auto statement = assign(A(j, i), B(i, k) * C(k, j))
                             .reorder(i, k, j)
                             .fuse(i, k, f)
                             .pos(f, p, B(i, k))
                             .split(p, u, v, 4)
                             .reorder(u, v, j);
  using S = std::remove_const_t<decltype(statement)>;
  static_assert(S::schedule::loops::value == figure_11);
  static_assert(std::is_same_v<S::order, loops_over<'i', 'k', 'j'>>);
  EXPECT_NE(explain(statement).find("inserted as (i, j), stored as (j, i)"), std::string::npos)
      << explain(statement);
}

}  // namespace
}  // namespace sporos::test::loop_schedules
