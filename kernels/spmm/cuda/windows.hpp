// SPDX-License-Identifier: Apache-2.0
/// @file windows.hpp
/// The product of a sparse matrix and a dense one on tensor cores, by windows of 8, 16 or 32 rows and their
/// distinct columns (window_values.hpp): a row of B is read once for all rows of a window.
///
/// An instruction (window_mma.hpp) multiplies 16 columns of B by 8 rows of a window, so C is computed
/// transposed. Doubles of B go from memory directly to the registers from which the instruction takes them: a
/// lane reads two neighbours of a row, and the columns of C that it computes are in the same order. 16-bit
/// floats go by way of shared memory (window_stages.hpp). A warp computes the rows of a window in a panel of
/// columns, or one of several parts of their sums, which the warps of a block then add in order.
///
/// A zero times an infinity is NaN. So results that are not finite are computed again, from the nonzeros of
/// their row alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/tiled_product.hpp"
#include "../../cuda/warp.hpp"
#include "store_packs.hpp"
#include "window_stages.hpp"
#include "window_values.hpp"
#include "windows_config.hpp"

namespace sporos::gpu {

/// D = f(A B) for A packed as windows.
/// @tparam T  the type of the values of A and B
/// @tparam A  the type of A, a CsrView
template <class T, class Out, class E, class A>
struct WindowsProduct : TiledProduct<Out, E> {
  ValueWindows<T> windows;
  A a;
  const T* b = nullptr;     ///< [k, n], rows at multiples of 16 bytes
  std::int64_t stride = 0;  ///< elements from one row of B to the next
  bool has_packs = false;   ///< whether rows of D begin and end at multiples of 16 bytes
  WindowParts parts;
};

namespace detail {

/// Some steps of a window of doubles, as loaded from memory.
template <class Config>
struct WindowSteps {
  double2 of_a[Config::steps_at_once][Config::row_tiles];          ///< [rows, 8] per step
  double2 of_b[Config::steps_at_once][2][Config::column_tiles]{};  ///< [8, columns] per step
};

/// One warp's part of a window of doubles in a panel: the steps [begin, end).
template <class Config, class Product>
class WindowPart {
  static constexpr int ahead = Config::steps_at_once;
  using Steps = WindowSteps<Config>;

 public:
  /// @param column  this lane's first column in the panel
  __device__ WindowPart(const Product& product, std::int64_t column, int begin, int end)
      : in_(product),
        begin_(begin),
        end_(end),
        row_bytes_(static_cast<std::uint32_t>(product.stride * 8)),
        lane_bytes_(static_cast<std::uint32_t>(column * 8)) {
#pragma unroll
    for (int tile = 0; tile < Config::column_tiles; ++tile)
      is_column_[tile] = static_cast<int>(column) + tile * Config::Mma::m < static_cast<int>(product.n);
  }

  /// Adds the products of these steps, if there are any, to the sums of this lane.
  template <class Sums>
  __device__ __forceinline__ void multiply(Sums& sums) {
    if (begin_ >= end_) return;
    Steps steps[Config::buffers];
#pragma unroll
    for (int buffer = 0; buffer < Config::buffers; ++buffer)
      load_columns(begin_ + buffer * ahead, columns_[buffer]);
    load(begin_, columns_[0], steps[0]);
    for (int step = begin_;;) {
      if constexpr (Config::buffers == 2) {
        load(step + ahead, columns_[1], steps[1]);
        multiply(step, steps[0], sums);
        step += ahead;
        if (step >= end_) return;
        load(step + ahead, columns_[0], steps[0]);
        multiply(step, steps[1], sums);
      } else {
        multiply(step, steps[0], sums);
      }
      step += ahead;
      if (step >= end_) return;
      if constexpr (Config::buffers == 1) load(step, columns_[0], steps[0]);
    }
  }

 private:
  // After the end, the last step is loaded again: a branch around loads would wait for the loads before it.
  // Offsets have 32 bits, so that each takes one register.

  __device__ __forceinline__ void load_columns(int step, int2 (&to)[ahead]) const {
    const auto* const from = reinterpret_cast<const char*>(in_.windows.column);  // [steps, 4] pairs
#pragma unroll
    for (int s = 0; s < ahead; ++s)
      to[s] = __ldg(reinterpret_cast<const int2*>(
          from + static_cast<std::uint32_t>(::min(step + s, end_ - 1) * 4 + lane_id() % 4) * 8));
  }
  /// Loads steps, and then the columns of the steps that this buffer loads next. If the panel has no column
  /// here, the registers' contents only reach sums that are not stored.
  __device__ __forceinline__ void load(int step, int2 (&columns)[ahead], Steps& to) const {
    const auto* const b = reinterpret_cast<const char*>(in_.b);
    const auto* const values = reinterpret_cast<const char*>(in_.windows.values);  // [steps, rows, 4] pairs
#pragma unroll
    for (int s = 0; s < ahead; ++s) {
      const std::uint32_t at[2] = {static_cast<std::uint32_t>(columns[s].x) * row_bytes_ + lane_bytes_,
                                   static_cast<std::uint32_t>(columns[s].y) * row_bytes_ + lane_bytes_};
      const auto of_step =
          static_cast<std::uint32_t>(::min(step + s, end_ - 1) * Config::rows * 4 + lane_id()) * 16;
#pragma unroll
      for (int which = 0; which < 2; ++which)
#pragma unroll
        for (int tile = 0; tile < Config::column_tiles; ++tile)
          if (is_column_[tile])
            to.of_b[s][which][tile] =
                __ldg(reinterpret_cast<const double2*>(b + at[which] + tile * Config::Mma::m * 8));
#pragma unroll
      for (int tile = 0; tile < Config::row_tiles; ++tile)
        to.of_a[s][tile] = __ldg(reinterpret_cast<const double2*>(values + of_step + tile * warp_size * 16));
    }
    load_columns(step + Config::buffers * ahead, columns);
  }
  template <class Sums>
  __device__ __forceinline__ void multiply(int step, const Steps& steps, Sums& sums) const {
#pragma unroll
    for (int s = 0; s < ahead; ++s)
      if (s == 0 || step + s < end_)
#pragma unroll
        for (int row_tile = 0; row_tile < Config::row_tiles; ++row_tile)
#pragma unroll
          for (int tile = 0; tile < Config::column_tiles; ++tile) {
            const double2 &first = steps.of_b[s][0][tile], &second = steps.of_b[s][1][tile];
            Config::Mma::multiply(sums[row_tile][tile], {first.x, first.y, second.x, second.y},
                                  steps.of_a[s][row_tile]);
          }
  }

  const Product& in_;
  const int begin_, end_;
  const std::uint32_t row_bytes_, lane_bytes_;
  bool is_column_[Config::column_tiles];
  int2 columns_[Config::buffers][ahead];  ///< columns of A that this lane reads next
};

/// Computes this lane's part of a window and a panel again, from nonzeros alone.
template <class Config, class Product>
__device__ __noinline__ void store_from_nonzeros(const Product& product, std::int64_t first_row,
                                                 std::int64_t first_column) {
  constexpr int columns = Config::columns_of_piece;
#pragma unroll 1
  for (int r = 0; r < Config::row_tiles * 2; ++r) {
    const std::int64_t row = first_row + r / 2 * Config::Mma::n + r % 2;
    if (row >= product.m) break;
#pragma unroll 1
    for (int piece = 0; piece < Config::pieces; ++piece)
      store_pack_from_nonzeros<typename Config::Sum, columns>(product, row,
                                                              first_column + piece * 8 * columns);
  }
}

/// A block computes windows in a panel of columns, each with so many warps as share it.
template <class Config, class Product>
__global__ __launch_bounds__(Config::threads, Config::blocks) void spmm_windows_kernel(
    const __grid_constant__ Product product) {
  using Sum = typename Config::Sum;
  using Some = Pack<Sum, 16 / static_cast<int>(sizeof(Sum))>;
  constexpr int at_once = 16 / static_cast<int>(sizeof(Sum));
  extern __shared__ __align__(128) char shared[];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  // Blocks that start one after another compute panels of the same windows, which are then read from memory
  // only once.
  const auto panels = static_cast<unsigned>((product.n + Config::columns - 1) / Config::columns);
  const unsigned panel = blockIdx.x % panels;
  int block = static_cast<int>(blockIdx.x / panels);
  int first_window = 0, bits = WindowParts::classes - 1;  // 2^bits warps share a window of this block
#pragma unroll 1
  for (; bits > 0; --bits) {
    const int windows = product.parts.windows[bits];
    const int blocks = (windows + (Config::warps >> bits) - 1) >> (WindowParts::classes - 1 - bits);
    if (block < blocks) break;
    block -= blocks;
    first_window += windows;
  }
  const int parts = 1 << bits, part = warp & (parts - 1);
  const int in_class = block * (Config::warps >> bits) + (warp >> bits);
  const bool is_there = in_class < product.parts.windows[bits];
  const std::int64_t first_column = std::int64_t{panel} * Config::columns;
  const std::int64_t column = first_column + Config::column_of_lane(lane_id());
  Sum sums[Config::row_tiles][Config::column_tiles][4] = {};
  RowPlace window{};
  if (is_there) {
    window = load_place(product.windows.places + first_window + in_class);
    const int steps = window.end - window.begin;
    const int begin = window.begin + (steps * part >> bits),
              end = window.begin + (steps * (part + 1) >> bits);
    if constexpr (Config::is_staged)
      StagedWindowPart<Config, Product>(
          product, first_column, begin, end,
          ptx::shared_address(shared) + static_cast<std::uint32_t>(warp * Config::ring_bytes))
          .multiply(sums);
    else
      WindowPart<Config, Product>(product, column, begin, end).multiply(sums);
  }
  // The upper half of the parts gives its sums to the lower half, until one part is left.
  for (int half = parts / 2; half > 0; half /= 2) {
    const int place = (warp >> bits) * half + (part & (half - 1));
    Some* const to = reinterpret_cast<Some*>(shared) + place * warp_size * Config::sums / at_once + lane_id();
    __syncthreads();
    int number = 0;
    if (part >= half && part < 2 * half)
#pragma unroll
      for (auto& of_row : sums)
#pragma unroll
        for (auto& tile : of_row)
#pragma unroll
          for (int r = 0; r < 4; r += at_once) {
            Some some;
#pragma unroll
            for (int e = 0; e < at_once; ++e) some.at[e] = tile[r + e];
            to[number++ * warp_size] = some;
          }
    __syncthreads();
    number = 0;
    if (part < half)
#pragma unroll
      for (auto& of_row : sums)
#pragma unroll
        for (auto& tile : of_row)
#pragma unroll
          for (int r = 0; r < 4; r += at_once) {
            const Some more = to[number++ * warp_size];
#pragma unroll
            for (int e = 0; e < at_once; ++e) tile[r + e] += more.at[e];
          }
  }
  if constexpr (Config::is_staged)
    if (parts > 1) __syncthreads();  // before sums are written to where others still read theirs
  if (!is_there || part > 0) return;
  if constexpr (Config::is_staged)
    reorder_sums<Config>(reinterpret_cast<float*>(shared + warp * Config::ring_bytes), sums);
  const std::int64_t first_row = std::int64_t{window.row} * Config::rows + lane_id() % 4 * 2;
  bool are_finite = true;
#pragma unroll
  for (int tile = 0; tile < Config::column_tiles; ++tile)
    if (column + Config::column_of_pair(tile) < product.n)
#pragma unroll
      for (auto& of_row : sums)
#pragma unroll
        for (const Sum sum : of_row[tile]) are_finite = are_finite && ::fabs(sum) <= largest_sum<Sum>;
  if (!are_finite) return store_from_nonzeros<Config>(product, first_row, column);
#pragma unroll
  for (int row_tile = 0; row_tile < Config::row_tiles; ++row_tile)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const std::int64_t row = first_row + row_tile * Config::Mma::n + e;
      if (row >= product.m) continue;
#pragma unroll
      for (int piece = 0; piece < Config::pieces; ++piece) {
        Pack<Sum, Config::columns_of_piece> of_piece;
#pragma unroll
        for (int pair = 0; pair < Config::pairs_of_piece; ++pair) {
          const auto& d = sums[row_tile][piece * Config::pairs_of_piece + pair];
          of_piece.at[pair * 2] = d[e];
          of_piece.at[pair * 2 + 1] = d[2 + e];
        }
        const std::int64_t first = column + Config::column_of_pair(piece * Config::pairs_of_piece);
        if (first < product.n) store_pack_of_sums(product, row, first, of_piece);
      }
    }
}

}  // namespace detail

/// D = f(A B) or D += f(A B), in the order of the stream of `space`.
template <class Config, class Product>
void spmm_windows(const Kokkos::Cuda& space, const Product& product) {
  static_assert(Config::warps == WindowParts::most_warps);
  launch(space, "sporos::spmm_windows", &detail::spmm_windows_kernel<Config, Product>,
         Grid(product.parts.blocks() * ceil_div(product.n, Config::columns)), Config::threads,
         Config::shared_bytes(product.parts.most()), product);
}

}  // namespace sporos::gpu
