// SPDX-License-Identifier: Apache-2.0
/// @file warp_products.hpp
/// The product of a 2:4 sparse and a dense matrix on sparse tensor cores by instructions that each warp
/// issues for itself, which GPUs have from compute capability 8.0 on.
///
/// All threads of a block copy parts of the operands to slots in shared memory, some stages ahead, and its
/// four warps multiply them, each for a quarter of the tile. The metadata is copied as the format stores it:
/// a lane finds in it, for two neighbouring rows of eight, the 16 bits that it gives to two instructions
/// (MmaSparseM16N8K32::of_metadata).
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/tiled_product.hpp"
#include "../../cuda/warp.hpp"
#include "operands.hpp"
#include "warp_tiles.hpp"

namespace sporos::gpu {

/// How a block computes a tile of the result: two by two warps, and rings of slots for stages of the
/// operands.
/// @tparam Tile       index in two_four_warp_tiles
/// @tparam BIsByRows  whether the dense matrix is stored by rows
template <class T, int Tile, bool BIsByRows>
struct TwoFourWarpConfig {
  using value_type = T;
  using Instruction = MmaSparseM16N8K32;
  static constexpr TwoFourWarpTile tile = two_four_warp_tiles[Tile];
  static constexpr bool b_is_by_rows = BIsByRows;
  static constexpr int threads = 4 * warp_size, blocks = tile.blocks;
  static constexpr int block_m = tile.rows, block_n = tile.columns, stage_k = two_four_warp_stage_k;
  static constexpr int warp_m = block_m / 2, warp_n = block_n / 2;
  /// What a warp computes, in units of instructions.
  static constexpr int row_tiles = warp_m / Instruction::m, column_tiles = warp_n / Instruction::n,
                       steps = stage_k / Instruction::k;

  static constexpr int piece = 8;  ///< elements of 16 bytes, which a thread copies at a time
  /// Lines of the sparse matrix: the elements that a row keeps of a stage.
  using LinesOfA = SwizzledRows<4>;
  static constexpr int a_pieces = stage_k / 2 / piece;  ///< per line
  /// Lines of the dense matrix as it is stored, cut into slabs of 128 bytes.
  static constexpr int b_lines = BIsByRows ? stage_k : block_n;
  static constexpr int b_pieces = (BIsByRows ? block_n : stage_k) / piece;  ///< per line
  static constexpr int slab_pieces = Swizzle128::row_bytes / Swizzle128::piece_bytes;
  static constexpr int slab_bytes = b_lines * Swizzle128::row_bytes;
  static constexpr int lines_of_a_at_a_time = threads / a_pieces, lines_of_b_at_a_time = threads / b_pieces;
  static constexpr int metadata_of_row = stage_k / 8;  ///< bytes

  static constexpr int slots = tile.slots;
  static constexpr int a_bytes = block_m * LinesOfA::row_bytes, b_bytes = stage_k * block_n * 2,
                       metadata_bytes = block_m * metadata_of_row;
  static constexpr int alignment = Swizzle128::row_bytes;

  /// The tile on its way to the result: elements from one line to the next in shared memory, of `Element`,
  /// chosen so that the lanes of a warp write to different banks.
  template <class Element, bool DIsByRows>
  static constexpr int pitch = (DIsByRows ? block_n : block_m) + (sizeof(Element) == 2 || DIsByRows ? 8 : 4);
  static constexpr int most_staged_bytes = block_m * (block_n + 8) * 4;
  static constexpr int shared_bytes = alignment + slots * (a_bytes + b_bytes + metadata_bytes);

  static_assert(LinesOfA::row_bytes == a_pieces * Swizzle128::piece_bytes, "a line of A is one stage");
  static_assert(stage_k == MmaSparseM16N8K32::columns_of_metadata && steps == 2,
                "a register of metadata serves both instructions of a stage");
  static_assert(block_m % lines_of_a_at_a_time == 0 && b_lines % lines_of_b_at_a_time == 0,
                "every thread copies as many pieces");
  static_assert(lines_of_a_at_a_time % 8 == 0 && lines_of_b_at_a_time % 8 == 0,
                "all lines in which a thread copies a piece are swizzled alike");
  static_assert(block_m <= threads, "a thread copies the metadata of one row");
  static_assert(shared_bytes <= 99 * 1024,
                "a block has 99 KiB of shared memory on GPUs of 8.6, 8.9 and 12.0");
  static_assert(blocks * (shared_bytes + 1024) <= 228 * 1024,
                "so many blocks have a multiprocessor of 9.0, where each costs 1 KiB more");
  static_assert(most_staged_bytes + alignment <= shared_bytes, "the tile takes the place of the slots");
};

namespace detail {

/// The copies of a tile's operands to slots in shared memory, by all threads of a block.
template <class Config>
class TwoFourWarpCopies {
  using T = typename Config::value_type;

 public:
  /// @param row, column  where the tile begins in the result
  __device__ __forceinline__ TwoFourWarpCopies(const TwoFourOperands<T>& of, std::int64_t m, int row,
                                               int column, std::uint32_t memory)
      : of_(of),
        memory_(memory),
        thread_(static_cast<int>(threadIdx.x)),
        row_(row),
        last_row_(static_cast<int>(m) - 1),
        column_(column) {}

  __device__ __forceinline__ std::uint32_t slot_of_a(int slot) const {
    return memory_ + static_cast<std::uint32_t>(slot * Config::a_bytes);
  }
  __device__ __forceinline__ std::uint32_t slot_of_b(int slot) const {
    return slot_of_a(Config::slots) + static_cast<std::uint32_t>(slot * Config::b_bytes);
  }
  __device__ __forceinline__ std::uint32_t slot_of_metadata(int slot) const {
    return slot_of_b(Config::slots) + static_cast<std::uint32_t>(slot * Config::metadata_bytes);
  }

  /// Begins to copy a stage. Past the end of A, its last row is read again: results of such rows are not
  /// stored, and zeros would not be valid metadata. What lies outside of B is zero.
  __device__ __forceinline__ void begin(int stage, int slot) const {
    const int k = stage * Config::stage_k;
    const int values_of_row = static_cast<int>(of_.padded_k / 2),
              metadata_of_row = static_cast<int>(of_.padded_k / 8);
    {
      constexpr int lines = Config::lines_of_a_at_a_time;
      const int piece = thread_ % Config::a_pieces, first = thread_ / Config::a_pieces;
      const std::uint32_t to =
          slot_of_a(slot) + static_cast<std::uint32_t>(Config::LinesOfA::place(first, piece));
      const T* const from = of_.values + k / 2 + piece * Config::piece;
#pragma unroll
      for (int i = 0; i < Config::block_m / lines; ++i)
        ptx::copy_piece(to + static_cast<std::uint32_t>(i * lines * Config::LinesOfA::row_bytes),
                        from + std::int64_t{row_of(first + i * lines)} * values_of_row, 16);
    }
    if (thread_ < Config::block_m)
      ptx::copy_half_piece(
          slot_of_metadata(slot) + static_cast<std::uint32_t>(thread_ * Config::metadata_of_row),
          of_.metadata + std::int64_t{row_of(thread_)} * metadata_of_row + k / 8);
    {
      constexpr int lines = Config::lines_of_b_at_a_time;
      const int piece = thread_ % Config::b_pieces, first = thread_ / Config::b_pieces;
      const int line_of_all = (Config::b_is_by_rows ? k : column_) + first,
                place = (Config::b_is_by_rows ? column_ : k) + piece * Config::piece;
      const std::uint32_t to = slot_of_b(slot) +
                               static_cast<std::uint32_t>(piece / Config::slab_pieces * Config::slab_bytes) +
                               (Swizzle128::row_offset(static_cast<unsigned>(first)) ^
                                static_cast<unsigned>(piece % Config::slab_pieces * Swizzle128::piece_bytes));
#pragma unroll
      for (int i = 0; i < Config::b_lines / lines; ++i) {
        const int line = line_of_all + i * lines;
        const bool is_there = line < of_.rows_of_b && place < of_.columns_of_b;
        const std::int64_t at = std::int64_t{line} * static_cast<int>(of_.stride_of_b) + place;
        ptx::copy_piece(to + static_cast<std::uint32_t>(i * lines * Swizzle128::row_bytes),
                        of_.b + (is_there ? at : 0), is_there ? 16 : 0);
      }
    }
  }

 private:
  __device__ __forceinline__ int row_of(int line) const { return ::min(row_ + line, last_row_); }

  const TwoFourOperands<T>& of_;
  std::uint32_t memory_;
  int thread_, row_, last_row_, column_;
};

/// The operands of a warp's instructions, from a stage in shared memory.
template <class Config>
class TwoFourWarpFragments {
  using Instruction = typename Config::Instruction;

 public:
  /// @param row, column  where the warp's quarter begins in the tile
  __device__ __forceinline__ TwoFourWarpFragments(int row, int column) {
    const int lane = lane_id();
    a_ = static_cast<std::uint32_t>(
        Config::LinesOfA::place(row + Instruction::row_of_address(lane), Instruction::half_of_address(lane)));
    if constexpr (Config::b_is_by_rows)
      b_ = static_cast<std::uint32_t>(column / 64 * Config::slab_bytes) +
           (Swizzle128::row_offset(static_cast<unsigned>(lane)) ^
            static_cast<unsigned>(column % 64 / Config::piece * Swizzle128::piece_bytes));
    else
      b_ = static_cast<std::uint32_t>(column * Swizzle128::row_bytes) +
           (Swizzle128::row_offset(static_cast<unsigned>(Instruction::column_of_address(lane))) ^
            static_cast<unsigned>(Instruction::rows_of_address(lane) * Swizzle128::piece_bytes));
    const auto place = Instruction::of_metadata(lane);
    metadata_ = static_cast<std::uint32_t>((row + place.row) * Config::metadata_of_row + place.column / 8);
  }

  /// The elements that 16 rows keep of 32 columns.
  __device__ __forceinline__ void load_a(std::uint32_t slot, int step, int tile,
                                         std::uint32_t (&to)[4]) const {
    ptx::load_matrices(slot + (a_ ^ static_cast<std::uint32_t>(step * 2 * Swizzle128::piece_bytes)) +
                           static_cast<std::uint32_t>(tile * Instruction::m * Config::LinesOfA::row_bytes),
                       to);
  }
  /// 32 rows of 8 columns.
  __device__ __forceinline__ void load_b(std::uint32_t slot, int step, int tile,
                                         std::uint32_t (&to)[4]) const {
    if constexpr (Config::b_is_by_rows)
      ptx::load_matrices_transposed(
          slot + (b_ ^ static_cast<std::uint32_t>(tile * Swizzle128::piece_bytes)) +
              static_cast<std::uint32_t>(step * Instruction::k * Swizzle128::row_bytes),
          to);
    else
      ptx::load_matrices(slot + (b_ ^ static_cast<std::uint32_t>(step * 4 * Swizzle128::piece_bytes)) +
                             static_cast<std::uint32_t>(tile * Instruction::n * Swizzle128::row_bytes),
                         to);
  }
  /// The metadata of 16 rows and 64 columns.
  __device__ __forceinline__ std::uint32_t load_metadata(std::uint32_t slot, int tile) const {
    const std::uint32_t at =
        slot + metadata_ + static_cast<std::uint32_t>(tile * Instruction::m * Config::metadata_of_row);
    return ptx::load_shared_u16(at) | ptx::load_shared_u16(at + 8 * Config::metadata_of_row) << 16;
  }

 private:
  std::uint32_t a_, b_, metadata_;  // what a lane adds to the address of a slot
};

/// Stores a tile: the lanes' sums are put together in shared memory, whose contents are no longer needed, so
/// that neighbouring threads store neighbouring elements of a line.
/// @param row, column            where the tile begins in the result
/// @param warp_row, warp_column  where this warp's quarter begins in the tile
/// @param sums                   [row_tiles, column_tiles, 4]
template <class Config, bool DIsByRows, class Product>
__device__ __forceinline__ void store_warps_tile(const Product& product, char* memory, std::int64_t row,
                                                 std::int64_t column, int warp_row, int warp_column,
                                                 float (&sums)[Config::row_tiles][Config::column_tiles][4]) {
  using Out = typename Product::value_type;
  using Staged = std::conditional_t<Product::epilogue_is_identity, Out, float>;
  constexpr int pitch = Config::template pitch<Staged, DIsByRows>;
  auto* const staged = reinterpret_cast<Staged*>(memory);
  const auto place_of = [lane = lane_id()](int r) { return Config::Instruction::of_d(lane, r); };
  // Calls visit(sums, row, column) for each instruction's 16 x 8 sums, which begin at (row, column) of the
  // tile.
  const auto for_each_instruction = [&](const auto& visit) {
#pragma unroll
    for (int i = 0; i < Config::row_tiles; ++i)
#pragma unroll
      for (int j = 0; j < Config::column_tiles; ++j)
        visit(sums[i][j], warp_row + i * Config::Instruction::m, warp_column + j * Config::Instruction::n);
  };
  if (Product::epilogue_is_identity && product.accumulates)
    for_each_instruction([&](float(&of)[4], int tile_row, int tile_column) {
      add_result_at<DIsByRows>(product, row + tile_row, column + tile_column, place_of, of);
    });
  __syncthreads();
  for_each_instruction([&](const float(&of)[4], int tile_row, int tile_column) {
#pragma unroll
    for (int r = 0; r < 4; r += 2) {  // neighbours in a row
      const auto place = place_of(r);
      const int at_row = tile_row + place.row, at_column = tile_column + place.column;
      Staged* const to = staged + (DIsByRows ? at_row * pitch + at_column : at_column * pitch + at_row);
      if constexpr (!DIsByRows) {
        to[0] = static_cast<Staged>(of[r]);
        to[pitch] = static_cast<Staged>(of[r + 1]);
      } else if constexpr (sizeof(Staged) == 2) {
        *reinterpret_cast<std::uint32_t*>(to) = narrowed<Out>(of[r], of[r + 1]);
      } else {
        *reinterpret_cast<float2*>(to) = make_float2(of[r], of[r + 1]);
      }
    }
  });
  __syncthreads();
  store_lines<DIsByRows ? Config::block_m : Config::block_n, DIsByRows ? Config::block_n : Config::block_m,
              pitch, Config::threads>(product, ResultLines<Out>::template of<DIsByRows>(product), staged,
                                      DIsByRows ? row : column, DIsByRows ? column : row,
                                      static_cast<int>(threadIdx.x));
}

template <class Config, bool DIsByRows, class Product>
__global__ __launch_bounds__(Config::threads, Config::blocks) void two_four_warps_kernel(
    const __grid_constant__ Product product,
    const __grid_constant__ TwoFourOperands<typename Config::value_type> of,
    const __grid_constant__ TileOrder order) {
  using T = typename Config::value_type;
  extern __shared__ char memory[];
  const std::uint32_t begin = ptx::shared_address(memory),
                      slots_0 = (begin + Config::alignment - 1) / Config::alignment * Config::alignment;
  const auto tile = order[static_cast<int>(blockIdx.x)];
  const int row = tile.row * Config::block_m, column = tile.column * Config::block_n;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int warp_row = warp / 2 * Config::warp_m, warp_column = warp % 2 * Config::warp_n;
  const TwoFourWarpCopies<Config> copies(of, product.m, row, column, slots_0);
  const TwoFourWarpFragments<Config> fragments(warp_row, warp_column);
  const int stages = static_cast<int>(of.padded_k / Config::stage_k);

  // Every stage is a group of copies; groups after the last stage are empty.
  constexpr int ahead = Config::slots - 1;
#pragma unroll
  for (int s = 0; s < ahead; ++s) {
    if (s < stages) copies.begin(s, s);
    ptx::commit_pieces();
  }
  float sums[Config::row_tiles][Config::column_tiles][4] = {};
  int slot = 0, free = ahead;  // the slot to be read, and the one that was read last
#pragma unroll 1
  for (int s = 0; s < stages; ++s) {
    ptx::wait_for_pieces<ahead - 1>();
    __syncthreads();  // stage s of all threads is there, and all have read stage s - 1
    if (s + ahead < stages) copies.begin(s + ahead, free);
    ptx::commit_pieces();
    free = slot;

    const std::uint32_t slot_of_a = copies.slot_of_a(slot), slot_of_b = copies.slot_of_b(slot);
    std::uint32_t metadata[Config::row_tiles];  // [warp_m, 64]
    std::uint32_t a[Config::steps][Config::row_tiles][4], b[2][4];
#pragma unroll
    for (int i = 0; i < Config::row_tiles; ++i) {
      metadata[i] = fragments.load_metadata(copies.slot_of_metadata(slot), i);
      fragments.load_a(slot_of_a, 0, i, a[0][i]);  // [16, 32]
    }
    fragments.load_b(slot_of_b, 0, 0, b[0]);  // [32, 8]
    const auto multiply = [&]<int Step>(std::integral_constant<int, Step>) {
#pragma unroll
      for (int j = 0; j < Config::column_tiles; ++j) {
        // What is needed next is loaded before these instructions.
        const int at = Step * Config::column_tiles + j, next = at + 1;
        if (next < Config::steps * Config::column_tiles)
          fragments.load_b(slot_of_b, next / Config::column_tiles, next % Config::column_tiles, b[next % 2]);
        if (Step == 0 && j >= Config::column_tiles - Config::row_tiles) {
          const int i = j - (Config::column_tiles - Config::row_tiles);
          fragments.load_a(slot_of_a, 1, i, a[1][i]);
        }
#pragma unroll
        for (int i = 0; i < Config::row_tiles; ++i)
          ptx::mma_sparse_m16n8k32<T, Step>(sums[i][j], a[Step][i], b[at % 2], metadata[i]);
      }
    };
    multiply(std::integral_constant<int, 0>{});
    multiply(std::integral_constant<int, 1>{});
    slot = slot + 1 < Config::slots ? slot + 1 : 0;
  }
  ptx::wait_for_pieces<0>();
  store_warps_tile<Config, DIsByRows>(product, memory + (slots_0 - begin), row, column, warp_row, warp_column,
                                      sums);
}

}  // namespace detail

/// D = f(A B) or D += f(A B), in the order of the stream of `space`.
/// @param choice  its tile must be that of Config
template <class Config, bool DIsByRows, class Product>
void two_four_product_by_warps(const Kokkos::Cuda& space, const Product& product,
                               const TwoFourOperands<typename Config::value_type>& of,
                               const TwoFourWarpChoice& choice) {
  const TileOrder order = choice.order(product.m, product.n);
  launch(space, "sporos::two_four_product_by_warps",
         &detail::two_four_warps_kernel<Config, DIsByRows, Product>, Grid(order.size()), Config::threads,
         Config::shared_bytes, product, of, order);
}

}  // namespace sporos::gpu
