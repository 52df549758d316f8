// SPDX-License-Identifier: Apache-2.0
/// @file split_tiles_candidate.hpp
/// The product of a sparse matrix of floats and a dense one on tensor cores, as a candidate for statements.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/once_per_device.hpp"
#include "../../cuda/sm_90a.hpp"
#include "../../protocol/candidate.hpp"
#include "../pattern.hpp"
#include "packed_plan.hpp"
#include "split_tiles.hpp"
#include "value_types.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), with A in CSR or CSC, B and C dense, all floats, or an epilogue of such a
/// product (kernels/epilogue/epilogue.hpp), on tensor cores, by split_tiles.hpp: floats are split into two
/// numbers of tf32. It pays off if a tenth of A or more is stored, or if its nonzeros are close together.
///
/// A product of two elements loses at most three parts in 2^20. Elements below 2^-100 may lose more, because
/// their low parts are too small for tf32.
///
/// A is packed when a plan is made; each run packs its values again, unless the statement says
/// `.with_constant_operands()`. The packed A takes up to 128 bytes per nonzero; if it would take more, or if
/// memory is bounded, plans prefer other kernels.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SpmmBySplitTiles {
  struct Operands : GpuMatrixOperands {
    template <class A>
    static constexpr bool is_csr =
        GpuMatrixOperands::is_csr<A> && std::is_same_v<typename A::value_type, float>;
  };
  using Pattern = SpmmOfSumsPattern<Operands>;
  static constexpr std::string_view name = "SpMM by tiles of split floats on tensor cores";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, C row-major, of floats, in the memory of "
      "a "
      "GPU of compute capability 9.0";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches =
      is_product_of_types<Pattern, S>([]<class T, class Out, class Compute>(ProductTypes<T, Out, Compute>) {
        return std::is_same_v<T, float> && std::is_same_v<Out, float>;
      });

  /// For a plan that is kept, the tiles with nonzeros are counted.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
    return cost_of_packed_spmm<SpmmBySplitTiles>(statement, resources, use);
  }

  template <class S>
  class Plan;
};

/// How a product is cut into tiles.
struct SplitTilesChoice {
  int rows = SplitTiles::fewest_rows;  ///< per tile
  int groups = 1;                      ///< of 64 columns each
  int blocks = 1;                      ///< blocks that share a tile of the result
  double seconds = std::numeric_limits<double>::infinity();

  /// Calls visit(std::type_identity<SplitTilesConfig<rows, groups>>).
  template <class Visit>
  void visit_config(const Visit& visit) const {
    const auto with_groups = [&]<int Rows>(std::integral_constant<int, Rows>) {
      if (groups == 1) return visit(std::type_identity<SplitTilesConfig<Rows, 1>>{});
      if (groups == 2) return visit(std::type_identity<SplitTilesConfig<Rows, 2>>{});
      visit(std::type_identity<SplitTilesConfig<Rows, 4>>{});
    };
    if (rows == SplitTiles::fewest_rows)
      with_groups(std::integral_constant<int, SplitTiles::fewest_rows>{});
    else
      with_groups(std::integral_constant<int, SplitTiles::most_rows>{});
  }
};

/// How long the parts of such a product take, in seconds, fitted on an H200 within 10 %.
struct SplitTilesTimes {
  double alone;     ///< a stage of a block that has a multiprocessor to itself
  double busy;      ///< what each block adds to every stage if several run together
  double round;     ///< a round of blocks: their first stage, and storing
  double exchange;  ///< adding the sums of another block

  static constexpr double launch = 1.87e-6;
  static constexpr double memory_bytes = 4.132e12;  ///< per second
  static constexpr double cached = 4e7;             ///< bytes of A that stay in the L2 cache

  static constexpr SplitTilesTimes of(int rows, int groups) {
    constexpr SplitTilesTimes times[2][3] = {{{4.682e-7, 2.855e-7, 2.035e-6, 1.879e-7},
                                              {5.753e-7, 4.144e-7, 2.523e-6, 2.077e-7},
                                              {8.271e-7, 5.992e-7, 2.880e-6, 1.447e-7}},
                                             {{5.006e-7, 4.279e-7, 3.552e-6, 5.741e-8},
                                              {6.361e-7, 5.809e-7, 4.487e-6, 1.291e-7},
                                              {1.046e-6, 8.179e-7, 4.885e-6, 1.034e-7}}};
    return times[rows == SplitTiles::most_rows ? 1 : 0][groups / 2];
  }

  /// @param kept      number of tiles of A
  /// @param most      the most tiles in a row of tiles
  /// @param clusters  number of clusters that run at the same time
  static double seconds(const SplitTilesChoice& in, std::int64_t m, std::int64_t n, std::int64_t kept,
                        std::int64_t most, int multiprocessors, int clusters) {
    // The longer of two times that overlap, or a little more if they are about equal.
    const auto both = [](double x, double y) {
      x *= x;
      y *= y;
      return std::sqrt(std::sqrt(x * x + y * y));
    };
    const SplitTilesTimes times = of(in.rows, in.groups);
    const auto tiles = static_cast<double>(ceil_div(m, in.rows) * ceil_div(n, 64 * in.groups));
    const double rounds = std::max(1.0, std::ceil(tiles / clusters)),
                 at_once = tiles * in.blocks / (rounds * multiprocessors);
    const double stages = rounds * static_cast<double>(ceil_div(most, in.blocks));
    const double sparse = static_cast<double>(kept) * SplitTiles::bytes_of(in.rows);
    return launch + rounds * (times.round + times.exchange * (in.blocks - 1)) +
           both(stages * both(times.alone, at_once * times.busy),
                sparse > cached ? sparse / memory_bytes : 0);
  }
};

template <class S>
class SpmmBySplitTiles::Plan
    : public PackedPlanOfSpmm<SpmmBySplitTiles::Plan<S>, SpmmBySplitTiles::Pattern, S> {
  using Base = PackedPlanOfSpmm<Plan, SpmmBySplitTiles::Pattern, S>;
  friend Base;
  using Base::a, Base::result, Base::space, Base::m, Base::n, Base::inner, Base::turn_b;
  using Base::is_constant, Base::is_packed, Base::packed, Base::statement_, Base::rows_;
  using Base::most_bytes_of_nonzero;
  using typename Base::Rows, typename Base::AlignedRows;
  using Sum = float;
  using Epilogue = decltype(epilogue_of(std::declval<const S&>()));
  using Product = SplitTilesProduct<Epilogue, typename Rows::View>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources) : Base(statement, resources) {}

  /// Whether this device and the compiled code have the instructions.
  static bool are_there(const Kokkos::Cuda& space) {
    const bool are_compiled = once_per_device(space, [] {
      return has_wgmma(&detail::spmm_split_tiles_kernel<SplitTilesConfig<SplitTiles::most_rows, 4>, Product>);
    });
    return runs_sm_90a(space.cuda_device_prop().major, are_compiled);
  }
  /// Why the kernel cannot take these operands; empty if it can.
  std::string_view why_not() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 16;
    if (std::max({m(), n(), inner()}) > most) return "the copy engine counts rows and columns in 32 bits";
    const SplitTiles tiles = SplitTiles::of(SplitTiles::fewest_rows, m(), inner());
    if (tiles.column_tiles > most_split_column_tiles || tiles.tiles() > most || a().nnz() > most)
      return "the sparse operand has too many columns or nonzeros";
    if (!tiles.are_worth_their_numbers(a().nnz())) return "the sparse operand has too few nonzeros";
    return {};
  }
  /// The seconds that a product is expected to take. If packing A would take too much memory, a whole second
  /// is added, so that another kernel is preferred.
  double seconds(Use) const {
    constexpr double too_much_memory = 1;
    const SplitTilesChoice choice = best_tiles();
    const bool is_worth_it =
        most_kept(choice.rows) * SplitTiles::bytes_of(choice.rows) <= most_bytes_of_nonzero * a().nnz();
    return choice.seconds + (is_worth_it && !this->memory_is_bounded() ? 0 : too_much_memory);
  }
  /// The seconds that packing the sparse operand is expected to take.
  double seconds_of_packing() const { return 3e-5 + 2e-10 * static_cast<double>(a().nnz()); }

  void explain(std::ostream& out) const {
    const SplitTilesChoice choice = tiles_of_plan();
    out << "  result: located, tiles of " << choice.rows << " x " << choice.groups * 64
        << " by matrix instructions";
    if (choice.blocks > 1) out << ", " << choice.blocks << " thread blocks each";
    if (!Product::epilogue_is_identity) out << ", the epilogue applied as they are stored";
    out << "\n  operands: floats are sums of two of tf32, three of whose products are added; the sparse one "
           "is packed as tiles of "
        << choice.rows << " x " << SplitTiles::columns << " with their zeros"
        << (is_constant ? " once\n" : ", its values again in each run\n");
    this->explain_sparse(out);
    if (turn_b) out << "  operands: the dense one is transposed first\n";
  }

 private:
  struct Room {
    SplitTiles tiles;
    std::int32_t* are_kept = nullptr;
    char* scratch = nullptr;
    std::int64_t scratch_bytes = 0, bytes = 0;
  };

  static constexpr Counted counted{.split_tiles = true};
  /// If memory is bounded, nothing is counted: the choice for which it was estimated stays.
  bool is_counted() const { return !this->memory_is_bounded(); }
  void take(const PatternCounts& counts) { counts_ = counts.split_tiles; }
  std::int64_t packed_bytes() const { return lay_out(nullptr).bytes; }
  Room lay_out(char* memory) const {
    Layout layout(memory);
    const int rows = tiles_of_plan().rows;
    Room out{SplitTiles::of(rows, m(), inner())};
    const std::int64_t tiles = out.tiles.tiles(), kept = most_kept(rows);
    out.tiles.values = layout.template take<char>(kept * SplitTiles::bytes_of(rows));
    out.tiles.first = layout.template take<std::int32_t>(tiles + 1);
    out.tiles.at_column = layout.template take<std::int32_t>(kept);
    out.are_kept = layout.template take<std::int32_t>(tiles);
    out.scratch_bytes = sizes_to_positions_bytes<std::int32_t, std::int32_t>(space(), tiles);
    out.scratch = layout.template take<char>(out.scratch_bytes);
    out.bytes = layout.bytes();
    return out;
  }

  /// The most tiles of this height that are kept, in total and in a row of tiles.
  std::int64_t most_kept(int rows) const {
    return this->is_measured() ? counts_.kept[SplitTileCounts::of(rows)]
                               : std::min(SplitTiles::of(rows, m(), inner()).tiles(), a().nnz());
  }
  std::int64_t most_of_row(int rows) const {
    return this->is_measured() ? counts_.most_of_row[SplitTileCounts::of(rows)]
                               : SplitTiles::of(rows, m(), inner()).column_tiles;
  }

  template <class Matrix>
  void pack(const Matrix& matrix) {
    choice_ = best_tiles();
    const Room room = lay_out(packed());
    pack_split_tiles(space(), matrix, room.tiles, most_kept(choice_.rows), room.are_kept, room.scratch,
                     room.scratch_bytes);
  }
  template <class Matrix>
  void fill(const Matrix& matrix) {
    fill_split_tiles(space(), matrix, lay_out(packed()).tiles);
  }

  /// The most blocks that share a tile: a power of two, as all smaller numbers of them.
  static constexpr int most_blocks = 8;

  /// How many clusters run at the same time, if a product is cut into tiles in this way.
  static int clusters_of(const Kokkos::Cuda& space, const SplitTilesChoice& choice) {
    int clusters = 0;
    choice.visit_config([&]<class Config>(std::type_identity<Config>) {
      const auto known = once_per_device(space, [&] {
        std::array<int, std::size_t{most_blocks} + 1> out{};  // by their number of blocks
        for (int blocks = 1; blocks <= most_blocks; blocks *= 2)
          out[static_cast<std::size_t>(blocks)] =
              clusters_at_a_time(space, &detail::spmm_split_tiles_kernel<Config, Product>, blocks,
                                 Config::threads, Config::shared_bytes);
        return out;
      });
      clusters = known[static_cast<std::size_t>(choice.blocks)];
    });
    return clusters;
  }

  /// The tiles with which a product is expected to be fastest.
  SplitTilesChoice best_tiles() const {
    SplitTilesChoice best;
    for (const int rows : {SplitTiles::fewest_rows, SplitTiles::most_rows})
      for (const int groups : {1, 2, 4})
        for (int blocks = 1; blocks <= most_blocks; blocks *= 2) {
          if ((groups > 1 && n() <= 32 * groups) || (blocks > 1 && most_of_row(rows) < 2 * blocks)) continue;
          SplitTilesChoice choice{rows, groups, blocks};
          const int clusters = clusters_of(space(), choice);
          if (clusters == 0) continue;
          choice.seconds = SplitTilesTimes::seconds(choice, m(), n(), most_kept(rows), most_of_row(rows),
                                                    space().cuda_device_prop().multiProcessorCount, clusters);
          if (choice.seconds < best.seconds) best = choice;
        }
    return best;
  }
  /// The same, except that tiles have the height with which A has been packed.
  SplitTilesChoice tiles_of_plan() const { return is_packed() ? choice_ : best_tiles(); }

  void multiply(float* c, const AlignedRows& dense) const {
    const Product product{{m(), n(), inner(), c, statement_.accumulates(), epilogue_of(statement_)},
                          lay_out(packed()).tiles,
                          rows_.view(a()),
                          dense.values,
                          dense.stride,
                          n() % 4 == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0};
    const CUtensorMap map =
        swizzled_tensor_map(dense.values, inner(), n(), dense.stride, SplitTiles::columns);
    choice_.visit_config([&]<class Config>(std::type_identity<Config>) {
      spmm_split_tiles<Config>(space(), product, map, choice_.blocks);
    });
  }

  SplitTileCounts counts_{};
  SplitTilesChoice choice_;
};

}  // namespace sporos::gpu
