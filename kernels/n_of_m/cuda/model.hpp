// SPDX-License-Identifier: Apache-2.0
/// @file model.hpp
/// What limits the speed of an N:M product on CUDA cores, and how long it takes: the model of Ma et al.,
/// *NM-SpMM* (arXiv 2503.01253), section III-A, extended to what a plan has to choose. These functions depend
/// on numbers alone and are tested on the host.
///
/// A block multiplies m_s rows of the dense factor by n_s columns of the sparse one; of every k_s dense rows
/// it keeps w_s = k_s N/M. That takes m_s n_s w_s multiplications and copies m_s k_s + w_s n_s elements of
/// the operands: the fewer rows are kept, the fewer multiplications there are for each copied element. The
/// paper compares this *arithmetic intensity* with that of the device. Here, the times of the parts are
/// compared instead: the instructions that multiprocessors issue, what they read from shared memory, and what
/// reaches them from the L2 cache and from memory. The longest part is the limit; time that no part explains
/// is waiting.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>

#include "chunk_layout.hpp"

namespace sporos::gpu {

/// Equation 3 of the paper: operations per element that a block reads or writes, for m_s x n_s results.
constexpr double arithmetic_intensity(double rows, double columns, double dense_rows, double kept_rows) {
  return 2 * rows * columns * kept_rows / (rows * dense_rows + kept_rows * columns + 2 * rows * columns);
}
/// Equation 5: the most dense rows, in whole windows, for which half the shared memory of a multiprocessor
/// holds a block's parts of both factors in float.
constexpr int most_dense_rows_of_block(std::int64_t shared_bytes, int rows, int columns, int kept,
                                       int window) {
  const double most =
      static_cast<double>(shared_bytes) / (8 * (rows + static_cast<double>(kept * columns) / window));
  return std::max(1, static_cast<int>(most) / window) * window;
}
/// The fraction of a window's rows that at least one of `units` units keeps, if each keeps random ones.
inline double kept_by_any(int kept, int window, int units) {
  return 1 - std::pow(1 - static_cast<double>(kept) / window, units);
}

/// What a device can do per second.
struct NmDevice {
  int multiprocessors;
  double multiplications;  ///< multiply-adds of floats, by all multiprocessors
  double clock;            ///< cycles of a multiprocessor
  double l2_bytes;         ///< bytes that reach multiprocessors from the L2 cache
  double memory_bytes;
};
/// A device with this many multiprocessors like those of an H200, which has 132, by measurements there: 65 TF
/// of multiply-adds, 4.28 TB/s of copies, and 9 TB/s for the copies of these kernels.
constexpr NmDevice nm_device(int multiprocessors) {
  const double part = multiprocessors / 132.0;
  return {multiprocessors, 32.5e12 * part, 1.92e9, 9e12 * part, 4.28e12 * part};
}

/// The operations that a device does in the time in which it reads one element from memory: what Equation 3
/// is compared with.
constexpr double operations_of_element(const NmDevice& device, int value_bytes) {
  const double multiplications = device.multiplications * (value_bytes == 8 ? 0.5 : 1.0);
  return 2 * multiplications * value_bytes / device.memory_bytes;
}

/// Prints the intensity of a tile beside that of the device, as a line of a plan's explanation.
inline void write_intensity(std::ostream& out, double intensity, const NmDevice& device, int value_bytes) {
  out << "  arithmetic intensity: " << intensity << " operations per element of a tile, the device's "
      << operations_of_element(device, value_bytes) << '\n';
}

/// What takes a product longest.
enum class NmBound { issue, shared_memory, l2_cache, memory, waiting };
constexpr std::string_view to_string(NmBound bound) {
  constexpr std::array<std::string_view, 5> names{"the instructions that multiply", "shared memory",
                                                  "the L2 cache", "memory", "waiting"};
  return names[static_cast<std::size_t>(bound)];
}

/// How long a product is expected to take, and its parts, in seconds.
struct NmPrediction {
  double seconds = std::numeric_limits<double>::infinity();
  std::array<double, 4> parts{};  ///< for the first four NmBounds, each as if it were alone

  /// The longest part, if it is at least half of the time; otherwise, waiting.
  constexpr NmBound bound() const {
    const auto longest = std::max_element(parts.begin(), parts.end());
    return *longest * 2 < seconds ? NmBound::waiting : static_cast<NmBound>(longest - parts.begin());
  }
};

/// How blocks compute tiles, as derived from a Config.
struct NmTileShape {
  int block_m, block_n;
  int rows, columns;  ///< per thread
  int warps;
  int value_bytes, pack;  ///< bytes of a value, and values loaded together
  int at_a_time;          ///< blocks per multiprocessor

  template <class Config>
  static constexpr NmTileShape of(int warps, int at_a_time) {
    return {Config::block_m, Config::block_n, Config::rows,
            Config::columns, warps,           static_cast<int>(sizeof(typename Config::compute)),
            Config::pack,    at_a_time};
  }
};

/// Times measured for tiles on an H200, in seconds; `waits` are factors.
struct NmBlockTimes {
  double launch;
  std::array<double, 3> waits;  ///< time of a kept row over that to issue it, by blocks per multiprocessor
  double store;                 ///< storing a tile
  double exchange;              ///< adding the sums of another block
};
inline constexpr NmBlockTimes nm_large_block_times{
    .launch = 4e-6, .waits = {1.12}, .store = 3e-6, .exchange = 0.7e-6};
inline constexpr NmBlockTimes nm_small_block_times{
    .launch = 2.7e-6, .waits = {1.42, 1.27, 1.02}, .store = 0.7e-6, .exchange = 1.8e-6};

/// The seconds that a multiprocessor needs for one kept row of a tile: to issue its instructions, and to read
/// shared memory.
struct NmRowTimes {
  double issue, shared_memory;

  static constexpr NmRowTimes of(const NmDevice& device, const NmTileShape& tile) {
    constexpr double slots_beside = 11;  // instructions of a warp per kept row for places, slots and counts
    const double packs = static_cast<double>(tile.rows + tile.columns) / tile.pack,
                 multiplications = tile.rows * tile.columns * (tile.value_bytes == 8 ? 2.0 : 1.0),
                 slots = multiplications + packs + slots_beside;
    const double slots_a_second = device.multiplications / device.multiprocessors / 32;
    return {tile.warps * slots / slots_a_second, tile.warps * packs / device.clock};
  }
};

/// What a listed row costs to copy, relative to a row of a section that is copied as a whole: threads copy 16
/// bytes each, which moves half as many bytes from the L2 cache as the copy engine does (wide_units.hpp).
inline constexpr double nm_cost_of_listed_row = 2;
/// How much longer products of listed rows take than their parts say, compared with those of all rows: twelve
/// products on an H200 (cuda_n_of_m_h200.json).
inline constexpr double nm_wait_for_listed_rows = 1.2;

/// What part of the rows of the dense factor blocks with tiles of `columns` columns copy if rows are listed,
/// where units of `unit` columns keep random ones.
inline double part_of_listed_rows(int kept, int window, int columns, int unit) {
  return kept_by_any(kept, window, most_units(columns, unit));
}

/// Equation 3 for a tile that blocks, `shared` of them, compute: each has that part of k.
/// @param part_of_dense_rows  the fraction of dense rows that is copied
constexpr double arithmetic_intensity(const NmTileShape& tile, const NmChunks& cut, std::int64_t k,
                                      int shared, double part_of_dense_rows) {
  const double rows = static_cast<double>(k) / shared;
  return arithmetic_intensity(tile.block_m, tile.block_n, rows * part_of_dense_rows,
                              rows * cut.kept / cut.window);
}

/// The bytes that a block copies for a section of k; those of the dense factor times a cost.
constexpr double bytes_of_section(const NmTileShape& tile, const NmChunks& cut, double cost_of_dense_rows) {
  return tile.value_bytes * (tile.block_m * cut.dense_rows() * cost_of_dense_rows +
                             static_cast<double>(tile.block_n) * cut.chunks * cut.rows);
}
/// The seconds for which a product keeps memory busy: each operand is read once, the result written once.
constexpr double seconds_of_memory(const NmDevice& device, const NmChunks& cut, int value_bytes,
                                   std::int64_t m, std::int64_t n, std::int64_t k) {
  const double rows = static_cast<double>(m), columns = static_cast<double>(n),
               inner = static_cast<double>(k);
  return value_bytes * (rows * inner + inner * columns * cut.kept / cut.window + rows * columns) /
         device.memory_bytes;
}

/// Predicts a product of m x k by k x n with tiles of a shape.
/// @param shared              number of blocks that share a tile
/// @param cost_of_dense_rows  what it costs to copy those dense rows that are copied, over all of them as
///                            whole sections: 1; if rows are listed, their part times nm_cost_of_listed_row
inline NmPrediction predict_blocks(const NmDevice& device, const NmTileShape& tile, const NmBlockTimes& times,
                                   const NmChunks& cut, std::int64_t m, std::int64_t n, std::int64_t k,
                                   int shared, double cost_of_dense_rows = 1) {
  const std::int64_t tiles = ceil_div(m, tile.block_m) * ceil_div(n, tile.block_n);
  // Blocks that share a tile run together in one part of the GPU and do not fill it: a tenth is left over.
  const int places = device.multiprocessors * tile.at_a_time,
            tiles_at_a_time = shared == 1 ? places : places * 9 / 10 / shared;
  const std::int64_t rounds = std::max<std::int64_t>(ceil_div(tiles, tiles_at_a_time), 1);
  const std::int64_t crowd = std::clamp<std::int64_t>(
      ceil_div(ceil_div(tiles, rounds) * shared, device.multiprocessors), 1, tile.at_a_time);
  const NmRowTimes row = NmRowTimes::of(device, tile);
  const double of_section = static_cast<double>(cut.chunks * cut.rows * crowd);
  const double copied = bytes_of_section(tile, cut, cost_of_dense_rows) * static_cast<double>(crowd);
  const double issue = of_section * row.issue,
               shared_memory = of_section * row.shared_memory + copied / 128 / device.clock,
               l2 = copied * device.multiprocessors / device.l2_bytes;
  const double waits = times.waits[static_cast<std::size_t>(crowd - 1)];
  const double sections = static_cast<double>(rounds * ceil_div(cut.sections(k), shared));
  const double memory = seconds_of_memory(device, cut, tile.value_bytes, m, n, k);
  NmPrediction out;
  out.parts = {sections * issue, sections * shared_memory, sections * l2, memory};
  out.seconds = times.launch + std::max(sections * std::max({issue * waits, shared_memory, l2}), memory) +
                static_cast<double>(rounds) * (times.store + times.exchange * (shared - 1));
  return out;
}

/// How long products by teams take, in seconds, fitted on an H200.
struct NmTeamTimes {
  double launch;
  double tile;       ///< a tile without its rows
  double row;        ///< a kept row
  double dense_row;  ///< a dense row that is copied
};
/// Times for tiny, small and wide tiles, with A row-major or k-major.
template <bool RowMajor>
inline constexpr std::array<NmTeamTimes, 3> nm_team_times = {{{0.9e-6, 2.5e-6, 0.0139e-6, 0.0006e-6},
                                                              {0.4e-6, 4.0e-6, 0.0239e-6, 0.0006e-6},
                                                              {0.2e-6, 5.1e-6, 0.0462e-6, 0.0007e-6}}};
template <>
inline constexpr std::array<NmTeamTimes, 3> nm_team_times<false> = {{{0.9e-6, 2.6e-6, 0.0125e-6, 0.0005e-6},
                                                                     {0.4e-6, 4.1e-6, 0.0215e-6, 0.0005e-6},
                                                                     {0.4e-6, 5.1e-6, 0.0438e-6, 0.0007e-6}}};

/// Predicts the same product by teams: each tile has a multiprocessor to itself, and its teams share the
/// sections.
inline NmPrediction predict_teams(const NmDevice& device, const NmTileShape& tile, const NmTeamTimes& times,
                                  const NmChunks& cut, std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t tiles = ceil_div(m, tile.block_m) * ceil_div(n, tile.block_n);
  const auto rounds = static_cast<double>(ceil_div(tiles, device.multiprocessors)),
             sections = static_cast<double>(cut.sections(k));
  const double rows = sections * cut.rows, dense_rows = sections * cut.dense_rows();
  const NmRowTimes row = NmRowTimes::of(device, tile);
  const double copied = bytes_of_section(tile, cut, 1) * sections;
  NmPrediction out;
  out.parts = {rounds * rows * row.issue, rounds * (rows * row.shared_memory + copied / 128 / device.clock),
               rounds * copied * device.multiprocessors / device.l2_bytes,
               seconds_of_memory(device, cut, tile.value_bytes, m, n, k)};
  out.seconds = times.launch + rounds * (times.tile + rows * times.row + dense_rows * times.dense_row);
  return out;
}

/// Predicts a product on tensor cores with tiles of block_m x block_n, in which each 32 columns gather their
/// rows from shared memory (tensor_cores.hpp).
/// @param planes   2 if values are split, else 1
/// @param seconds  the time that it is expected to take in all
inline NmPrediction predict_gathering(const NmDevice& device, int block_m, int block_n, int planes, int kept,
                                      int window, std::int64_t m, std::int64_t n, std::int64_t k,
                                      double seconds) {
  constexpr double multiplications_a_cycle = 1344;  // per multiprocessor, by m16n8k16
  constexpr double wavefronts = 1.3;                // per wavefront without bank conflicts, when gathering
  constexpr double received = 90e9;  // bytes per second and multiprocessor, where blocks copy for two
  const auto rounds =
      static_cast<double>(ceil_div(ceil_div(m, block_m) * ceil_div(n, block_n), device.multiprocessors));
  const double dense_rows = static_cast<double>(k), kept_rows = dense_rows * kept / window;
  const double of_dense = block_m * 2.0 * planes, of_sparse = block_n * 2.0 * planes;  // bytes per row
  const double copied = dense_rows * of_dense + kept_rows * of_sparse;
  const double gathered = kept_rows * (block_n / 32.0 * of_dense * wavefronts + of_sparse);
  const double products = planes == 2 ? 3 : 1;
  NmPrediction out;
  out.seconds = seconds;
  out.parts = {rounds * block_m * block_n * kept_rows * products / multiplications_a_cycle / device.clock,
               rounds * (copied + gathered) / 128 / device.clock, rounds * copied / received,
               2.0 * planes * static_cast<double>(n + m) * dense_rows / device.memory_bytes};
  return out;
}

/// Which rows of the dense factor a product by blocks copies: those that are expected to take less time, or
/// all, or, where its format allows for it, those that a tile's units keep.
enum class NmCopiedRows { chosen, all, listed };

/// Whether copying only the rows that a tile's units keep can pay: where N of M and L are such that an eighth
/// of the rows or less is kept, and `columns`, those of a warp, share a unit.
constexpr bool can_list_rows(int kept, int window, int unit, int columns) {
  return kept * 8 <= window && unit % columns == 0;
}

/// The tiles of a product by blocks, and how many blocks share one.
struct NmBlockChoice {
  /// Of small and large tiles those where all rows of the dense factor are copied, and those that list rows.
  enum Tiles { small, large, listed_small, listed_large, by_teams_tiny, by_teams_small, by_teams_wide };
  Tiles tiles = small;
  int shared = 1;
  NmPrediction prediction{};

  bool is_by_teams() const { return tiles >= by_teams_tiny; }
  bool lists_rows() const { return tiles == listed_small || tiles == listed_large; }
  /// Takes other tiles if they are expected to be faster.
  void consider(const NmBlockChoice& other) {
    if (other.prediction.seconds < prediction.seconds) *this = other;
  }
};

}  // namespace sporos::gpu
