// SPDX-License-Identifier: Apache-2.0
/// @file tiles.hpp
/// The product of a sparse matrix of 16-bit floats and a dense one, or several dense ones, on tensor cores.
///
/// Of the sparse matrix, only the nonzeros are loaded, 4 bytes each (tile_nonzeros.hpp). Some groups of four
/// warps write the nonzeros of a tile of 128 x 64 into a stage in shared memory that they have filled with
/// zeros, while the copy engine fetches 64 rows of the dense matrix and other groups multiply the previous
/// stages. Or tiles are stored with their zeros, and the copy engine fetches them as well. Tiles without a
/// nonzero are skipped.
///
/// A zero times an infinity is NaN. So results that are not finite are computed again, from the nonzeros of
/// their row alone.
#pragma once

#include <cstdint>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/tensor_map.hpp"
#include "../../cuda/wgmma_tile.hpp"
#include "sum_of_nonzeros.hpp"
#include "tile_nonzeros.hpp"

namespace sporos::gpu {

/// How a block computes a tile of the result.
template <class T, int BlockN, TileForm Form = TileForm::nonzeros>
struct ExpandedConfig : WgmmaTile<BlockN, TileNonzeros::bytes + BlockN * TileNonzeros::columns * 2,
                                  BlockN == 256 || Form == TileForm::dense ? 1 : 2> {
  using value_type = T;
  static constexpr bool is_dense = Form == TileForm::dense;
  static constexpr int stage_rows = TileNonzeros::columns;  ///< rows of the dense matrix
  using Values = OperandLayout<Role::values, Operand::a, T, true, TileNonzeros::rows, stage_rows>;
  using Dense = OperandLayout<Role::dense, Operand::b, T, true, BlockN, stage_rows>;
  /// Threads that expand a tile together; teams take turns.
  static constexpr int team = 64, teams = ExpandedConfig::copying / team;
  static constexpr int fours_ahead = BlockN == 256 ? 6 : 8;  ///< fours that a thread loads ahead
  static constexpr int registers_to_expand = BlockN == 256 || is_dense ? 72 : 96,
                       registers_to_multiply = BlockN == 256 || is_dense ? 216 : 160;
  static_assert(TileNonzeros::rows == ExpandedConfig::block_m && teams <= ExpandedConfig::stages);
  static_assert(TileNonzeros::bytes == Values::bytes);
};

/// D = f(A B) for A packed as tiles.
/// @tparam A  the type of A, a CsrView
template <class Out, class E, class A, class T>
struct ExpandedProduct : TiledProduct<Out, E> {
  static constexpr bool is_one = true;
  TileNonzeros tiles;
  A a;
  const T* b = nullptr;     ///< [k, n]
  std::int64_t stride = 0;  ///< elements from one row of B to the next
};

/// An epilogue of the rows of all batches, as that of the rows of one.
template <class E>
struct EpilogueOfBatch {
  using compute = typename E::compute;
  static constexpr bool is_identity = E::is_identity;

  E epilogue;
  std::int64_t first_row;

  __device__ __forceinline__ compute operator()(compute sum, std::int64_t row, std::int64_t column) const {
    return epilogue(sum, first_row + row, column);
  }
};

/// Products of one A with matrices B that lie one after another, as their results do.
/// @tparam E  an epilogue of the rows of all results
template <class Out, class E, class A, class T>
struct ExpandedProducts : ExpandedProduct<Out, E, A, T> {
  static constexpr bool is_one = false;
  std::int64_t products = 1;

  /// One of the products.
  __device__ __forceinline__ auto of_batch(std::int64_t batch) const {
    return ExpandedProduct<Out, EpilogueOfBatch<E>, A, T>{{this->m,
                                                           this->n,
                                                           this->k,
                                                           this->d + batch * this->m * this->n,
                                                           this->accumulates,
                                                           {this->epilogue, batch * this->m}},
                                                          this->tiles,
                                                          this->a,
                                                          this->b + batch * this->k * this->stride,
                                                          this->stride};
  }
};

namespace detail {

/// The tiles of a result's columns, in all products together.
template <class Config, class Product>
KOKKOS_INLINE_FUNCTION std::int64_t column_tiles_of(const Product& product) {
  const std::int64_t of_one = ceil_div(product.n, Config::block_n);
  if constexpr (Product::is_one)
    return of_one;
  else
    return of_one * product.products;
}

/// Computes the 64 rows of a group again, without tensor cores.
template <class Config, class Product>
__device__ __noinline__ void store_from_nonzeros(const Product& product, std::int64_t row,
                                                 std::int64_t column, int thread, int rank, int blocks) {
  using Out = typename Product::value_type;
  for (int at = thread; at < Wgmma::m * Config::block_n; at += Wgmma::threads) {
    const int in_tile = at % Config::block_n;
    const std::int64_t i = row + at / Config::block_n, j = column + in_tile;
    if (i >= product.m || j >= product.n ||
        block_of_part(in_tile / Config::columns_at_a_time, blocks) != rank)
      continue;
    Out& to = product.d[i * product.n + j];
    float value = product.epilogue(sum_of_nonzeros<float>(product, i, j), i, j);
    if (product.accumulates) value += static_cast<float>(to);
    to = static_cast<Out>(value);
  }
}

template <class Config, class Product>
__global__ __launch_bounds__(Config::threads,
                             1) void spmm_tiles_kernel(const __grid_constant__ Product product,
                                                       const __grid_constant__ CUtensorMap dense) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = typename Config::value_type;
  constexpr int multiplying = Config::multiplying;
  extern __shared__ char memory[];
  const std::uint32_t stage_0 = (ptx::shared_address(memory) + Swizzle128::alignment - 1) /
                                Swizzle128::alignment * Swizzle128::alignment;
  const std::uint32_t full_0 = stage_0 + Config::stages * Config::stage_bytes,
                      empty_0 = full_0 + Config::stages * 8;
  const int group = static_cast<int>(threadIdx.x) / Wgmma::threads;
  const int thread = static_cast<int>(threadIdx.x) % Wgmma::threads;
  const int row_tiles = static_cast<int>(product.tiles.row_tiles);
  const int tiles = row_tiles * static_cast<int>(column_tiles_of<Config>(product));
  const int rank = ptx::rank_in_cluster(), blocks = ptx::blocks_of_cluster();
  const int first_tile = static_cast<int>(blockIdx.x) / blocks,
            tiles_at_a_time = static_cast<int>(gridDim.x) / blocks;

  if (threadIdx.x == 0) {
    ptx::prefetch(&dense);
    for (int stage = 0; stage < Config::stages; ++stage) {
      ptx::barrier_init(full_0 + stage * 8, Config::is_dense ? 1 : Config::team + 1);
      ptx::barrier_init(empty_0 + stage * 8, multiplying);
    }
    ptx::fence_barrier_init();
  }
  if (blocks > 1) {
    ptx::arrive_in_cluster();
    ptx::wait_for_cluster();
  } else {
    __syncthreads();
  }

  // The part of a row of tiles' stages that this block computes.
  struct Stages {
    int begin, end;
  };
  const auto stages_of = [&](int tile) {
    const int row_tile = tile % row_tiles;
    const int first = product.tiles.begin_of(row_tile), count = product.tiles.begin_of(row_tile + 1) - first;
    return Stages{first + count * rank / blocks, first + count * (rank + 1) / blocks};
  };

  // Where the columns of a tile begin, and in which product.
  struct Columns {
    int first, product;
  };
  const auto columns_of = [&](int tile) {
    if constexpr (Product::is_one) {
      return Columns{tile / row_tiles * Config::block_n, 0};
    } else {
      const int of_one = static_cast<int>(ceil_div(product.n, Config::block_n)), at = tile / row_tiles;
      return Columns{at % of_one * Config::block_n, at / of_one};
    }
  };
  const auto copy_dense = [&](int stage, int row, const Columns& columns) {
    const std::uint32_t to = stage_0 + stage * Config::stage_bytes + Config::Values::bytes;
    if constexpr (Product::is_one)
      copy_operand<typename Config::Dense>(to, &dense, columns.first, row, full_0 + stage * 8);
    else
      copy_operand<typename Config::Dense>(to, &dense, columns.first, row, columns.product,
                                           full_0 + stage * 8);
  };

  // After each tile, the blocks of a cluster wait for each other twice: until all have put their sums into
  // shared memory, and until all have read them.
  const auto wait_twice = [&] {
    if (blocks == 1) return;
    for (int wait = 0; wait < 2; ++wait) {
      ptx::arrive_in_cluster();
      ptx::wait_for_cluster();
    }
    ptx::fence_copies();
  };
  if constexpr (Config::is_dense) {
    if (group >= Config::warpgroups) {  // a group in which one thread copies
      ptx::give_registers_back<Config::registers_to_expand>();
      const TileNonzeros& packed = product.tiles;
      int done = 0;  // stages before this tile of the result
      for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
        const Stages mine = stages_of(tile);
        const Columns columns = columns_of(tile);
        if (thread == 0) {
          for (int s = mine.begin; s < mine.end; ++s) {
            const int number = done + s - mine.begin, stage = number % Config::stages;
            const int row = __ldg(packed.at_column + s) * Config::stage_rows;
            ptx::wait(empty_0 + stage * 8, number / Config::stages % 2 == 0 ? 1 : 0);
            ptx::arrive_expecting(full_0 + stage * 8, TileNonzeros::bytes + Config::Dense::bytes);
            ptx::copy_bytes(stage_0 + stage * Config::stage_bytes,
                            packed.dense + std::int64_t{s} * TileNonzeros::bytes, TileNonzeros::bytes,
                            full_0 + stage * 8);
            copy_dense(stage, row, columns);
          }
        }
        __syncwarp();
        done += mine.end - mine.begin;
        wait_twice();
      }
      return;
    }
  } else if (group >= Config::warpgroups) {  // a group that expands nonzeros
    ptx::give_registers_back<Config::registers_to_expand>();
    const int team = (static_cast<int>(threadIdx.x) - multiplying) / Config::team;
    const int expander = static_cast<int>(threadIdx.x) % Config::team;
    const TileNonzeros& nonzeros = product.tiles;
    int done = 0;  // stages of all teams before this tile of the result
    for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
      const Stages mine = stages_of(tile);
      const Columns columns = columns_of(tile);
      // The nonzeros of a stage are loaded while the previous one is expanded, and their places one stage
      // earlier.
      struct Place {
        int begin = 0, end = 0, row = 0;
      };
      const auto find = [&](int s) {
        Place out;
        if (s < mine.end) {
          out.begin = __ldg(nonzeros.fours + s) + expander;
          out.end = __ldg(nonzeros.fours + s + 1);
          out.row = __ldg(nonzeros.at_column + s) * Config::stage_rows;
        }
        return out;
      };
      uint4 fours[Config::fours_ahead];
      const auto load = [&](const Place& place) {
#pragma unroll
        for (int e = 0; e < Config::fours_ahead; ++e)
          if (place.begin + e * Config::team < place.end)
            fours[e] = __ldg(nonzeros.nonzeros + place.begin + e * Config::team);
      };
      // Teams take turns across tiles as well. So a team is never more than one round of stages late, and the
      // parity of a barrier tells it which round it waits for.
      const int first = mine.begin + (team + Config::teams - done % Config::teams) % Config::teams;
      Place now = find(first), next = find(first + Config::teams);
      load(now);
      for (int s = first; s < mine.end; s += Config::teams) {
        const int number = done + s - mine.begin, stage = number % Config::stages;
        const std::uint32_t at = stage_0 + stage * Config::stage_bytes, full = full_0 + stage * 8;
        const Place after = find(s + 2 * Config::teams);
        ptx::wait(empty_0 + stage * 8, number / Config::stages % 2 == 0 ? 1 : 0);
        if (expander == 0) {
          ptx::arrive_expecting(full, Config::Dense::bytes);
          copy_dense(stage, now.row, columns);
        }
#pragma unroll
        for (int piece = 0; piece < TileNonzeros::bytes / 16; piece += Config::team)
          ptx::store_shared_zeros(at + (piece + expander) * 16);
        ptx::sync_threads(Config::warpgroups + 2 + team, Config::team);
        const auto expand = [&](const uint4& four) {
          ptx::store_shared_u16(at + (four.x >> 16), four.x);
          ptx::store_shared_u16(at + (four.y >> 16), four.y);
          ptx::store_shared_u16(at + (four.z >> 16), four.z);
          ptx::store_shared_u16(at + (four.w >> 16), four.w);
        };
#pragma unroll
        for (int e = 0; e < Config::fours_ahead; ++e)
          if (now.begin + e * Config::team < now.end) expand(fours[e]);
        for (int four = now.begin + Config::fours_ahead * Config::team; four < now.end; four += Config::team)
          expand(__ldg(nonzeros.nonzeros + four));
        load(next);
        ptx::fence_copies();
        ptx::arrive(full);
        now = next;
        next = after;
      }
      done += mine.end - mine.begin;
      wait_twice();
    }
    return;
  }

  ptx::take_registers<Config::registers_to_multiply>();
  const auto sync = [&] { ptx::sync_threads(group + 2, Wgmma::threads); };
  char* const stages_begin = memory + (stage_0 - ptx::shared_address(memory));
  char* const staged =
      stages_begin + Config::stages * (Config::stage_bytes + 16) + group * Config::staged_bytes_of_group;
  float4* const exchanged = reinterpret_cast<float4*>(stages_begin + group * Config::sums_bytes_of_group);
  int stage = 0;
  std::uint32_t parity = 0;
  for (int tile = first_tile; tile < tiles; tile += tiles_at_a_time) {
    const Stages mine = stages_of(tile);
    float sums[Config::block_n / 2];
#pragma unroll
    for (float& sum : sums) sum = 0;
    int before = -1;
#pragma unroll 1
    for (int s = mine.begin; s < mine.end; ++s) {
      const std::uint32_t at = stage_0 + stage * Config::stage_bytes;
      const std::uint64_t of_values = Config::Values::describe(at, group),
                          of_dense = Config::Dense::describe(at + Config::Values::bytes);
      ptx::wait(full_0 + stage * 8, parity);
      ptx::wgmma_fence();
#pragma unroll
      for (int step = 0; step < Config::stage_rows / Wgmma::k; ++step)
        ptx::wgmma<T, Config::block_n, Config::Values::is_transposed, Config::Dense::is_transposed>(
            sums, of_values + Config::Values::step(step), of_dense + Config::Dense::step(step));
      ptx::wgmma_commit();
      ptx::wgmma_wait<1>();
      if (before >= 0) ptx::arrive(empty_0 + before * 8);
      before = stage;
      if (++stage == Config::stages) {
        stage = 0;
        parity ^= 1;
      }
    }
    ptx::wgmma_wait<0>();
    if (before >= 0) ptx::arrive(empty_0 + before * 8);

    const std::int64_t row = std::int64_t{tile % row_tiles} * Config::block_m + group * Wgmma::m;
    const Columns columns = columns_of(tile);
    const std::int64_t column = columns.first;
    if (blocks > 1) {
      ptx::sync_threads(1, multiplying);  // the contents of the stages are no longer needed
      const auto all_have_summed = [] {
        ptx::arrive_in_cluster();
        ptx::wait_for_cluster();
      };
      add_sums_of_cluster<Config>(exchanged, thread, rank, blocks, sums, all_have_summed);
      ptx::arrive_in_cluster();
    }
    float largest = 0;  // becomes NaN if a sum is not finite
#pragma unroll
    for (const float sum : sums) largest += sum * 0.0F;
    const auto store = [&](const auto& one) {
      if (ptx::any_of_threads(group + 2, Wgmma::threads, largest != 0)) {
        store_from_nonzeros<Config>(one, row, column, thread, rank, blocks);
      } else {
        if (Product::epilogue_is_identity && one.accumulates)
          add_result<true>(one, row, column, thread, sums);
        store_tile<Config, true>(one, staged, row, column, thread, rank, blocks, sums, sync);
      }
    };
    if constexpr (Product::is_one)
      store(product);
    else
      store(product.of_batch(columns.product));
    if (blocks > 1) ptx::wait_for_cluster();  // no block goes on, or ends, while others read its sums
  }
#endif
}

}  // namespace detail

/// D = f(A B) or D += f(A B), or several of them, in the order of the stream of `space`.
template <class Config, class Product>
void spmm_tiles(const Kokkos::Cuda& space, const Product& product, const CUtensorMap& dense,
                const TileChoice& tiles) {
  const std::int64_t count = product.tiles.row_tiles * detail::column_tiles_of<Config>(product);
  launch_clusters(space, "sporos::spmm_tiles", &detail::spmm_tiles_kernel<Config, Product>,
                  (count < tiles.clusters ? count : tiles.clusters) * tiles.shared, tiles.shared,
                  Config::threads, Config::shared_bytes, product, dense);
}

}  // namespace sporos::gpu
