// SPDX-License-Identifier: Apache-2.0
/// @file spgemm.hpp
/// C = A B on the GPU, all in CSR, row by row (Gustavson), in two passes: first the sizes of C's rows, then
/// their columns and values. The memory needed besides A, B and C is a few numbers per row.
///
/// Rows are sorted into bins. Those of few products are sorted in registers (few_products.hpp). The others'
/// bins go by the number of products in the first pass, and by the number of columns in the second; each has
/// a kernel whose team of threads and hash table in shared memory fit its rows. Rows that fit none, and the
/// larger of the others where B has few columns, have a bitmap of their columns in shared memory
/// (bitmap_rows.hpp), or else in device memory (heavy_rows.hpp). The bins follow Nagasaka, Nukada, Matsuoka,
/// *High-performance and Memory-saving Sparse General Matrix-Matrix Multiplication for NVIDIA Pascal GPU*
/// (ICPP 2017), section III.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "../../cuda/csr.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/scan.hpp"
#include "bitmap_rows.hpp"
#include "count_products.hpp"
#include "count_rows.hpp"
#include "few_products.hpp"
#include "fill_rows.hpp"
#include "heavy_rows.hpp"
#include "row_bins.hpp"
#include "row_config.hpp"

namespace sporos::gpu {

/// The kernels' shapes, for small rows first.
struct SpgemmConfig {
  using Few = std::tuple<FewProducts<4, 16>, FewProducts<4, 32>, FewProducts<8, 64>, FewProducts<16, 128>,
                         FewProducts<32, 256>>;
  using Count = std::tuple<RowConfig<32, 8, 512>, RowConfig<128, 1, 1024>, RowConfig<128, 1, 2048>,
                           RowConfig<256, 1, 4096>, RowConfig<512, 1, 16384>>;
  using Fill = std::tuple<RowConfig<32, 8, 256>, RowConfig<32, 4, 512>, RowConfig<128, 1, 1024>,
                          RowConfig<256, 1, 4096>, RowConfig<512, 1, 8192>>;
  static constexpr int few = std::tuple_size_v<Few>;
  static constexpr int hashed = std::tuple_size_v<Count>;
  using Limits = RowLimits<few, hashed>;
  using Counts = BinCounts<Limits::count>;
  using Bitmap = BitmapConfig<256, 5>;        ///< of rows for whose table a block is large enough
  using LargeBitmap = BitmapConfig<1024, 2>;  ///< of larger ones
  static_assert(std::tuple_size_v<Fill> == hashed, "each bin of a table has a kernel in either pass");

  /// For the first pass, which knows the rows' products alone.
  static constexpr Limits by_products() {
    return with_shapes<Count>([](auto... small) {
      return
          [](auto... many) { return Limits{{decltype(small)::most...}, {decltype(many)::most_counted...}}; };
    });
  }
  /// For the second, which knows their columns as well.
  static constexpr Limits by_columns(std::int64_t columns) {
    return with_shapes<Fill>([=](auto... small) {
      return [=](auto... many) { return Limits{{small.most_in(columns)...}, {decltype(many)::most...}}; };
    });
  }

 private:
  template <class Hashed, class Make>
  static constexpr Limits with_shapes(const Make& make) {
    return std::apply(std::apply(make, Few{}), Hashed{});
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
    count_products(space_, a_, b_, products_, &head_->products, members_, &head_->long_rows);
    sort_into_bins(space_, a_.rows, products_, products_, Config::by_products(), &head_->by_products,
                   members_);
    found_ = read_back(space_, head_);

    const auto limits = Config::by_products();
    const auto rows = [&](std::size_t bin) { return rows_of(found_.by_products, static_cast<int>(bin)); };
    for_each_shape<typename Config::Few>(
        [&]<class Shape>(std::size_t bin) { count_few_products<Shape>(space_, rows(bin), sizes_); });
    for_each_shape<typename Config::Count>([&]<class Shape>(std::size_t bin) {
      if (Config::Bitmap::suits(b_.columns, limits.least(bin)))
        count_bitmap_rows<typename Config::Bitmap>(space_, rows(Config::few + bin), sizes_);
      else
        count_rows<Shape>(space_, rows(Config::few + bin), sizes_);
    });
    if (counts_large_by_bitmap())
      count_bitmap_rows<typename Config::LargeBitmap>(space_, rows(Config::Limits::large), sizes_);
    else
      count_heavy_rows(space_, rows(Config::Limits::large), heavy_memory(rows(Config::Limits::large).count),
                       sizes_);
    const auto giant = rows(Config::Limits::giant);
    count_heavy_rows(space_, giant, heavy_memory(giant.count), sizes_);

    sizes_to_positions(space_, a_.rows, sizes_, positions, &head_->nonzeros, scratch_, scratch_bytes_);
    sort_into_bins(space_, a_.rows, products_, sizes_, Config::by_columns(b_.columns), &head_->by_columns,
                   members_);
    found_ = read_back(space_, head_);
    narrow<Position>(found_.nonzeros, "the number of nonzeros of a product");
    return found_.nonzeros;
  }

  /// Writes C's columns and values; its positions must be those from count().
  void fill(const MatrixC& c) const {
    const auto limits = Config::by_columns(c.columns);
    const auto rows = [&](std::size_t bin) { return rows_of(found_.by_columns, static_cast<int>(bin)); };
    for_each_shape<typename Config::Few>(
        [&]<class Shape>(std::size_t bin) { fill_few_products<Shape, Compute>(space_, rows(bin), c); });
    for_each_shape<typename Config::Fill>([&]<class Shape>(std::size_t bin) {
      if (Config::Bitmap::suits_sums<Compute>(c.columns, limits.least(bin), limits.sizes[bin]))
        fill_bitmap_rows<typename Config::Bitmap, Compute>(space_, rows(Config::few + bin), limits.sizes[bin],
                                                           c);
      else
        fill_rows<Shape, Compute>(space_, rows(Config::few + bin), c);
    });
    const auto large = rows(Config::Limits::large);
    if (fills_large_by_bitmap())
      fill_bitmap_rows<typename Config::LargeBitmap, Compute>(space_, large, c.columns, c);
    else
      fill_heavy_rows<Compute>(space_, large, heavy_memory(large.count), c);
    const auto giant = rows(Config::Limits::giant);
    fill_heavy_rows<Compute>(space_, giant, heavy_memory(giant.count), c);
  }

  /// The most bytes that the workspace takes, once rows have been counted.
  std::int64_t most_workspace_bytes() const {
    Layout heavy;
    std::int64_t rows = std::max(rows_of(found_.by_products, Config::Limits::giant).count,
                                 rows_of(found_.by_columns, Config::Limits::giant).count);
    if (!counts_large_by_bitmap())
      rows = std::max(rows, rows_of(found_.by_products, Config::Limits::large).count);
    if (!fills_large_by_bitmap())
      rows = std::max(rows, rows_of(found_.by_columns, Config::Limits::large).count);
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
    std::int64_t long_rows;
    std::int64_t nonzeros;
    typename Config::Counts by_products;
    typename Config::Counts by_columns;
  };

  /// Whether rows that are too large for tables are counted, and summed, by bitmaps in shared memory.
  bool counts_large_by_bitmap() const {
    return Config::LargeBitmap::suits(b_.columns, Config::by_products().least(Config::hashed));
  }
  bool fills_large_by_bitmap() const {
    return Config::LargeBitmap::template suits_sums<Compute>(
        b_.columns, Config::by_columns(b_.columns).least(Config::hashed), b_.columns);
  }

  /// Calls work.template operator()<Shape>(its index) for each shape of a tuple.
  template <class Shapes, class Work>
  static void for_each_shape(const Work& work) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (work.template operator()<std::tuple_element_t<K, Shapes>>(K), ...);
    }(std::make_index_sequence<std::tuple_size_v<Shapes>>{});
  }

  Rows rows_of(const typename Config::Counts& bins, int bin) const {
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
