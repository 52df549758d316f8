// SPDX-License-Identifier: Apache-2.0
/// @file classify.hpp
/// How a statement's results come out of its loops, decided at compile time: located, appended, or scattered.
///
/// A result is appended when the loops over its variables are the outermost ones, in the order of its levels.
/// Where a reduction or another order comes between, results scatter: over one variable they are gathered in
/// a dense workspace of order 1 inside the loops that the two orders share; over more, in a list of
/// coordinates. After Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces* (PLDI
/// 2024), sections 2.2, 6.2.
#pragma once

#include <cstddef>
#include <string_view>

#include "../core/expression.hpp"
#include "../core/format.hpp"
#include "../core/schedule.hpp"

namespace sporos {

enum class ResultKind {
  located,              ///< every level is full: values are found by arithmetic
  appended,             ///< levels are written in ascending order of their coordinates
  dense_workspace,      ///< the innermost variable scatters: an array over its extent gathers it, then it is
                        ///< appended
  coordinate_workspace  ///< results scatter over several variables: a list of coordinates, assembled at the
                        ///< end
};

constexpr std::string_view to_string(ResultKind kind) {
  switch (kind) {
    case ResultKind::located:
      return "located";
    case ResultKind::appended:
      return "appended";
    case ResultKind::dense_workspace:
      return "scattered over one variable, dense workspace of order 1";
    case ResultKind::coordinate_workspace:
      return "scattered over several variables, coordinate workspace";
  }
  return "unknown";
}

struct Classification {
  ResultKind kind = ResultKind::located;
  int appended_levels = 0;  ///< levels that are appended; full levels below them are located
  int prefix = 0;           ///< outermost loops that are the result's outermost levels
  int bound_depth =
      0;  ///< number of loops after which every result variable is bound; inside, values are reduced
};

namespace detail {

/// The number of leading levels of F that are written by appending, the rest being full; -1 where F cannot be
/// appended.
template <TensorFormat F>
constexpr int appendable_levels() {
  if (F::is_blocked) return -1;
  int last_sparse = -1;
  for (int k = 0; k < F::levels; ++k)
    if (!F::properties[static_cast<std::size_t>(k)].full) last_sparse = k;
  bool repeated = false;  // inside the coordinates that a level without uniqueness repeats
  for (int k = 0; k <= last_sparse; ++k) {
    const LevelProperties& level = F::properties[static_cast<std::size_t>(k)];
    if (repeated && !level.branchless) return -1;
    if (!repeated && level.branchless) return -1;
    if (!level.full && !level.unique) repeated = true;
  }
  if (repeated && last_sparse != F::levels - 1) return -1;
  return last_sparse + 1;
}

}  // namespace detail

/// How the results of a statement come out of loops in the given order.
/// @param choice  where the user wants what scatters to be gathered
template <class Result>
constexpr Classification classify(const NameList& order,
                                  WorkspaceChoice choice = WorkspaceChoice::automatic) {
  constexpr NameList levels = Result::level_names;
  Classification out;
  if constexpr (levels.size > 0)
    for (int at = 0; at < order.size; ++at)
      if (levels.contains(order[at])) out.bound_depth = at + 1;
  if constexpr (!Result::format::is_dense) {
    while (out.prefix < levels.size && out.prefix < order.size && order[out.prefix] == levels[out.prefix])
      ++out.prefix;
    out.appended_levels = detail::appendable_levels<typename Result::format>();
    if (choice == WorkspaceChoice::coordinate || out.appended_levels < 0)
      out.kind = ResultKind::coordinate_workspace;
    else if (out.prefix >= out.appended_levels)
      out.kind = ResultKind::appended;
    else if (out.prefix + 1 == levels.size)
      out.kind = ResultKind::dense_workspace;
    else
      out.kind = ResultKind::coordinate_workspace;
  }
  return out;
}

}  // namespace sporos
