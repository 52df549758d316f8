// SPDX-License-Identifier: Apache-2.0
/// @file nonzeros.hpp
/// Sampled dense-dense products on tensor cores: A(i, j) = B(i, j) * (sum over k of C(i, k) D(j, k)) for 32
/// neighbouring nonzeros at a time, whatever rows and columns they lie in.
///
/// An instruction m16n8k16 multiplies 16 rows of D, one for each nonzero, by up to 8 rows of C, those of the
/// nonzeros. Only 16 of its 128 results are used. That wastes nothing scarce: CUDA cores would spend a
/// conversion and a product on each element, and the L2 cache delivers rows of D no faster than this uses
/// them. A lane reads 16 bytes, 8 elements of a row, and gives them to two instructions. Their 32 elements
/// are therefore summed in a different order, which is the same for C and D.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/once_per_device.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// Where a nonzero lies.
struct alignas(8) SampledPlace {
  std::int32_t row, column;
};

/// @tparam Chunks  chunks of 32 elements of a row that the registers hold: 1, 2 or 4
/// @tparam Exact   whether these chunks are the whole row
/// @tparam Eights  groups of 8 rows of C that are loaded at the same time. With 2, a warp whose
///                 nonzeros lie in up to 16 rows waits once; with 1, it needs fewer registers.
template <int Chunks, bool Exact, int Eights>
struct SddmmNonzerosConfig {
  static constexpr bool exact = Exact;
  static constexpr int chunks = Chunks;
  static constexpr int eights = Eights;
  static constexpr int chunk = 32;  ///< elements; two instructions multiply them
  static constexpr int pack = 8;    ///< elements that a lane reads at a time
  static constexpr int inner = chunks * chunk;
  static constexpr int nonzeros = 32;  ///< per warp; all their rows of D are loaded at the same time
  static constexpr int of_instruction = MmaM16N8K16::m;
  static constexpr int rows = MmaM16N8K16::n;  ///< rows of C multiplied at a time
  /// A warp has many loads in flight and ends soon: small blocks make room for others sooner.
  static constexpr int threads = chunks == 4 ? 64 : 128, warps = threads / warp_size;
  static constexpr int blocks = chunks == 1 ? 10 : chunks == 2 ? 6 : 8;  ///< per multiprocessor, at least
  /// How much of the memory that serves as shared memory or cache this many blocks take, with 1 KiB per block
  /// for the system.
  static constexpr int kilobytes = blocks * (1024 + warps * nonzeros * 4) / 1024 + 1;
  static_assert(nonzeros == warp_size, "a lane has one nonzero");
  static_assert(chunk == 2 * MmaM16N8K16::k && chunk == 4 * pack, "four lanes read a chunk of a row");
};

/// The arguments of the product. C is [rows, inner] and D [columns, inner]; rows begin at multiples of 16
/// bytes.
/// @tparam E  the epilogue: a SampledEpilogue of float
template <class Value, class T, class E>
struct SddmmNonzerosArguments {
  std::int64_t nonzeros;
  std::int64_t inner;          ///< a multiple of 8
  const SampledPlace* places;  ///< [nonzeros], rows in ascending order
  const Value* scale;          ///< [nonzeros], B's values
  const T* c;
  const T* d;
  Value* result;  ///< [nonzeros]
  E epilogue;
};

namespace detail {

template <class Config, class Value, class T, class E>
__global__ __launch_bounds__(Config::threads, Config::blocks) void sddmm_nonzeros_kernel(
    const __grid_constant__ SddmmNonzerosArguments<Value, T, E> in) {
  using Words = Pack<std::uint32_t, 4>;
  constexpr int instructions = Config::nonzeros / Config::of_instruction;
  __shared__ std::int32_t rows_of_warp[Config::warps][Config::nonzeros];
  const std::int64_t first = (std::int64_t{blockIdx.x} * Config::warps + threadIdx.x / warp_size) * warp_size;
  if (first >= in.nonzeros) return;
  const int count = static_cast<int>(::min(in.nonzeros - first, std::int64_t{warp_size}));
  const std::int64_t q = first + ::min(lane_id(), count - 1);
  const auto packed = __ldg(reinterpret_cast<const int2*>(in.places + q));
  const SampledPlace place{packed.x, packed.y};  // [32 nonzeros]
  const Value scale = in.scale[q];               // [32 nonzeros]

  // Rows are numbered in order of appearance: a lane's nonzero lies in row number `rank`.
  const std::int32_t row_before = __shfl_up_sync(all_lanes, place.row, 1);
  const bool is_first = lane_id() == 0 || row_before != place.row;
  const std::uint32_t firsts = __ballot_sync(all_lanes, is_first);
  const int rank = __popc(firsts & (all_lanes >> (warp_size - 1 - lane_id()))) - 1;  // [32 nonzeros]
  const int last_rank = __popc(firsts) - 1;
  std::int32_t* const rows = rows_of_warp[threadIdx.x / warp_size];
  if (is_first) rows[rank] = place.row;
  __syncwarp();

  // The part of the operands that this lane loads.
  const int row = lane_id() / 4, element = lane_id() % 4 * Config::pack;
  const std::int64_t inner = Config::exact ? Config::inner : in.inner;
  const auto load = [&](const T* matrix, std::int32_t of_row, std::int64_t from, Words(&to)[Config::chunks]) {
    const T* const at = matrix + std::int64_t{of_row} * inner;
#pragma unroll
    for (int c = 0; c < Config::chunks; ++c) {
      const std::int64_t k = from + c * Config::chunk + element;
      to[c] = Config::exact || k < inner ? load_constant(reinterpret_cast<const Words*>(at + k)) : Words{};
    }
  };
  float sum = 0;  // [32 nonzeros]
#pragma unroll 1
  for (std::int64_t from = 0; from < inner; from += Config::inner) {
    Words d[instructions][2][Config::chunks];  // [16 nonzeros, inner] per instruction
#pragma unroll
    for (int at = 0; at < instructions; ++at)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        load(in.d, shuffle(place.column, at * Config::of_instruction + half * 8 + row), from, d[at][half]);
    int first_rank = 0;
    do {  // runs once if the nonzeros lie in few rows
      const auto is_there = [&](int eight) {
        return eight == 0 || first_rank + eight * Config::rows <= last_rank;
      };
      Words c[Config::eights][Config::chunks];  // [8, inner] each; the last row fills up
#pragma unroll
      for (int eight = 0; eight < Config::eights; ++eight)
        if (is_there(eight))
          load(in.c, rows[::min(first_rank + eight * Config::rows + row, last_rank)], from, c[eight]);
#pragma unroll
      for (int eight = 0; eight < Config::eights; ++eight) {
        if (!is_there(eight)) break;
#pragma unroll
        for (int at = 0; at < instructions; ++at) {
          float sums[4] = {};  // [16 nonzeros, 8 rows]
#pragma unroll
          for (int chunk = 0; chunk < Config::chunks; ++chunk)
#pragma unroll
            for (int k = 0; k < 4; k += 2)
              ptx::mma_m16n8k16<T>(sums,
                                   {d[at][0][chunk].at[k], d[at][1][chunk].at[k], d[at][0][chunk].at[k + 1],
                                    d[at][1][chunk].at[k + 1]},
                                   c[eight][chunk].at[k], c[eight][chunk].at[k + 1]);
          // A nonzero's own sum is the one in the column of its row, held by one of the four lanes with its
          // results.
          const int column = rank % Config::rows;
          const int holder = lane_id() % 8 * 4 + column / 2;
          float held[4];
#pragma unroll
          for (int r = 0; r < 4; ++r) held[r] = shuffle(sums[r], holder);
          const float upper = column % 2 == 0 ? held[0] : held[1];  // sum in rows 0 to 7 of the instruction
          const float lower = column % 2 == 0 ? held[2] : held[3];
          if (lane_id() / Config::of_instruction == at &&
              rank / Config::rows == first_rank / Config::rows + eight)
            sum += lane_id() % Config::of_instruction < 8 ? upper : lower;
        }
      }
      first_rank += Config::eights * Config::rows;
    } while (first_rank <= last_rank);
  }
  if (lane_id() < count)
    in.result[q] = static_cast<Value>(in.epilogue(static_cast<float>(scale) * sum, place.row, place.column));
}

/// Writes where each nonzero lies; each lane takes one nonzero.
template <class Position, class Coordinate>
__global__ __launch_bounds__(128) void find_sampled_places(const Position* positions,
                                                           const Coordinate* coordinates, std::int64_t rows,
                                                           std::int64_t nonzeros, SampledPlace* places) {
  const std::int64_t mine = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (mine - lane_id() >= nonzeros) return;
  const std::int64_t q = mine < nonzeros ? mine : nonzeros - 1;
  ParentFinder<Position> row_of(positions, rows);
  const auto row = static_cast<std::int32_t>(row_of(q));
  if (mine < nonzeros) places[q] = {row, static_cast<std::int32_t>(coordinates[q])};
}

}  // namespace detail

/// Finds where the nonzeros of `a` lie, in the order of the stream.
template <class A>
void find_sampled_places(const Kokkos::Cuda& space, const A& a, SampledPlace* places) {
  constexpr int threads = 128;
  using Position = std::remove_cvref_t<decltype(*a.positions)>;
  using Coordinate = std::remove_cvref_t<decltype(*a.coordinates)>;
  launch(space, "sporos::find_sampled_places", &detail::find_sampled_places<Position, Coordinate>,
         Grid(ceil_div(a.nonzeros, threads)), threads, 0, a.positions, a.coordinates, a.rows, a.nonzeros,
         places);
}

/// Whether a warp loads rows of C for 16 rows of B at the same time. This helps if rows are short, and if all
/// warps run at the same time, so that the product takes as long as the warp that waits longest.
inline bool sddmm_nonzeros_in_many_rows(const Kokkos::Cuda& space, std::int64_t rows, std::int64_t nonzeros) {
  constexpr std::int64_t short_row = 4, warps_of_multiprocessor = 16;
  return nonzeros < short_row * rows ||
         nonzeros <= space.cuda_device_prop().multiProcessorCount * warps_of_multiprocessor * warp_size;
}

/// A(i, j) = B(i, j) * sum over k of C(i, k) D(j, k), on B's pattern, in the order of the stream of `space`.
/// @param rows  rows of B
/// Cost: one kernel; it reads a row of D per nonzero, and a row of C per row that each 32 nonzeros lie in.
template <class Value, class T, class E>
void sddmm_nonzeros(const Kokkos::Cuda& space, std::int64_t rows,
                    const SddmmNonzerosArguments<Value, T, E>& arguments) {
  const auto run = [&]<int Chunks, bool Exact, int Eights>() {
    using Config = SddmmNonzerosConfig<Chunks, Exact, Eights>;
    const auto kernel = &detail::sddmm_nonzeros_kernel<Config, Value, T, E>;
    set_once_per_device(space, [&] { divide_memory(kernel, Config::kilobytes); });
    launch(space, "sporos::sddmm_nonzeros", kernel,
           Grid(ceil_div(arguments.nonzeros, Config::warps * Config::nonzeros)), Config::threads, 0,
           arguments);
  };
  const auto start = [&]<int Chunks, int Eights>() {
    if (arguments.inner == SddmmNonzerosConfig<Chunks, true, Eights>::inner)
      run.template operator()<Chunks, true, Eights>();
    else
      run.template operator()<Chunks, false, Eights>();
  };
  const bool in_many_rows = sddmm_nonzeros_in_many_rows(space, rows, arguments.nonzeros);
  if (arguments.inner <= 32)
    start.template operator()<1, 2>();
  else if (arguments.inner <= 64)
    start.template operator()<2, 2>();
  else if (in_many_rows)
    start.template operator()<4, 2>();
  else
    start.template operator()<4, 1>();
}

}  // namespace sporos::gpu
