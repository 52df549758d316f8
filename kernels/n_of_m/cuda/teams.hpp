// SPDX-License-Identifier: Apache-2.0
/// @file teams.hpp
/// The product of a dense and an N:M sparse matrix on CUDA cores if the result is small: as in blocks.hpp,
/// but with tiles small enough that every multiprocessor has one.
///
/// A tile of so few elements has too few warps to keep a multiprocessor busy, so several *teams* of warps
/// compute it. The sections of k are dealt out to the teams in turn, and their sums are added through shared
/// memory in a fixed order. The dense factor is read as it is stored, without copying it first: if it is
/// row-major, the copy engine fetches 128 bytes of each row of the tile, swizzled, so that the eight rows of
/// which lanes read one element each lie in different banks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../../cuda/cluster.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/ptx.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/warp.hpp"
#include "chunks.hpp"
#include "k_major_traits.hpp"
#include "thread_tile.hpp"

namespace sporos::gpu {

/// How a block computes a tile: a warp has 8 x 4 lanes, each with rows x columns of the result; the warps of
/// a team stand side by side; each team has the whole tile and a part of k.
/// @tparam RowMajor    whether the dense factor is row-major; otherwise it is k-major
/// @tparam Rows        rows per thread
/// @tparam Columns     columns per thread, all in one unit
/// @tparam SharesUnit  whether all columns of a warp lie in one unit
/// @tparam WarpsOfTeam  warps per team, side by side
template <class Compute, bool RowMajor, int Rows, int Columns, bool SharesUnit, int WarpsOfTeam, int Teams>
struct NmTeamConfig {
  using compute = Compute;
  static constexpr bool is_row_major = RowMajor, shares_unit = SharesUnit;
  static constexpr int rows = Rows, columns = Columns, teams = Teams;
  static constexpr int lanes_m = 8, lanes_n = 4;
  static constexpr int block_m = lanes_m * Rows, warp_columns = lanes_n * Columns;
  static constexpr int block_n = WarpsOfTeam * warp_columns;
  static constexpr int warps_of_team = WarpsOfTeam, threads_of_team = WarpsOfTeam * warp_size;
  static constexpr int multiplying = Teams * threads_of_team;
  /// Each of the last warps copies for one team, by one of its threads: a single thread for all would be too
  /// slow where little is kept.
  static constexpr int threads = multiplying + Teams * warp_size;
  static constexpr int pack = widest_pack<Compute>;  ///< values loaded together
  static constexpr int row_packs = Rows / pack, column_packs = Columns / pack, packs = Rows * column_packs;
  static constexpr int place_columns = SharesUnit ? warp_columns : Columns;

  // As in NmBlockConfig, except that neighbouring lanes hold neighbouring rows of a row-major matrix.
  static constexpr int next_rows = lanes_m * pack;
  static constexpr int next_columns = SharesUnit ? lanes_n * pack : pack;
  static constexpr int row_offset(int i) { return RowMajor ? i * lanes_m : i / pack * next_rows + i % pack; }
  __device__ static int lane_m(int lane) { return SharesUnit ? lane / 2 % 8 : lane % 8; }
  __device__ static int lane_n(int lane) { return SharesUnit ? lane % 2 + lane / 16 * 2 : lane / 8; }
  __device__ static int first_row(int lane_m) { return RowMajor ? lane_m : lane_m * pack; }

  static constexpr int box_row_bytes = NmChunkLayout::box_row_bytes, box_bytes = block_m * box_row_bytes;
  static constexpr int box_columns = box_row_bytes / static_cast<int>(sizeof(Compute));
  static constexpr int dense_row_bytes = block_m * static_cast<int>(sizeof(Compute));  ///< if A is k-major
  static constexpr int row_bytes = block_n * static_cast<int>(sizeof(Compute));        ///< bytes per row of B
  /// After the sections comes what is read at the place of zeros: one element of each of a thread's rows, or
  /// a row.
  static constexpr int zeros_bytes = RowMajor ? Rows * lanes_m * box_row_bytes : dense_row_bytes;
  static constexpr int place_of_zeros = 1 << 24;  ///< beyond all others; clamped to where the zeros are
  static constexpr int sums_bytes = block_m * row_bytes;
  static constexpr int alignment = Swizzle128::alignment;
  static constexpr int most_slots_of_team = 8;
  static constexpr int most_shared_bytes = 227 * 1024;  ///< one block has a multiprocessor to itself

  static_assert(Rows % pack == 0 && Columns % pack == 0,
                "a thread loads its rows and columns in whole packs");
  static_assert(box_bytes % alignment == 0, "each box begins where the order of its rows does");

  static constexpr NmChunkLayout layout(const NmChunks& cut) {
    return {cut,
            block_n,
            place_columns,
            static_cast<int>(sizeof(Compute)),
            dense_row_bytes,
            place_of_zeros,
            RowMajor ? box_bytes : 0};
  }
  /// The number of boxes that make up a section's part of the dense factor.
  static constexpr int boxes(const NmChunks& cut) {
    return RowMajor ? static_cast<int>(
                          ceil_div(cut.dense_rows() * static_cast<int>(sizeof(Compute)), box_row_bytes))
                    : 1;
  }
  static constexpr int section_bytes(const NmChunks& cut) {
    return RowMajor ? boxes(cut) * box_bytes : cut.dense_rows() * dense_row_bytes;
  }
  /// Where the barriers are, behind the first section: also behind the sums that are put in place of sections
  /// at the end, since nothing else may be written to where barriers are.
  static constexpr int barriers_at(const NmChunks& cut, int slots_of_team) {
    return std::max(slots_of_team * Teams * (section_bytes(cut) + layout(cut).chunk_bytes()) + zeros_bytes,
                    Teams > 1 ? Teams * sums_bytes : 0);
  }
  static constexpr int shared_bytes(const NmChunks& cut, int slots_of_team) {
    return alignment + barriers_at(cut, slots_of_team) + slots_of_team * Teams * 16;
  }
  /// Whether each team has two or more slots for sections of this cut, and all sections begin at multiples of
  /// 16 bytes in the rows of a row-major matrix; otherwise the copy engine would stop the kernel.
  static constexpr bool takes(const NmChunks& cut) {
    return slots_of_team(cut) >= 2 &&
           (!RowMajor || cut.dense_rows() * static_cast<int>(sizeof(Compute)) % 16 == 0);
  }
  /// The cut, among those that takes() accepts, that wastes least on padding and on the overhead of sections;
  /// if it accepts none, one that it does not accept.
  static constexpr NmChunks cut(int kept, int window) {
    constexpr int cost_of_section = 4;  // costs as much as this many rows
    constexpr int always_tried = 4;     // windows; this many floats have 16 bytes
    NmChunks best = NmChunks::in_one_chunk(kept, window, 1);
    const auto cost = [](const NmChunks& of) {
      return static_cast<double>(of.rows + cost_of_section) / of.kept_rows();
    };
    for (int windows = 2; windows <= always_tried || windows * window <= NmChunks::most_dense_rows;
         ++windows) {
      const NmChunks next = NmChunks::in_one_chunk(kept, window, windows);
      const bool is_small = windows * window <= NmChunks::most_dense_rows;
      if (takes(next) && (!takes(best) || (is_small && cost(next) < cost(best)))) best = next;
    }
    return best;
  }
  /// As many slots as fit.
  static constexpr int slots_of_team(const NmChunks& cut) {
    int slots = most_slots_of_team;
    while (slots > 0 && shared_bytes(cut, slots) > most_shared_bytes) --slots;
    return slots;
  }
};

/// C = f(A B) or C += f(A B).
/// @tparam E  the epilogue f: kernels/epilogue/epilogue.hpp
template <class Out, class E>
struct NmTeamProduct {
  static constexpr bool epilogue_is_identity = E::is_identity;
  std::int64_t m = 0, n = 0;
  const char* packed = nullptr;  ///< B: chunks.hpp
  Out* c = nullptr;              ///< [m, n]
  bool accumulates = false;
  E epilogue;
  const int* only_if = nullptr;  ///< if not null, computes only if it points to a nonzero number
  int rows_of_batch = 0;         ///< rows of a k-major A per batch: a multiple of the tile's, or all
  int slots_of_team = 0;
  float nothing = -0.0f;  ///< added to each sum; see NmBlockProduct
  int sections = 0;       ///< number of sections of k
  // Derived from an NmChunkLayout and a Config.
  int rows_of_chunk = 0, dense_rows = 0, boxes = 0;
  int chunk_bytes = 0, places_at = 0, section_bytes = 0, barriers_at = 0;

  template <class Config>
  void set_config(const NmChunks& cut, std::int64_t k) {
    const NmChunkLayout layout = Config::layout(cut);
    sections = static_cast<int>(cut.sections(k));
    slots_of_team = std::min(Config::slots_of_team(cut), static_cast<int>(ceil_div(sections, Config::teams)));
    rows_of_chunk = layout.cut.rows;
    dense_rows = cut.dense_rows();
    boxes = Config::boxes(cut);
    chunk_bytes = layout.chunk_bytes();
    places_at = layout.places_at();
    section_bytes = Config::section_bytes(cut);
    barriers_at = Config::barriers_at(cut, slots_of_team);
  }
};

namespace detail {

template <class Config, class Product>
__global__ __launch_bounds__(Config::threads,
                             1) void nm_team_kernel(const __grid_constant__ Product product,
                                                    const __grid_constant__ CUtensorMap a_map) {
#if __CUDA_ARCH__ >= 900
  if (is_left_out(product)) return;
  using Compute = typename Config::compute;
  extern __shared__ char memory[];
  const int depth = product.slots_of_team, slots = depth * Config::teams;
  const int chunk_bytes = product.chunk_bytes, section_bytes = product.section_bytes;
  // Offsets in `memory`.
  const int sections_0 = static_cast<int>((0u - ptx::shared_address(memory)) % Config::alignment);
  const int zeros_0 = sections_0 + slots * section_bytes, chunks_0 = zeros_0 + Config::zeros_bytes;
  const std::uint32_t memory_at = ptx::shared_address(memory);
  const std::uint32_t full_0 = memory_at + sections_0 + product.barriers_at, empty_0 = full_0 + slots * 8;
  const int row_tiles = static_cast<int>(ceil_div(product.m, Config::block_m));
  const int row_tile = static_cast<int>(blockIdx.x) % row_tiles,
            column_tile = static_cast<int>(blockIdx.x) / row_tiles;
  const int row = row_tile * Config::block_m;
  const int batch = Config::is_row_major ? 0 : row / product.rows_of_batch,
            row_of_batch = row - batch * product.rows_of_batch;
  const char* const packed = product.packed + std::int64_t{column_tile} * product.sections * chunk_bytes;

  // Makes the copy engine bring a section to a slot.
  const auto fill = [&](int section, int slot) {
    const std::uint32_t full = full_0 + slot * 8, to = memory_at + sections_0 + slot * section_bytes;
    const int k = section * product.dense_rows;
    ptx::arrive_expecting(full, section_bytes + chunk_bytes);
    ptx::copy_bytes(memory_at + chunks_0 + slot * chunk_bytes, packed + std::int64_t{section} * chunk_bytes,
                    chunk_bytes, full);
    if constexpr (Config::is_row_major)
      for (int box = 0; box < product.boxes; ++box)
        ptx::copy_box(to + box * Config::box_bytes, &a_map, k + box * Config::box_columns, row, full);
    else
      ptx::copy_box(to, &a_map, row_of_batch, k, batch, full);
  };
  // Sections are dealt out to the teams in turn. Each team has its own ring of slots, which it first fills
  // itself.
  const int team = static_cast<int>(threadIdx.x) / Config::threads_of_team,
            in_team = static_cast<int>(threadIdx.x) % Config::threads_of_team;
  const int slot_0 = team * depth;
  if (team < Config::teams && in_team == 0) {
    ptx::prefetch(&a_map);
    for (int slot = slot_0; slot < slot_0 + depth; ++slot) {
      ptx::barrier_init(full_0 + slot * 8, 1);
      ptx::barrier_init(empty_0 + slot * 8, Config::threads_of_team);
    }
    ptx::fence_barrier_init();
    ptx::wait_for_kernel_before();
    for (int at = 0; at < depth && team + at * Config::teams < product.sections; ++at)
      fill(team + at * Config::teams, slot_0 + at);
  }
  for (int at = static_cast<int>(threadIdx.x); at < Config::zeros_bytes / 16; at += Config::threads)
    ptx::store_shared_zeros(memory_at + zeros_0 + at * 16);
  __syncthreads();

  if (team >= Config::teams) {  // the copying warps
    const int copier = static_cast<int>(threadIdx.x) - Config::multiplying;
    if (copier % warp_size > 0) return;
    const int first = copier / warp_size * depth;  // first of this team's slots
    int slot = first;
    std::uint32_t parity = 0;
    for (int section = copier / warp_size + slots; section < product.sections; section += Config::teams) {
      ptx::wait(empty_0 + slot * 8, parity);
      fill(section, slot);
      if (++slot == first + depth) {
        slot = first;
        parity ^= 1;
      }
    }
    return;
  }
  ptx::wait_for_kernel_before();

  const int warp = in_team / warp_size;  // within the team
  const int lane_m = Config::lane_m(lane_id()), lane_n = Config::lane_n(lane_id());
  const int first_column =
      warp * Config::warp_columns + lane_n * (Config::shares_unit ? Config::pack : Config::columns);
  const int a_of_lane = sections_0 + lane_m * (Config::is_row_major ? Config::box_row_bytes : 16);
  const int swizzle = Config::is_row_major ? lane_m * Swizzle128::piece_bytes : 0;
  const char* const b_of_lane = memory + chunks_0 + first_column * sizeof(Compute);
  const char* const places_of_lane =
      memory + chunks_0 + product.places_at +
      (Config::shares_unit ? warp : warp * Config::lanes_n + lane_n) * product.rows_of_chunk * 4;
  const int steps_of_chunk = product.rows_of_chunk / NmChunks::rows_at_a_time;

  Compute sums[Config::rows][Config::columns];
#pragma unroll
  for (int i = 0; i < Config::rows; ++i)
#pragma unroll
    for (int j = 0; j < Config::columns; ++j) sums[i][j] = 0;

  const int sections =
      (product.sections - team + Config::teams - 1) / Config::teams;  // sections that this team computes
  if (sections > 0) {
    // Where the rows of a step are. What the step's first row needs is loaded during the step before.
    int a = 0, slot = slot_0;
    std::uint32_t parity = 0;
    const char *b, *places_at;
    uint4 places;
    NmBlockOperands<Config> even, odd;
    const auto row_of_a = [&](unsigned place) {
      return memory + __viaddmin_s32(a, static_cast<int>(place) ^ swizzle, zeros_0);
    };
    const auto begin_chunk = [&] {
      ptx::wait(full_0 + slot * 8, parity);
      a = a_of_lane + slot * section_bytes;
      b = b_of_lane + slot * chunk_bytes;
      places_at = places_of_lane + slot * chunk_bytes;
    };
    begin_chunk();
    places = *reinterpret_cast<const uint4*>(places_at);
    even.load(row_of_a(places.x), b);
#pragma unroll 1
    for (int left = sections; left > 0; --left) {
#pragma unroll 1
      for (int step = steps_of_chunk; step > 0; --step) {
        odd.load(row_of_a(places.y), b + Config::row_bytes);
        even.multiply(sums);
        even.load(row_of_a(places.z), b + 2 * Config::row_bytes);
        odd.multiply(sums);
        odd.load(row_of_a(places.w), b + 3 * Config::row_bytes);
        even.multiply(sums);
        if (step > 1) {
          b += NmChunks::rows_at_a_time * Config::row_bytes;
          places_at += 16;
        } else {
          // The chunk is empty once its last row has been loaded: the sums already depend on its other rows.
          const std::uint32_t emptied = empty_0 + slot * 8;
          if (++slot == slot_0 + depth) {
            slot = slot_0;
            parity ^= 1;
          }
          if (left > 1) {
            ptx::arrive(once_loaded(emptied, even.words_of(sums) | odd.words()));
            begin_chunk();
          }  // otherwise the row that is loaded next, of the same chunk, is not used
        }
        places = *reinterpret_cast<const uint4*>(places_at);
        even.load(row_of_a(places.x), b);
        odd.multiply(sums);
      }
    }
  }

  const NmBlockStore<Config, Product> store{
      product, std::int64_t{row_tile} * Config::block_m + Config::first_row(lane_m),
      std::int64_t{column_tile} * Config::block_n + first_column};
  if constexpr (Config::teams == 1) {
    store_sums<Config>(sums, store);
  } else {
    // Packs are dealt out to the teams in turn; each team adds up and stores its own.
    using Packed = Pack<Compute, Config::pack>;
    constexpr int next = Config::threads_of_team * 16;
    char* const of_thread = memory + sections_0 + in_team * 16;  // [teams][packs][threads of a team]
    ptx::sync_threads(1, Config::multiplying);  // the contents of the slots are no longer needed
    put_sums<Config>(sums, product.nothing, of_thread + team * Config::packs * next, next);
    ptx::sync_threads(1, Config::multiplying);
#pragma unroll
    for (int u = 0; u < (Config::packs + Config::teams - 1) / Config::teams; ++u) {
      const int p = u * Config::teams + team;
      if (p >= Config::packs) break;
      Packed total = *reinterpret_cast<const Packed*>(of_thread + p * next);
#pragma unroll
      for (int other = 1; other < Config::teams; ++other)
        add_pack(total, *reinterpret_cast<const Packed*>(of_thread + (other * Config::packs + p) * next));
      store(p, total.at);
    }
  }
#endif
}

}  // namespace detail

/// C = f(A B) or C += f(A B), in the order of the stream of `space`.
/// @param a       [m, k], or k-major in the layout `stored`, whichever Config expects; if there are several
///                batches, each has whole tiles of rows
/// @param stored  its `stride` is also that of the rows of a row-major A
template <class Config, class Product>
void nm_team_product(const Kokkos::Cuda& space, Product product, const NmChunks& cut,
                     const typename Config::compute* a, const KMajorBatches& stored,
                     Begins begins = Begins::behind) {
  product.rows_of_batch = static_cast<int>(stored.rows);
  const CUtensorMap map = [&] {
    if constexpr (Config::is_row_major)
      return swizzled_tensor_map(a, product.m, stored.k, stored.stride, Config::block_m);
    else
      return plain_tensor_map_of_matrices(a, stored.batches, stored.k, stored.rows, stored.stride,
                                          cut.dense_rows(), Config::block_m);
  }();
  const std::int64_t tiles = ceil_div(product.m, Config::block_m) * ceil_div(product.n, Config::block_n);
  launch_clusters(begins, space, "sporos::nm_team_product", &detail::nm_team_kernel<Config, Product>, tiles,
                  1, Config::threads, Config::shared_bytes(cut, product.slots_of_team), product, map);
}

}  // namespace sporos::gpu
