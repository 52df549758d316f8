// SPDX-License-Identifier: Apache-2.0
/// @file dense.hpp
/// The dense level: every coordinate is present, and its position is computed.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "../../core/error.hpp"
#include "../../core/extents.hpp"
#include "../../core/level.hpp"

namespace sporos {

/// All `extent` coordinates below every parent position: position q = p * extent + i; nothing is stored.
///
///     rows of a 3-row CSR matrix        root
///                                       ├─ 0
///                                       ├─ 1
///                                       └─ 2
struct Dense {
  static constexpr LevelProperties properties{
      .ordered = true, .unique = true, .full = true, .branchless = false};

  struct View {
    std::int64_t extent = 0;

    KOKKOS_INLINE_FUNCTION Bounds coord_bounds(std::int64_t) const { return {0, extent}; }
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
    std::int64_t size(std::int64_t parents) const {
      return checked_product(parents, extent, "positions of a dense level");
    }
    static Storage empty(std::int64_t /*parents*/, std::int64_t extent) { return {extent}; }

    template <class Visitor>
    void for_each_array(Visitor&&) const {}
    template <class OtherSpace>
    Storage<OtherSpace> copy_to() const {
      return {extent};
    }
    static std::int64_t most_bytes(std::int64_t /*parents*/, std::int64_t /*count*/,
                                   std::int64_t /*extent*/) {
      return 0;
    }

    static constexpr int array_count = 0;
    template <class Arrays>
    static Storage from_arrays(const Arrays&, std::int64_t /*parents*/, std::int64_t extent) {
      return {extent};
    }
    template <class First>
    std::string fault(std::int64_t /*parents*/, std::int64_t wanted, const First&) const {
      if (extent == wanted) return "";
      return text("it has extent ", extent, ", but the format's map gives it the extent ", wanted);
    }
  };

  static std::string name() { return "Dense"; }
};

}  // namespace sporos
