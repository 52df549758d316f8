// SPDX-License-Identifier: Apache-2.0
/// @file level_without_from_segments.fail.cpp
/// A format of a level from which no result can be made.
// expect: the Storage of a level that is not full has from_segments<Space>\(segments, parents, extent\)
#include <sporos/compute.hpp>

using namespace sporos;

struct Unmade {
  using position_type = std::int64_t;
  using coordinate_type = std::int32_t;
  static constexpr LevelProperties properties{};
  static std::string name() { return "Unmade"; }
  static void check_extent(std::int64_t) {}
  using View = Compressed<>::View;

  template <class MemorySpace>
  struct Storage {
    View view() const { return {}; }
    std::int64_t size(std::int64_t) const { return 0; }
    static Storage empty(std::int64_t, std::int64_t) { return {}; }
    template <class Visitor>
    void for_each_array(Visitor&&) const {}
    template <class OtherSpace>
    Storage<OtherSpace> copy_to() const {
      return {};
    }
    static std::int64_t most_bytes(std::int64_t, std::int64_t, std::int64_t) { return 0; }
    static constexpr int array_count = 0;
    template <class Arrays>
    static Storage from_arrays(const Arrays&, std::int64_t, std::int64_t) {
      return {};
    }
    template <class First>
    std::string fault(std::int64_t, std::int64_t, const First&) const {
      return "";
    }
  };
};

void refused() { Tensor<double, Format<Map<Dim<0>>, Unmade>> A({9}); }
