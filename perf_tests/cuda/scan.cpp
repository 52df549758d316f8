// SPDX-License-Identifier: Apache-2.0
/// @file scan.cpp
/// Sizes of rows to positions, beside Kokkos::parallel_scan; rows into bins by size, beside CUB's sort.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "harness.hpp"

namespace sporos::perf {

namespace {

/// positions[at + 1] = the sum of the sizes up to `at`.
template <class Size, class Position>
struct SumSizes {
  using value_type = std::int64_t;
  const Size* sizes;
  Position* positions;
  std::int64_t count;
  std::int64_t* total;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at, std::int64_t& sum, bool last_pass) const {
    if (at < count) sum += static_cast<std::int64_t>(sizes[at]);
    if (!last_pass) return;
    if (at == 0) positions[0] = 0;
    if (at < count) positions[at + 1] = static_cast<Position>(sum);
    if (at + 1 >= count && total) *total = sum;
  }
};

template <class Size>
Array<Size, gpu::Memory> row_sizes(std::int64_t rows) {
  std::mt19937 draw(17);
  const auto sizes = make_array<Size, Kokkos::HostSpace>("sizes", rows);
  for (std::int64_t row = 0; row < rows; ++row) sizes(row) = 1 << draw() % 12;
  return copy_array<gpu::Memory>(sizes);
}

template <class Position>
void add_scan(std::int64_t rows) {
  const std::string tail = "/" + std::to_string(rows) + "/" + std::string(value_name<Position>());
  const auto positions_of = [=](bool with_cub) {
    return [=](benchmark::State& state) {
      const Kokkos::Cuda space;
      const auto sizes = row_sizes<std::int32_t>(rows);
      const auto positions = make_array<Position, gpu::Memory>("positions", rows + 1);
      const auto expected = make_array<Position, gpu::Memory>("positions", rows + 1);
      const auto total = make_array<std::int64_t, gpu::Memory>("total", 1);
      const std::int64_t bytes = gpu::sizes_to_positions_bytes<std::int32_t, Position>(space, rows);
      const auto scratch = make_array<char, gpu::Memory>("scratch", bytes);
      const auto run_kokkos = [&](Position* to) {
        Kokkos::parallel_scan("scan", Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, rows),
                              SumSizes<std::int32_t, Position>{sizes.data(), to, rows, total.data()});
      };
      const auto run_cub = [&] {
        gpu::sizes_to_positions(space, rows, sizes.data(), positions.data(), total.data(), scratch.data(),
                                bytes);
      };
      if (with_cub)
        measure(state, 10, run_cub);
      else
        measure(state, 10, [&] { run_kokkos(positions.data()); });
      run_kokkos(expected.data());
      state.counters["difference"] = difference(positions, expected);
      state.counters["scratch_bytes"] = static_cast<double>(with_cub ? bytes : 0);
    };
  };
  add("scan/sporos" + tail, positions_of(true), 10);
  add("scan/kokkos" + tail, positions_of(false), 10);
}

/// Limits of nine bins, for large and for giant rows two of them.
constexpr gpu::RowLimits<3, 4> limits{{32, 64, 128}, {256, 512, 1024, 4096}, false};
static_assert(limits.count == 9, "as many as the others count");

void add_bins(std::int64_t rows) {
  const std::string tail = "/" + std::to_string(rows);
  add(
      "bins/sporos" + tail,
      [=](benchmark::State& state) {
        const Kokkos::Cuda space;
        const auto products = row_sizes<std::int64_t>(rows);
        const auto members = make_array<std::int32_t, gpu::Memory>("members", rows);
        const auto bins = make_array<gpu::BinCounts<9>, gpu::Memory>("bins", 1);
        measure(state, 10, [&] {
          gpu::zero(space, bins.data(), 1);
          gpu::sort_into_bins(space, rows, products.data(), products.data(), limits, bins.data(),
                              members.data());
        });
      },
      10);
  add(
      // Without the kernel that would write each row's bin and number first.
      "bins/cub_histogram_and_sort" + tail,
      [=](benchmark::State& state) {
        const Kokkos::Cuda space;
        const auto keys_host = make_array<std::uint8_t, Kokkos::HostSpace>("bins", rows);
        std::mt19937 draw(17);
        for (std::int64_t row = 0; row < rows; ++row) keys_host(row) = draw() % 9;
        const auto keys = copy_array<gpu::Memory>(keys_host);
        const auto sorted = make_array<std::uint8_t, gpu::Memory>("sorted", rows);
        const auto numbers = make_array<std::int32_t, gpu::Memory>("rows", rows);
        const auto members = make_array<std::int32_t, gpu::Memory>("members", rows);
        const auto counts = make_array<std::int32_t, gpu::Memory>("counts", 9);
        const auto count = static_cast<int>(rows);
        std::size_t histogram_bytes = 0;
        std::size_t sort_bytes = 0;
        const auto histogram = [&](void* scratch) {
          gpu::expect_success(
              cub::DeviceHistogram::HistogramEven(scratch, histogram_bytes, keys.data(), counts.data(), 10, 0,
                                                  9, count, space.cuda_stream()),
              "histogram");
        };
        const auto sort = [&](void* scratch) {
          gpu::expect_success(
              cub::DeviceRadixSort::SortPairs(scratch, sort_bytes, keys.data(), sorted.data(), numbers.data(),
                                              members.data(), count, 0, 4, space.cuda_stream()),
              "sort");
        };
        histogram(nullptr);
        sort(nullptr);
        const auto scratch = make_array<char, gpu::Memory>(
            "scratch", static_cast<std::int64_t>(std::max(histogram_bytes, sort_bytes)));
        measure(state, 10, [&] {
          histogram(scratch.data());
          sort(scratch.data());
        });
      },
      10);
}

}  // namespace

void add_scans() {
  for (std::int64_t rows = 1000; rows <= 100'000'000; rows *= 10) {
    add_scan<std::int64_t>(rows);
    add_scan<std::int32_t>(rows);
    add_bins(rows);
  }
}

}  // namespace sporos::perf
