// SPDX-License-Identifier: Apache-2.0
/// @file tiles_candidate.hpp
/// The product of a sparse matrix of 16-bit floats and a dense one on tensor cores, as a candidate for
/// statements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/once_per_device.hpp"
#include "../../cuda/sm_90a.hpp"
#include "../../epilogue/in_batches.hpp"
#include "../../protocol/candidate.hpp"
#include "../pattern.hpp"
#include "packed_plan.hpp"
#include "tiles.hpp"
#include "value_types.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), with A in CSR or CSC, B and C dense, of 16-bit floats, or an epilogue of such
/// a product (kernels/epilogue/epilogue.hpp), on tensor cores, by tiles.hpp. It pays off if a hundredth of A
/// or more is stored, or if its nonzeros are close together. Batches with one A, C(b, i, j) = A(i, k) *
/// B(b, k, j), or with one B, A(b, i, k) * B(k, j) with A in Batches<CSR<>>, are computed by one kernel.
///
/// A is packed when a plan is made; each run packs its values again, unless the statement says
/// `.with_constant_operands()`: then tiles may be stored with their zeros, in up to 128 bytes per nonzero, if
/// that is faster.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SpmmOnTensorCores {
  struct Operands : GpuMatrixOperands {
    template <class A>
    static constexpr bool is_csr = GpuMatrixOperands::is_csr<A> && is_narrow_float_v<typename A::value_type>;
  };
  using Pattern = SpmmOfRowsPattern<Operands, false>;
  static constexpr std::string_view name = "SpMM by tiles on tensor cores";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, C row-major, or C(b, i, j) = A(i, k) * "
      "B(b, k, j), half or bfloat16 in A and B, in the memory of a GPU of compute capability 9.0";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches =
      is_product_of_types<Pattern, S>([]<class T, class Out, class Compute>(ProductTypes<T, Out, Compute>) {
        return is_narrow_float_v<T> && (is_narrow_float_v<Out> || std::is_same_v<Out, float>);
      });

  /// For a plan that is kept, the tiles with nonzeros are counted.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
    return cost_of_packed_spmm<SpmmOnTensorCores>(statement, resources, use);
  }

  template <class S>
  class Plan;
};

/// Seconds of products on expanded tiles, measured on an H200: of tiles without nonzeros, and what each
/// nonzero of a tile adds to a stage.
inline constexpr TileTimes expanded_times{.launch = 5e-6,
                                          .stage = {0.28e-6, 0.36e-6, 0.53e-6},
                                          .stage_of_all = {0.20e-6, 0.375e-6, 0.55e-6},
                                          .store = {1.6e-6, 4.3e-6, 8e-6},
                                          .exchange = {0.4e-6, 0.5e-6, 0.8e-6},
                                          .again = 5e-6,
                                          .most_blocks = {4, 4, 4}};
inline constexpr TileTimes expanded_times_of_nonzero{.launch = 0,
                                                     .stage = {0.10e-9, 0.09e-9, 0.16e-9},
                                                     .stage_of_all = {0.16e-9, 0.16e-9, 0.30e-9},
                                                     .store = {},
                                                     .exchange = {},
                                                     .again = 0};

/// The same for tiles stored with their zeros.
inline constexpr TileTimes dense_tile_times{.launch = 2e-6,
                                            .stage = {0.23e-6, 0.31e-6, 0.59e-6},
                                            .stage_of_all = {0.29e-6, 0.38e-6, 0.64e-6},
                                            .store = {1.5e-6, 2.5e-6, 4e-6},
                                            .exchange = {1.2e-6, 1.5e-6, 2e-6},
                                            .again = 5e-6,
                                            .most_blocks = {4, 4, 4}};

template <class S>
class SpmmOnTensorCores::Plan
    : public PackedPlanOfSpmm<SpmmOnTensorCores::Plan<S>, SpmmOnTensorCores::Pattern, S> {
  using Base = PackedPlanOfSpmm<Plan, SpmmOnTensorCores::Pattern, S>;
  friend Base;
  using Base::a, Base::result, Base::space, Base::m, Base::n, Base::inner, Base::products, Base::turn_b;
  using Base::is_constant, Base::is_packed, Base::packed, Base::statement_, Base::rows_;
  using Base::most_bytes_of_nonzero;
  using typename Base::Out, typename Base::Rows, typename Base::Sparse, typename Base::AlignedRows;
  using T = typename Sparse::value_type;
  using Sum = float;
  using Epilogue = decltype(epilogue_by_rows(std::declval<const S&>()));
  /// Whether there is a B for each batch.
  static constexpr bool has_products = Base::has_batches_of_b;
  using Product = std::conditional_t<has_products, ExpandedProducts<Out, Epilogue, typename Rows::View, T>,
                                     ExpandedProduct<Out, Epilogue, typename Rows::View, T>>;
  template <int Width, TileForm Form = TileForm::nonzeros>
  using Config = ExpandedConfig<T, (64 << Width), Form>;
  template <int Width>
  static constexpr auto kernel = &detail::spmm_tiles_kernel<Config<Width>, Product>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources) : Base(statement, resources) {}

  /// Whether this device and the compiled code have the instructions.
  static bool are_there(const Kokkos::Cuda& space) {
    const bool are_compiled = once_per_device(space, [] { return has_wgmma(kernel<2>); });
    return runs_sm_90a(space.cuda_device_prop().major, are_compiled);
  }
  /// Why the kernel cannot take these operands; empty if it can.
  std::string_view why_not() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
    if (std::max({m(), n(), inner()}) > most) return "the copy engine counts rows and columns in 32 bits";
    const TileNonzeros tiles = TileNonzeros::of(m(), inner());
    if (tiles.column_tiles > most_column_tiles || tiles.tiles() > most || a().nnz() > most)
      return "the sparse operand has too many columns or nonzeros";
    if (products() > most / std::max<std::int64_t>(1, tiles.row_tiles * ceil_div(n(), 64)))
      return "tiles of all batches are counted in 32 bits";
    if (!tiles.are_worth_their_numbers(a().nnz())) return "the sparse operand has too few nonzeros";
    return {};
  }
  /// The seconds that a product is expected to take.
  double seconds(Use use) const {
    const double expanded = best_tiles(TileForm::nonzeros).seconds;
    return use == Use::often ? std::min(expanded, seconds_of_dense()) : expanded;
  }
  /// The seconds that packing the sparse operand is expected to take.
  double seconds_of_packing() const { return 3e-5 + 1e-10 * static_cast<double>(a().nnz()); }

  void explain(std::ostream& out) const {
    const TileChoice tiles = best_tiles(form_);
    out << "  result: located, tiles of " << Config<0>::block_m << " x " << (64 << tiles.width)
        << " by matrix instructions";
    if (tiles.shared > 1) out << ", " << tiles.shared << " thread blocks each";
    if (!Product::epilogue_is_identity) out << ", the epilogue applied as they are stored";
    if (Base::is_of_batches) out << "\n  batches: " << result().extent(0) << ", by one kernel";
    out << "\n  operands: the sparse one is packed as tiles of " << TileNonzeros::rows << " x "
        << TileNonzeros::columns << (form_ == TileForm::dense ? " with their zeros" : "")
        << (is_constant ? " once\n" : ", its values again in each run\n");
    this->explain_sparse(out);
    if (turn_b) out << "  operands: the dense one is transposed first\n";
  }

 private:
  struct Room {
    TileNonzeros tiles;
    TilePacking packing;
    std::int64_t bytes = 0;
  };
  Room lay_out(char* memory) const {
    Layout layout(memory);
    Room out{TileNonzeros::of(m(), inner()), {}};
    const std::int64_t tiles = out.tiles.tiles(), kept = most_kept();
    out.tiles.first = layout.template take<std::int32_t>(tiles + 1);
    out.tiles.at_column = layout.template take<std::int32_t>(kept);
    out.packing.are_kept = layout.template take<std::int32_t>(tiles);
    if (form_ == TileForm::dense) {
      out.tiles.dense = layout.template take<char>(kept * TileNonzeros::bytes);
    } else {
      out.tiles.nonzeros = layout.template take<uint4>(out.tiles.most_fours(a().nnz()));
      out.tiles.fours = layout.template take<std::int32_t>(kept + 1);
      out.packing.four = layout.template take<std::int32_t>(tiles + 1);
      out.packing.counts = layout.template take<std::int32_t>(tiles);
    }
    out.packing.scratch_bytes = sizes_to_positions_bytes<std::int32_t, std::int32_t>(space(), tiles);
    out.packing.scratch = layout.template take<char>(out.packing.scratch_bytes);
    out.bytes = layout.bytes();
    return out;
  }

  static constexpr Counted counted{.tiles = true};
  bool is_counted() const { return !this->has_full_tiles(); }
  void take(const PatternCounts& counts) { kept_ = counts.tiles; }
  void choose() {
    if (seconds_of_dense() < best_tiles(TileForm::nonzeros).seconds) form_ = TileForm::dense;
  }

  /// The most tiles that are kept.
  std::int64_t most_kept() const {
    return kept_.kept > 0 ? kept_.kept : std::min(TileNonzeros::of(m(), inner()).tiles(), a().nnz());
  }
  /// Whether tiles may be stored with their zeros: if values are constant and memory is not bounded.
  bool may_be_dense() const {
    return is_constant && most_kept() * TileNonzeros::bytes <= most_bytes_of_nonzero * a().nnz() &&
           !this->memory_is_bounded();
  }
  /// The seconds with dense tiles; infinite if they are ruled out. Tiles that exceed the L2 cache (40 MB of
  /// it) are read from memory, which overlaps with multiplying them.
  double seconds_of_dense() const {
    if (!may_be_dense()) return std::numeric_limits<double>::infinity();
    constexpr double in_cache = 4e7, bytes_per_second = 3.6e12;
    const double bytes = static_cast<double>(most_kept()) * TileNonzeros::bytes;
    const double multiplying = best_tiles(TileForm::dense).seconds;
    const double reading = bytes > in_cache ? 3e-6 + bytes / bytes_per_second : 0;
    return std::cbrt(multiplying * multiplying * multiplying + reading * reading * reading);
  }
  std::int64_t packed_bytes() const { return lay_out(nullptr).bytes; }
  /// The bytes of either form until it is decided.
  std::int64_t most_packed_bytes() const {
    return packed_bytes() + (is_packed() || !may_be_dense() ? 0 : most_bytes_of_nonzero * a().nnz());
  }

  template <class Matrix>
  void pack(const Matrix& matrix) {
    const Room room = lay_out(packed());
    if (form_ == TileForm::dense)
      pack_dense_tiles(space(), matrix, room.tiles, room.packing, most_kept());
    else
      pack_tiles(space(), matrix, room.tiles, room.packing);
  }
  template <class Matrix>
  void fill(const Matrix& matrix) {
    const Room room = lay_out(packed());
    fill_tiles(space(), matrix, room.tiles, room.packing);
  }

  /// The tiles with which a product is expected to be fastest.
  TileChoice best_tiles(TileForm form) const {
    const auto clusters =
        once_per_device(space(), [&] { return clusters_of<Config<2>>(space(), kernel<2>); });
    const TileNonzeros tiles = TileNonzeros::of(m(), inner());
    const bool is_measured = kept_.kept > 0;
    const auto kept =
        static_cast<double>(is_measured ? kept_.kept : std::max<std::int64_t>(1, tiles.tiles()));
    const double of_tile = static_cast<double>(a().nnz()) / kept;
    TileTimes times = form == TileForm::dense ? dense_tile_times : expanded_times;
    for (std::size_t width = 0; width < 3 && form == TileForm::nonzeros; ++width) {
      times.stage[width] += of_tile * expanded_times_of_nonzero.stage[width];
      times.stage_of_all[width] += of_tile * expanded_times_of_nonzero.stage_of_all[width];
    }
    return choose_tiles(times, m(), n(), is_measured ? kept_.most_of_row : tiles.column_tiles,
                        space().cuda_device_prop().multiProcessorCount, clusters, products());
  }

  void multiply(Out* c, const AlignedRows& dense) const {
    const TileChoice tiles = best_tiles(form_);
    using One = ExpandedProduct<Out, Epilogue, typename Rows::View, T>;
    Product product{One{{m(), n(), inner(), c, statement_.accumulates(), epilogue_by_rows(statement_)},
                        lay_out(packed()).tiles,
                        rows_.view(a()),
                        dense.values,
                        dense.stride}};
    if constexpr (has_products) product.products = products();
    using Dense = typename Config<0>::Dense;
    const CUtensorMap map = [&] {
      if constexpr (has_products)
        return operand_map_of_matrices<Dense>(dense.values, products(), inner(), n(), dense.stride);
      else
        return operand_map<Dense>(dense.values, inner(), n(), dense.stride);
    }();
    with_tile_width(tiles.width, [&]<int Width>(std::integral_constant<int, Width>) {
      if constexpr (is_constant)
        if (form_ == TileForm::dense)
          return spmm_tiles<Config<Width, TileForm::dense>>(space(), product, map, tiles);
      spmm_tiles<Config<Width>>(space(), product, map, tiles);
    });
  }

  TileCounts kept_{};  ///< 0 if they were not counted
  TileForm form_ = TileForm::nonzeros;
};

}  // namespace sporos::gpu
