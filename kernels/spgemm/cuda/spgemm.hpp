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
  using Few = FewProductsBins<FewProducts<4, 16>, FewProducts<4, 32>, FewProducts<8, 64>,
                              FewProducts<16, 128>, FewProducts<32, 256>>;
  using Count = std::tuple<RowConfig<128, 1, 1024>, RowConfig<128, 1, 2048>, RowConfig<128, 1, 4096>,
                           RowConfig<256, 1, 8192>, RowConfig<512, 1, 16384>>;
  using Fill = std::tuple<RowConfig<32, 8, 256>, RowConfig<32, 4, 512>, RowConfig<128, 1, 1024>,
                          RowConfig<256, 1, 4096>, RowConfig<512, 1, 8192>>;
  static constexpr int few = std::tuple_size_v<Few::Shapes>;
  static constexpr int hashed = std::tuple_size_v<Count>;
  static constexpr std::int64_t most_in_table = std::tuple_element_t<hashed - 1, Fill>::most;  ///< columns
  using Limits = RowLimits<few, hashed>;
  using Counts = BinCounts<Limits::count>;
  using Bitmap = BitmapConfig<256, 5>;        ///< of rows for whose table a block is large enough
  using LargeBitmap = BitmapConfig<1024, 2>;  ///< of larger ones
  static_assert(std::tuple_size_v<Fill> == hashed, "each bin of a table has a kernel in either pass");

  /// For the first pass, which knows the rows' products alone.
  static constexpr Limits by_products() {
    return with_shapes<Count>([](auto... small) {
      return [](auto... many) {
        return Limits{{decltype(small)::most...}, {decltype(many)::most_counted...}, false};
      };
    });
  }
  /// For the second, which knows their columns as well.
  static constexpr Limits by_columns(std::int64_t columns, bool large_for_products) {
    return with_shapes<Fill>([=](auto... small) {
      return [=](auto... many) {
        return Limits{{small.most_in(columns)...}, {decltype(many)::most...}, large_for_products};
      };
    });
  }

 private:
  template <class Hashed, class Make>
  static constexpr Limits with_shapes(const Make& make) {
    return std::apply(std::apply(make, Few::Shapes{}), Hashed{});
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
      sizes_ = layout.take<std::int32_t>(a_.rows);
      counted_ = layout.bytes();
      products_ = layout.take<std::int64_t>(a_.rows);
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

    const auto& bins = found_.by_products;
    typename Config::Few(bins.count).count(space_, rows_of(bins, 0, Config::few), sizes_);
    const int first = first_bin(Config::by_products(),
                                [&](std::int64_t least) { return Config::Bitmap::suits(b_.columns, least); });
    for_each_shape<typename Config::Count>([&]<class Shape>(int bin) {
      if (bin < first) count_rows<Shape>(space_, rows_of(bins, Config::few + bin), sizes_);
    });
    count_bitmap_rows<typename Config::Bitmap>(
        space_, rows_of(bins, Config::few + first, Config::hashed - first), sizes_);
    if (counts_large_by_bitmap())
      count_bitmap_rows<typename Config::LargeBitmap>(space_, rows_of(bins, Config::Limits::large), sizes_);
    const auto heavy = heavy_rows(bins, counts_large_by_bitmap());
    count_heavy_rows(space_, heavy, heavy_memory(heavy.count), sizes_);

    sizes_to_positions(space_, a_.rows, sizes_, positions, &head_->nonzeros, scratch_, scratch_bytes_);
    sort_into_bins(space_, a_.rows, products_, sizes_, limits(), &head_->by_columns, members_);
    found_ = read_back(space_, head_);
    narrow<Position>(found_.nonzeros, "the number of nonzeros of a product");
    return found_.nonzeros;
  }

  /// Writes C's columns and values; its positions must be those from count().
  void fill(const MatrixC& c) const {
    const auto& bins = found_.by_columns;
    typename Config::Few(bins.count).template fill<Compute>(space_, rows_of(bins, 0, Config::few), c);
    const int first = first_bin(limits(), [&](std::int64_t least) {
      return Config::Bitmap::template suits_sums<Compute>(c.columns, least, Config::most_in_table);
    });
    for_each_shape<typename Config::Fill>([&]<class Shape>(int bin) {
      if (bin < first) fill_rows<Shape, Compute>(space_, rows_of(bins, Config::few + bin), c);
    });
    fill_bitmap_rows<typename Config::Bitmap, Compute>(
        space_, rows_of(bins, Config::few + first, Config::hashed - first), Config::most_in_table, c);
    if (fills_large_by_bitmap())
      fill_bitmap_rows<typename Config::LargeBitmap, Compute>(space_, rows_of(bins, Config::Limits::large),
                                                              c.columns, c);
    const auto heavy = heavy_rows(bins, fills_large_by_bitmap());
    fill_heavy_rows<Compute>(space_, heavy, heavy_memory(heavy.count), c);
  }

  /// The most bytes that the workspace takes, once rows have been counted.
  std::int64_t most_workspace_bytes() const {
    Layout heavy;
    const auto rows = std::max(heavy_rows(found_.by_products, counts_large_by_bitmap()).count,
                               heavy_rows(found_.by_columns, fills_large_by_bitmap()).count);
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
    return Config::LargeBitmap::template suits_sums<Compute>(b_.columns, Config::most_in_table, b_.columns);
  }
  /// The first bin of a table for whose rows, by their least size, bitmaps suit better.
  template <class Suits>
  static int first_bin(const typename Config::Limits& limits, const Suits& suits) {
    int bin = 0;
    while (bin < Config::hashed && !suits(limits.least(bin))) ++bin;
    return bin;
  }
  typename Config::Limits limits() const { return Config::by_columns(b_.columns, fills_large_by_bitmap()); }

  /// Calls work.template operator()<Shape>(its index) for each shape of a tuple.
  template <class Shapes, class Work>
  static void for_each_shape(const Work& work) {
    [&]<int... K>(std::integer_sequence<int, K...>) {
      (work.template operator()<std::tuple_element_t<K, Shapes>>(K), ...);
    }(std::make_integer_sequence<int, static_cast<int>(std::tuple_size_v<Shapes>)>{});
  }

  /// The rows of a bin, or of several, one after the other.
  Rows rows_of(const typename Config::Counts& bins, int bin, int number = 1) const {
    return {a_, b_, members_ + bins.start(bin), bins.start(bin + number) - bins.start(bin), products_};
  }

  /// The rows that go through bitmaps in device memory.
  Rows heavy_rows(const typename Config::Counts& bins, bool large_by_bitmap) const {
    const int first = large_by_bitmap ? Config::Limits::giant : Config::Limits::large;
    return rows_of(bins, first, Config::Limits::count - first);
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
