// SPDX-License-Identifier: Apache-2.0
/// @file blocks.hpp
/// The product of a dense and an N:M sparse matrix on CUDA cores, with the full accuracy of floats or
/// doubles, by the method of Ma et al., *NM-SpMM* (arXiv 2503.01253).
///
/// A block computes a tile of the result from tiles of both factors in shared memory; each warp computes a
/// part of the tile, and each thread a part of that in registers (section III-B). A block copies all rows of
/// its windows (section III-C1, "non-packing") or, where little is kept, only those that its units keep
/// ("packing", by lists like the paper's col_info). Each kept row finds its partner among them at a place
/// that was computed when the sparse factor was packed (chunks.hpp; the paper's reordered index matrix). What
/// the next kept row needs is loaded while this one is multiplied, also from one chunk to the next (section
/// III-C2). Unlike in the paper, one thread makes the copy engine fetch the next chunks while all other warps
/// multiply, so that these issue little but multiplications and loads from shared memory; the dense factor is
/// k-major for that. Listed rows are copied by four warps that do not multiply, 16 bytes a thread: the copy
/// engine, which fetches all rows of a section by one instruction, would need one for each of them. If the
/// result has few tiles, up to eight blocks share one, each computing a part of k; their sums are added in a
/// fixed order.
///
/// The sizes of the paper's Table I, and those here, for floats in units of a multiple of 32 columns, with
/// what a warp and what a thread computes (blocks_candidate.hpp; doubles have half the rows):
///
/// | paper  | tile     | warp    | thread | here                | tile      | warp     | thread |
/// |--------|----------|---------|--------|---------------------|-----------|----------|--------|
/// | small  | 32 x 32  | 16 x 32 | 4 x 4  | tiny, of four teams | 32 x 64   | 32 x 32  | 4 x 8  |
/// | medium | 32 x 64  | 32 x 32 | 8 x 4  | the same            |           |          |        |
/// | -      |          |         |        | small, four teams   | 64 x 64   | 64 x 32  | 8 x 8  |
/// | -      |          |         |        | wide, three teams   | 64 x 128  | 64 x 32  | 8 x 8  |
/// | large  | 64 x 128 | 64 x 32 | 8 x 8  | small blocks        | 64 x 128  | 64 x 32  | 8 x 8  |
/// | -      |          |         |        | large blocks        | 128 x 256 | 128 x 32 | 16 x 8 |
///
/// All warps here have 8 x 4 lanes and 32 columns, which share a unit of L = 32 and so the places of its
/// rows. The paper takes small tiles where a result is small, to have more of them; here, teams of warps
/// share k within a tile as well (teams.hpp), so that a multiprocessor is busy with one tile and none smaller
/// than 32 x 64 is needed. Its medium thread has 8 x 4 results, ours 4 x 8: as many multiplications for each
/// loaded value, and fewer rows of a row-major dense factor, which are loaded one value at a time. Blocks of
/// large tiles have twice the paper's results a thread, which the registers that copying warps give back make
/// room for. The paper chooses by m and n; a plan by what the model expects (model.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../../cuda/cluster.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/ptx.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/warp.hpp"
#include "../../cuda/wgmma.hpp"
#include "chunks.hpp"
#include "k_major_traits.hpp"
#include "thread_tile.hpp"

namespace sporos::gpu {

/// How many sections and chunks of the operands are in shared memory at a time.
struct NmSlots {
  int sections = 0, chunks = 0;

  constexpr bool fit() const { return sections >= 2 && chunks >= 2; }
};

/// How a block computes a tile: a warp has 8 x 4 lanes, each with rows x columns of the result, and the warps
/// stand side by side.
/// @tparam Rows        rows per thread
/// @tparam Columns     columns per thread, all in one unit
/// @tparam SharesUnit  whether all columns of a warp lie in one unit
/// @tparam Warps       number of warps that multiply, in whole groups of four
/// @tparam AtATime     blocks that share a multiprocessor
/// @tparam ListsRows   whether only those rows of the dense factor are copied that the tile's units keep
template <class Compute, int Rows, int Columns, bool SharesUnit, int Warps, int AtATime,
          bool ListsRows = false>
struct NmBlockConfig {
  using compute = Compute;
  static constexpr bool lists_rows = ListsRows;
  static constexpr int rows = Rows, columns = Columns, warps = Warps, at_a_time = AtATime;
  static constexpr bool shares_unit = SharesUnit;
  static constexpr int lanes_m = 8, lanes_n = 4;
  static constexpr int block_m = lanes_m * Rows, warp_columns = lanes_n * Columns;
  static constexpr int block_n = Warps * warp_columns;
  static constexpr int multiplying = Warps * warp_size, copying = 4 * warp_size;
  static constexpr int threads = multiplying + copying;  ///< the last ones copy: if no rows are listed, one
  static constexpr int pack = widest_pack<Compute>;      ///< values loaded together
  static constexpr int row_packs = Rows / pack, column_packs = Columns / pack;
  static constexpr int place_columns = SharesUnit ? warp_columns : Columns;

  // The distance from one pack of a thread to its next. If all lanes read the same row of A, neighbouring
  // lanes hold neighbouring packs of B.
  static constexpr int next_rows = lanes_m * pack;
  static constexpr int next_columns = SharesUnit ? lanes_n * pack : pack;
  /// The distance from a thread's first row to its i-th.
  static constexpr int row_offset(int i) { return i / pack * next_rows + i % pack; }
  static constexpr bool is_row_major = false;  ///< layout of the dense factor in shared memory

  static constexpr int dense_row_bytes = block_m * static_cast<int>(sizeof(Compute));
  static constexpr int row_bytes = block_n * static_cast<int>(sizeof(Compute));  ///< bytes per row of B
  static constexpr int sums_bytes = block_m * row_bytes;
  /// Threads that copy one listed row together, and the number of rows that are copied at a time.
  static constexpr int lanes_of_row = dense_row_bytes / 16, rows_at_a_time = copying / lanes_of_row;
  static constexpr int alignment = 128;  ///< required by the copy engine
  static constexpr int most_slots = 8;
  static constexpr int most_shared_bytes = 227 * 1024, shared_bytes_of_many = 224 * 1024 / AtATime;

  /// Registers per thread, a multiple of 8. The copying group gives its own back; the total must not exceed
  /// what the block starts with.
  static constexpr int registers_of_all = 64 * 1024 / (threads * AtATime) / 8 * 8,
                       registers_to_copy = lists_rows ? 32 : 24;
  static constexpr int registers_to_multiply =
      std::min((registers_of_all * threads - registers_to_copy * copying) / multiplying / 8 * 8, 240);

  static_assert(multiplying % copying == 0, "registers change hands among groups of four warps");
  static_assert(copying % lanes_of_row == 0, "the threads that copy do so in whole rows");
  static_assert(Rows % pack == 0 && Columns % pack == 0,
                "a thread loads its rows and columns in whole packs");

  /// The lane's row and column in the warp's tile. Neighbours share a pack of A or B, so that four of them
  /// read at most two packs of each; where lanes read different rows of A, those reading the same row are
  /// neighbours.
  __device__ static int lane_m(int lane) { return SharesUnit ? lane / 2 % 8 : lane % 8; }
  __device__ static int lane_n(int lane) { return SharesUnit ? lane % 2 + lane / 16 * 2 : lane / 8; }

  /// @param unit  columns per unit; only used if rows are listed
  static constexpr NmChunkLayout layout(const NmChunks& cut, [[maybe_unused]] int unit = 0) {
    NmChunkLayout out{cut, block_n, place_columns, static_cast<int>(sizeof(Compute)), dense_row_bytes};
    if constexpr (lists_rows) {
      out.listed_rows = std::min(cut.dense_rows(), most_units(block_n, unit) * cut.kept_rows());
      out.rows_at_a_time = rows_at_a_time;
    }
    out.place_of_zeros = out.copied_bytes();  // zeros follow the section
    return out;
  }
  /// Where the barriers are, behind the first section: also behind the sums that blocks exchange in place of
  /// sections, since nothing else may be written to where barriers are.
  static constexpr int barriers_at(const NmSlots& slots, int section_bytes, int chunk_bytes) {
    return std::max(slots.sections * section_bytes + slots.chunks * chunk_bytes, sums_bytes);
  }
  static constexpr int shared_bytes(const NmSlots& slots, int section_bytes, int chunk_bytes) {
    return alignment + barriers_at(slots, section_bytes, chunk_bytes) + slots.chunks * 16;
  }
  /// As many slots as fit. If a block's share of a multiprocessor's memory is not enough, it takes all of it.
  /// Chunk slots are few enough that a section's slot is free as soon as the slot of its first chunk is.
  static constexpr NmSlots slots(const NmChunkLayout& layout) {
    for (const int room : {shared_bytes_of_many, most_shared_bytes})
      for (int sections = most_slots; sections >= 2; --sections)
        for (int chunks = std::min((sections - 1) * layout.cut.chunks + 1, most_slots);
             chunks >= (sections > 2 ? std::min(sections, most_slots) : 2); --chunks)
          if (shared_bytes({sections, chunks}, layout.section_bytes(), layout.chunk_bytes()) <= room)
            return {sections, chunks};
    return {};
  }
};

/// The dense factor, k-major, and which of its rows are copied, if they are listed.
struct NmListedRows {
  const char* dense = nullptr;
  std::int64_t next_row = 0, next_batch = 0;  ///< bytes from one row of k to the next, and between batches
  const std::uint16_t* lists = nullptr;       ///< NmChunkLayout
  int list_size = 0, turns = 0;
};

/// C = f(A B) or C += f(A B).
/// @tparam E  the epilogue f: kernels/epilogue/epilogue.hpp
template <class Out, class E>
struct NmBlockProduct {
  static constexpr bool epilogue_is_identity = E::is_identity;
  std::int64_t m = 0, n = 0;
  int rows_of_batch = 0;         ///< rows of A per batch: a multiple of the tile's, or all
  int sections = 0;              ///< number of sections of k
  const char* packed = nullptr;  ///< B: chunks.hpp
  Out* c = nullptr;              ///< [m, n]
  bool accumulates = false;
  E epilogue;
  const int* only_if = nullptr;  ///< if not null, computes only if it points to a nonzero number
  NmSlots slots{};
  NmListedRows listed{};
  /// Added to each sum. It hides its value from the compiler, which would otherwise keep sums that are stored
  /// together in neighbouring registers, in the same register banks as the values of B that they are
  /// multiplied by.
  float nothing = -0.0f;
  // Copied from an NmChunkLayout.
  int chunks_of_section = 0, rows_of_chunk = 0, dense_rows = 0;
  int chunk_bytes = 0, places_at = 0, section_bytes = 0;
  int barriers_at = 0;  ///< of a Config

  void set_layout(const NmChunkLayout& layout) {
    chunks_of_section = layout.cut.chunks;
    rows_of_chunk = layout.cut.rows;
    dense_rows = layout.cut.dense_rows();
    chunk_bytes = layout.chunk_bytes();
    places_at = layout.places_at();
    section_bytes = layout.section_bytes();
    listed.list_size = layout.list_size();
    listed.turns = layout.turns();
  }
};

namespace detail {

/// Adds up the sums of the blocks of a cluster in the order of their ranks and stores them: the block of rank
/// p modulo the number of blocks does so for pack p.
/// @param exchanged  Config::sums_bytes in shared memory, at the same address in each block
template <class Config, class Store>
__device__ __forceinline__ void store_sums_of_cluster(
    char* exchanged, int rank, int blocks,
    const typename Config::compute (&sums)[Config::rows][Config::columns], const Store& store) {
  using Packed = Pack<typename Config::compute, Config::pack>;
  char* const of_thread = exchanged + threadIdx.x * 16;
  constexpr int next = Config::multiplying * 16, packs = Config::rows * Config::column_packs;
  constexpr int loaded = 4;  // packs loaded at a time
  put_sums<Config>(sums, store.product.nothing, of_thread, next);
  ptx::arrive_in_cluster();
  ptx::wait_for_cluster();
#pragma unroll 1
  for (int first = rank; first < packs; first += loaded * blocks) {
    Packed totals[loaded] = {};
#pragma unroll 2
    for (int block = 0; block < blocks; ++block) {
      float4 words[loaded];
#pragma unroll
      for (int q = 0; q < loaded; ++q) {
        const int p = first + q * blocks < packs ? first + q * blocks : rank;
        words[q] =
            ptx::load_shared_of(static_cast<std::uint32_t>(block), ptx::shared_address(of_thread + p * next));
      }
#pragma unroll
      for (int q = 0; q < loaded; ++q) {
        Packed terms;
        memcpy(&terms, &words[q], sizeof terms);
        add_pack(totals[q], terms);
      }
    }
#pragma unroll
    for (int q = 0; q < loaded; ++q)
      if (first + q * blocks < packs) store(first + q * blocks, totals[q].at);
  }
  ptx::arrive_in_cluster();
  ptx::wait_for_cluster();  // no block ends while others read its sums
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
/// What the copying group of a block does if rows are listed: one thread makes the copy engine fetch chunks,
/// and all of them copy the rows of the dense factor that a list names, which they load one section ahead.
/// @param sections_0, chunks_0, full_0, empty_0  addresses of the slots and of their barriers; `full` counts
///                                               each thread as well
template <class Config, class Product>
__device__ __forceinline__ void copy_listed(const Product& product, int first_tile, int tiles_at_a_time,
                                            int begin, int end, std::uint32_t sections_0,
                                            std::uint32_t chunks_0, std::uint32_t full_0,
                                            std::uint32_t empty_0) {
  constexpr int together = NmChunkLayout::turns_together;
  static_assert(together == 4, "the rows that are loaded together fit in 64 bits");
  constexpr int value_bytes = static_cast<int>(sizeof(typename Config::compute));
  constexpr int next_turn = Config::rows_at_a_time * Config::dense_row_bytes;
  const NmListedRows& listed = product.listed;
  const int row_tiles = static_cast<int>(ceil_div(product.m, Config::block_m));
  const int tiles = row_tiles * static_cast<int>(ceil_div(product.n, Config::block_n));
  const int thread = static_cast<int>(threadIdx.x) - Config::multiplying;
  const int part = thread / Config::lanes_of_row, piece_at = thread % Config::lanes_of_row * 16;
  const auto load = [](const std::uint16_t* at) { return __ldg(reinterpret_cast<const uint2*>(at)); };
  int slot = 0, section_slot = 0;
  std::uint32_t parity = 1;
  for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
    const int row = tile % row_tiles * Config::block_m, row_of_batch = row % product.rows_of_batch,
              batch = row / product.rows_of_batch;
    const std::int64_t piece = std::int64_t{row_of_batch} * value_bytes + piece_at;
    const auto left = std::int64_t{product.rows_of_batch} * value_bytes - piece;
    const int bytes = left >= 16 ? 16 : left > 0 ? static_cast<int>(left) : 0;
    const std::int64_t first = std::int64_t{tile / row_tiles} * product.sections + begin;
    const char* b = product.packed + first * product.chunks_of_section * product.chunk_bytes;
    const std::uint16_t* list = listed.lists + first * listed.list_size + part * listed.turns;
    // A piece beyond the last row is not read; its address is that of a piece that is there.
    const char* a = listed.dense + batch * listed.next_batch + (bytes > 0 ? piece : 0) +
                    std::int64_t{begin} * product.dense_rows * listed.next_row;
    uint2 rows = load(list);
    for (int section = begin; section < end; ++section)
      for (int chunk = 0; chunk < product.chunks_of_section; ++chunk) {
        const std::uint32_t full = full_0 + slot * 8;
        ptx::wait(empty_0 + slot * 8, parity);
        if (thread == 0) {
          ptx::arrive_expecting(full, product.chunk_bytes);
          ptx::copy_bytes(chunks_0 + slot * product.chunk_bytes, b, product.chunk_bytes, full);
        }
        if (chunk == 0) {
          std::uint32_t to =
              sections_0 + section_slot * product.section_bytes + part * Config::dense_row_bytes + piece_at;
          for (int turn = 0; turn < listed.turns; turn += together) {
            if (turn > 0) rows = load(list + turn);
#pragma unroll
            for (int e = 0; e < together; ++e) {
              const unsigned row_of_section = (e < 2 ? rows.x : rows.y) >> e % 2 * 16 & 0xffff;
              if (row_of_section != NmChunkLayout::no_row)
                ptx::copy_piece(to + e * next_turn, a + row_of_section * listed.next_row, bytes);
            }
            to += together * next_turn;
          }
          list += listed.list_size;
          a += product.dense_rows * listed.next_row;
          if (section + 1 < end) rows = load(list);
          if (++section_slot == product.slots.sections) section_slot = 0;
        }
        ptx::arrive_with_pieces(full);
        b += product.chunk_bytes;
        if (++slot == product.slots.chunks) {
          slot = 0;
          parity ^= 1;
        }
      }
  }
}
#endif

template <class Config, class Product>
__global__ __launch_bounds__(Config::threads, Config::at_a_time) void nm_block_kernel(
    const __grid_constant__ Product product, const __grid_constant__ CUtensorMap a_map) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if (is_left_out(product)) return;
  using Compute = typename Config::compute;
  const NmSlots& slots = product.slots;
  const int chunk_bytes = product.chunk_bytes, section_bytes = product.section_bytes;
  const int copied_bytes = section_bytes - Config::dense_row_bytes;
  extern __shared__ char memory[];
  char* const sections_0 = memory + (0u - ptx::shared_address(memory)) % Config::alignment;
  char* const chunks_0 = sections_0 + slots.sections * section_bytes;
  const std::uint32_t full_0 = ptx::shared_address(sections_0) + product.barriers_at,
                      empty_0 = full_0 + slots.chunks * 8;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int row_tiles = static_cast<int>(ceil_div(product.m, Config::block_m));
  const int tiles = row_tiles * static_cast<int>(ceil_div(product.n, Config::block_n));
  const int rank = ptx::rank_in_cluster(), blocks = ptx::blocks_of_cluster();
  const int first_tile = static_cast<int>(blockIdx.x) / blocks,
            tiles_at_a_time = static_cast<int>(gridDim.x) / blocks;
  const int begin = product.sections * rank / blocks, end = product.sections * (rank + 1) / blocks;

  // The rows of zeros after the sections.
  constexpr int words_of_row = Config::dense_row_bytes / 16;
  for (int at = static_cast<int>(threadIdx.x); at < slots.sections * words_of_row; at += Config::threads)
    ptx::store_shared_zeros(ptx::shared_address(sections_0) + at / words_of_row * section_bytes +
                            copied_bytes + at % words_of_row * 16);
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < slots.chunks; ++slot) {
      ptx::barrier_init(full_0 + slot * 8, Config::lists_rows ? 1 + Config::copying : 1);
      ptx::barrier_init(empty_0 + slot * 8, Config::multiplying);
    }
    ptx::fence_barrier_init();
  }
  __syncthreads();

  int slot = 0, section_slot = 0;
  if (warp >= Config::warps) {  // the copying group
    ptx::give_registers_back<Config::registers_to_copy>();
    if constexpr (Config::lists_rows)
      return copy_listed<Config>(product, first_tile, tiles_at_a_time, begin, end,
                                 ptx::shared_address(sections_0), ptx::shared_address(chunks_0), full_0,
                                 empty_0);
    if (threadIdx.x != Config::multiplying) return;
    ptx::prefetch(&a_map);
    std::uint32_t parity = 1;
    for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
      const int row = tile % row_tiles * Config::block_m, row_of_batch = row % product.rows_of_batch,
                batch = row / product.rows_of_batch;
      const char* b = product.packed + (std::int64_t{tile / row_tiles} * product.sections + begin) *
                                           product.chunks_of_section * chunk_bytes;
      for (int section = begin; section < end; ++section)
        for (int chunk = 0; chunk < product.chunks_of_section; ++chunk) {
          const std::uint32_t full = full_0 + slot * 8;
          ptx::wait(empty_0 + slot * 8, parity);
          ptx::arrive_expecting(full, chunk_bytes + (chunk == 0 ? copied_bytes : 0));
          if (chunk == 0) {
            ptx::copy_box(ptx::shared_address(sections_0) + section_slot * section_bytes, &a_map,
                          row_of_batch, section * product.dense_rows, batch, full);
            if (++section_slot == slots.sections) section_slot = 0;
          }
          ptx::copy_bytes(ptx::shared_address(chunks_0) + slot * chunk_bytes, b, chunk_bytes, full);
          b += chunk_bytes;
          if (++slot == slots.chunks) {
            slot = 0;
            parity ^= 1;
          }
        }
    }
    return;
  }

  // The multiplying warps.
  ptx::take_registers<Config::registers_to_multiply>();
  const int lane_m = Config::lane_m(lane_id()), lane_n = Config::lane_n(lane_id());
  const int first_column =
      warp * Config::warp_columns + lane_n * (Config::shares_unit ? Config::pack : Config::columns);
  const char* const a_of_lane = sections_0 + lane_m * 16;
  const char* const b_of_lane = chunks_0 + first_column * sizeof(Compute);
  const char* const places_of_lane =
      chunks_0 + product.places_at +
      (Config::shares_unit ? warp : warp * Config::lanes_n + lane_n) * product.rows_of_chunk * 4;
  const int steps_of_chunk = product.rows_of_chunk / NmChunks::rows_at_a_time;
  std::uint32_t parity = 0;
  for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
    Compute sums[Config::rows][Config::columns];
#pragma unroll
    for (int i = 0; i < Config::rows; ++i)
#pragma unroll
      for (int j = 0; j < Config::columns; ++j) sums[i][j] = 0;

    // Where the rows of a step are. What the step's first row needs is loaded during the step before.
    const char *a, *b, *places_at;
    uint4 places;
    NmBlockOperands<Config> even, odd;
    const auto begin_chunk = [&] {
      ptx::wait(full_0 + slot * 8, parity);
      a = a_of_lane + section_slot * section_bytes;
      b = b_of_lane + slot * chunk_bytes;
      places_at = places_of_lane + slot * chunk_bytes;
    };
    begin_chunk();
    places = *reinterpret_cast<const uint4*>(places_at);
    even.load(a + places.x, b);
    int chunks_left = product.chunks_of_section;
#pragma unroll 1
    for (int left = (end - begin) * product.chunks_of_section; left > 0; --left) {
#pragma unroll 1
      for (int step = steps_of_chunk; step > 0; --step) {
        odd.load(a + places.y, b + Config::row_bytes);
        even.multiply(sums);
        even.load(a + places.z, b + 2 * Config::row_bytes);
        odd.multiply(sums);
        odd.load(a + places.w, b + 3 * Config::row_bytes);
        even.multiply(sums);
        if (step > 1) {
          b += NmChunks::rows_at_a_time * Config::row_bytes;
          places_at += 16;
        } else {
          // The chunk is empty once its last row has been loaded: the sums already depend on its other rows.
          const std::uint32_t emptied = empty_0 + slot * 8;
          if (++slot == slots.chunks) {
            slot = 0;
            parity ^= 1;
          }
          if (--chunks_left == 0) {
            chunks_left = product.chunks_of_section;
            if (++section_slot == slots.sections) section_slot = 0;
          }
          if (left > 1) {
            ptx::arrive(once_loaded(emptied, even.words_of(sums) | odd.words()));
            begin_chunk();
          }  // otherwise the row that is loaded next, of the same chunk, is not used
        }
        places = *reinterpret_cast<const uint4*>(places_at);
        even.load(a + places.x, b);
        odd.multiply(sums);
      }
    }
    const std::uint32_t last_slot = (slot == 0 ? slots.chunks : slot) - 1;
    ptx::arrive(once_loaded(empty_0 + last_slot * 8, odd.words_of(sums)));

    const NmBlockStore<Config, Product> store{
        product, std::int64_t{tile % row_tiles} * Config::block_m + std::int64_t{lane_m} * Config::pack,
        std::int64_t{tile / row_tiles} * Config::block_n + first_column};
    if (blocks > 1) {
      ptx::sync_threads(1, Config::multiplying);  // the contents of the slots are no longer needed
      store_sums_of_cluster<Config>(sections_0, rank, blocks, sums, store);
    } else {
      store_sums<Config>(sums, store);
    }
  }
#endif
}

}  // namespace detail

/// C = f(A B) or C += f(A B), in the order of the stream of `space`.
/// @param a       A, k-major in the layout `stored`; if there are several batches, each has whole
///                tiles of rows
/// @param shared  number of blocks that share a tile: 1, 2, 4 or 8
/// (If rows are listed, `product.listed.lists` says which; each row of A begins at a multiple of 16 bytes.)
template <class Config, class Product>
void nm_block_product(const Kokkos::Cuda& space, Product product, const typename Config::compute* a,
                      const KMajorBatches& stored, int shared) {
  product.rows_of_batch = static_cast<int>(stored.rows);
  product.barriers_at = Config::barriers_at(product.slots, product.section_bytes, product.chunk_bytes);
  CUtensorMap map{};
  if constexpr (Config::lists_rows) {
    product.listed.dense = reinterpret_cast<const char*>(a);
    product.listed.next_row = stored.stride * static_cast<std::int64_t>(sizeof(typename Config::compute));
    product.listed.next_batch = stored.k * product.listed.next_row;
  } else {
    map = plain_tensor_map_of_matrices(a, stored.batches, stored.k, stored.rows, stored.stride,
                                       product.dense_rows, Config::block_m);
  }
  const std::int64_t tiles = ceil_div(product.m, Config::block_m) * ceil_div(product.n, Config::block_n);
  const std::int64_t at_a_time =
      std::int64_t{space.cuda_device_prop().multiProcessorCount} * Config::at_a_time;
  launch_clusters(product.only_if != nullptr ? Begins::early : Begins::behind, space,
                  "sporos::nm_block_product", &detail::nm_block_kernel<Config, Product>,
                  shared > 1 ? tiles * shared : std::min(tiles, at_a_time), shared, Config::threads,
                  Config::shared_bytes(product.slots, product.section_bytes, product.chunk_bytes), product,
                  map);
}

}  // namespace sporos::gpu
