// SPDX-License-Identifier: Apache-2.0
/// @file single_row_mma.hpp
/// The product of a sparse and a dense matrix on tensor cores with one row of the sparse one as the right
/// operand of an instruction m16n8k16: of its 8 columns of results one is used, and no sums are exchanged
/// between lanes. A measure for matricised dot products, which use 16 of 128 results as well.
#pragma once

#include <bit>
#include <sporos/kernels/cuda/mma.hpp>
#include <sporos/kernels/cuda/warp.hpp>
#include <vector>

#include "cublas.hpp"

namespace sporos::perf {

/// C = A B, with the nonzeros of A in groups of 16.
template <class T>
struct SingleRowProduct {
  std::int64_t rows = 0, columns = 0, stride = 0;  ///< columns and stride of B and C, in packs of 16 bytes
  const std::int32_t* first = nullptr;             ///< [rows + 1], first group of each row
  const int4* coordinates = nullptr;               ///< [groups, 4]
  const uint2* values = nullptr;                   ///< [groups, 4], four values each
  const uint4* b = nullptr;
  uint4* c = nullptr;
};

/// A warp computes 64 columns of a row: of a group of 16 nonzeros, a lane gathers 16 bytes of the rows of
/// four.
template <class T>
__global__ __launch_bounds__(256, 3) void single_row_kernel(const SingleRowProduct<T> in) {
  const int lane = gpu::lane_id(), pack = lane / 4, quarter = lane % 4;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 8 + static_cast<int>(threadIdx.x) / 32;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * 8 + pack;
  if (row >= in.rows) return;
  const std::int32_t begin = in.first[row], end = in.first[row + 1];
  const bool has_column = column < in.columns;
  const uint4* const b = in.b + column;
  float sums[4][4]{};  // of columns 2 j of the pack in registers 0, and of 2 j + 1 in registers 2
  const auto coordinates = [&](std::int32_t group) {
    return __ldg(in.coordinates + (Kokkos::min(group, end - 1) * std::int64_t{4} + quarter));
  };
  const auto values = [&](std::int32_t group) {
    return __ldg(in.values + (Kokkos::min(group, end - 1) * std::int64_t{4} + quarter));
  };
  const auto gather = [&](const int4& of, uint4(&to)[4]) {
    const std::int32_t from[4] = {of.x, of.y, of.z, of.w};
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (has_column)
        to[k] = __ldg(b + static_cast<std::uint64_t>(static_cast<unsigned>(from[k])) *
                              static_cast<unsigned>(in.stride));
  };
  if (begin < end) {
    uint4 now[4]{}, next[4]{};
    gather(coordinates(begin), now);
    int4 ahead = coordinates(begin + 1);
    uint2 factors = values(begin);
    for (std::int32_t group = begin; group < end; ++group) {
      const int4 after = coordinates(group + 2);
      gather(ahead, next);
      const uint2 next_factors = values(group + 1);
      const auto word = [&](int k, int j) {
        return j == 0 ? now[k].x : j == 1 ? now[k].y : j == 2 ? now[k].z : now[k].w;
      };
#pragma unroll
      for (int j = 0; j < 4; ++j)
        gpu::ptx::mma_m16n8k16<T>(
            sums[j],
            {__byte_perm(word(0, j), word(1, j), 0x5410), __byte_perm(word(0, j), word(1, j), 0x7632),
             __byte_perm(word(2, j), word(3, j), 0x5410), __byte_perm(word(2, j), word(3, j), 0x7632)},
            factors.x, factors.y);
      ahead = after;
      factors = next_factors;
#pragma unroll
      for (int k = 0; k < 4; ++k) now[k] = next[k];
    }
  }
  if (quarter != 0 || !has_column) return;
  gpu::Pack<T, 8> out;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    out.at[2 * j] = static_cast<T>(sums[j][0]);
    out.at[2 * j + 1] = static_cast<T>(sums[j][2]);
  }
  in.c[row * in.stride + column] = std::bit_cast<uint4>(out);
}

/// The product by this kernel, prepared: groups are made on the host.
template <class T>
class SingleRowSpmm {
  static_assert(sizeof(T) == 2);

 public:
  /// @param b, c  of a multiple of 8 columns
  SingleRowSpmm(const DeviceCsr<T>& a, const Matrix<T>& b, const Matrix<T>& c) : b_(b), c_(c) {
    const auto host = a.template copy_to<Host>();
    const auto& level = host.template level<1>();
    std::vector<std::int32_t> first{0}, coordinates;
    std::vector<T> values;
    for (std::int64_t row = 0; row < a.extent(0); ++row) {
      const auto at = static_cast<std::size_t>(row);
      for (auto q = level.positions(at); q < level.positions(at + 1); ++q) {
        coordinates.push_back(level.coordinates(static_cast<std::size_t>(q)));
        values.push_back(host.values()(static_cast<std::size_t>(q)));
      }
      while (coordinates.size() % group != 0) {  // by what is in the cache
        coordinates.push_back(coordinates.back());
        values.push_back(T{});
      }
      first.push_back(static_cast<std::int32_t>(coordinates.size() / group));
    }
    first_ = on_device(first);
    coordinates_ = on_device(coordinates);
    values_ = on_device(values);
    product_ = {a.extent(0),
                b.extent(1) / 8,
                b.extent(1) / 8,
                first_.data(),
                reinterpret_cast<const int4*>(coordinates_.data()),
                reinterpret_cast<const uint2*>(values_.data()),
                reinterpret_cast<const uint4*>(b_.values().data()),
                reinterpret_cast<uint4*>(c_.values().data())};
  }
  void operator()() const {
    gpu::launch(Kokkos::Cuda(), "a row of A for each instruction", &single_row_kernel<T>,
                gpu::Grid(gpu::ceil_div(product_.rows, 8), gpu::ceil_div(product_.columns, 8)), 256, 0,
                product_);
  }

 private:
  static constexpr int group = 16;

  template <class V>
  static Array<V, gpu::Memory> on_device(const std::vector<V>& from) {
    Array<V, gpu::Memory> out("groups of nonzeros", std::max<std::size_t>(1, from.size()));
    check(cudaMemcpy(out.data(), from.data(), from.size() * sizeof(V), cudaMemcpyHostToDevice), "groups");
    return out;
  }

  Matrix<T> b_, c_;
  Array<std::int32_t, gpu::Memory> first_, coordinates_;
  Array<T, gpu::Memory> values_;
  SingleRowProduct<T> product_;
};

}  // namespace sporos::perf
