// SPDX-License-Identifier: Apache-2.0
/// @file few_products.hpp
/// Rows of C = A B that have few products, by a few lanes each. A lane takes several products, finds the row
/// of B of each by the bits that mark where rows begin, and has all loads on their way at once.
///
/// The columns of all products are sorted in registers, and equal ones are neighbours then. The second pass
/// sorts each column with the number of its product, both in 32 bits. Nothing is added atomically, and sums
/// are made in the order of A's nonzeros, so that they are the same bits in every run:
///
///     columns of the products   7 2 9 2          numbers 0 1 2 3
///     sorted                    2,1 2,3 7,0 9,2
///     columns of the row        2 7 9            begin at 0 2 3
///
/// To expand, sort and compress products: Dalton, Olson, Bell, *Optimizing Sparse Matrix-Matrix
/// Multiplication for the GPU* (ACM TOMS 2015); with a bitonic sort for a bin of short rows: Liu, Vinter, *A
/// Framework for General Sparse Matrix-Matrix Multiplication on GPUs and Heterogeneous Processors* (JPDC
/// 2015).
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"
#include "column_table.hpp"
#include "row_config.hpp"
#include "sort_columns.hpp"

namespace sporos::gpu {

inline constexpr int few_products_threads = 256;  ///< per block
inline constexpr int few_products_blocks = 5;     ///< that a multiprocessor should hold while it fills rows

/// `Lanes` lanes of a warp for each row, of at most `Products` products.
template <int Lanes, int Products>
struct FewProducts {
  static constexpr int lanes = Lanes;
  static constexpr int threads = few_products_threads;
  static constexpr int rows = threads / Lanes;     ///< per block
  static constexpr int most = Products;            ///< products of a row
  static constexpr int each = Products / Lanes;    ///< products that a lane sorts
  static constexpr int stride = Products + Lanes;  ///< between rows in shared memory, whose banks then differ
  static constexpr bool in_warp = true;
  static constexpr int number_bits = __builtin_ctz(Products);

  static_assert(Lanes >= 4 && Lanes <= warp_size && (Lanes & (Lanes - 1)) == 0,
                "a warp divides into teams of 2^n lanes");
  static_assert((Products & (Products - 1)) == 0 && Products <= 256, "a product's number fits in a byte");
  static_assert(each % 4 == 0, "sorted columns are stored four at a time");

  /// The most products of a row of a matrix with `columns` columns: none where a column and a product's
  /// number do not fit in 32 bits.
  static constexpr std::int32_t most_in(std::int64_t columns) {
    constexpr std::int64_t keys = std::int64_t{1} << (32 - number_bits);
    return columns < keys ? most : 0;  // so that no_column comes after all others
  }
};

namespace detail {

/// Where the products of a row are, in the shared memory of the row's lanes: a bit for each product that is
/// the first with a row of B. Products are numbered in the order of A's and B's nonzeros.
template <class Config, class A, class PositionB>
struct NumberedProducts {
  static constexpr int words = (Config::most + 31) / 32;
  std::uint32_t* firsts;  ///< [words], all 0 at first
  PositionB* offsets;     ///< [rows of B], from a product's number to its position in B
  A* factors;             ///< [rows of B], not null where values are read

  /// Finds the products of a row. All lanes of the warp call it, and may have rows of different sizes.
  template <class MatrixA, class MatrixB>
  __device__ __forceinline__ void find(const MatrixA& a, const MatrixB& b,
                                       const RowTeam<Config>& team) const {
    using PositionA = std::remove_const_t<typename MatrixA::position_type>;
    PositionA base{};
    PositionA end{};
    if (team.there) {
      base = a.positions[team.row];
      end = a.positions[team.row + 1];
    }
    const int first_lane = lane_id() - team.lane;
    int before = 0;  // products of the rows of B that have been visited
    int row = 0;     // number of these rows, without empty ones
    while (__any_sync(all_lanes, base < end)) {
      const PositionA at = base + static_cast<PositionA>(team.lane);
      PositionB first{};  // [lanes rows of B]
      int size = 0;       // [lanes rows of B]
      if (at < end) {
        const auto k = static_cast<std::int64_t>(a.coordinates[at]);
        first = b.positions[k];
        size = static_cast<int>(b.positions[k + 1] - first);
      }
      const int upto = inclusive_sum<Config::lanes>(size, team.lane);
      const unsigned filled =
          __ballot_sync(all_lanes, size > 0) >> first_lane & (~0u >> (warp_size - Config::lanes));
      if (size > 0) {
        const int start = before + upto - size;
        const int mine = row + __popc(filled & ((1u << team.lane) - 1));
        ::atomicOr(firsts + start / 32, 1u << start % 32);
        offsets[mine] = first - static_cast<PositionB>(start);
        if (factors) factors[mine] = a.values[at];
      }
      before += shuffle(upto, Config::lanes - 1, Config::lanes);
      row += __popc(filled);
      base += static_cast<PositionA>(Config::lanes);
    }
  }

  /// Calls visit(k, number, position in B, row of B) for the k-th product of a lane; lanes take neighbours.
  template <class Visit>
  __device__ __forceinline__ void for_each(const RowTeam<Config>& team, int products,
                                           const Visit& visit) const {
    std::uint32_t starts = firsts[0];
    int before = -1;
#pragma unroll
    for (int k = 0; k < Config::each; ++k) {
      const int base = k * Config::lanes;
      if (k > 0 && base % 32 == 0) {
        before += __popc(starts);
        starts = firsts[base / 32];
      }
      const int number = base + team.lane;
      if (number >= products) continue;
      const int row = before + __popc(starts & (0xffffffffu >> (31 - base % 32 - team.lane)));
      visit(k, number, offsets[row] + static_cast<PositionB>(number), row);
    }
  }
};

/// Sorts the columns of a row's products, those of a lane after those of the lane before, and finds the first
/// product of each column. Bits below `Shift` number products. All lanes of the warp call it.
///
/// @returns the number of columns that begin in this lane
template <class Config, int Shift>
__device__ __forceinline__ int sort_products(const RowTeam<Config>& team,
                                             std::uint32_t (&columns)[Config::each],
                                             bool (&is_first)[Config::each]) {
  sort_in_registers<Config::lanes>(columns);
  const std::uint32_t last = __shfl_up_sync(all_lanes, columns[Config::each - 1], 1u, Config::lanes);
  std::uint32_t before = team.lane > 0 ? last : no_column;
  int count = 0;
#pragma unroll
  for (int k = 0; k < Config::each; ++k) {
    is_first[k] = columns[k] != no_column && columns[k] >> Shift != before >> Shift;
    count += is_first[k] ? 1 : 0;
    before = columns[k];
  }
  return count;
}

/// The bytes of shared memory of one block of count_few_products_kernel, and where its parts begin.
template <class Config, class A, class PositionB>
struct CountFewShared {
  static constexpr std::int64_t offsets = 0;  // wide types first, so that each part is aligned
  static constexpr std::int64_t firsts = offsets + sizeof(PositionB) * Config::rows * Config::stride;
  static constexpr std::int64_t bytes =
      firsts + sizeof(std::uint32_t) * Config::rows * NumberedProducts<Config, A, PositionB>::words;
};

/// sizes[row] = the number of columns of the row of C.
template <class Config, class MatrixA, class MatrixB>
__device__ __forceinline__ void count_few_products(const RowArguments<MatrixA, MatrixB>& in,
                                                   std::int64_t block, char* memory, std::int32_t* sizes) {
  using A = std::remove_const_t<typename MatrixA::value_type>;
  using PositionB = std::remove_const_t<typename MatrixB::position_type>;
  using Products = NumberedProducts<Config, A, PositionB>;
  using Shared = CountFewShared<Config, A, PositionB>;
  const RowTeam<Config> team(in, block);
  const Products of_row{
      reinterpret_cast<std::uint32_t*>(memory + Shared::firsts) + team.slot * Products::words,
      reinterpret_cast<PositionB*>(memory + Shared::offsets) + team.slot * Config::stride, nullptr};
  const int products = team.there ? static_cast<int>(in.products[team.row]) : 0;
  for (int at = team.lane; at < Products::words; at += Config::lanes) of_row.firsts[at] = 0;
  team.sync();
  of_row.find(in.a, in.b, team);
  team.sync();
  std::uint32_t columns[Config::each];
#pragma unroll
  for (int k = 0; k < Config::each; ++k) columns[k] = no_column;
  of_row.for_each(team, products, [&](int k, int, PositionB q, int) {
    columns[k] = static_cast<std::uint32_t>(in.b.coordinates[q]);
  });
  bool is_first[Config::each];
  const int count = group_sum(sort_products<Config, 0>(team, columns, is_first), Config::lanes);
  if (team.there && team.lane == 0) sizes[team.row] = count;
}

/// The bytes of shared memory of one block of fill_few_products_kernel, and where its parts begin. A row's
/// sorted columns are written over what is known of the rows of B, and its products over the values of A.
template <class Config, class Compute, class A, class PositionB>
struct FillFewShared {
  static constexpr std::int64_t widest(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
  static constexpr std::int64_t value_bytes =
      widest(sizeof(Compute), sizeof(A)) * Config::stride;  // of a row
  static constexpr std::int64_t key_bytes =
      widest(sizeof(std::uint32_t), sizeof(PositionB)) * Config::stride;  // of a row
  static constexpr std::int64_t values = 0;  // wide types first, so that each part is aligned
  static constexpr std::int64_t keys = values + value_bytes * Config::rows;
  static constexpr std::int64_t firsts = keys + key_bytes * Config::rows;
  static constexpr std::int64_t begins =
      firsts + sizeof(std::uint32_t) * Config::rows * NumberedProducts<Config, A, PositionB>::words;
  static constexpr std::int64_t bytes = begins + Config::rows * Config::most;
};

/// Writes columns and values of the rows of C, at C's positions.
template <class Config, class Compute, class MatrixA, class MatrixB, class MatrixC>
__device__ __forceinline__ void fill_few_products(const RowArguments<MatrixA, MatrixB>& in,
                                                  std::int64_t block, char* memory, const MatrixC& c) {
  using A = std::remove_const_t<typename MatrixA::value_type>;
  using PositionB = std::remove_const_t<typename MatrixB::position_type>;
  using Products = NumberedProducts<Config, A, PositionB>;
  using Shared = FillFewShared<Config, Compute, A, PositionB>;
  const RowTeam<Config> team(in, block);
  char* const value_memory = memory + Shared::values + Shared::value_bytes * team.slot;
  char* const key_memory = memory + Shared::keys + Shared::key_bytes * team.slot;
  const Products of_row{
      reinterpret_cast<std::uint32_t*>(memory + Shared::firsts) + team.slot * Products::words,
      reinterpret_cast<PositionB*>(key_memory), reinterpret_cast<A*>(value_memory)};
  auto* const values = reinterpret_cast<Compute*>(value_memory);    // [products]
  auto* const keys = reinterpret_cast<std::uint32_t*>(key_memory);  // [products]
  auto* const begins =
      reinterpret_cast<std::uint8_t*>(memory + Shared::begins) + team.slot * Config::most;  // [columns]
  const int products = team.there ? static_cast<int>(in.products[team.row]) : 0;
  for (int at = team.lane; at < Products::words; at += Config::lanes) of_row.firsts[at] = 0;
  team.sync();
  of_row.find(in.a, in.b, team);
  team.sync();
  std::uint32_t sorted[Config::each];  // columns and numbers
  Compute product[Config::each];
#pragma unroll
  for (int k = 0; k < Config::each; ++k) sorted[k] = no_column;
  of_row.for_each(team, products, [&](int k, int number, PositionB q, int row) {
    sorted[k] = static_cast<std::uint32_t>(in.b.coordinates[q]) << Config::number_bits |
                static_cast<unsigned>(number);
    product[k] = times(static_cast<Compute>(of_row.factors[row]), static_cast<Compute>(in.b.values[q]));
  });
  team.sync();  // before what is known of the rows of B is written over
#pragma unroll
  for (int k = 0; k < Config::each; ++k)
    if (k * Config::lanes + team.lane < products) values[k * Config::lanes + team.lane] = product[k];

  bool is_first[Config::each];  // of its column
  const int mine = sort_products<Config, Config::number_bits>(team, sorted, is_first);
  const int upto = inclusive_sum<Config::lanes>(mine, team.lane);
  const int count = shuffle(upto, Config::lanes - 1, Config::lanes);
  int column = upto - mine;
#pragma unroll
  for (int k = 0; k < Config::each; ++k)
    if (is_first[k]) begins[column++] = static_cast<std::uint8_t>(team.lane * Config::each + k);
#pragma unroll
  for (int k = 0; k < Config::each; k += 4)
    *reinterpret_cast<uint4*>(keys + team.lane * Config::each + k) =
        make_uint4(sorted[k], sorted[k + 1], sorted[k + 2], sorted[k + 3]);
  team.sync();

  const std::int64_t out = team.there ? static_cast<std::int64_t>(c.positions[team.row]) : 0;
  for (int at = team.lane; at < count; at += Config::lanes) {
    int from = begins[at];
    const int end = at + 1 < count ? begins[at + 1] : products;
    const std::uint32_t key = keys[from];
    Compute sum = values[key % Config::most];
    for (++from; from < end; ++from) sum = plus(sum, values[keys[from] % Config::most]);
    c.coordinates[out + at] = static_cast<typename MatrixC::coordinate_type>(key >> Config::number_bits);
    c.values[out + at] = static_cast<typename MatrixC::value_type>(sum);
  }
}

/// The rows of several bins, each of which has blocks of its own in one kernel.
template <int Bins>
struct FewBins {
  std::int64_t members[Bins];     ///< where a bin begins in the list of rows
  std::int64_t count[Bins];       ///< number of its rows
  std::int64_t last_block[Bins];  ///< of it and those before it
};

/// Calls work.template operator()<Shape>(arguments of the bin, block of the bin) for the bin of this block.
template <class... Shape, class MatrixA, class MatrixB, class Work>
__device__ __forceinline__ void in_bin_of_block(const RowArguments<MatrixA, MatrixB>& in,
                                                const FewBins<sizeof...(Shape)>& bins, const Work& work) {
  const auto block = static_cast<std::int64_t>(blockIdx.x);
  int bin = 0;
  while (block >= bins.last_block[bin]) ++bin;
  RowArguments<MatrixA, MatrixB> of_bin = in;
  of_bin.members += bins.members[bin];
  of_bin.count = bins.count[bin];
  const std::int64_t first = bin > 0 ? bins.last_block[bin - 1] : 0;
  int shape = 0;
  ((bin == shape++ ? work.template operator()<Shape>(of_bin, block - first) : void()), ...);
}

/// sizes[row] = the number of columns of the rows of all bins.
template <class MatrixA, class MatrixB, class... Shape>
__global__ __launch_bounds__(few_products_threads) void count_few_products_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in,
    const __grid_constant__ FewBins<sizeof...(Shape)> bins, std::int32_t* sizes) {
  extern __shared__ __align__(16) char memory[];
  in_bin_of_block<Shape...>(in, bins, [&]<class Config>(const auto& rows, std::int64_t block) {
    count_few_products<Config>(rows, block, memory, sizes);
  });
}

/// Writes columns and values of the rows of all bins, at C's positions.
template <class Compute, class MatrixA, class MatrixB, class MatrixC, class... Shape>
__global__ __launch_bounds__(few_products_threads, few_products_blocks) void fill_few_products_kernel(
    const __grid_constant__ RowArguments<MatrixA, MatrixB> in,
    const __grid_constant__ FewBins<sizeof...(Shape)> bins, const __grid_constant__ MatrixC c) {
  extern __shared__ __align__(16) char memory[];
  in_bin_of_block<Shape...>(in, bins, [&]<class Config>(const auto& rows, std::int64_t block) {
    fill_few_products<Config, Compute>(rows, block, memory, c);
  });
}

}  // namespace detail

/// The bins of rows with few products, of which bin b's rows have at most Shape::most products, for its
/// Shape.
template <class... Shape>
class FewProductsBins {
 public:
  using Shapes = std::tuple<Shape...>;

  /// @param count  numbers of rows of the bins, which are listed one after the other
  template <class Count>
  explicit FewProductsBins(const Count* count) {
    constexpr int rows[] = {Shape::rows...};
    std::int64_t first = 0;
    for (std::size_t bin = 0; bin < sizeof...(Shape); ++bin) {
      bins_.members[bin] = first;
      bins_.count[bin] = static_cast<std::int64_t>(count[bin]);
      first += bins_.count[bin];
      blocks_ += ceil_div(bins_.count[bin], rows[bin]);
      bins_.last_block[bin] = blocks_;
    }
  }

  /// sizes[row] = the number of columns, for each row.
  ///
  /// @param rows  whose members are those of the first bin and all others after it
  template <class MatrixA, class MatrixB>
  void count(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
             std::int32_t* sizes) const {
    using A = std::remove_const_t<typename MatrixA::value_type>;
    using PositionB = std::remove_const_t<typename MatrixB::position_type>;
    launch(space, "sporos::spgemm count few", &detail::count_few_products_kernel<MatrixA, MatrixB, Shape...>,
           blocks_, few_products_threads, std::max({detail::CountFewShared<Shape, A, PositionB>::bytes...}),
           rows, bins_, sizes);
  }

  /// Writes the rows, none of which may have more than Shape::most_in(C's columns) products.
  template <class Compute, class MatrixA, class MatrixB, class MatrixC>
  void fill(const Kokkos::Cuda& space, const detail::RowArguments<MatrixA, MatrixB>& rows,
            const MatrixC& c) const {
    using A = std::remove_const_t<typename MatrixA::value_type>;
    using PositionB = std::remove_const_t<typename MatrixB::position_type>;
    launch(space, "sporos::spgemm fill few",
           &detail::fill_few_products_kernel<Compute, MatrixA, MatrixB, MatrixC, Shape...>, blocks_,
           few_products_threads, std::max({detail::FillFewShared<Shape, Compute, A, PositionB>::bytes...}),
           rows, bins_, c);
  }

 private:
  detail::FewBins<sizeof...(Shape)> bins_{};
  std::int64_t blocks_ = 0;
};

}  // namespace sporos::gpu
