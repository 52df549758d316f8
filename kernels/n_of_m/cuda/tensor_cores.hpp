// SPDX-License-Identifier: Apache-2.0
/// @file tensor_cores.hpp
/// The product of a dense and an N:M sparse matrix on tensor cores.
///
/// A multiprocessor loads whole rows of the dense factor, stored k-major, and gathers: the matrix load
/// instruction is given the address of each of 16 kept rows, so gathering costs nothing but bank conflicts,
/// of which packing leaves few (packed.hpp). Each warp computes 32 columns of the result. If units have a
/// multiple of 32 columns, these share their pattern; otherwise the warp gathers separately for each 16 or 8
/// of them, of which units must then have a multiple.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/cluster.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/ring.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/warp.hpp"
#include "../../cuda/wgmma_tile.hpp"
#include "k_major_parts.hpp"
#include "packed.hpp"
#include "store.hpp"

namespace sporos::gpu {

/// How a block computes a tile of the result.
///
/// The operands pass through two rings of slots in shared memory: one of stages of the dense matrix, and one
/// of steps of the sparse one.
/// @tparam StageRows  dense rows per stage
/// @tparam Steps      steps per stage, each of 16 rows that a group of columns keeps
/// @tparam Stages     slots of the dense matrix
/// @tparam WarpsOfGroup  warps that share 32 columns of a tile, each computing a part of its rows
/// @tparam Planes  2 if floats are split
/// @tparam GroupColumns  columns that share their pattern: 32, 16 or 8
template <class T, int Planes, int GroupColumns, int BlockM, int BlockN, int StageRows, int Steps, int Stages,
          int WarpsOfGroup>
struct NmTensorCoreConfig {
  using value_type = T;
  static constexpr int block_m = BlockM, block_n = BlockN, stage_rows = StageRows, steps = Steps;
  static constexpr int planes = Planes;
  static constexpr int group_columns = GroupColumns;
  static constexpr int groups_of_warp = ColumnsOfWarp::columns / GroupColumns;
  static constexpr int warps_of_rows = BlockN / ColumnsOfWarp::columns;  ///< warps that compute the same rows
  static constexpr int warps = warps_of_rows * WarpsOfGroup;             ///< warps that multiply
  static constexpr int rows_of_warp = BlockM / WarpsOfGroup, tiles_of_warp = rows_of_warp / MmaM16N8K16::m;
  static constexpr NmPacking packing{StageRows, Steps, planes, BlockN / GroupColumns, GroupColumns};

  /// One more warp would do for copying, but four can give registers to the others.
  static constexpr int multiplying = warps * warp_size, threads = multiplying + 4 * warp_size;
  static constexpr int registers = 216, registers_to_copy = 72;
  /// Whether this kernel can copy A k-major itself, by warps that are otherwise idle.
  static constexpr bool can_copy_parts = !is_scaled<T> && BlockM == KMajorOrder::tile_rows;

  static constexpr int slabs_of_plane = BlockM / 64;  ///< of 64 rows of A: 128 bytes for each k
  static constexpr int slabs = slabs_of_plane * planes;
  /// The bytes of a slab: the rows of a stage, followed by rows of zeros.
  static constexpr int slab_bytes = StageRows * Swizzle128::row_bytes + Swizzle128::alignment;
  static constexpr int a_slots = Stages, a_bytes = slabs * slab_bytes,
                       a_copied = slabs * StageRows * Swizzle128::row_bytes;
  /// A slot of the sparse matrix has two steps where stages have whole pairs of them: half as many barriers
  /// to wait for. Split floats, whose steps are twice as long, have no room for as many slots then.
  static constexpr int steps_of_slot = Planes == 1 && Steps % 2 == 0 ? 2 : 1;
  static constexpr int step_bytes = packing.step_bytes(), b_bytes = steps_of_slot * step_bytes;
  /// Whether whole stages are unrolled, so that the compiler knows what a step is to do: two stages if the
  /// registers of the sparse factor, for this step and for the next, would not be the same in each. Where
  /// long stages of large tiles of split floats are unrolled, registers are spilled. Where warps gather for
  /// several groups of columns, it is not faster.
  static constexpr bool unrolls_stages = groups_of_warp == 1 && (Planes == 1 || Steps <= 4 || BlockN == 128);
  static constexpr int steps_at_once = !unrolls_stages ? 2 : Steps % 2 == 0 ? Steps : 2 * Steps;
  static constexpr int most_shared_bytes = 227 * 1024;  ///< one block has a multiprocessor to itself
  static constexpr int most_b_slots = 12 / steps_of_slot;
  static constexpr int b_slots = std::min(
      most_b_slots, (most_shared_bytes - Swizzle128::alignment - a_slots * (a_bytes + 16)) / (b_bytes + 16));
  static constexpr int shared_bytes =
      Swizzle128::alignment + a_slots * (a_bytes + 16) + b_slots * (b_bytes + 16);

  static_assert(BlockM % 64 == 0 && BlockN % ColumnsOfWarp::columns == 0,
                "a tile has a multiple of 64 rows and of 32 columns");
  static_assert(GroupColumns == 32 || GroupColumns == 16 || GroupColumns == 8,
                "a group of columns is some matrix instructions of 8 columns, and part of a warp's 32");
  static_assert(
      Planes == 1 || tiles_of_warp > 1,
      "a warp has two tiles of rows or more where floats are split, since their products are added to "
      "the sums while those of the next tile are formed");
  static_assert(64 % rows_of_warp == 0 || rows_of_warp % 64 == 0,
                "a warp has rows of one slab, or whole ones");
  static_assert(warps == 8, "the registers are divided among eight warps that multiply and four that copy");
  static_assert(StageRows % 16 == 0 && StageRows <= 256, "the copy engine copies at most 256 rows at a time");
  static_assert(b_slots >= 2, "the stages do not fit in the shared memory of a multiprocessor");
};

/// C = f(A B).
/// @tparam E          the epilogue f: kernels/epilogue/epilogue.hpp
/// @tparam ByColumns  whether C is stored by columns
template <class Out, class E, bool ByColumns = false>
struct NmProduct {
  using value_type = Out;
  static constexpr bool epilogue_is_identity = E::is_identity;
  static constexpr bool is_by_columns = ByColumns;
  std::int64_t m = 0, n = 0, k = 0;
  int rows_of_batch = 0;         ///< rows of A per batch: whole slabs, or all
  const char* packed = nullptr;  ///< B: packed.hpp
  /// If floats are scaled: the exponents of A's rows and B's columns, and a flag that is set if scaling loses
  /// too much; then nothing is computed.
  const int* row_exponents = nullptr;
  const int* column_exponents = nullptr;
  const int* too_wide = nullptr;
  Out* c = nullptr;          ///< [m, n], or [n, m] if it is stored by columns
  bool accumulates = false;  ///< C += f(A B)
  E epilogue;
};

namespace detail {

/// d += a b for tile number j of four, 16 x 8.
template <class T>
__device__ __forceinline__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[1][4],
                                             const std::uint32_t (&b)[1][2][4], int j) {
  ptx::mma_m16n8k16<packed_t<T>>(d, a[0], b[0][j / 2][j % 2 * 2], b[0][j / 2][j % 2 * 2 + 1]);
}
/// d = a b for some 16 x 8 tiles of split floats, from number `first` of four on: three products each, the
/// smallest first. The tiles take turns, since each product waits for the previous one of its tile.
template <int Tiles>
__device__ __forceinline__ void multiply_split(float (&d)[Tiles][4], const std::uint32_t (&a)[2][4],
                                               const std::uint32_t (&b)[2][2][4], int first) {
#pragma unroll
  for (int part = 0; part < 3; ++part)
#pragma unroll
    for (int t = 0; t < Tiles; ++t) {
      const int j = first + t, of_a = part == 0 ? 1 : 0, of_b = part == 1 ? 1 : 0;
      const std::uint32_t b0 = b[of_b][j / 2][j % 2 * 2], b1 = b[of_b][j / 2][j % 2 * 2 + 1];
      if (part == 0)
        ptx::mma_m16n8k16_of_zero<half>(d[t], a[of_a], b0, b1);
      else
        ptx::mma_m16n8k16<half>(d[t], a[of_a], b0, b1);
    }
}

/// Stores a warp's sums into a result by columns. Elements of 16 bits are exchanged so that a lane has eight
/// rows of a column.
/// @param row, column  where the warp's rows and its 32 columns begin in the result
template <class Config, class Product>
__device__ __forceinline__ void store_by_columns(
    const Product& product, std::int64_t row, std::int64_t column,
    const float (&sums)[Config::tiles_of_warp][ColumnsOfWarp::tiles][4]) {
  using Out = typename Product::value_type;
  static_assert(!is_scaled<typename Config::value_type> && Config::tiles_of_warp % 2 == 0);
  constexpr int tiles_of_group = ColumnsOfWarp::tiles / Config::groups_of_warp;
  const int quad = lane_id() / 4, in_quad = lane_id() % 4;
  // Column number c, of eight, of tile number j of four.
  const auto column_of = [&](int j, int c) {
    return column + j / tiles_of_group * Config::group_columns + c / 2 * tiles_of_group * 2 +
           j % tiles_of_group * 2 + c % 2;
  };
  using Sum = std::common_type_t<float, accumulate_t<Out>>;
  const auto finished = [&](float sum, std::int64_t i, std::int64_t j) {
    if (i >= product.m || j >= product.n) return Sum(0);
    if constexpr (!Product::epilogue_is_identity) sum = static_cast<float>(product.epilogue(sum, i, j));
    const Sum before = product.accumulates
                           ? static_cast<Sum>(static_cast<accumulate_t<Out>>(product.c[j * product.m + i]))
                           : Sum(0);
    return before + sum;
  };
  const bool is_aligned = product.m * static_cast<std::int64_t>(sizeof(Out)) % 16 == 0 &&
                          reinterpret_cast<std::uintptr_t>(product.c) % 16 == 0;
#pragma unroll
  for (int i = 0; i < Config::tiles_of_warp; i += 2)
#pragma unroll
    for (int j = 0; j < ColumnsOfWarp::tiles; ++j) {
      const std::int64_t row_0 = row + i * 16;
      alignas(16) std::uint32_t pairs[4];  // [32 rows / 8]: two rows of a column
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const std::int64_t at = row_0 + part * 8 + quad;
        const float(&from)[4] = sums[i + part / 2][j];
        const Sum first = finished(from[part % 2 * 2], at, column_of(j, in_quad * 2)),
                  second = finished(from[part % 2 * 2 + 1], at, column_of(j, in_quad * 2 + 1));
        if constexpr (sizeof(Out) == 2) {
          pairs[part] = ptx::transposed(narrowed<Out>(first, second));
        } else if (at < product.m) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const std::int64_t to = column_of(j, in_quad * 2 + e);
            if (to < product.n)
              product.c[to * product.m + at] =
                  static_cast<Out>(static_cast<accumulate_t<Out>>(e == 0 ? first : second));
          }
        }
      }
      if constexpr (sizeof(Out) == 2) {
        transpose_in_quads(pairs);  // now eight rows of a column
        const std::int64_t at = row_0 + in_quad * 8, to = column_of(j, quad);
        if (to < product.n && at < product.m) {
          Out* const line = product.c + to * product.m + at;
          if (is_aligned) {  // and so whole
            *reinterpret_cast<uint4*>(line) = *reinterpret_cast<const uint4*>(pairs);
          } else {
            const Out* const values = reinterpret_cast<const Out*>(pairs);
            for (int e = 0; e < 8 && at + e < product.m; ++e) line[e] = values[e];
          }
        }
        __syncwarp();
      }
    }
}

template <class Config, class Product>
__global__ __launch_bounds__(Config::threads, 1) void nm_tensor_core_kernel(
    const __grid_constant__ Product product, const __grid_constant__ CUtensorMap high_map,
    const __grid_constant__ CUtensorMap low_map,
    const __grid_constant__ KMajorParts<typename Config::value_type> parts) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = typename Config::value_type;
  constexpr NmPacking packing = Config::packing;
  constexpr int planes = Config::planes;
  if (is_scaled<T>) {
    ptx::wait_for_kernel_before();
    if (*product.too_wide != 0) return;
  }
  extern __shared__ char memory[];
  using RingOfA = Ring<Config::a_slots, Config::a_bytes, Config::a_copied>;
  using RingOfB = Ring<Config::b_slots, Config::b_bytes>;
  const std::uint32_t a_0 = (ptx::shared_address(memory) + Swizzle128::alignment - 1) /
                            Swizzle128::alignment * Swizzle128::alignment,
                      b_0 = a_0 + Config::a_slots * Config::a_bytes,
                      barriers_0 = b_0 + Config::b_slots * Config::b_bytes;
  RingOfA ring_a(a_0, barriers_0);
  RingOfB ring_b(b_0, barriers_0 + RingOfA::barrier_bytes);
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int stages = static_cast<int>(packing.stages(product.k));
  const int rank = ptx::rank_in_cluster(), blocks = ptx::blocks_of_cluster();
  // The blocks of a cluster compute tiles side by side; each copies its part of A to all of them.
  const int row_tiles = static_cast<int>(ceil_div(product.m, Config::block_m));
  const int column_tiles = static_cast<int>(ceil_div(product.n, Config::block_n));
  const int pairs = (column_tiles + blocks - 1) / blocks;
  const int tiles = row_tiles * pairs;
  const int first_tile = static_cast<int>(blockIdx.x) / blocks,
            tiles_at_a_time = static_cast<int>(gridDim.x) / blocks;

  for (int at = static_cast<int>(threadIdx.x);
       at < Config::a_slots * Config::slabs * (Swizzle128::alignment / 16); at += Config::threads)
    ptx::store_shared_zeros(a_0 + at / (Swizzle128::alignment / 16) * Config::slab_bytes +
                            Config::stage_rows * Swizzle128::row_bytes +
                            at % (Swizzle128::alignment / 16) * 16);
  if (threadIdx.x == 0) {
    ring_a.init(Config::multiplying * blocks);
    ring_b.init(Config::multiplying);
    ptx::fence_barrier_init();
  }
  const auto sync_cluster = [&] {
    ptx::arrive_in_cluster();
    ptx::wait_for_cluster();
  };
  __syncthreads();
  if (blocks > 1) sync_cluster();

  const bool copies_parts = Config::can_copy_parts && parts.from != nullptr;
  const int leavers = (Config::threads / warp_size - Config::warps) * static_cast<int>(gridDim.x);
  if (warp >= Config::warps) {  // the copying warps; one thread copies stages
    ptx::give_registers_back<Config::registers_to_copy>();
    if constexpr (Config::can_copy_parts)
      if (copies_parts && warp > Config::warps) {
        parts.copy();
        if (lane_id() == 0) parts.leave(leavers);
        return;
      }
    if (warp > Config::warps) return;
    ptx::wait_for_kernel_before();  // nothing else in this kernel reads what that one writes
    const int run = copies_parts ? parts.run() : 0;
    const int lines = Config::stage_rows / blocks, first_line = rank * lines;
    const bool is_copying_lane = lane_id() == 0;
    for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
      const int row_tile = tile / pairs, row = row_tile * Config::block_m;
      const int column_tile = tile % pairs * blocks + rank;
      const char* b = product.packed + std::int64_t{column_tile < column_tiles ? column_tile : 0} * stages *
                                           Config::steps * Config::step_bytes;
      struct {
        int column, batch;
      } slabs[Config::slabs_of_plane];  // in A
#pragma unroll
      for (int at = 0; at < Config::slabs_of_plane; ++at) {
        const int first = row + at * 64;
        // Slabs past the end of A begin after the end of a row, where boxes must be aligned as well.
        slabs[at].batch = first < product.m ? first / product.rows_of_batch : 0;
        slabs[at].column = first - slabs[at].batch * product.rows_of_batch;
      }
      int ready = 0;  // stages of A
      for (int s = 0; s < stages; ++s) {
        if constexpr (Config::can_copy_parts)
          if (copies_parts) parts.wait_for(run, row_tile, s, ready);
        if (!is_copying_lane) continue;
        ring_a.begin_filling();
#pragma unroll
        for (int slab = 0; slab < Config::slabs; ++slab) {
          const std::uint32_t to =
              ring_a.slot() + slab * Config::slab_bytes + first_line * Swizzle128::row_bytes;
          const CUtensorMap* const map = slab < Config::slabs_of_plane ? &high_map : &low_map;
          const auto [column, batch] = slabs[slab % Config::slabs_of_plane];
          const int line = s * Config::stage_rows + first_line;
          if (blocks > 1)
            ptx::copy_box_to(static_cast<std::uint16_t>((1 << blocks) - 1), to, map, column, line, batch,
                             ring_a.full());
          else
            ptx::copy_box(to, map, column, line, batch, ring_a.full());
        }
        ring_a.advance();
        for (int step = 0; step < Config::steps; step += Config::steps_of_slot) {
          ring_b.begin_filling();
          ptx::copy_bytes(ring_b.slot(), b, Config::b_bytes, ring_b.full());
          ring_b.advance();
          b += Config::b_bytes;
        }
      }
    }
    if constexpr (Config::can_copy_parts)
      if (copies_parts && is_copying_lane) parts.leave(leavers);
    if (blocks > 1) sync_cluster();  // the other blocks still arrive at the barriers here
    return;
  }

  // The multiplying warps. What the next step needs is loaded while this one is multiplied.
  ptx::take_registers<Config::registers>();
  constexpr int tiles_of_warp = Config::tiles_of_warp;
  constexpr int groups = Config::groups_of_warp, tiles_of_group = ColumnsOfWarp::tiles / groups;
  const int of_rows = warp % Config::warps_of_rows,
            first_row = warp / Config::warps_of_rows * Config::rows_of_warp;
  const std::uint32_t pieces =
      (first_row % 64 / 8 + MmaM16N8K16::rows_of_address(lane_id())) * Swizzle128::piece_bytes;
  const std::uint32_t first_slab = first_row / 64 * Config::slab_bytes;
  const std::uint32_t fragments_at =
      of_rows * groups * planes * packing.fragment_bytes() + lane_id() * (tiles_of_group == 1 ? 8 : 16);
  const std::uint32_t places_at = packing.places_at() + of_rows * groups * NmPacking::bytes_of_places +
                                  MmaM16N8K16::column_of_address(lane_id()) * 2;
  // Whether to ask for the slots of the next step before the instructions of this step, and to wait for them
  // after some of these. Split floats gain by it; halfs, which have fewer instructions, lose.
  constexpr bool asks_ahead = planes == 2;
  for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
    float sums[tiles_of_warp][ColumnsOfWarp::tiles][4];  // [block_m, 32]
#pragma unroll
    for (int i = 0; i < tiles_of_warp; ++i)
#pragma unroll
      for (int j = 0; j < ColumnsOfWarp::tiles; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][j][e] = 0;

    std::uint32_t a[tiles_of_warp][planes][4];  // [block_m, 16 kept]
    std::uint32_t b[2][planes][2][4];           // for this step and the next: [16 kept, 32]
    std::uint32_t place;           // place of this lane's row of A, for the first group in the next step
    std::uint32_t places[groups];  // places for the other groups in this step
    // Products of split floats, which are added to the sums while the next ones are computed.
    [[maybe_unused]] float products[tiles_of_group][4] = {};
    [[maybe_unused]] const auto add_products = [&](int at) {  // adds those of group and rows number `at`
#pragma unroll
      for (int t = 0; t < tiles_of_group; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          sums[at % tiles_of_warp][at / tiles_of_warp * tiles_of_group + t][e] += products[t][e];
    };
    const auto load_b = [&](int which) {
      // Pairs of steps begin with the first register of two, so it is also the number of the step in its
      // slot.
      const std::uint32_t step = ring_b.slot() + which % Config::steps_of_slot * Config::step_bytes;
      place = ptx::load_shared_u16(step + places_at + NmPacking::step_rows * 2);
#pragma unroll
      for (int group = 1; group < groups; ++group)
        places[group] = ptx::load_shared_u16(step + places_at + group * NmPacking::bytes_of_places);
#pragma unroll
      for (int plane = 0; plane < planes; ++plane)
#pragma unroll
        for (int tile = 0; tile < ColumnsOfWarp::tiles; tile += tiles_of_group == 1 ? 1 : 2) {
          const int group = tile / tiles_of_group;
          const std::uint32_t at = step + fragments_at + (group * planes + plane) * packing.fragment_bytes() +
                                   tile % tiles_of_group / 2 * 512;
          auto& pair = b[which][plane][tile / 2];
          if constexpr (tiles_of_group == 1)
            ptx::load_shared(at, pair[tile % 2 * 2], pair[tile % 2 * 2 + 1]);
          else
            ptx::load_shared(at, pair);
        }
    };
    const auto load_a = [&](std::uint32_t from, int i) {
#pragma unroll
      for (int plane = 0; plane < planes; ++plane)
        ptx::load_matrices_transposed((from ^ static_cast<std::uint32_t>(i % 4 * 32)) + first_slab +
                                          (plane * Config::slabs_of_plane + i / 4) * Config::slab_bytes,
                                      a[i][plane]);
    };
    ring_a.wait_until_full();
    ring_b.wait_until_full();
    __syncwarp();  // lanes that waited longer than others: what follows is executed by whole warps
    std::uint32_t rows = ring_a.slot() + (ptx::load_shared_u16(ring_b.slot() + places_at) ^ pieces);
    load_b(0);
#pragma unroll
    for (int i = 0; i < tiles_of_warp; ++i) load_a(rows, i);
    const int steps = stages * Config::steps;
    int step_of_stage = 0;
#pragma unroll 1
    for (int first = 0; first < steps; first += Config::steps_at_once) {
#pragma unroll
      for (int at = 0; at < Config::steps_at_once; ++at) {
        if ((!Config::unrolls_stages || at == Config::steps) && first + at >= steps) break;
        const int u = at % 2;
        const bool is_last = Config::unrolls_stages ? at % Config::steps == Config::steps - 1
                                                    : ++step_of_stage == Config::steps;
        if (is_last) step_of_stage = 0;
        std::uint32_t of_last_rows = 0;  // words that depend on each load of the stage's last rows
        const bool has_next = (Config::unrolls_stages && !is_last) || first + at + 1 < steps;
        const std::uint32_t stage = ring_a.slot(), emptied_a = ring_a.empty(), emptied_b = ring_b.empty();
        const bool ends_slot = u == Config::steps_of_slot - 1 || Config::steps_of_slot == 1;
        if (ends_slot) ring_b.advance();
        const bool b_is_there = !ends_slot || (asks_ahead && has_next && ring_b.is_full());
        if (is_last) ring_a.advance();
        const bool a_is_there = !is_last || (asks_ahead && has_next && ring_a.is_full());
        const auto take_b = [&] {  // the next step's part of B
          if (!has_next) return;
          if (!b_is_there) ring_b.wait_until_full();
          if (ends_slot) __syncwarp();
          load_b(1 - u);
        };
#pragma unroll
        for (int group = 0; group < groups; ++group) {
          const bool is_last_group = group == groups - 1;
#pragma unroll
          for (int i = 0; i < tiles_of_warp; ++i) {
            const bool is_last_load = is_last && is_last_group && i == tiles_of_warp - 1;
            if (is_last_load)
              of_last_rows = first_word(sums[i][group * tiles_of_group][0]);  // of steps before
            if constexpr (planes == 2) {
              constexpr int all = groups * tiles_of_warp;
              float next[tiles_of_group][4];
              multiply_split(next, a[i], b[u], group * tiles_of_group);
              add_products((group * tiles_of_warp + i + all - 1) % all);
#pragma unroll
              for (int t = 0; t < tiles_of_group; ++t)
#pragma unroll
                for (int e = 0; e < 4; ++e) products[t][e] = next[t][e];
            } else {
#pragma unroll
              for (int j = group * tiles_of_group; j < (group + 1) * tiles_of_group; ++j)
                multiply_add<T>(sums[i][j], a[i], b[u], j);
            }
            if (!is_last_group) {
              if (i == 0) rows = stage + (places[(group + 1) % groups] ^ pieces);
              load_a(rows, i);
              continue;
            }
            if (i == 0) {
              if (has_next && !a_is_there) ring_a.wait_until_full();
              if (is_last) __syncwarp();
              rows = ring_a.slot() + (place ^ pieces);
              if (!asks_ahead) take_b();
            }
            if (is_last_load)
#pragma unroll
              for (int plane = 0; plane < planes; ++plane) of_last_rows |= a[i][plane][0];
            if (has_next) load_a(rows, i);
            if (asks_ahead && i == (tiles_of_warp > 2 ? 1 : 0)) take_b();
          }
        }
        // Slots are given back once sums depend on all that was loaded from them, but for A's last rows,
        // whose products may still be on their way.
        if (ends_slot) {
          constexpr int tiles_of_load = tiles_of_group == 1 ? 1 : 2;
          std::uint32_t words = rows;
#pragma unroll
          for (int j = 0; j < ColumnsOfWarp::tiles; j += tiles_of_load) words |= first_word(sums[0][j][0]);
          ptx::arrive(once_loaded(emptied_b, words));
        }
        if (is_last) {
          std::uint32_t words = of_last_rows;
#pragma unroll
          for (int of = 0; of < groups * tiles_of_warp - 1; ++of)
            words |= first_word(sums[of % tiles_of_warp][of / tiles_of_warp * tiles_of_group][0]);
          const std::uint32_t emptied = once_loaded(emptied_a, words);
          if (blocks == 1)
            ptx::arrive(emptied);
          else
#pragma unroll 1
            for (int block = 0; block < blocks; ++block)
              ptx::arrive_at(static_cast<std::uint32_t>(block), emptied);
        }
      }
    }

    if constexpr (planes == 2) add_products(groups * tiles_of_warp - 1);

    const int row_tile = tile / pairs, column_tile = tile % pairs * blocks + rank;
    const std::int64_t row_of_warp = std::int64_t{row_tile} * Config::block_m + first_row,
                       column_of_warp =
                           std::int64_t{column_tile} * Config::block_n + of_rows * ColumnsOfWarp::columns;
    if constexpr (Product::is_by_columns) {
      store_by_columns<Config>(product, row_of_warp, column_of_warp, sums);
      continue;
    }
    constexpr int count = tiles_of_group * 2;  // columns of a group that a lane holds
    const std::int64_t column_0 = column_of_warp + lane_id() % 4 * count, row_0 = row_of_warp + lane_id() / 4;
    const bool is_aligned = product.n * static_cast<std::int64_t>(sizeof(*product.c)) % 16 == 0 &&
                            reinterpret_cast<std::uintptr_t>(product.c) % 16 == 0;
#pragma unroll
    for (int i = 0; i < tiles_of_warp; ++i)
#pragma unroll
      for (int part = 0; part < 2 * groups; ++part) {
        const int half_of_rows = part / groups, group = part % groups;
        const std::int64_t row = row_0 + i * 16 + half_of_rows * 8,
                           column = column_0 + group * Config::group_columns, left = product.n - column;
        float values[count];
#pragma unroll
        for (int e = 0; e < count; ++e)
          values[e] = sums[i][group * tiles_of_group + e / 2][half_of_rows * 2 + e % 2];
        if (row >= product.m || left <= 0) continue;
        if constexpr (is_scaled<T>) {
          const int exponent = product.row_exponents[row];
#pragma unroll
          for (int e = 0; e < count; ++e)
            if (e < left) values[e] = scaled(values[e], exponent + product.column_exponents[column + e]);
        }
        if constexpr (!Product::epilogue_is_identity) {
#pragma unroll
          for (int e = 0; e < count; ++e)
            if (e < left) values[e] = product.epilogue(values[e], row, column + e);
        }
        store_values(product.c + row * product.n + column, left, is_aligned, product.accumulates, values);
      }
  }
  if (blocks > 1) sync_cluster();
#endif
}

}  // namespace detail

/// C = f(A B) or C += f(A B), in the order of the stream of `space`.
/// @param high, low  A, k-major in the layout `stored`; `low` only if floats are split
/// @param stored     if it has several batches, each has whole slabs of 64 rows
/// @param blocks     blocks per cluster
/// @param clusters   number of clusters that run at the same time
/// @param begins     `early` if it follows `copy_k_major`
/// @param parts      how `high` is made, if it does not exist yet; `order.tiles_together` is set here
template <class Config, class Product>
void nm_product(const Kokkos::Cuda& space, Product product, const void* high, const void* low,
                const KMajorBatches& stored, int blocks, std::int64_t clusters, Begins begins,
                KMajorParts<typename Config::value_type> parts = {}) {
  const auto map = [&](const void* a) {
    return tensor_map_of_matrices(a, stored.batches, stored.k, stored.rows, stored.stride,
                                  Config::stage_rows / blocks);
  };
  product.rows_of_batch = static_cast<int>(stored.rows);
  const CUtensorMap high_map = map(high), low_map = Config::planes == 2 ? map(low) : high_map;
  const std::int64_t row_tiles = ceil_div(product.m, Config::block_m),
                     pairs = ceil_div(ceil_div(product.n, Config::block_n), blocks);
  const std::int64_t at_a_time = std::min(row_tiles * pairs, clusters);
  parts.order.tiles_together = static_cast<int>(std::max<std::int64_t>(at_a_time / pairs, 1));
  launch_clusters(begins, space, "sporos::nm_product", &detail::nm_tensor_core_kernel<Config, Product>,
                  at_a_time * blocks, blocks, Config::threads, Config::shared_bytes, product, high_map,
                  low_map, parts);
}

}  // namespace sporos::gpu
