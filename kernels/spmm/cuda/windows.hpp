// SPDX-License-Identifier: Apache-2.0
/// @file windows.hpp
/// The product of a sparse matrix of doubles and a dense one on tensor cores, by windows of 8, 16 or 32 rows
/// and their distinct columns (window_values.hpp): a row of B is read once for all rows of a window.
///
/// An instruction m16n8k8 multiplies 16 columns of B by 8 rows of a window, so C is computed transposed. B
/// goes from memory directly to the registers from which the instruction takes it: a lane reads two
/// neighbours of a row, and the columns of C that it computes are in the same order. A warp computes the rows
/// of a window in a panel of columns, or one of several parts of their sums, which the warps of a block then
/// add in order.
///
/// A zero times an infinity is NaN. So results that are not finite are computed again, from the nonzeros of
/// their row alone.
#pragma once

#include <cstdint>

#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/warp.hpp"
#include "../../cuda/wgmma_tile.hpp"
#include "sum_of_nonzeros.hpp"
#include "window_values.hpp"

namespace sporos::gpu {

/// What a warp computes at a time.
/// @tparam Rows     rows per window
/// @tparam Columns  columns per panel: 16, 32 or 64
template <int Rows, int Columns>
struct WindowsConfig {
  static constexpr int rows = Rows, columns = Columns;
  static constexpr int threads = 256, warps = threads / warp_size;
  static constexpr int row_tiles = Rows / MmaM16N8K8::n, column_tiles = Columns / MmaM16N8K8::m;
  /// How many steps are loaded together, and whether the next ones are loaded while some are multiplied: as
  /// many as fit in the registers.
  static constexpr int buffers = Rows * Columns <= 512 ? 2 : 1;
  static constexpr int steps_at_once = Columns == 16 && Rows <= 16 ? 2 : Rows == 8 && Columns == 32 ? 2 : 1;
  static constexpr int sums = row_tiles * column_tiles * 4;  ///< per lane
  static constexpr int blocks = 2;                           ///< at least this many per multiprocessor
  static constexpr int shared_bytes = warps / 2 * warp_size * sums * 8;  ///< used if warps share a window
  static_assert(ValueWindows::columns == MmaM16N8K8::k, "a step is what an instruction sums over");
  static_assert(sums <= 32, "sums and the rows of B on their way fit in the registers");
};

/// D = f(A B) for A packed as windows.
/// @tparam A  the type of A, a CsrView
template <class E, class A>
struct WindowsProduct : TiledProduct<double, E> {
  ValueWindows windows;
  A a;
  const double* b = nullptr;  ///< [k, n], rows at multiples of 16 bytes
  std::int64_t stride = 0;    ///< elements from one row of B to the next
  bool has_packs = false;     ///< whether two neighbouring elements of D can be written at once
};

namespace detail {

/// Some steps of a window, as loaded from memory.
template <class Config>
struct WindowSteps {
  double2 of_a[Config::steps_at_once][Config::row_tiles];          ///< [rows, 8] per step
  double2 of_b[Config::steps_at_once][2][Config::column_tiles]{};  ///< [8, columns] per step
};

/// One warp's part of a window in a panel: the steps [begin, end).
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
      is_column_[tile] = static_cast<int>(column) + tile * MmaM16N8K8::m < static_cast<int>(product.n);
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
                __ldg(reinterpret_cast<const double2*>(b + at[which] + tile * MmaM16N8K8::m * 8));
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
            ptx::mma_m16n8k8(sums[row_tile][tile], {first.x, first.y, second.x, second.y},
                             steps.of_a[s][row_tile].x, steps.of_a[s][row_tile].y);
          }
  }

  const Product& in_;
  const int begin_, end_;
  const std::uint32_t row_bytes_, lane_bytes_;
  bool is_column_[Config::column_tiles];
  int2 columns_[Config::buffers][ahead];  ///< columns of A that this lane reads next
};

/// Stores D(row, column) and D(row, column + 1), computed from their sums.
template <class Product>
__device__ __forceinline__ void store_two_sums(const Product& product, std::int64_t row, std::int64_t column,
                                               double first, double second) {
  double values[2] = {first, second};
  double* const to = product.d + row * product.n + column;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    if (column + e >= product.n) break;
    values[e] = product.epilogue(values[e], row, column + e);
    if (product.accumulates) values[e] += to[e];
    if (!product.has_packs) to[e] = values[e];
  }
  if (product.has_packs) *reinterpret_cast<double2*>(to) = make_double2(values[0], values[1]);
}

/// Computes this lane's part of a window and a panel again, from nonzeros alone.
template <class Config, class Product>
__device__ __noinline__ void store_from_nonzeros(const Product& product, std::int64_t first_row,
                                                 std::int64_t first_column) {
#pragma unroll 1
  for (int r = 0; r < Config::row_tiles * 2; ++r) {
    const std::int64_t row = first_row + r / 2 * MmaM16N8K8::n + r % 2;
    if (row >= product.m) break;
#pragma unroll 1
    for (std::int64_t column = first_column; column < first_column + Config::columns && column < product.n;
         column += MmaM16N8K8::m)
      store_two_sums(product, row, column, sum_of_nonzeros<double>(product, row, column),
                     column + 1 < product.n ? sum_of_nonzeros<double>(product, row, column + 1) : 0);
  }
}

/// A block computes windows in a panel of columns, each with `parts` warps.
template <class Config, class Product>
__global__ __launch_bounds__(Config::threads,
                             Config::blocks) void spmm_windows_kernel(const __grid_constant__ Product product,
                                                                      int parts) {
  extern __shared__ char memory[];
  const int warp = static_cast<int>(threadIdx.x) / warp_size, part = warp % parts;
  // Blocks that start one after another compute panels of the same windows, which are then read from memory
  // only once.
  const auto panels = static_cast<unsigned>((product.n + Config::columns - 1) / Config::columns);
  const unsigned panel = blockIdx.x % panels;
  const std::int64_t at = std::int64_t{blockIdx.x / panels} * (Config::warps / parts) + warp / parts;
  const bool is_there = at < product.windows.windows;
  const std::int64_t column = std::int64_t{panel} * Config::columns + MmaM16N8K8::row(lane_id()) * 2;
  double sums[Config::row_tiles][Config::column_tiles][4] = {};
  RowPlace window{};
  if (is_there) {
    window = load_place(product.windows.places + at);
    const int steps = window.end - window.begin;
    WindowPart<Config, Product>(product, column, window.begin + steps * part / parts,
                                window.begin + steps * (part + 1) / parts)
        .multiply(sums);
  }
  // The upper half of the parts gives its sums to the lower half, until one part is left.
  for (int half = parts / 2; half > 0; half /= 2) {
    const int place = warp / parts * half + part % half;
    double2* const to = reinterpret_cast<double2*>(memory) + place * warp_size * Config::sums / 2 + lane_id();
    __syncthreads();
    int number = 0;
    if (part >= half && part < 2 * half)
#pragma unroll
      for (auto& of_row : sums)
#pragma unroll
        for (auto& tile : of_row)
#pragma unroll
          for (int r = 0; r < 4; r += 2) to[number++ * warp_size] = make_double2(tile[r], tile[r + 1]);
    __syncthreads();
    number = 0;
    if (part < half)
#pragma unroll
      for (auto& of_row : sums)
#pragma unroll
        for (auto& tile : of_row)
#pragma unroll
          for (int r = 0; r < 4; r += 2) {
            const double2 more = to[number++ * warp_size];
            tile[r] += more.x;
            tile[r + 1] += more.y;
          }
  }
  if (!is_there || part > 0) return;
  const std::int64_t first_row = std::int64_t{window.row} * Config::rows + lane_id() % 4 * 2;
  bool are_finite = true;
#pragma unroll
  for (int tile = 0; tile < Config::column_tiles; ++tile)
    if (column + tile * MmaM16N8K8::m < product.n)
#pragma unroll
      for (auto& of_row : sums)
#pragma unroll
        for (const double sum : of_row[tile])
          are_finite = are_finite && ::fabs(sum) <= 1.7976931348623157e308;
  if (!are_finite) return store_from_nonzeros<Config>(product, first_row, column);
#pragma unroll
  for (int row_tile = 0; row_tile < Config::row_tiles; ++row_tile)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const std::int64_t row = first_row + row_tile * MmaM16N8K8::n + e;
      if (row >= product.m) continue;
#pragma unroll
      for (int tile = 0; tile < Config::column_tiles; ++tile) {
        const auto& d = sums[row_tile][tile];
        if (column + tile * MmaM16N8K8::m < product.n)
          store_two_sums(product, row, column + tile * MmaM16N8K8::m, d[e], d[2 + e]);
      }
    }
}

}  // namespace detail

/// D = f(A B) or D += f(A B), in the order of the stream of `space`.
/// @param parts  warps that share a window: 1, 2, 4 or 8
template <class Config, class Product>
void spmm_windows(const Kokkos::Cuda& space, const Product& product, int parts) {
  launch(
      space, "sporos::spmm_windows", &detail::spmm_windows_kernel<Config, Product>,
      Grid(ceil_div(product.windows.windows * parts, Config::warps) * ceil_div(product.n, Config::columns)),
      Config::threads, parts > 1 ? Config::shared_bytes : 0, product, parts);
}

}  // namespace sporos::gpu
