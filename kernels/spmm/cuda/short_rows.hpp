// SPDX-License-Identifier: Apache-2.0
/// @file short_rows.hpp
/// The product of a sparse matrix whose rows have at most eight nonzeros and a dense one, on CUDA cores, by
/// padded rows (padded_row_values.hpp).
///
/// The rows of B of so few nonzeros are loaded at once. A group of lanes that computed one row alone would
/// wait three times for them: for the place of the row, for its columns, and for B. So a group computes
/// several rows one after another: while B arrives for one, it loads the columns and values of the next and
/// the place of the one after that, and waits once a row. The rows of a block are neighbours, whose nonzeros
/// are often in the same columns, so that some rows of B are in the L1 cache. If B and the result do not fit
/// into the L2 cache, each lane takes two packs of columns, of which more are then under way at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "padded_rows.hpp"

namespace sporos::gpu {

/// How many columns a lane takes.
/// @tparam Packs  of 16 bytes, half a panel of columns from one to the next
template <int Packs>
struct ShortRowsConfig {
  static constexpr int packs = Packs, threads = 128;
  static constexpr int blocks = Packs == 1 ? 5 : 3;      ///< at least this many per multiprocessor
  static constexpr int most_lanes = Packs == 1 ? 5 : 4;  ///< 2^of these a group
};

/// How a product is distributed over lanes. The numbers are those that were fastest on an H200.
struct ShortRowsShape {
  static constexpr int steps = 2;       ///< of the longest row
  static constexpr int most_rows = 16;  ///< that a group computes

  int packs = 1;          ///< of columns, a lane
  int lanes = 0;          ///< 2^lanes of a group
  int rows_of_group = 1;  ///< that a group computes
  std::int64_t blocks = 0, panels = 0;

  /// @param rows             of the result, of so many columns
  /// @param columns_of_pack  in 16 bytes
  /// @param bytes            of B and the result
  static ShortRowsShape of(std::int64_t rows, std::int64_t columns, int columns_of_pack, double bytes,
                           const cudaDeviceProp& device) {
    return columns >= 16 * columns_of_pack && bytes > device.l2CacheSize
               ? distribute<ShortRowsConfig<2>>(rows, columns, columns_of_pack, device)
               : distribute<ShortRowsConfig<1>>(rows, columns, columns_of_pack, device);
  }

 private:
  template <class Config>
  static ShortRowsShape distribute(std::int64_t rows, std::int64_t columns, int columns_of_pack,
                                   const cudaDeviceProp& device) {
    ShortRowsShape out;
    out.packs = Config::packs;
    const auto packs = static_cast<std::uint64_t>(ceil_div(columns, Config::packs * columns_of_pack));
    out.lanes = std::min<int>(Config::most_lanes, packs > 1 ? std::bit_width(packs - 1) : 0);
    out.panels = ceil_div(columns, std::int64_t{Config::packs * columns_of_pack} << out.lanes);
    // All blocks at once, if that takes few rows of a group.
    constexpr std::int64_t of_many_blocks = 8;
    const std::int64_t groups = Config::threads >> out.lanes,
                       waves = ceil_div(ceil_div(rows, groups) * out.panels,
                                        std::int64_t{Config::blocks} * device.multiProcessorCount);
    out.rows_of_group =
        static_cast<int>(waves <= most_rows ? std::max<std::int64_t>(waves, 1) : of_many_blocks);
    out.blocks = ceil_div(rows, groups * out.rows_of_group);
    return out;
  }
};

namespace detail {

/// Loads a pack of 16 bytes, or nothing, here and without a branch: the compiler would move the load to where
/// it is used, or wait for it at the end of a branch.
template <class Packed>
__device__ __forceinline__ Packed load_if(bool is_there, const void* at) {
  static_assert(sizeof(Packed) == 16);
  std::uint32_t words[4];
  asm volatile(
      "{\n"
      ".reg .pred is_there;\n"
      "setp.ne.u32 is_there, %5, 0;\n"
      "@is_there ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];\n"
      "}"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
      : "l"(at), "r"(static_cast<unsigned>(is_there)));
  Packed out;
  memcpy(&out, words, sizeof out);
  return out;
}

/// @param rows_of_group  rows that a group of lanes computes
template <class Config, class Product>
__global__ __launch_bounds__(Config::threads, Config::blocks) void spmm_short_rows_kernel(
    const __grid_constant__ Product product, int rows_of_group) {
  using T = typename Product::factor_type;
  using Sum = accumulate_t<T>;
  constexpr int columns = PaddedRowsConfig<T>::columns, of_step = PaddedRows<T>::of_step;
  constexpr int steps = ShortRowsShape::steps, packs = Config::packs;
  // A tenth faster for two packs of floats, and slower by a sixth to a half for others.
  constexpr bool branches = packs == 2 && std::is_same_v<T, float>;
  using Row = Pack<T, columns>;
  const int lanes = product.lanes, thread = static_cast<int>(threadIdx.x);
  const std::uint32_t groups = Config::threads >> lanes;
  const std::int64_t panel = (std::int64_t{blockIdx.y} * packs << lanes) + (thread & ((1 << lanes) - 1));
  const auto column = [&](int pack) { return (panel + (pack << lanes)) * columns; };
  // The groups of a block take its rows in turn.
  const std::uint32_t of_block = rows_of_group * groups, first = blockIdx.x * of_block,
                      end = ::min(first + of_block, static_cast<std::uint32_t>(product.m));
  std::uint32_t at = first + (thread >> lanes);
  if (at >= end || column(0) >= product.n) return;
  const char* b[packs];
#pragma unroll
  for (int p = 0; p < packs; ++p)
    b[p] = reinterpret_cast<const char*>(product.b + (column(p) < product.n ? column(p) : column(0)));
  const auto row_bytes = static_cast<std::uint32_t>(product.stride * static_cast<std::int64_t>(sizeof(T)));
  const auto place_of = [&](std::uint32_t row) {
    return row < end ? load_place(product.rows.places + row) : RowPlace{};
  };
  const auto load_row = [&](const RowPlace& place, PaddedStep<T>(&to)[steps]) {
#pragma unroll
    for (int s = 0; s < steps; ++s)
      if (place.begin + s < place.end) to[s] = load_step(product.rows, place.begin + s);
  };
  // What is not finite, a bit for each pack, is computed again behind the loop: if it called a function,
  // nothing could be under way.
  static_assert(ShortRowsShape::most_rows * packs <= 32);
  std::uint32_t not_finite = 0;
  RowPlace next = place_of(at), after_next = place_of(at + groups);
  PaddedStep<T> nonzeros[steps];
  load_row(next, nonzeros);
  for (std::uint32_t bit = 1; at < end; at += groups, bit <<= packs) {
    const RowPlace place = next;
    Row rows[packs][steps][of_step];
    Pack<T, of_step> values[steps];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const bool is_there = place.begin + s < place.end;
      if (branches && !is_there) continue;
      const int4& of = nonzeros[s].columns;
      const int columns_of_b[of_step] = {of.x, of.y, of.z, of.w};
#pragma unroll
      for (int e = 0; e < of_step; ++e)
#pragma unroll
        for (int p = 0; p < packs; ++p) {
          const char* const from =
              b[p] + static_cast<std::uint64_t>(static_cast<std::uint32_t>(columns_of_b[e])) * row_bytes;
          if constexpr (branches)
            rows[p][s][e] = load_constant(reinterpret_cast<const Row*>(from));
          else
            rows[p][s][e] = load_if<Row>(is_there, from);
        }
      values[s] = nonzeros[s].values;
    }
    next = after_next;
    after_next = place_of(at + 2 * groups);
    load_row(next, nonzeros);
    if (Product::epilogue_is_identity && product.accumulates && place.begin == place.end) continue;
#pragma unroll
    for (int p = 0; p < packs; ++p) {
      Pack<Sum, columns> sums{};
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        if (place.begin + s >= place.end) continue;
#pragma unroll
        for (int e = 0; e < of_step; ++e)
#pragma unroll
          for (int c = 0; c < columns; ++c)
            sums.at[c] = plus(
                sums.at[c], times(static_cast<Sum>(values[s].at[e]), static_cast<Sum>(rows[p][s][e].at[c])));
      }
      if (!are_finite(sums))
        not_finite |= bit << p;
      else if (p == 0 || column(p) < product.n)
        store_aligned_pack_of_sums<true>(product, place.row, column(p), sums);
    }
  }
#pragma unroll 1
  for (at = first + (thread >> lanes); not_finite != 0; at += groups, not_finite >>= packs)
#pragma unroll 1
    for (int p = 0; p < packs; ++p)
      if ((not_finite >> p & 1) != 0 && column(p) < product.n)
        store_row_from_nonzeros(product, product.rows.places[at].row, column(p));
}

}  // namespace detail

/// D = f(A B) or D += f(A B), in the order of the stream of `space`, where A has short rows alone, and
/// rows of D begin and end at multiples of 16 bytes. The lanes and parts of `product` do not matter.
template <class T, class Out, class E, class A>
void spmm_short_rows(const Kokkos::Cuda& space, PaddedRowsProduct<T, Out, E, A> product,
                     const ShortRowsShape& shape) {
  using Product = PaddedRowsProduct<T, Out, E, A>;
  product.lanes = shape.lanes;
  const auto start = [&]<class Config>(Config) {
    launch(space, "sporos::spmm_short_rows", &detail::spmm_short_rows_kernel<Config, Product>,
           Grid(shape.blocks, shape.panels), Config::threads, 0, product, shape.rows_of_group);
  };
  shape.packs == 2 ? start(ShortRowsConfig<2>{}) : start(ShortRowsConfig<1>{});
}

}  // namespace sporos::gpu
