// SPDX-License-Identifier: Apache-2.0
/// @file dot_products_candidate.hpp
/// The product of a sparse and a dense matrix by matricised dot products, as a candidate for statements that
/// ask for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "../../protocol/candidate.hpp"
#include "../../protocol/compute_type.hpp"
#include "../pattern.hpp"
#include "dot_products.hpp"
#include "rows_plan.hpp"
#include "value_types.hpp"

namespace sporos::gpu {

/// The shapes of the kernel: for short rows and narrow results, which wait for what they gather, small
/// buffers and many warps; for others, more columns at a time. Steps of eight segments, the paper's, are
/// slower than those of four (cuda_spmm_classes_h200.json).
struct DotTunings {
  static constexpr DotTuning for_short_rows{.most_segments = 4, .buffer_bytes = 2048, .blocks = 4},
      for_long_rows{.most_segments = 4, .buffer_bytes = 4096, .blocks = 2};
};

/// What candidates for such products have in common.
/// @tparam Way      the candidate
/// @tparam Tunings  such as DotTunings
template <class Way, class Tunings>
struct SpmmDotProductsCandidate {
  using Pattern = SpmmOfSumsPattern<GpuMatrixOperands>;
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, C row-major, half, bfloat16 or float in "
      "A and B, in the memory of a GPU of compute capability 8.0 or more";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches =
      is_product_of_types<Pattern, S>([]<class T, class Out, class Compute>(ProductTypes<T, Out, Compute>) {
        return (is_narrow_float_v<T> || std::is_same_v<T, float>) && std::is_same_v<Compute, float>;
      });

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
    if (resources.space().cuda_device_prop().major < 8)
      return Declined{"the GPU has no instructions of sm_80"};
    return Cost{Plan<S>(statement, resources).seconds()};
  }

  template <class S>
  using Plan = SpmmRowsPlan<Way, S>;

  // What SpmmRowsPlan asks for.

  template <class B>
  static constexpr int narrowest_panel = widest_pack<B>;

  static std::int64_t columns_of_slot(std::int64_t columns) {
    return ceil_div(columns, detail::most_columns_of_piece) * detail::most_columns_of_piece;
  }

  /// The index of rows: the warps of each.
  struct Index {
    static constexpr bool is_there = true;
    using Counts = RowWarps::Counts;
    RowWarps warps;

    template <class B>
    static Index lay_out(const Kokkos::Cuda& space, Layout& layout, std::int64_t rows, std::int64_t columns,
                         std::int64_t nonzeros) {
      return {RowWarps::lay_out(space, layout, rows, nonzeros,
                                DotDealing::of<B>(columns, tuning<B>(rows, nonzeros, columns)))};
    }
    template <class Position>
    void find(const Kokkos::Cuda& space, const Position* positions, std::int64_t rows,
              std::int64_t cut) const {
      find_row_warps(space, positions, rows, cut, warps);
    }
    template <class Position>
    Counts count(const Kokkos::Cuda& space, const Position* positions, std::int64_t rows) const {
      return count_row_warps(space, positions, rows, warps);
    }
    void set_counts(const Counts& counts) { warps.counts = counts; }
  };

  static constexpr bool deals_rows = false;

  template <class B>
  static bool has_short_rows(std::int64_t rows, std::int64_t nonzeros, std::int64_t columns) {
    return nonzeros <= 16 * rows || columns * static_cast<std::int64_t>(sizeof(B)) <= 64;
  }
  template <class B>
  static const DotTuning& tuning(std::int64_t rows, std::int64_t nonzeros, std::int64_t columns) {
    return has_short_rows<B>(rows, nonzeros, columns) ? Tunings::for_short_rows : Tunings::for_long_rows;
  }

  /// Rows are cut if their warps would gather for longer than others, which is after 8 steps, or earlier if
  /// there are too few to occupy the GPU: then at what each of all warps that run at once would multiply, but
  /// not below two steps, since adding up pieces takes longer.
  template <class A, class B, class Out>
  static RowsShape shape(const A& a, std::int64_t columns, const B* b, const Out* c, int multiprocessors,
                         std::int64_t, bool) {
    constexpr int pack = widest_pack<B>;
    constexpr std::int64_t longest = 512;
    const DotTuning& tuning = SpmmDotProductsCandidate::tuning<B>(a.rows, a.nonzeros, columns);
    const std::int64_t step = std::int64_t{8} * tuning.most_segments;
    RowsShape out;
    out.lanes = 8;
    out.panels = ceil_div(columns, pack);
    const bool has_packs = columns % pack == 0 && is_aligned<Pack<B, pack>>(b) && is_aligned<Pack<Out, 2>>(c);
    out.columns = has_packs ? pack : 1;
    const int tiles = dot_tiles<B>(columns, tuning);
    const std::int64_t warps =
        ceil_div(columns, 8 * tiles) * DotDealing::of<B>(columns, tuning).warps(longest);
    const std::int64_t at_once = std::int64_t{8} * tuning.blocks * multiprocessors;
    const std::int64_t share = ceil_div(a.nonzeros * warps, at_once * step) * step;
    out.longest = out.of_piece = std::clamp(share, 2 * step, longest);
    return out;
  }
  template <class Product>
  static void multiply(const Kokkos::Cuda& space, const Product& in, const Index& index,
                       std::int64_t pieces) {
    using B = std::remove_cvref_t<decltype(*in.b)>;
    if (has_short_rows<B>(in.a.rows, in.a.nonzeros, in.columns))
      spmm_dot_products<Tunings::for_short_rows>(space, in, index.warps, pieces);
    else
      spmm_dot_products<Tunings::for_long_rows>(space, in, index.warps, pieces);
  }
  static void explain(std::ostream& out, const RowsShape&) {
    out << "a row of up to 8, 16, 32 or more nonzeros by up to 1, 2, 4 or 8 warps, an empty one by none";
  }
  static double seconds(const RowsWork& work) {
    return 6e-6 + work.bytes / 5e12 + (work.has_pieces ? 3e-6 : 0);
  }
};

/// C(i, j) = A(i, k) * B(k, j), with A in CSR or CSC, B and C dense, of 16-bit floats or, in tf32, of floats,
/// on tensor cores, by dot_products.hpp. This is TCA-SpMM, kept for comparison: a statement runs it if it
/// says `.use<gpu::SpmmByDotProducts>()`, since other kernels are faster, and tf32 has
/// fewer digits than a statement on floats promises; floats within a part in 2^11 of the largest become
/// infinite, and their products with zero NaN.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SpmmByDotProducts : SpmmDotProductsCandidate<SpmmByDotProducts, DotTunings> {
  static constexpr std::string_view name = "SpMM by dot products on tensor cores";
};

}  // namespace sporos::gpu
