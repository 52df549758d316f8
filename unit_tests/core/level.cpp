// SPDX-License-Identifier: Apache-2.0
/// @file level.cpp
/// Which types are levels, and what each can do.
#include <gtest/gtest.h>

#include <cstdint>
#include <sporos/core/level.hpp>
#include <sporos/formats/named.hpp>
#include <string>

namespace {

using namespace sporos;

/// A level of another name that is Compressed in all it does.
struct Renamed : Compressed<std::int32_t, std::int32_t> {
  static std::string name() { return "Renamed"; }
};

/// A level that is built by the host alone.
struct BuiltByHost : Renamed {
  static constexpr bool builds_anywhere = false;
};
/// A level that says that it is built anywhere, of segments that its Storage does not take.
struct BuiltOfOthers : Renamed {
  using coordinate_type = std::int64_t;
};

struct NoLevel {};
struct WithoutView {
  static constexpr LevelProperties properties{};
  static std::string name() { return "WithoutView"; }
};
struct FullAndBranchless : Dense {
  static constexpr LevelProperties properties{.full = true, .branchless = true};
};
/// Its View iterates over positions, which a full level's must not have to.
struct FullWithoutLocate : Renamed {
  static constexpr LevelProperties properties{.full = true};
};

TEST(TheConceptLevel, HoldsForTypesWithAllParts) {
  static_assert(Level<Dense> && Level<Compressed<>> && Level<Singleton<>> && Level<Renamed>);
  static_assert(!Level<NoLevel> && !Level<WithoutView> && !Level<FullAndBranchless>);
  static_assert(!Level<FullWithoutLocate> && !Level<int>);
}

TEST(ALevel, StoresSegmentsWhateverItsName) {
  static_assert(StoresSegments<Compressed<>> && StoresSegments<Renamed>);
  static_assert(!StoresSegments<Dense> && !StoresSegments<Singleton<>>);
  static_assert(StoresCoordinates<Singleton<>> && StoresCoordinates<Renamed> && !StoresCoordinates<Dense>);
}

TEST(ALevel, IsBuiltAnywhereIfItSaysSo) {
  static_assert(BuiltAnywhere<Compressed<>> && BuiltAnywhere<Singleton<>> && BuiltAnywhere<Renamed>);
  static_assert(Level<BuiltByHost> && !BuiltAnywhere<BuiltByHost> && !BuiltAnywhere<Dense>);
  static_assert(!BuiltAnywhere<BuiltOfOthers> && !Level<BuiltOfOthers>);
}

TEST(ASingletonLevel, HasSegmentsWithoutPositions) {
  using Level = Singleton<>;
  const auto segments = SegmentsOf<Level>::with_room_for_branchless(3);
  const auto level = Level::Storage<Kokkos::HostSpace>::from_segments<Host>(segments, 3, 9);
  EXPECT_EQ(level.segments().coordinates.data(), segments.coordinates.data());
  EXPECT_EQ(level.segments().positions.extent(0), 0u);
}

TEST(Abilities, AreThoseOfTheViews) {
  static_assert(CoordinateIterable<Dense::View> && Insertable<Dense::View> && !PositionIterable<Dense::View>);
  static_assert(PositionIterable<Singleton<>::View> && !Locatable<Singleton<>::View>);
  static_assert(Locatable<Compressed<>::View> && !Insertable<Compressed<>::View>);
  static_assert(!Locatable<Compressed<std::int64_t, std::int32_t, false>::View>);
}

TEST(Segments, HaveRoomThatBeginsAtZero) {
  const auto segments = Segments<std::int32_t, std::int16_t>::with_room(3, 5);
  EXPECT_EQ(segments.positions.extent(0), 4u);
  EXPECT_EQ(segments.positions(0), 0);
  EXPECT_EQ(segments.coordinates.extent(0), 5u);
  EXPECT_THROW((Segments<std::int8_t, std::int32_t>::with_room(3, 128)), RangeError);
}

TEST(ACompressedLevel, KeepsTheArraysThatItIsMadeFrom) {
  using Level = Compressed<>;
  auto segments = SegmentsOf<Level>::with_room(1, 2);
  segments.positions(1) = 2;
  const auto level = Level::Storage<Kokkos::HostSpace>::from_segments<Host>(segments, 1, 9);
  EXPECT_EQ(level.positions.data(), segments.positions.data());
  EXPECT_EQ(level.segments().coordinates.data(), segments.coordinates.data());
}

}  // namespace
