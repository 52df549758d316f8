// SPDX-License-Identifier: Apache-2.0
/// @file loop_schedule.hpp
/// How the loops of a statement are cut and joined: the relations split, fuse and pos, as a compile-time
/// value, and what they mean for the loops over the statement's own variables.
///
/// After Senanayake, Hong, Wang, Wilson, Chou, Kamil, Amarasinghe, Kjolstad, *A Sparse Iteration Space
/// Transformation Framework for Sparse Tensor Algebra* (OOPSLA 2020). There, each relation makes new loops.
/// Here the loops remain those over the statement's variables, each of which may be restricted to a strip: a
/// range, in lexicographic order, of the coordinates of one variable or of several. The outer variable of a
/// split is a loop over strips; the inner one is the loops over the coordinates of a strip.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "index.hpp"

namespace sporos {

/// One relation between loops.
struct LoopRelation {
  enum class Kind {
    split,  ///< `from` becomes `made`, over strips, and `inner`, over the coordinates of a strip
    fuse,   ///< `from` and `second`, which runs inside it, become `made`
    pos     ///< `from` becomes `made`, which counts the positions of an operand instead of coordinates
  };
  Kind kind = Kind::split;
  char from = ' ';
  char second = ' ';
  char made = ' ';
  char inner = ' ';
  int operand = -1;  ///< for pos: the operand's place on the right side

  constexpr bool operator==(const LoopRelation&) const = default;
};

/// A loop over strips.
struct Strip {
  char name = ' ';          ///< the variable of the schedule
  int depth = 0;            ///< the loop over the statement's variables before which it runs
  NameList variables;       ///< the variables whose coordinates it cuts
  std::uint32_t sizes = 0;  ///< bit s: the size of a strip has the factor size[s]
  int operand = -1;         ///< the operand whose positions are counted, or -1 for coordinates

  constexpr bool operator==(const Strip&) const = default;
};

/// The loops of a schedule: those over the statement's variables, and the strips.
struct StrippedLoops {
  static constexpr int capacity = 8;
  NameList order;
  Strip strips[capacity];
  int count = 0;

  /// Whether the loop over a strip's coordinates follows directly, so that all strips together run over the
  /// same coordinates in the same order, each once. Strips of several variables share coordinates of the
  /// outer variables.
  constexpr bool keeps_order(const Strip& strip) const {
    return strip.variables.size == 1 && order[strip.depth] == strip.variables[0];
  }
  /// The same loops without the strips that keep the order, which change nothing.
  constexpr StrippedLoops without_idle() const {
    StrippedLoops out;
    out.order = order;
    for (int at = 0; at < count; ++at)
      if (!keeps_order(strips[at])) out.strips[out.count++] = strips[at];
    return out;
  }
};

/// The loops that a user's schedule names, outermost first, and the relations that made them.
struct LoopSchedule {
  static constexpr int capacity = 8;
  NameList current;
  LoopRelation relations[capacity];
  int count = 0;
  char parallel = ' ';  ///< the loop that is shared among threads, if the user named it

  constexpr bool operator==(const LoopSchedule&) const = default;

  /// The relation that made a loop, or `count` for a variable of the statement.
  constexpr int made_by(char name) const {
    int at = 0;
    while (at < count && relations[at].made != name && relations[at].inner != name) ++at;
    return at;
  }
  /// Whether a loop runs over strips.
  constexpr bool is_outer(char name) const {
    const int at = made_by(name);
    return at < count && relations[at].kind == LoopRelation::Kind::split && relations[at].made == name;
  }
  /// The statement's variables that a loop was made of, outermost first.
  constexpr NameList variables_of(char name) const {
    const int at = made_by(name);
    if (at == count) return NameList::of(name);
    NameList out = variables_of(relations[at].from);
    if (relations[at].kind == LoopRelation::Kind::fuse) out.push(variables_of(relations[at].second));
    return out;
  }
  /// The operand whose positions a loop counts, or -1.
  constexpr int operand_of(char name) const {
    const int at = made_by(name);
    if (at == count || relations[at].kind == LoopRelation::Kind::fuse) return -1;
    return relations[at].kind == LoopRelation::Kind::pos ? relations[at].operand
                                                         : operand_of(relations[at].from);
  }

  /// Whether the name belongs to a loop, or to one from which others were made.
  constexpr bool knows(char name) const {
    for (int at = 0; at < count; ++at)
      if (relations[at].from == name || relations[at].second == name) return true;
    return current.contains(name) || made_by(name) < count;
  }

  /// The schedule with one more relation; unchanged if the new names are taken.
  constexpr LoopSchedule with(const LoopRelation& relation) const {
    LoopSchedule out = *this;
    if (count == capacity || knows(relation.made) || relation.made == relation.inner) return out;
    if (relation.kind == LoopRelation::Kind::split && knows(relation.inner)) return out;
    out.relations[out.count++] = relation;
    if (parallel == relation.from) out.parallel = relation.made;
    NameList loops;
    for (int at = 0; at < current.size; ++at) {
      const char name = current[at];
      if (name == relation.from) {
        loops.push(relation.made);
        if (relation.kind == LoopRelation::Kind::split) loops.push(relation.inner);
      } else if (relation.kind != LoopRelation::Kind::fuse || name != relation.second) {
        loops.push(name);
      }
    }
    out.current = loops;
    return out;
  }

  /// Whether a loop can be cut into strips: it is one loop over strips, or consists of plain loops.
  constexpr bool can_be_split(char name) const {
    StrippedLoops loops;
    expand(name, loops);
    return loops.count == 0 || (loops.count == 1 && loops.order.size == 0);
  }
  /// Whether the strips of each split run outside the coordinates of a strip.
  constexpr bool is_nested() const {
    for (int at = 0; at < count; ++at)
      if (relations[at].kind == LoopRelation::Kind::split &&
          first_place_of(relations[at].made) > first_place_of(relations[at].inner))
        return false;
    return true;
  }

  /// The loops over the statement's variables, and the strips to which they are restricted.
  constexpr StrippedLoops lowered() const {
    StrippedLoops out;
    // If threads share a loop that has no strips of its own, it is cut into strips as large as possible.
    if (parallel != ' ' && !is_outer(parallel) && made_by(parallel) < count && can_be_split(parallel))
      out.strips[out.count++] = {parallel, 0, variables_of(parallel), 0, operand_of(parallel)};
    for (int at = 0; at < current.size; ++at) expand(current[at], out);
    return out;
  }
  /// Whether threads share the outermost strips. Where these keep the order, threads share coordinates
  /// instead.
  constexpr bool shares_strips() const {
    const StrippedLoops loops = lowered().without_idle();
    return parallel != ' ' && loops.count > 0 && loops.strips[0].depth == 0 &&
           loops.strips[0].name == parallel;
  }

  /// The order of the statement's variables from which the paper tells whether a result needs a workspace:
  /// the loops, with the relations undone in inverse order. A split variable that is summed over stands where
  /// its first loop does, one of the result where its last loop does. Zhang, Hsu, Kjolstad, *Compilation of
  /// Modular and General Sparse Workspaces* (PLDI 2024), section 6.2, "Input Order Reconstruction".
  ///
  /// Kept as a reference for tests: `classify` (workspace/classify.hpp), which decides, looks at the strips
  /// themselves. It finds the same, or where strips show it more: tiles come in another order than the
  /// result stores them, and strips of fused loops begin inside a row, which this order does not show.
  constexpr NameList input_order(const NameList& result) const {
    NameList loops = current;
    for (int at = count - 1; at >= 0; --at) {
      const LoopRelation& relation = relations[at];
      const bool is_reduced = [&] {
        const NameList variables = variables_of(relation.from);
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

 private:
  constexpr int first_place_of(char name) const {
    // A loop that was split or fused further has the place of the first loop made from it.
    if (current.contains(name)) return current.find(name);
    int first = current.size;
    for (int at = 0; at < count; ++at)
      if (relations[at].from == name || relations[at].second == name) {
        const int made = first_place_of(relations[at].made);
        if (made < first) first = made;
        if (relations[at].kind == LoopRelation::Kind::split) {
          const int inner = first_place_of(relations[at].inner);
          if (inner < first) first = inner;
        }
      }
    return first;
  }
  constexpr std::uint32_t sizes_of(char name) const {
    const int at = made_by(name);
    if (at == count || !is_outer(name)) return 0;
    return sizes_of(relations[at].from) | (std::uint32_t{1} << at);
  }
  constexpr void expand(char name, StrippedLoops& out) const {
    const int at = made_by(name);
    if (at == count) {
      out.order.push(name);
    } else if (is_outer(name)) {
      out.strips[out.count++] = {name, out.order.size, variables_of(name), sizes_of(name), operand_of(name)};
    } else {
      expand(relations[at].from, out);
      if (relations[at].kind == LoopRelation::Kind::fuse) expand(relations[at].second, out);
    }
  }
};

/// How a workspace's levels, in the order in which loops insert, stand in the result: loops[at] ==
/// result[order[at]] for the variables that the result has. The `ow_order` of Zhang, Hsu, Kjolstad, section
/// 6.2, as a reference for tests: workspaces take coordinates in the order of the result's levels.
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
/// come one after another. A workspace has at least this many levels. Zhang, Hsu, Kjolstad, section 2.2:
/// max(N + 1 - p1, p2) for a result with N variables. A reference for tests, with which `classify`
/// (workspace/classify.hpp), which decides, agrees: a result scatters over what its `prefix` leaves.
/// @param loops   the loops, outermost first, of which those without a place in the result are summed over
/// @param result  the variables of the result's levels, outermost first
constexpr int scattering_order(const NameList& loops, const NameList& result) {
  int matching = 0;  // the outermost variables of the result that loops bind in its order, before any sum
  while (matching < result.size && matching < loops.size && loops[matching] == result[matching]) ++matching;
  return result.size - matching;
}

}  // namespace sporos
