// SPDX-License-Identifier: Apache-2.0
/// @file windows.hpp
/// Sampled dense-dense products on tensor cores: A(i, j) = B(i, j) * (sum over k of C(i, k) D(j, k)), by
/// windows of 16 rows of B and groups of 8 of their columns (sampled_windows.hpp).
///
/// An instruction m16n8k16 multiplies 16 rows of C by 8 rows of D, those of the group's columns. Both are
/// read from memory directly into the registers from which the instruction takes them: a lane reads 16 bytes,
/// 8 elements of a row, and gives them to two instructions. Their 32 elements are therefore summed in a
/// different order, which is the same for C and D. Rows of C are read once for 64 columns. The method pays
/// off if the rows of a window have columns in common: a row of D is read once for all of them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../cuda/launch.hpp"
#include "../../cuda/mma.hpp"
#include "../../cuda/mma_traits.hpp"
#include "../../cuda/warp.hpp"
#include "sampled_windows.hpp"

namespace sporos::gpu {

/// @tparam Chunks  chunks of 32 elements of a row of C that the registers hold: 1, 2 or 4
template <int Chunks>
struct SddmmWindowConfig {
  static constexpr int threads = 128, warps = threads / warp_size;
  static constexpr int blocks = 4;  ///< at least this many per multiprocessor
  static constexpr int chunks = Chunks;
  static constexpr int chunk = 32;  ///< elements; two instructions multiply them
  static constexpr int pack = 8;    ///< elements that a lane reads at a time
  static_assert(SampledWindows::rows == MmaM16N8K16::m && SampledWindows::columns == MmaM16N8K16::n,
                "a group of a window is one instruction's result");
  static_assert(chunk == 2 * MmaM16N8K16::k && chunk == 4 * pack, "four lanes read a chunk of a row");
};

/// The arguments of the product. C is [rows, inner] and D [columns, inner]; rows begin at multiples of 16
/// bytes.
/// @tparam E  the epilogue: a SampledEpilogue of float
template <class Value, class T, class E>
struct SddmmWindowsArguments {
  std::int64_t rows;
  std::int64_t inner;  ///< a multiple of 8
  SampledWindows windows;
  const Value* scale;  ///< [nonzeros], B's values
  const T* c;
  const T* d;
  Value* result;  ///< [nonzeros]
  E epilogue;
};

namespace detail {

template <class Config, class Value, class T, class E>
__global__ __launch_bounds__(Config::threads, Config::blocks) void sddmm_windows_kernel(
    const __grid_constant__ SddmmWindowsArguments<Value, T, E> in) {
  using Words = Pack<std::uint32_t, 4>;
  constexpr int groups = SampledWindows::groups_of_piece;
  const std::int64_t number = std::int64_t{blockIdx.x} * Config::warps + threadIdx.x / warp_size;
  if (number >= __ldg(in.windows.count)) return;
  const SampledWindows::Piece* const piece = in.windows.pieces + number;
  const auto header = __ldg(reinterpret_cast<const int4*>(piece));
  const int count = header.z;
  const SampledWindows::Group* const group = in.windows.groups + header.y;
  // The part of operands and results that this lane holds.
  const int row = lane_id() / 4, pair = lane_id() % 4;
  const std::int64_t first_row = std::int64_t{header.x} * SampledWindows::rows;
  std::int32_t start[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) start[half] = __ldg(piece->starts + row + half * 8);

  std::int32_t columns[groups];  // [8 columns] per group
  std::uint32_t masks[groups];   // 8 bits for each of this lane's two rows
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    columns[g] = 0;
    masks[g] = 0;
    if (g < count) {
      columns[g] = __ldg(group[g].columns + row);
      masks[g] = __ldg(group[g].masks + row) | static_cast<std::uint32_t>(__ldg(group[g].masks + row + 8))
                                                   << 8;
    }
  }

  const auto load = [&](const T* from, std::int64_t k) {
    return k < in.inner ? load_constant(reinterpret_cast<const Words*>(from + k)) : Words{};
  };
  // B's values are loaded along with the operands.
  Value scale[groups][4];  // [16, 8] per group
  const auto for_each_result = [&](const auto& visit) {
    std::int32_t at[2] = {start[0], start[1]};
#pragma unroll
    for (int g = 0; g < groups; ++g) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const std::uint32_t mask = masks[g] >> (r / 2 * 8) & 0xffu;
        const std::uint32_t bit = 1U << MmaM16N8K16::of_d(lane_id(), r).column;
        if ((mask & bit) != 0) visit(g, r, std::int64_t{at[r / 2]} + __popc(mask & (bit - 1)));
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) at[half] += __popc(masks[g] >> half * 8 & 0xffu);
    }
  };
  for_each_result([&](int g, int r, std::int64_t q) { scale[g][r] = in.scale[q]; });

  float sums[groups][4] = {};  // [16, 8] per group
  for (std::int64_t first = 0; first < in.inner; first += Config::chunks * Config::chunk) {
    Words c[Config::chunks][2];  // [16, chunks * 32]
    Words d[2][Config::chunks];  // [8, chunks * 32], of this group and the next
    const auto load_columns = [&](int g) {
#pragma unroll
      for (int at = 0; at < Config::chunks; ++at)
        d[g % 2][at] = load(in.d + std::int64_t{columns[g]} * in.inner,
                            first + at * Config::chunk + pair * Config::pack);
    };
    load_columns(0);
#pragma unroll
    for (int at = 0; at < Config::chunks; ++at)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int64_t of_c = ::min(first_row + row + half * 8, in.rows - 1);
        c[at][half] = load(in.c + of_c * in.inner, first + at * Config::chunk + pair * Config::pack);
      }
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (g + 1 < groups && g + 1 < count) load_columns(g + 1);
      if (g < count) {
#pragma unroll
        for (int at = 0; at < Config::chunks; ++at)
#pragma unroll
          for (int k = 0; k < 4; k += 2)
            ptx::mma_m16n8k16<T>(sums[g],
                                 {c[at][0].at[k], c[at][1].at[k], c[at][0].at[k + 1], c[at][1].at[k + 1]},
                                 d[g % 2][at].at[k], d[g % 2][at].at[k + 1]);
      }
    }
  }
  for_each_result([&](int g, int r, std::int64_t q) {
    const float product = static_cast<float>(scale[g][r]) * sums[g][r];
    if constexpr (E::is_identity) {
      in.result[q] = static_cast<Value>(product);
    } else {
      const auto at = MmaM16N8K16::of_d(lane_id(), r);
      in.result[q] = static_cast<Value>(
          in.epilogue(product, first_row + at.row, std::int64_t{__ldg(group[g].columns + at.column)}));
    }
  });
}

}  // namespace detail

/// A(i, j) = B(i, j) * sum over k of C(i, k) D(j, k), on B's pattern, in the order of the stream of `space`.
/// @param most  upper bound of the number of pieces
template <class Value, class T, class E>
void sddmm_windows(const Kokkos::Cuda& space, const SddmmWindowsArguments<Value, T, E>& arguments,
                   std::int64_t most) {
  const auto run = [&]<int Chunks>(std::integral_constant<int, Chunks>) {
    using Config = SddmmWindowConfig<Chunks>;
    launch(space, "sporos::sddmm_windows", &detail::sddmm_windows_kernel<Config, Value, T, E>,
           Grid(ceil_div(most, Config::warps)), Config::threads, 0, arguments);
  };
  if (arguments.inner <= 32)
    run(std::integral_constant<int, 1>{});
  else if (arguments.inner <= 64)
    run(std::integral_constant<int, 2>{});
  else
    run(std::integral_constant<int, 4>{});
}

}  // namespace sporos::gpu
