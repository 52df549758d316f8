// SPDX-License-Identifier: Apache-2.0
/// @file classify.hpp
/// How a statement's results come out of its loops, decided at compile time: located, appended, or scattered.
///
/// A result is appended if the loops over its variables are the outermost ones, in the order of its levels.
/// If a reduction or another order comes between, the result scatters. Over one variable, it is gathered in a
/// workspace of order 1 inside the loops that both orders share. Over several variables, it is gathered
/// either in a workspace over these inside the shared loops, which is filled and drained for each coordinate
/// of theirs (common iteration hoisting), or in workspaces over all of the result's variables, whose contents
/// are then sorted and merged. The same happens from the first loop on whose coordinates an operand stores in
/// an order, or with repetitions, that the result's level does not take; and also if loops are cut into
/// strips in between. After Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces*
/// (PLDI 2024), sections 2.2, 6.2.
#pragma once

#include <cstddef>

#include "../core/expression.hpp"
#include "../core/format.hpp"
#include "../core/loop_schedule.hpp"
#include "../core/schedule.hpp"
#include "policy.hpp"

namespace sporos {

enum class ResultKind {
  located,   ///< every level is full: values are found by arithmetic
  appended,  ///< levels are written in ascending order of their coordinates
  gathered,  ///< the innermost variable scatters: a workspace of order 1 gathers it, then it is appended
  listed     ///< results scatter over several variables: gathered over all of them, sorted and merged; or
             ///< inside the loops that both orders share, over the others
};

struct Classification {
  ResultKind kind = ResultKind::located;
  int appended_levels = 0;  ///< levels that are appended; full levels below them are located
  int prefix = 0;           ///< outermost loops that match the result's outermost levels
  int bound_depth =
      0;  ///< number of loops after which every result variable is bound; inside, values are reduced
  /// Whether a result that is listed can also be gathered inside its outermost `prefix` loops, in a workspace
  /// over the levels below.
  bool hoists = false;

  /// The number of loops inside which a workspace of order 1 gathers the innermost variable; -1 if none does.
  constexpr int gathers_at() const { return kind == ResultKind::gathered ? prefix : -1; }
};

namespace detail {

/// The number of leading levels of F that are written by appending, the rest being full; -1 if F cannot be
/// appended to.
template <TensorFormat F>
constexpr int appendable_levels() {
  if (F::is_blocked) return -1;
  int last_sparse = -1;
  for (int k = 0; k < F::levels; ++k)
    if (!F::properties[static_cast<std::size_t>(k)].full) last_sparse = k;
  bool repeated = false;  // below a level that may repeat coordinates
  for (int k = 0; k <= last_sparse; ++k) {
    const LevelProperties& level = F::properties[static_cast<std::size_t>(k)];
    if (repeated && !level.branchless) return -1;
    if (!repeated && level.branchless) return -1;
    if (!level.full && !level.unique) repeated = true;
  }
  if (repeated && last_sparse != F::levels - 1) return -1;
  return last_sparse + 1;
}

/// Whether level K of the result takes the coordinates of its variable as operand A stores them: ascending
/// and without repetitions, if the level requires that.
template <class Result, class A>
constexpr bool takes_order_of(int k) {
  const LevelProperties& to = Result::format::properties[static_cast<std::size_t>(k)];
  for (int level = 0; level < A::level_names.size; ++level) {
    const LevelProperties& from = A::format::properties[static_cast<std::size_t>(level)];
    if (A::level_names[level] != Result::level_names[k] || from.ordered) continue;
    if (to.ordered || (to.unique && !from.unique)) return false;
  }
  return true;
}

/// The number of the result's outermost levels that can be appended to, as far as the operands' orders
/// matter.
template <class Result, class... Operands>
constexpr int levels_in_order(TypeList<Operands...>) {
  int k = 0;
  while (k < Result::level_names.size && (takes_order_of<Result, Operands>(k) && ...)) ++k;
  return k;
}

}  // namespace detail

/// How the results of a statement come out of loops in the given order.
/// @tparam Policy   the workspace that the user asked for, or AutomaticWorkspace
/// @param in_order  the number of the result's outermost levels whose coordinates come in the level's order
/// @param stripped  the loops over strips that do not keep the order
template <class Result, class Policy = AutomaticWorkspace>
constexpr Classification classify(const NameList& order, int in_order = Result::level_names.size,
                                  const StrippedLoops& stripped = {}) {
  constexpr NameList levels = Result::level_names;
  Classification out;
  if constexpr (levels.size > 0)
    for (int at = 0; at < order.size; ++at)
      if (levels.contains(order[at])) out.bound_depth = at + 1;
  if constexpr (!Result::format::is_dense) {
    const auto runs_in_strips = [&] {
      for (int at = 0; at < stripped.count; ++at)
        if (stripped.strips[at].depth == out.prefix) return true;
      return false;
    };
    while (out.prefix < in_order && out.prefix < order.size && order[out.prefix] == levels[out.prefix] &&
           !runs_in_strips())
      ++out.prefix;
    out.appended_levels = detail::appendable_levels<typename Result::format>();
    constexpr bool lists_everything = requires { requires Policy::lists_everything; };
    if (lists_everything || out.appended_levels < 0)
      out.kind = ResultKind::listed;
    else if (out.prefix >= out.appended_levels)
      out.kind = ResultKind::appended;
    else if (out.prefix + 1 == levels.size && detail::gathers_in_order<Policy>)
      out.kind = ResultKind::gathered;
    else
      out.kind = ResultKind::listed;
    out.hoists = out.kind == ResultKind::listed && out.prefix > 0 && out.prefix < out.appended_levels &&
                 out.prefix + 1 < levels.size;
  }
  return out;
}

}  // namespace sporos
