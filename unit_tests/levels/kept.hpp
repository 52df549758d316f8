// SPDX-License-Identifier: Apache-2.0
/// @file kept.hpp
/// Levels made outside the library that store what levels of the library store, under other names.
#pragma once

#include <cstdint>
#include <sporos/core/level.hpp>
#include <string>
#include <utility>

namespace sporos::test {

template <class Base>
struct PositionTypeOf {};
template <class Base>
  requires requires { typename Base::position_type; }
struct PositionTypeOf<Base> {
  using position_type = typename Base::position_type;
};

/// A level that keeps another one in a member: its arrays are reached by `segments()`, its View, and their
/// roles, not by the names of members.
/// @tparam Anywhere  whether it is built in any execution space, or by the host alone
template <class Base, bool Anywhere = true>
struct Kept : PositionTypeOf<Base> {
  using coordinate_type = typename Base::coordinate_type;
  using View = typename Base::View;
  static constexpr LevelProperties properties = Base::properties;
  static constexpr bool builds_anywhere = Anywhere;

  static std::string name() { return "Kept " + Base::name(); }
  static void check_extent(std::int64_t extent) { Base::check_extent(extent); }

  template <class MemorySpace>
  struct Storage {
    using Within = typename Base::template Storage<MemorySpace>;
    Within within;

    View view() const { return within.view(); }
    std::int64_t size(std::int64_t parents) const { return within.size(parents); }
    static Storage empty(std::int64_t parents, std::int64_t extent) {
      return {Within::empty(parents, extent)};
    }
    template <class Space>
    static Storage from_segments(SegmentsOf<Base, MemorySpace> segments, std::int64_t parents,
                                 std::int64_t extent) {
      static_assert(Anywhere || HostSpace<Space>);
      return {Within::template from_segments<Space>(std::move(segments), parents, extent)};
    }
    SegmentsOf<Base, MemorySpace> segments() const { return within.segments(); }

    template <class Visitor>
    void for_each_array(Visitor&& visit) const {
      within.for_each_array(visit);
    }
    template <class OtherSpace>
    Storage<OtherSpace> copy_to() const {
      return {within.template copy_to<OtherSpace>()};
    }
    static std::int64_t most_bytes(std::int64_t parents, std::int64_t count, std::int64_t extent) {
      return Within::most_bytes(parents, count, extent);
    }

    static constexpr int array_count = Within::array_count;
    template <class Arrays>
    static Storage from_arrays(const Arrays& arrays, std::int64_t parents, std::int64_t extent) {
      return {Within::from_arrays(arrays, parents, extent)};
    }
    template <class First>
    std::string fault(std::int64_t parents, std::int64_t extent, const First& first) const {
      return within.fault(parents, extent, first);
    }
  };
};

}  // namespace sporos::test
