// SPDX-License-Identifier: Apache-2.0
/// @file classify.cpp
/// How results come out of loops, by their levels and the loops' order, as the compiler decides it.
#include <gtest/gtest.h>

#include <sporos/sporos.hpp>
#include <string_view>

namespace sporos::test {
namespace {

constexpr NameList loops(std::string_view names) {
  NameList out;
  for (const char name : names) out.push(name);
  return out;
}

/// A result with these levels whose variables are named in the order of its modes.
template <class F, char... Names>
using Result = Access<Tensor<double, F>, Names...>;

template <class R, class Policy = AutomaticWorkspace>
constexpr Classification of(std::string_view order, int in_order = R::level_names.size) {
  return classify<R, Policy>(loops(order), in_order);
}
constexpr bool is(const Classification& made, ResultKind kind, int prefix, bool hoists) {
  return made.kind == kind && made.prefix == prefix && made.hoists == hoists;
}

using Matrix = Result<CSR<>, 'i', 'j'>;
using ByColumns = Result<CSC<>, 'i', 'j'>;
using Cube = Result<CSF<3>, 'i', 'j', 'l'>;
using Cube021 = Result<CSF<3, ModeOrder<0, 2, 1>>, 'i', 'j', 'l'>;
using Four = Result<CSF<4>, 'i', 'j', 'l', 'm'>;

TEST(Classification, OfConcordantLoopsIsAppended) {
  static_assert(is(of<Matrix>("ij"), ResultKind::appended, 2, false));
  static_assert(is(of<Matrix>("ijk"), ResultKind::appended, 2, false));  // k is summed below the result
  static_assert(is(of<Four>("ijlmk"), ResultKind::appended, 4, false));
}

TEST(Classification, OfAReductionBeforeTheLastVariableIsGatheredInOrderOne) {
  static_assert(is(of<Matrix>("ikj"), ResultKind::gathered, 1, false));  // Gustavson's product
  static_assert(is(of<Cube>("ijkl"), ResultKind::gathered, 2, false));   // SpTTM: i and j outside
  static_assert(is(of<Four>("ijlkm"), ResultKind::gathered, 3, false));
  static_assert(of<Cube>("ijkl").gathers_at() == 2);
}

TEST(Classification, OfLoopsThatShareNoPrefixIsListedAsAWhole) {
  static_assert(is(of<Matrix>("kij"), ResultKind::listed, 0, false));     // outer product
  static_assert(is(of<ByColumns>("ikj"), ResultKind::listed, 0, false));  // A(j, i) of the paper's figure 11
  static_assert(is(of<ByColumns>("ij"), ResultKind::listed, 0, false));   // discordant without a reduction
  static_assert(is(of<Cube>("kijl"), ResultKind::listed, 0, false));
}

TEST(Classification, OfLoopsThatShareAPrefixIsHoisted) {
  static_assert(is(of<Cube>("ikjl"), ResultKind::listed, 1, true));  // SpTTM-I: of order 2 in each i
  static_assert(is(of<Cube>("iklj"), ResultKind::listed, 1, true));
  static_assert(is(of<Cube021>("ijl"), ResultKind::listed, 1, true));  // stored as i, l, j
  static_assert(is(of<Four>("ikjlm"), ResultKind::listed, 1, true));   // of order 3 in each i
  static_assert(is(of<Four>("imjl"), ResultKind::listed, 1, true));    // the same without a reduction
  static_assert(is(of<Four>("ijklm"), ResultKind::listed, 2, true));   // of order 2 in each (i, j)
  static_assert(is(of<Four>("ijml"), ResultKind::listed, 2, true));
  // What follows the first variable that does not match is ignored.
  static_assert(is(of<Four>("ikljm"), ResultKind::listed, 1, true));
}

TEST(Classification, HoistsOnlyLevelsThatTakeTheOperandsOrder) {
  // The coordinates of i come unordered, those of j as well: the workspace must not be hoisted above
  // loops whose order the result's levels do not take (the conditions of common-iteration hoisting,
  // section 6.2).
  static_assert(is(of<Cube>("ikjl", 0), ResultKind::listed, 0, false));
  static_assert(is(of<Four>("ijklm", 1), ResultKind::listed, 1, true));
}

TEST(Classification, HoistsAboveDenseLevelsAndBelowThem) {
  using Rows = Result<Format<Map<Dim<0>, Dim<1>, Dim<2>>, Dense, Compressed<>, Compressed<>>, 'i', 'j', 'l'>;
  using Fibers =
      Result<Format<Map<Dim<0>, Dim<1>, Dim<2>>, Compressed<>, Compressed<>, Dense>, 'i', 'j', 'l'>;
  using Blocks = Result<Format<Map<Dim<0>, Dim<1>, Dim<2>>, Compressed<>, Dense, Dense>, 'i', 'j', 'l'>;
  static_assert(is(of<Rows>("ikjl"), ResultKind::listed, 1, true));
  static_assert(is(of<Fibers>("ikjl"), ResultKind::listed, 1, true));
  static_assert(is(of<Blocks>("ikjl"), ResultKind::appended, 1, false));  // values are located in i's block
  static_assert(of<Result<DenseTensor<3>, 'i', 'j', 'l'>>("kjil").kind == ResultKind::located);
  static_assert(!of<Result<BCSR<2, 3>, 'i', 'j'>>("ikj").hoists);
}

TEST(Classification, FollowsThePolicyThatListsEverything) {
  static_assert(is(of<Matrix, CoordinatePolicy>("ikj"), ResultKind::listed, 1, false));
  static_assert(is(of<Matrix, CoordinatePolicy>("ij"), ResultKind::listed, 2, false));
  static_assert(is(of<Cube, CoordinatePolicy>("ikjl"), ResultKind::listed, 1, true));
  static_assert(is(of<Matrix, HashPolicy>("ikj"), ResultKind::gathered, 1, false));
}

}  // namespace
}  // namespace sporos::test
