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

}  // namespace sporos
