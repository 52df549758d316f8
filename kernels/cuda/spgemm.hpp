// SPDX-License-Identifier: Apache-2.0
/// @file spgemm.hpp
/// C = A B on the GPU, all in CSR, row by row (Gustavson), in two passes: the sizes of C's rows, then their
/// columns and values. Memory beside A, B and C is a few numbers a row.
///
/// Rows are sorted into bins by their products, for the first pass, and by their columns, for the second. Each
/// bin has a kernel whose team of threads and hash table in shared memory fit its rows; rows that fit none go
/// through bitmaps in device memory (spgemm_heavy.hpp). Bins after Nagasaka, Nukada, Matsuoka,
/// *High-performance and Memory-saving Sparse General Matrix-Matrix Multiplication for NVIDIA Pascal GPU* (ICPP
/// 2017), section III.
#pragma once

#include <cstdint>

#include "csr.hpp"
#include "launch.hpp"
#include "row_bins.hpp"
#include "scan.hpp"
#include "spgemm_heavy.hpp"
#include "spgemm_rows.hpp"

namespace sporos::cuda {

/// The kernels' shapes, small rows first.
struct SpgemmConfig {
  using Count0 = RowConfig<8, 32, 64>;
  using Count1 = RowConfig<32, 8, 512>;
  using Count2 = RowConfig<128, 1, 2048>;
  using Count3 = RowConfig<512, 1, 16384>;
  using Fill0 = RowConfig<8, 32, 64>;
  using Fill1 = RowConfig<32, 8, 512>;
  using Fill2 = RowConfig<128, 1, 2048>;
  using Fill3 = RowConfig<512, 1, 8192>;
  static constexpr int bins = 5;

  static constexpr BinLimits<bins> by_products() {
    return {{Count0::most_counted, Count1::most_counted, Count2::most_counted, Count3::most_counted}};
  }
  static constexpr BinLimits<bins> by_columns() {
    return {{Fill0::most, Fill1::most, Fill2::most, Fill3::most}};
  }
};

/// The memory of a product: a few numbers a row, and bitmaps of heavy rows.
struct SpgemmWorkspace {
  Workspace rows;
  Workspace heavy;

  std::int64_t size() const { return rows.size() + heavy.size(); }
  void release() {
    rows.release();
    heavy.release();
  }
};

namespace detail {

/// products[row] = how many products of A's row with rows of B there are, at most the largest 32-bit number;
/// total += their sum.
template <class MatrixA, class MatrixB>
__global__ __launch_bounds__(256) void count_products_kernel(const __grid_constant__ MatrixA a,
                                                             const __grid_constant__ MatrixB b, int lanes,
                                                             std::int32_t* products, std::int64_t* total) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t row = thread / lanes;
  std::int64_t sum = 0;
  if (row < a.rows) {
    const auto end = static_cast<std::int64_t>(a.positions[row + 1]);
    for (std::int64_t at = static_cast<std::int64_t>(a.positions[row]) + thread % lanes; at < end; at += lanes) {
      const auto k = static_cast<std::int64_t>(a.coordinates[at]);
      sum += static_cast<std::int64_t>(b.positions[k + 1]) - static_cast<std::int64_t>(b.positions[k]);
    }
  }
  sum = group_sum(sum, lanes);
  if (row < a.rows && thread % lanes == 0)
    products[row] = static_cast<std::int32_t>(sum < INT32_MAX ? sum : INT32_MAX);
  // Each lane of a group holds the group's sum: one of them counts.
  const std::int64_t of_warp = group_sum(thread % lanes == 0 ? sum : std::int64_t{0}, warp_size);
  if (lane_id() == 0 && of_warp > 0)
    ::atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(of_warp));
}

}  // namespace detail

/// A product in two passes, and what the second needs of the first.
///
///     Spgemm<Compute, A, B, C> product(space, a, b, workspace);
///     c.nonzeros = product.count(c.positions);   // waits for the GPU
///     … memory for c.coordinates, c.values …
///     product.fill(c);                           // as often as values change
template <class Compute, class MatrixA, class MatrixB, class MatrixC>
class Spgemm {
 public:
  using Config = SpgemmConfig;
  using Position = typename MatrixC::position_type;

  /// @throws RangeError where a row number or a column of B does not fit in 32 bits
  Spgemm(const Kokkos::Cuda& space, const MatrixA& a, const MatrixB& b, SpgemmWorkspace& workspace)
      : space_(space), a_(a), b_(b), workspace_(workspace) {
    narrow<std::int32_t>(a.rows, "the number of rows of a product on the GPU");
    narrow<std::int32_t>(b.columns, "the number of columns of a product on the GPU");
    const auto cut = [&](char* memory) {
      Layout layout(memory);
      head_ = layout.take<Head>(1);
      products_ = layout.take<std::int32_t>(a_.rows);
      sizes_ = layout.take<std::int32_t>(a_.rows);
      members_ = layout.take<std::int32_t>(a_.rows);
      return layout.bytes();
    };
    cut(workspace_.rows.reserve(cut(nullptr)));
  }

  /// positions [rows of A + 1] of C; returns the number of C's nonzeros.
  /// @throws RangeError where C's positions cannot hold it
  std::int64_t count(Position* positions) {
    zero(space_, head_, 1);
    zero(space_, sizes_, a_.rows);
    int lanes = 1;
    while (lanes < warp_size && lanes * 2 * a_.rows <= a_.nonzeros) lanes *= 2;
    launch(space_, "sporos::spgemm products", &detail::count_products_kernel<MatrixA, MatrixB>,
           ceil_div(a_.rows * lanes, 256), 256, 0, a_, b_, lanes, products_, &head_->products);
    sort_into_bins(space_, a_.rows, products_, Config::by_products(), &head_->by_products, members_);
    found_ = read_back(space_, head_);

    const auto bin = [&](int at) { return rows_of(found_.by_products, at); };
    count_rows<typename Config::Count0>(space_, bin(0), sizes_);
    count_rows<typename Config::Count1>(space_, bin(1), sizes_);
    count_rows<typename Config::Count2>(space_, bin(2), sizes_);
    count_rows<typename Config::Count3>(space_, bin(3), sizes_);
    const auto heavy = bin(4);
    count_heavy_rows(space_, heavy, heavy_memory(heavy.count), sizes_);

    sizes_to_positions(space_, a_.rows, sizes_, positions, &head_->nonzeros);
    sort_into_bins(space_, a_.rows, sizes_, Config::by_columns(), &head_->by_columns, members_);
    found_ = read_back(space_, head_);
    narrow<Position>(found_.nonzeros, "the number of nonzeros of a product");
    return found_.nonzeros;
  }

  /// C's columns and values; its positions are those of count().
  void fill(const MatrixC& c) const {
    const auto bin = [&](int at) { return rows_of(found_.by_columns, at); };
    fill_rows<typename Config::Fill0, Compute>(space_, bin(0), c);
    fill_rows<typename Config::Fill1, Compute>(space_, bin(1), c);
    fill_rows<typename Config::Fill2, Compute>(space_, bin(2), c);
    fill_rows<typename Config::Fill3, Compute>(space_, bin(3), c);
    const auto heavy = bin(4);
    fill_heavy_rows<Compute>(space_, heavy, heavy_memory(heavy.count), c);
  }

  /// The number of products, as counted.
  std::int64_t products() const { return found_.products; }

 private:
  using Rows = detail::RowArguments<MatrixA, MatrixB>;
  /// What the host reads back.
  struct Head {
    std::int64_t products;
    std::int64_t nonzeros;
    BinCounts<Config::bins> by_products;
    BinCounts<Config::bins> by_columns;
  };

  Rows rows_of(const BinCounts<Config::bins>& bins, int bin) const {
    return {a_, b_, members_ + bins.start(bin), static_cast<std::int64_t>(bins.count[bin]), products_};
  }

  HeavyRows heavy_memory(std::int64_t rows) const {
    Layout size;
    HeavyRows::take(size, b_.columns, rows, found_.products);
    Layout layout(workspace_.heavy.reserve(size.bytes()));
    return HeavyRows::take(layout, b_.columns, rows, found_.products);
  }

  Kokkos::Cuda space_;
  MatrixA a_;
  MatrixB b_;
  SpgemmWorkspace& workspace_;
  Head* head_ = nullptr;               // on the device
  std::int32_t* products_ = nullptr;   // [rows]
  std::int32_t* sizes_ = nullptr;      // [rows]
  std::int32_t* members_ = nullptr;    // [rows], bin by bin
  Head found_{};
};

}  // namespace sporos::cuda
