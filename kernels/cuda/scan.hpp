// SPDX-License-Identifier: Apache-2.0
/// @file scan.hpp
/// Turns sizes of segments into the positions where they start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

// g++ wrongly reports an empty object of CUB's as uninitialised.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <cub/device/device_scan.cuh>
#pragma GCC diagnostic pop

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "launch.hpp"

namespace sporos::gpu {

namespace detail {

/// The size of segment `at`, and zero after the last.
template <class Size>
struct SizeAt {
  const Size* sizes;  // [count]
  std::int64_t count;

  __host__ __device__ std::int64_t operator()(std::int64_t at) const {
    return at < count ? static_cast<std::int64_t>(sizes[at]) : 0;
  }
};

/// a + b, in the form that CUB's scan takes.
struct AddSizes {
  __host__ __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

/// Converts 64-bit sums to positions of a narrower type, and keeps the last sum in full.
template <class Position>
class PositionWriter {
 public:
  /// Where one sum goes.
  class Place {
   public:
    __host__ __device__ Place(Position* at, std::int64_t* total) : at_(at), total_(total) {}
    __host__ __device__ const Place& operator=(std::int64_t sum) const {
      *at_ = static_cast<Position>(sum);
      if (total_) *total_ = sum;
      return *this;
    }

   private:
    Position* at_;
    std::int64_t* total_;
  };
  using iterator_category = std::random_access_iterator_tag;
#ifdef __clang__
  using value_type = std::int64_t;  // clang looks up CUB's tuning for this type even where there is none
#else
  using value_type = void;
#endif
  using difference_type = std::int64_t;
  using pointer = void;
  using reference = Place;

  /// @param total  receives the sum of all sizes; may be null
  PositionWriter(Position* positions, std::int64_t count, std::int64_t* total)
      : positions_(positions), last_(positions + count), total_(total) {}

  __host__ __device__ Place operator*() const { return {positions_, positions_ == last_ ? total_ : nullptr}; }
  __host__ __device__ Place operator[](std::int64_t at) const { return *(*this + at); }
  __host__ __device__ PositionWriter operator+(std::int64_t by) const {
    PositionWriter out = *this;
    out.positions_ += by;
    return out;
  }

 private:
  Position* positions_;  // [count + 1]
  Position* last_;
  std::int64_t* total_;
};

/// CUB's scan from sizes to positions; without scratch it only sets `bytes` to what it needs.
template <class Size, class Position>
void scan_sizes(const Kokkos::Cuda& space, std::int64_t count, const Size* sizes, Position* positions,
                std::int64_t* total, void* scratch, std::size_t& bytes) {
  const auto input = thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}),
                                                     SizeAt<Size>{sizes, count});
  expect_success(
      cub::DeviceScan::ExclusiveScan(scratch, bytes, input, PositionWriter<Position>(positions, count, total),
                                     AddSizes{}, std::int64_t{0}, count + 1, space.cuda_stream()),
      "scan");
}

}  // namespace detail

/// The bytes of scratch that sizes_to_positions() needs for `count` sizes.
template <class Size, class Position>
std::int64_t sizes_to_positions_bytes(const Kokkos::Cuda& space, std::int64_t count) {
  std::size_t bytes = 0;
  detail::scan_sizes<Size, Position>(space, count, nullptr, nullptr, nullptr, nullptr, bytes);
  return static_cast<std::int64_t>(bytes);
}

/// positions[p] = the sum of the first p sizes, for p = 0 to count; *total = the sum of all, in 64 bits.
///
/// @param sizes      [count], of a type that converts to std::int64_t
/// @param positions  [count + 1]
/// @param total      may be null
/// @param scratch    [sizes_to_positions_bytes<Size, Position>(space, count)], aligned to 256
/// Cost: one pass; sizes are read once and positions written once (decoupled look-back: Merrill and Garland,
/// *Single-pass Parallel Prefix Scan with Decoupled Look-back*, NVIDIA, 2016).
template <class Size, class Position>
void sizes_to_positions(const Kokkos::Cuda& space, std::int64_t count, const Size* sizes, Position* positions,
                        std::int64_t* total, char* scratch, std::int64_t scratch_bytes) {
  auto bytes = static_cast<std::size_t>(scratch_bytes);
  detail::scan_sizes(space, count, sizes, positions, total, scratch, bytes);
}

}  // namespace sporos::gpu
