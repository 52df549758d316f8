// SPDX-License-Identifier: Apache-2.0
/// @file order_of_paper.hpp
/// Which workspace a result needs, word for word after Zhang, Hsu, Kjolstad, *Compilation of Modular and
/// General Sparse Workspaces* (PLDI 2024): what `classify` (workspace/classify.hpp), which decides, is
/// compared with. That looks at the strips of loops themselves. It finds the same, or where strips show it
/// more: tiles come in another order than the result stores them, and strips of fused loops begin inside a
/// row, which the paper's order does not show.
#pragma once

#include <array>
#include <cstddef>
#include <sporos/core/loop_schedule.hpp>

namespace sporos::test::loop_schedules {

/// The order of the statement's variables from which the paper tells whether a result needs a workspace: the
/// loops, with the relations undone in inverse order. A split variable that is summed over stands where its
/// first loop does, one of the result where its last loop does (section 6.2, "Input Order Reconstruction").
constexpr NameList input_order(const LoopSchedule& schedule, const NameList& result) {
  NameList loops = schedule.current;
  for (int at = schedule.count - 1; at >= 0; --at) {
    const LoopRelation& relation = schedule.relations[at];
    const bool is_reduced = [&] {
      const NameList variables = schedule.variables_of(relation.from);
      for (int v = 0; v < variables.size; ++v)
        if (result.contains(variables[v])) return false;
      return true;
    }();
    const int outer = loops.find(relation.made), inner = loops.find(relation.inner);
    const int first = outer < inner ? outer : inner, last = outer < inner ? inner : outer;
    NameList out;
    for (int place = 0; place < loops.size; ++place) {
      const bool is_made = loops[place] == relation.made || loops[place] == relation.inner;
      if (!is_made) {
        out.push(loops[place]);
      } else if (relation.kind != LoopRelation::Kind::split) {
        out.push(relation.from);
        if (relation.kind == LoopRelation::Kind::fuse) out.push(relation.second);
      } else if (place == (is_reduced ? first : last)) {
        out.push(relation.from);
      }
    }
    loops = out;
  }
  return loops;
}

/// How a workspace's levels, in the order in which loops insert, stand in the result: loops[at] ==
/// result[order[at]] for the variables that the result has (`ow_order`, section 6.2). The library's
/// workspaces take coordinates in the order of the result's levels.
struct WorkspaceOrder {
  std::array<int, static_cast<std::size_t>(NameList::capacity)> order{};
  int size = 0;
  constexpr bool operator==(const WorkspaceOrder&) const = default;
};
constexpr WorkspaceOrder workspace_order(const NameList& loops, const NameList& result) {
  WorkspaceOrder out;
  for (int at = 0; at < loops.size; ++at)
    if (result.contains(loops[at])) out.order[static_cast<std::size_t>(out.size++)] = result.find(loops[at]);
  return out;
}

/// The number of variables over which a result scatters if loops in a given order insert it; 0 if its values
/// come one after another. A workspace has at least this many levels: max(N + 1 - p1, p2) for a result with N
/// variables (section 2.2).
/// @param loops   the loops, outermost first, of which those without a place in the result are summed over
/// @param result  the variables of the result's levels, outermost first
constexpr int scattering_order(const NameList& loops, const NameList& result) {
  int matching = 0;  // the outermost variables of the result that loops bind in its order, before any sum
  while (matching < result.size && matching < loops.size && loops[matching] == result[matching]) ++matching;
  return result.size - matching;
}

}  // namespace sporos::test::loop_schedules
