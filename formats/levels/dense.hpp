// SPDX-License-Identifier: Apache-2.0
/// @file dense.hpp
/// The dense level: every coordinate is there, and its position is arithmetic.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "../../core/extents.hpp"
#include "../../core/level.hpp"

namespace sporos {

/// All `extent` coordinates below every parent position: position q = p * extent + i, nothing is stored.
///
///     rows of a 3-row CSR matrix        root
///                                       ├─ 0
///                                       ├─ 1
///                                       └─ 2
struct Dense {
  static constexpr LevelProperties properties{
      .ordered = true, .unique = true, .full = true, .branchless = false, .compact = true};

  struct View {
    std::int64_t extent = 0;

    KOKKOS_INLINE_FUNCTION Bounds coord_bounds(std::int64_t) const { return {0, extent}; }
    KOKKOS_INLINE_FUNCTION Located coord_access(std::int64_t p, std::int64_t i) const {
      return {p * extent + i, true};
    }
    KOKKOS_INLINE_FUNCTION Located locate(std::int64_t p, std::int64_t i) const {
      return {p * extent + i, true};
    }
    KOKKOS_INLINE_FUNCTION std::int64_t insert(std::int64_t p, std::int64_t i) const {
      return p * extent + i;
    }
  };

  template <class MemorySpace>
  struct Storage {
    std::int64_t extent = 0;

    View view() const { return {extent}; }

    /// The number of positions below `parents` parent positions.
    std::int64_t size(std::int64_t parents) const {
      return checked_product(parents, extent, "positions of a dense level");
    }

    /// The level with no nonzero stored: for Dense, that is with all of its positions.
    static Storage empty(std::int64_t /*parents*/, std::int64_t extent) { return {extent}; }

    /// A level of `count` positions, to be filled; a dense one is complete as it is.
    static Storage with_room(std::int64_t /*parents*/, std::int64_t /*count*/, std::int64_t extent) {
      return {extent};
    }

    /// Calls visit(Role, name, array) for each array of the level: a dense level has none.
    template <class Visitor>
    void for_each_array(Visitor&&) const {}

    template <class OtherSpace>
    Storage<OtherSpace> copy_to() const {
      return {extent};
    }
  };

  static std::string name() { return "Dense"; }
};

}  // namespace sporos
