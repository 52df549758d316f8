// SPDX-License-Identifier: Apache-2.0
/// @file padded_rows.hpp
/// The product of a sparse matrix and a dense one on CUDA cores, by padded rows (padded_row_values.hpp): what
/// is read, and in which order, is known as soon as a row's place is, so that loads wait for few others.
///
/// A group of lanes computes a row of the result in a panel of columns, or several groups of a warp share it,
/// the more the longer it is; each lane takes 16 bytes of a row of B. A group loads the columns and values of
/// two steps while rows of B of the two before them arrive.
///
/// Padding multiplies by zero. A zero times an infinity is NaN, so results that are not finite are computed
/// again, from the nonzeros of their row alone.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/tiled_product.hpp"
#include "../../cuda/warp.hpp"
#include "padded_row_values.hpp"
#include "store_packs.hpp"

namespace sporos::gpu {

/// D = f(A B) for A packed as padded rows.
/// @tparam T  the type of the values of A and B
/// @tparam A  the type of A, a CsrView
template <class T, class Out, class E, class A>
struct PaddedRowsProduct : TiledProduct<Out, E> {
  using factor_type = T;
  PaddedRows<T> rows;
  A a;
  const T* b = nullptr;     ///< [k, n], rows at multiples of 16 bytes
  std::int64_t stride = 0;  ///< elements from one row of B to the next
  bool has_packs = false;   ///< whether rows of D begin and end at multiples of 16 bytes
  int lanes = 0;            ///< 2^lanes of a group
  RowParts parts;
};

/// How lanes read B.
template <class T>
struct PaddedRowsConfig {
  static constexpr int columns = widest_pack<T>;  ///< per lane, read at once
  static constexpr int threads = 128;
  static constexpr int blocks = 8;  ///< at least this many per multiprocessor
};

namespace detail {

/// The four nonzeros of a step.
template <class T>
struct PaddedStep {
  int4 columns;
  Pack<T, 4> values;
};

template <class T>
__device__ __forceinline__ PaddedStep<T> load_step(const PaddedRows<T>& rows, int step) {
  return {__ldg(reinterpret_cast<const int4*>(rows.columns) + step),
          load_constant(reinterpret_cast<const Pack<T, 4>*>(rows.values) + step)};
}

/// How a group of lanes reads steps of a row, and the sums of their products with rows of B.
template <class Product>
class PaddedRowSums {
  using T = typename Product::factor_type;
  using Sum = accumulate_t<T>;
  static constexpr int columns = PaddedRowsConfig<T>::columns;
  using Step = PaddedStep<T>;

 public:
  __device__ PaddedRowSums(const Product& product, std::int64_t column)
      : in_(product),
        b_(reinterpret_cast<const char*>(product.b + column)),
        row_bytes_(static_cast<std::uint32_t>(product.stride * static_cast<std::int64_t>(sizeof(T)))) {}

  /// Adds the products of each apart-th of the steps [first, end).
  __device__ __forceinline__ void add(int first, int end, int apart) {
    Step steps[2];
    const auto load = [&](int step, Step& to) { to = load_step(in_.rows, step); };
    if (first < end) load(first, steps[0]);
    if (first + apart < end) load(first + apart, steps[1]);
    int at = first;
    for (; at + apart < end; at += 2 * apart)
      add_steps<2>(steps, [&] {
        if (at + 2 * apart < end) load(at + 2 * apart, steps[0]);
        if (at + 3 * apart < end) load(at + 3 * apart, steps[1]);
      });
    if (at < end) add_steps<1>(steps, [] {});
  }

  Pack<Sum, columns> sums{};

 private:
  using Row = Pack<T, columns>;

  __device__ __forceinline__ Row row_of(int column) const {
    return load_constant(reinterpret_cast<const Row*>(
        b_ + static_cast<std::uint64_t>(static_cast<std::uint32_t>(column)) * row_bytes_));
  }
  /// Adds the products of some steps, and loads the next while the rows of B arrive.
  template <int Count, class LoadNext>
  __device__ __forceinline__ void add_steps(const Step (&steps)[2], const LoadNext& load_next) {
    Row rows[Count][4];
    Sum factors[Count][4];
#pragma unroll
    for (int s = 0; s < Count; ++s) {
      const int4& columns_of = steps[s].columns;
      rows[s][0] = row_of(columns_of.x);
      rows[s][1] = row_of(columns_of.y);
      rows[s][2] = row_of(columns_of.z);
      rows[s][3] = row_of(columns_of.w);
    }
#pragma unroll
    for (int s = 0; s < Count; ++s)
#pragma unroll
      for (int e = 0; e < 4; ++e) factors[s][e] = static_cast<Sum>(steps[s].values.at[e]);
    load_next();
#pragma unroll
    for (int s = 0; s < Count; ++s)
#pragma unroll
      for (int e = 0; e < 4; ++e)
#pragma unroll
        for (int c = 0; c < columns; ++c)
          sums.at[c] = plus(sums.at[c], times(factors[s][e], static_cast<Sum>(rows[s][e].at[c])));
  }

  const Product& in_;
  const char* const b_;  ///< the first row, starting at this lane's columns
  const std::uint32_t row_bytes_;
};

/// Out of line, since it seldom happens.
template <class Product>
__device__ __noinline__ void store_row_from_nonzeros(const Product& product, std::int64_t row,
                                                     std::int64_t column) {
  using T = typename Product::factor_type;
  store_pack_from_nonzeros<accumulate_t<T>, PaddedRowsConfig<T>::columns>(product, row, column);
}

template <class Sum, int Count>
__device__ __forceinline__ bool are_finite(const Pack<Sum, Count>& sums) {
  bool out = true;
#pragma unroll
  for (int c = 0; c < Count; ++c) out = out && ::fabs(sums.at[c]) <= largest_sum<Sum>;
  return out;
}

template <class Config, class Product>
__global__ __launch_bounds__(Config::threads, Config::blocks) void spmm_padded_rows_kernel(
    const __grid_constant__ Product product) {
  using Sum = accumulate_t<typename Product::factor_type>;
  const int thread = static_cast<int>(threadIdx.x), lanes = product.lanes;
  // Rows that equally many groups share have blocks of their own, those of most groups the first.
  int block = static_cast<int>(blockIdx.x), first = 0, bits = RowParts::classes - 1;
#pragma unroll 1
  for (; bits > 0; --bits) {
    if (product.parts.rows[bits] == 0) continue;
    const int blocks = product.parts.blocks(bits, lanes, Config::threads);
    if (block < blocks) break;
    block -= blocks;
    first += product.parts.rows[bits];
  }
  const int of_row = lanes + bits;  // 2^of_row lanes
  const std::int64_t in_class = std::int64_t{block} * (Config::threads >> of_row) + (thread >> of_row);
  const int part = (thread >> lanes) & ((1 << bits) - 1);
  const std::int64_t column =
      ((std::int64_t{blockIdx.y} << lanes) + (thread & ((1 << lanes) - 1))) * Config::columns;
  const bool has_columns = column < product.n;
  const bool is_there = in_class < product.parts.rows[bits];
  RowPlace place{};
  if (is_there) place = load_place(product.rows.places + first + in_class);
  PaddedRowSums<Product> row(product, has_columns ? column : 0);
  row.add(place.begin + part, place.end, 1 << bits);
  for (int apart = 0; apart < bits; ++apart)
#pragma unroll
    for (int c = 0; c < Config::columns; ++c)
      row.sums.at[c] = plus(row.sums.at[c], shuffle_xor(row.sums.at[c], 1 << (lanes + apart)));
  if (!is_there || part > 0 || !has_columns) return;
  if (Product::epilogue_is_identity && product.accumulates && place.begin == place.end) return;
  if (are_finite(row.sums))
    store_pack_of_sums(product, place.row, column, row.sums);
  else
    store_row_from_nonzeros(product, place.row, column);
}

}  // namespace detail

/// D = f(A B) or D += f(A B), in the order of the stream of `space`.
template <class T, class Out, class E, class A>
void spmm_padded_rows(const Kokkos::Cuda& space, const PaddedRowsProduct<T, Out, E, A>& product) {
  using Config = PaddedRowsConfig<T>;
  std::int64_t blocks = 0;
  for (int bits = 0; bits < RowParts::classes; ++bits)
    if (product.parts.rows[bits] > 0) blocks += product.parts.blocks(bits, product.lanes, Config::threads);
  launch(space, "sporos::spmm_padded_rows",
         &detail::spmm_padded_rows_kernel<Config, PaddedRowsProduct<T, Out, E, A>>,
         Grid(blocks, ceil_div(product.n, std::int64_t{Config::columns} << product.lanes)), Config::threads,
         0, product);
}

}  // namespace sporos::gpu
