// SPDX-License-Identifier: Apache-2.0
/// @file spgemm.hpp
/// C = A B on the GPU, all in CSR, row by row (Gustavson), in two passes: first the sizes of C's rows, then
/// their columns and values. The memory needed besides A, B and C is a few numbers per row.
///
/// Rows are sorted into bins by their number of products for the first pass, and by their number of columns
/// for the second. Each bin has a kernel whose team of threads and hash table in shared memory fit its rows;
/// rows that fit none go through bitmaps in device memory (heavy_rows.hpp). The bins follow Nagasaka, Nukada,
/// Matsuoka, *High-performance and Memory-saving Sparse General Matrix-Matrix Multiplication for NVIDIA
/// Pascal GPU* (ICPP 2017), section III.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/scan.hpp"
#include "count_rows.hpp"
#include "fill_rows.hpp"
#include "heavy_rows.hpp"
#include "row_bins.hpp"
#include "row_config.hpp"

namespace sporos::gpu {

/// The kernels' shapes, for small rows first.
struct SpgemmConfig {
  using Count = std::tuple<RowConfig<8, 32, 32>, RowConfig<8, 32, 64>, RowConfig<8, 32, 128>,
                           RowConfig<32, 8, 512>, RowConfig<128, 1, 1024>, RowConfig<128, 1, 2048>,
                           RowConfig<256, 1, 4096>, RowConfig<512, 1, 16384>>;
  using Fill = std::tuple<RowConfig<8, 32, 32>, RowConfig<8, 32, 64>, RowConfig<8, 32, 128>,
                          RowConfig<32, 8, 256>, RowConfig<32, 4, 512>, RowConfig<128, 1, 1024>,
                          RowConfig<256, 1, 4096>, RowConfig<512, 1, 8192>>;
  static constexpr int count_threads = 256;   ///< threads of the kernel that counts products
  static constexpr int count_nonzeros = 128;  ///< nonzeros of A per warp of that kernel
  static constexpr int bins = 9;              ///< the last is for heavy rows
  static_assert(std::tuple_size_v<Count> == bins - 1 && std::tuple_size_v<Fill> == bins - 1,
                "each bin but the last has a kernel in either pass");

  static constexpr BinLimits<bins> by_products() {
    return std::apply([](auto... shape) { return BinLimits<bins>{{decltype(shape)::most_counted...}}; },
                      Count{});
  }
  static constexpr BinLimits<bins> by_columns() {
    return std::apply([](auto... shape) { return BinLimits<bins>{{decltype(shape)::most...}}; }, Fill{});
  }
};

/// The memory of a product: a few numbers per row, and bitmaps of heavy rows.
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

/// products[row] += the number of products of A's row with rows of B; total += their sum. The work is shared
/// by nonzeros of A; a warp takes 32 neighbours at a time.
template <class MatrixA, class MatrixB>
__global__ __launch_bounds__(SpgemmConfig::count_threads) void count_products_kernel(
    const __grid_constant__ MatrixA a, const __grid_constant__ MatrixB b, std::int64_t* products,
    std::int64_t* total) {
  using Config = SpgemmConfig;
  const auto add = [](std::int64_t* at, std::int64_t x) {
    ::atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(x));
  };
  using WarpSums = cub::WarpReduce<std::int64_t>;
  using BlockSum = cub::BlockReduce<std::int64_t, Config::count_threads>;
  __shared__ typename WarpSums::TempStorage warp_scratch[Config::count_threads / warp_size];
  __shared__ typename BlockSum::TempStorage block_scratch;
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * Config::count_threads + threadIdx.x) / warp_size;
  const std::int64_t begin = warp * Config::count_nonzeros;
  const std::int64_t end =
      begin + Config::count_nonzeros < a.nonzeros ? begin + Config::count_nonzeros : a.nonzeros;
  ParentFinder row_of(a.positions, a.rows);
  std::int64_t mine = 0;
  for (std::int64_t base = begin; base < end; base += warp_size) {
    const std::int64_t at = base + lane_id();
    const std::int64_t q = at < end ? at : end - 1;
    const auto k = static_cast<std::int64_t>(a.coordinates[q]);
    std::int64_t sum =
        static_cast<std::int64_t>(b.positions[k + 1]) - static_cast<std::int64_t>(b.positions[k]);
    if (at >= end) sum = 0;
    mine += sum;                         // [32 nonzeros]
    const std::int64_t row = row_of(q);  // [32 nonzeros]
    // The first of a row's lanes adds up the numbers of all of them.
    const std::int64_t row_before = __shfl_up_sync(all_lanes, row, 1);
    const bool is_first = lane_id() == 0 || row_before != row;
    const std::int64_t of_row =
        WarpSums(warp_scratch[threadIdx.x / warp_size]).HeadSegmentedSum(sum, is_first);
    if (is_first && of_row > 0) add(products + row, of_row);
  }
  const std::int64_t of_block = BlockSum(block_scratch).Sum(mine);
  if (threadIdx.x == 0 && of_block > 0) add(total, of_block);
}

}  // namespace detail

/// A product in two passes, and what the second pass needs from the first.
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

  /// @throws RangeError if a row number or a column of B does not fit in 32 bits
  Spgemm(const Kokkos::Cuda& space, const MatrixA& a, const MatrixB& b, SpgemmWorkspace& workspace)
      : space_(space), a_(a), b_(b), workspace_(workspace) {
    narrow<std::int32_t>(a.rows, "the number of rows of a product on the GPU");
    narrow<std::int32_t>(b.columns, "the number of columns of a product on the GPU");
    scratch_bytes_ = sizes_to_positions_bytes<std::int32_t, Position>(space, a.rows);
    const auto cut = [&](char* memory) {
      Layout layout(memory);
      head_ = layout.take<Head>(1);
      products_ = layout.take<std::int64_t>(a_.rows);
      sizes_ = layout.take<std::int32_t>(a_.rows);
      counted_ = layout.bytes();
      members_ = layout.take<std::int32_t>(a_.rows);
      scratch_ = layout.take<char>(scratch_bytes_);
      return layout.bytes();
    };
    cut(workspace_.rows.reserve(cut(nullptr)));
  }

  /// Takes new arrays of the operands, whose patterns must be the same.
  void read(const MatrixA& a, const MatrixB& b) {
    a_ = a;
    b_ = b;
  }

  /// Writes C's positions, [rows of A + 1], and returns the number of C's nonzeros.
  /// @throws RangeError if C's positions cannot hold it
  std::int64_t count(Position* positions) {
    zero(space_, reinterpret_cast<char*>(head_), counted_);
    launch(space_, "sporos::spgemm products", &detail::count_products_kernel<MatrixA, MatrixB>,
           ceil_div(ceil_div(a_.nonzeros, Config::count_nonzeros) * warp_size, Config::count_threads),
           Config::count_threads, 0, a_, b_, products_, &head_->products);
    sort_into_bins(space_, a_.rows, products_, Config::by_products(), &head_->by_products, members_);
    found_ = read_back(space_, head_);

    const auto count_bin = [&]<std::size_t... K>(std::index_sequence<K...>) {
      (count_rows<std::tuple_element_t<K, typename Config::Count>>(
           space_, rows_of(found_.by_products, static_cast<int>(K)), sizes_),
       ...);
    };
    count_bin(std::make_index_sequence<Config::bins - 1>{});
    const auto heavy = rows_of(found_.by_products, Config::bins - 1);
    count_heavy_rows(space_, heavy, heavy_memory(heavy.count), sizes_);

    sizes_to_positions(space_, a_.rows, sizes_, positions, &head_->nonzeros, scratch_, scratch_bytes_);
    sort_into_bins(space_, a_.rows, sizes_, Config::by_columns(), &head_->by_columns, members_);
    found_ = read_back(space_, head_);
    narrow<Position>(found_.nonzeros, "the number of nonzeros of a product");
    return found_.nonzeros;
  }

  /// Writes C's columns and values; its positions must be those from count().
  void fill(const MatrixC& c) const {
    const auto fill_bin = [&]<std::size_t... K>(std::index_sequence<K...>) {
      (fill_rows<std::tuple_element_t<K, typename Config::Fill>, Compute>(
           space_, rows_of(found_.by_columns, static_cast<int>(K)), c),
       ...);
    };
    fill_bin(std::make_index_sequence<Config::bins - 1>{});
    const auto heavy = rows_of(found_.by_columns, Config::bins - 1);
    fill_heavy_rows<Compute>(space_, heavy, heavy_memory(heavy.count), c);
  }

  /// The most bytes that the workspace takes, once rows have been counted.
  std::int64_t most_workspace_bytes() const {
    Layout heavy;
    const auto rows = std::max(rows_of(found_.by_products, Config::bins - 1).count,
                               rows_of(found_.by_columns, Config::bins - 1).count);
    HeavyRows::take(heavy, b_.columns, rows, found_.products);
    const std::int64_t bytes = std::max(workspace_.heavy.size(), heavy.bytes() + heavy.bytes() / 8);
    return workspace_.rows.size() + bytes;
  }

  /// The number of products, as counted.
  std::int64_t products() const { return found_.products; }

 private:
  using Rows = detail::RowArguments<MatrixA, MatrixB>;
  /// What the host reads back from the device.
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
  std::int64_t counted_ = 0;          // bytes from the head to the end of the sizes, all zeroed at first
  Head* head_ = nullptr;              // on the device
  std::int64_t* products_ = nullptr;  // [rows]
  std::int32_t* sizes_ = nullptr;     // [rows]
  std::int32_t* members_ = nullptr;   // [rows], bin by bin
  char* scratch_ = nullptr;           // for the scan
  std::int64_t scratch_bytes_ = 0;
  Head found_{};
};

}  // namespace sporos::gpu
