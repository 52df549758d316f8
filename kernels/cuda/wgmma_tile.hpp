// SPDX-License-Identifier: Apache-2.0
/// @file wgmma_tile.hpp
/// Tiles of a product that groups of four warps compute by matrix instructions: what a tile is, how the sums
/// of several blocks are added, and how it is stored.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../../core/value.hpp"
#include "cluster.hpp"
#include "mma.hpp"
#include "mma_traits.hpp"
#include "operand_layout.hpp"
#include "tiled_product.hpp"
#include "warp.hpp"
#include "wgmma.hpp"
#include "wgmma_traits.hpp"

namespace sporos::gpu {

/// How a block computes a tile of the result: two or three groups of four warps multiply, each for 64 rows,
/// and further groups copy.
/// @tparam BlockN      columns of a tile: 64, 128, 192 or 256
/// @tparam StageBytes  bytes of operands copied at a time
/// @tparam Copying     number of groups that copy
/// @tparam Groups      number of groups that multiply
template <int BlockN, int StageBytes, int Copying = 1, int Groups = 2>
struct WgmmaTile {
  static constexpr int warpgroups = Groups;  ///< groups that multiply
  static constexpr int block_m = warpgroups * Wgmma::m, block_n = BlockN;
  static constexpr int multiplying = warpgroups * Wgmma::threads, copying = Copying * Wgmma::threads;
  static constexpr int threads = multiplying + copying;
  static constexpr int stage_bytes = StageBytes;

  /// A group stores its results through shared memory, this many columns of the tile at a time, so that
  /// neighbouring threads store neighbouring elements. With three groups it is half as many, which leaves
  /// memory for the stages.
  static constexpr int columns_at_a_time = Groups == 2 ? 64 : 32, parts = block_n / columns_at_a_time;
  static constexpr int sums_of_part = columns_at_a_time / 2;  ///< sums per thread
  template <class T, bool IsByRows>
  using Part = OperandLayout<Role::dense, Operand::d, T, IsByRows, Wgmma::m, columns_at_a_time>;
  /// Room for two parts of 16-bit elements, or one of floats.
  static constexpr int staged_bytes_of_group = 2 * Part<half, true>::bytes;
  static constexpr int staged_bytes = warpgroups * staged_bytes_of_group;

  static constexpr int most_shared_bytes = 227 * 1024;  ///< one block has a multiprocessor to itself
  static constexpr int stages =
      std::min(8, (most_shared_bytes - Swizzle128::alignment - staged_bytes) / (stage_bytes + 16));
  /// The bytes of a group's sums, where several blocks add up theirs; they take the place of the stages.
  static constexpr int sums_bytes_of_group = Wgmma::m * block_n * 4;
  static constexpr int shared_bytes = Swizzle128::alignment + stages * (stage_bytes + 16) + staged_bytes;
  /// Whether several blocks can share a tile.
  static constexpr bool can_be_shared = warpgroups * sums_bytes_of_group <= stages * stage_bytes;
  static_assert(stage_bytes % Swizzle128::alignment == 0);
  static_assert(can_be_shared || Groups > 2);
};

namespace detail {

/// Adds what the result holds to the sums of a tile.
template <bool DIsByRows, class Product, int Count>
__device__ __forceinline__ void add_result(const Product& product, std::int64_t row, std::int64_t column,
                                           int thread, float (&sums)[Count]) {
  add_result_at<DIsByRows>(product, row, column, [thread](int r) { return Wgmma::of_d(thread, r); }, sums);
}

/// Which block of a cluster adds up and stores a part of a tile's columns.
__device__ __forceinline__ int block_of_part(int part, int blocks) { return part % blocks; }

/// Stores the 64 rows of a tile that a group of threads has computed. Each thread holds small pieces of many
/// lines of the result; shared memory puts them together, so that each thread stores 16 bytes of a line. An
/// epilogue is applied on the way from shared memory, where its code is needed only once.
/// @param staged       Config::staged_bytes_of_group bytes
/// @param row, column  where the 64 rows begin in the result
/// @param rank         of this block in its cluster; it stores the parts that block_of_part assigns to it
template <class Config, bool DIsByRows, class Product, int Count, class Sync>
__device__ __forceinline__ void store_tile(const Product& product, char* staged, std::int64_t row,
                                           std::int64_t column, int thread, int rank, int blocks,
                                           const float (&sums)[Count], const Sync& sync) {
  using Out = typename Product::value_type;
  constexpr bool has_epilogue = !Product::epilogue_is_identity;
  using Staged = std::conditional_t<has_epilogue, float, Out>;
  using Part = typename Config::template Part<Staged, DIsByRows>;
  constexpr int columns = Config::columns_at_a_time, lines = Part::lines, pitch = Part::pitch;
  static_assert(Part::bytes <= Config::staged_bytes_of_group);
  const auto all = ResultLines<Out>::template of<DIsByRows>(product);
  // Where the first of this thread's pieces goes. For 16-bit elements, four 8 x 8 matrices are stored
  // together: two below each other, and the two beside them.
  const auto first = Wgmma::of_d(thread, 0);
  const int matrix = lane_id() / 8, line_of_matrix = lane_id() % 8;
  const int first_row =
      sizeof(Staged) == 2 ? thread / 32 * 16 + matrix % 2 * 8 + (DIsByRows ? line_of_matrix : 0) : first.row;
  const int first_column =
      sizeof(Staged) == 2 ? matrix / 2 * 8 + (DIsByRows ? 0 : line_of_matrix) : first.column;
  const int at_first = DIsByRows ? first_row * pitch + first_column : first_column * pitch + first_row;
  // Two parts fit if elements have 16 bits: while one is read, the next is written.
  constexpr bool alternates = Part::bytes * 2 <= Config::staged_bytes_of_group;
#pragma unroll
  for (int part = 0; part < Config::parts; ++part) {
    if (block_of_part(part, blocks) != rank) continue;
    Staged* const of_part =
        reinterpret_cast<Staged*>(staged) + (alternates ? part / blocks % 2 * (lines * pitch) : 0);
    if (!alternates || part < blocks) sync();
#pragma unroll
    for (int r = 0; r < columns / 2; r += 8) {  // 16 columns
      const float* const from = sums + part * Config::sums_of_part + r;
      if constexpr (sizeof(Staged) == 2) {
        std::uint32_t pairs[4];
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) pairs[pair] = narrowed<Out>(from[pair * 2], from[pair * 2 + 1]);
        ptx::store_matrices<DIsByRows>(
            ptx::shared_address(of_part + at_first + r * 2 * (DIsByRows ? 1 : pitch)), pairs);
      } else {
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          const auto place = Wgmma::of_d(0, r + e);
          of_part[at_first + (DIsByRows ? place.row * pitch + place.column
                                        : place.column * pitch + place.row)] = static_cast<Staged>(from[e]);
        }
      }
    }
    sync();
    store_lines<lines, Part::line, pitch, Wgmma::threads>(product, all, of_part,
                                                          DIsByRows ? row : column + part * columns,
                                                          DIsByRows ? column + part * columns : row, thread);
  }
}

/// Has the copy engine copy a tile of an operand (operand_layout.hpp) to shared memory.
/// @param across, k  where the tile begins: a row of a, or a column of b, and an element along the sum
template <class Layout>
__device__ __forceinline__ void copy_operand(std::uint32_t to, const CUtensorMap* from, int across, int k,
                                             std::uint32_t barrier) {
#pragma unroll
  for (int box = 0; box < Layout::boxes; ++box)
    ptx::copy_box(to + box * Layout::box_bytes, from, Layout::column(box, across, k), Layout::row(across, k),
                  barrier);
}

/// The same of one of several matrices that lie one after another.
template <class Layout>
__device__ __forceinline__ void copy_operand(std::uint32_t to, const CUtensorMap* from, int across, int k,
                                             int matrix, std::uint32_t barrier) {
#pragma unroll
  for (int box = 0; box < Layout::boxes; ++box)
    ptx::copy_box(to + box * Layout::box_bytes, from, Layout::column(box, across, k), Layout::row(across, k),
                  matrix, barrier);
}

/// Adds up the sums of all blocks of a cluster; each block does so for the parts it stores. It puts what
/// other blocks need into its shared memory, where they read it. The order is that of the blocks, beginning
/// with the block itself.
/// @param exchanged  Config::sums_bytes_of_group bytes in shared memory, at the same address in each block
template <class Config, int Count, class Sync>
__device__ __forceinline__ void add_sums_of_cluster(float4* exchanged, int thread, int rank, int blocks,
                                                    float (&sums)[Count], const Sync& sync) {
  constexpr int fours = Config::sums_of_part / 4;
  float4* const of_thread = exchanged + thread;
#pragma unroll
  for (int part = 0; part < Config::parts; ++part)
    if (block_of_part(part, blocks) != rank)
#pragma unroll
      for (int four = 0; four < fours; ++four) {
        const float* const from = sums + part * Config::sums_of_part + four * 4;
        of_thread[(part * fours + four) * Wgmma::threads] = make_float4(from[0], from[1], from[2], from[3]);
      }
  sync();
#pragma unroll
  for (int part = 0; part < Config::parts; ++part)
    if (block_of_part(part, blocks) == rank)
      for (int other = 1; other < blocks; ++other) {
        const int block = rank + other < blocks ? rank + other : rank + other - blocks;
#pragma unroll
        for (int four = 0; four < fours; ++four) {
          const float4 from =
              ptx::load_shared_of(static_cast<std::uint32_t>(block),
                                  ptx::shared_address(of_thread + (part * fours + four) * Wgmma::threads));
          float* const to = sums + part * Config::sums_of_part + four * 4;
          to[0] += from.x;
          to[1] += from.y;
          to[2] += from.z;
          to[3] += from.w;
        }
      }
}

}  // namespace detail

/// The tiles of a product, and how many blocks share one.
struct TileChoice {
  int width = 0;   ///< columns of a tile: 64 << width
  int shared = 1;  ///< blocks that share a tile
  int clusters = 0;
  double seconds = 0;
};

/// How long the parts of such a product take, in seconds, for tiles of 64, 128 and 256 columns.
struct TileTimes {
  double launch;
  /// A stage, limited by the shared memory of a multiprocessor, and by the L2 cache while all of them read.
  std::array<double, 3> stage, stage_of_all;
  std::array<double, 3> store;              ///< storing a tile
  std::array<double, 3> exchange;           ///< adding the sums of another block
  double again;                             ///< delay before the next tile, where blocks share tiles
  std::array<int, 3> most_blocks{1, 2, 4};  ///< blocks that can share a tile: as many as it has parts, or
                                            ///< more
};

inline constexpr int most_blocks_of_tile = 4;

/// The tiles with which a product of m x n, or several of them, are expected to be fastest.
/// @param clusters  how many clusters run at the same time, indexed by their number of blocks
inline TileChoice choose_tiles(const TileTimes& times, std::int64_t m, std::int64_t n, std::int64_t stages,
                               int multiprocessors, const std::array<int, most_blocks_of_tile + 1>& clusters,
                               std::int64_t products = 1) {
  TileChoice best;
  best.seconds = std::numeric_limits<double>::infinity();
  for (int width = 0; width < 3; ++width)
    for (int shared = 1; shared <= times.most_blocks[static_cast<std::size_t>(width)] &&
                         shared * 2 <= std::max<std::int64_t>(stages, 2);
         ++shared) {
      const auto at = static_cast<std::size_t>(width);
      const int at_a_time = clusters[static_cast<std::size_t>(shared)];
      if (at_a_time == 0) continue;
      const std::int64_t tiles = ceil_div(m, 2 * Wgmma::m) * ceil_div(n, 64 << width) * products;
      const auto rounds = static_cast<double>(ceil_div(tiles, at_a_time));
      const double busy = static_cast<double>(tiles) * shared / rounds / multiprocessors;
      const double stage = std::max(times.stage[at], times.stage_of_all[at] * busy);
      const double seconds = times.launch + (shared > 1 ? std::max(rounds - 1, 0.0) * times.again : 0) +
                             rounds * (static_cast<double>(ceil_div(stages, shared)) * stage +
                                       times.store[at] + times.exchange[at] * (shared - 1));
      if (seconds < best.seconds) best = {width, shared, at_a_time, seconds};
    }
  return best;
}

/// Calls visit(std::integral_constant<int, width>).
template <class Visit>
auto with_tile_width(int width, const Visit& visit) {
  if (width == 0) return visit(std::integral_constant<int, 0>{});
  if (width == 1) return visit(std::integral_constant<int, 1>{});
  return visit(std::integral_constant<int, 2>{});
}

/// Whether a kernel was compiled with the instructions of sm_90a; its body is empty otherwise.
template <class... Parameters>
bool has_wgmma(void (*kernel)(Parameters...)) {
  cudaFuncAttributes of_kernel{};
  expect_success(cudaFuncGetAttributes(&of_kernel, kernel), "the version of a kernel");
  return of_kernel.binaryVersion == 90 && of_kernel.numRegs >= 64;
}

/// How many clusters of 1, 2, … blocks of a kernel run at the same time.
template <class Tile, class... Parameters>
std::array<int, most_blocks_of_tile + 1> clusters_of(const Kokkos::Cuda& space,
                                                     void (*kernel)(Parameters...)) {
  std::array<int, most_blocks_of_tile + 1> out{0, space.cuda_device_prop().multiProcessorCount};
  for (int shared = 2; shared <= most_blocks_of_tile; ++shared)
    out[static_cast<std::size_t>(shared)] =
        clusters_at_a_time(space, kernel, shared, Tile::threads, Tile::shared_bytes);
  return out;
}

}  // namespace sporos::gpu
