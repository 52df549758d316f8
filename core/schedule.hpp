// SPDX-License-Identifier: Apache-2.0
/// @file schedule.hpp
/// Schedule: how a statement is run, besides the order of its loops, as a type.
#pragma once

#include <type_traits>

#include "semiring.hpp"

namespace sporos {

/// Where a sparse result that scatters is gathered.
enum class WorkspaceChoice {
  automatic,  ///< by what the loop order asks for
  dense,      ///< an array over the innermost variable, inside the loops that the result shares
  coordinate  ///< a list of coordinates and values over all variables
};
template <WorkspaceChoice Choice>
using WorkspaceConstant = std::integral_constant<WorkspaceChoice, Choice>;

/// The arguments of `Statement::workspace`.
inline constexpr WorkspaceConstant<WorkspaceChoice::automatic> automatic_workspace{};
inline constexpr WorkspaceConstant<WorkspaceChoice::dense> dense_workspace{};
inline constexpr WorkspaceConstant<WorkspaceChoice::coordinate> coordinate_workspace{};

/// What `Statement`'s members generic(), deterministic(), over(), workspace() have asked for.
template <class Ring = Arithmetic, WorkspaceChoice Workspace = WorkspaceChoice::automatic,
          bool Generic = false, bool Deterministic = false>
struct Schedule {
  using semiring = Ring;
  static constexpr WorkspaceChoice workspace = Workspace;
  /// Whether the loop nest runs even where a specialised kernel could take its place.
  static constexpr bool is_generic = Generic;
  static constexpr bool is_deterministic = Deterministic;
  static constexpr bool is_arithmetic = std::is_same_v<Ring, Arithmetic>;

  using as_generic = Schedule<Ring, Workspace, true, Deterministic>;
  using as_deterministic = Schedule<Ring, Workspace, Generic, true>;
  template <class Other>
  using over = Schedule<Other, Workspace, Generic, Deterministic>;
  template <WorkspaceChoice Choice>
  using gathered_in = Schedule<Ring, Choice, Generic, Deterministic>;
};

}  // namespace sporos
