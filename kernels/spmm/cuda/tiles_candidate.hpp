// SPDX-License-Identifier: Apache-2.0
/// @file tiles_candidate.hpp
/// The product of a sparse matrix of 16-bit floats and a dense one on tensor cores, as a candidate for
/// statements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../protocol/candidate.hpp"
#include "../pattern.hpp"
#include "plan_of_product.hpp"
#include "tiles.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, of 16-bit floats, or an epilogue of such a
/// product (kernels/epilogue/epilogue.hpp), on tensor cores: tiles.hpp. Worth it where a hundredth of A or
/// more is stored, or where its nonzeros are close together.
///
/// A is packed when a plan is made, and its values again in each run unless the statement says
/// `.with_constant_operands()`: then tiles may be stored with their zeros, up to 128 bytes a nonzero, where
/// that is faster.
///
/// Returns before the GPU is through: what follows on the default stream of Kokkos runs behind it, and copies
/// to the host wait for it, as do Kokkos::fence() and the end of an array's life.
struct SpmmOnTensorCores {
  struct Operands : GpuMatrixOperands {
    template <class A>
    static constexpr bool is_csr = GpuMatrixOperands::is_csr<A> && is_narrow_float_v<typename A::value_type>;
  };
  using Pattern = SpmmOfSumsPattern<Operands>;
  static constexpr std::string_view name = "SpMM by tiles on tensor cores";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, C row-major, half or bfloat16 in A and "
      "B, "
      "in the memory of a GPU of compute capability 9.0";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool computes() {
    if constexpr (Pattern::template matches<S>) {
      using T = typename std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>::value_type;
      using Out = typename S::result_type::value_type;
      return std::is_same_v<T, typename std::remove_cvref_t<decltype(Pattern::dense(
                                   std::declval<const S&>()))>::value_type> &&
             (is_narrow_float_v<Out> || std::is_same_v<Out, float>);
    } else {
      return false;
    }
  }
  template <class S>
  static constexpr bool matches = computes<S>();

  /// For a plan, tiles that have nonzeros are counted.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use);

  template <class S>
  class Plan;
};

/// How long products on expanded tiles take on an H200, measured, if they have no nonzeros, and what each
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

/// The same for tiles that are stored with their zeros.
inline constexpr TileTimes dense_tile_times{.launch = 2e-6,
                                            .stage = {0.23e-6, 0.31e-6, 0.59e-6},
                                            .stage_of_all = {0.29e-6, 0.38e-6, 0.61e-6},
                                            .store = {1.5e-6, 2.5e-6, 4e-6},
                                            .exchange = {1.2e-6, 1.5e-6, 2e-6},
                                            .again = 5e-6,
                                            .most_blocks = {4, 4, 4}};

template <class S>
class SpmmOnTensorCores::Plan : PlanOfSpmm<SpmmOnTensorCores::Pattern, S> {
  using Operands = PlanOfSpmm<SpmmOnTensorCores::Pattern, S>;
  using Operands::a, Operands::result, Operands::space, Operands::m, Operands::n, Operands::inner;
  using Operands::turn_b, Operands::statement_, Operands::rows_;
  using typename Operands::Out, typename Operands::Rows, typename Operands::Sparse;
  using T = typename Sparse::value_type;
  using Epilogue = decltype(epilogue_of(std::declval<const S&>()));
  using Product = ExpandedProduct<Out, Epilogue, typename Rows::View, T>;
  template <int Width, TileForm Form = TileForm::nonzeros>
  using Config = ExpandedConfig<T, (64 << Width), Form>;
  static constexpr bool is_constant = S::schedule::has_constant_operands;
  static constexpr std::int64_t most_bytes_of_nonzero = 128;  ///< in dense tiles
  template <int Width>
  static constexpr auto kernel = &detail::spmm_tiles_kernel<Config<Width>, Product>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources) : Operands(statement, resources) {}

  /// Whether this device and the code that was compiled have the instructions.
  static bool are_there(const Kokkos::Cuda& space) {
    static const bool are_compiled = has_wgmma(kernel<2>);
    return are_compiled && space.cuda_device_prop().major == 9;
  }
  /// Why the kernel does not take these operands; empty if it does.
  std::string_view why_not() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
    if (std::max({m(), n(), inner()}) > most) return "the copy engine counts rows and columns in 32 bits";
    const TileNonzeros tiles = TileNonzeros::of(m(), inner());
    if (tiles.column_tiles > most_column_tiles || tiles.tiles() > most || a().nnz() > most)
      return "the sparse operand has too many columns or nonzeros";
    if (tiles.tiles() > 1024 && a().nnz() / 16 < tiles.tiles())
      return "the sparse operand has too few nonzeros";
    return {};
  }
  /// The seconds that a product is expected to take.
  double seconds(Use use) const {
    const double expanded = best_tiles(TileForm::nonzeros).seconds;
    return use == Use::often ? std::min(expanded, seconds_of_dense()) : expanded;
  }
  /// The same for packing the sparse operand.
  double seconds_of_packing() const { return 3e-5 + 1e-10 * static_cast<double>(a().nnz()); }

  /// Counts the tiles that have nonzeros, if many may have none.
  void measure() {
    if (Rows::is_copied || a().nnz() == 0 || m() == 0) return;
    const TileNonzeros tiles = TileNonzeros::of(m(), inner());
    if (a().nnz() >= 512 * tiles.tiles()) return;
    auto workspace = statement_.resources().scratch().template borrow<Workspace>();
    auto* const counts = reinterpret_cast<TileCounts*>(workspace->reserve(sizeof(TileCounts)));
    kept_ = measure_tiles(space(), rows_.view(a()), tiles.column_tiles, counts);
  }

  void prepare() {
    measure();
    if (seconds_of_dense() < best_tiles(TileForm::nonzeros).seconds) form_ = TileForm::dense;
    if (result().nnz() > 0 && a().nnz() > 0) pack();
  }
  void run() {
    this->template compute<float>([&](Out* c) { multiply(c); });
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) + Rows::most_bytes(a()) + packed_bytes() +
                with_room_to_grow(this->most_aligned_bytes())};
  }
  std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(packed_.extent(0)) + rows_.held_bytes();
  }

  void explain(std::ostream& out) const {
    const TileChoice tiles = best_tiles(form_);
    out << "  result: located, tiles of " << Config<0>::block_m << " x " << (64 << tiles.width)
        << " by matrix instructions";
    if (tiles.shared > 1) out << ", " << tiles.shared << " thread blocks each";
    if (!Product::epilogue_is_identity) out << ", the epilogue applied as they are stored";
    out << "\n  operands: the sparse one is packed as tiles of " << TileNonzeros::rows << " x "
        << TileNonzeros::columns << (form_ == TileForm::dense ? " with their zeros" : "")
        << (is_constant ? " once\n" : ", its values again in each run\n");
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

  /// Tiles that are kept, at most.
  std::int64_t most_kept() const {
    return kept_.kept > 0 ? kept_.kept : std::min(TileNonzeros::of(m(), inner()).tiles(), a().nnz());
  }
  /// Whether tiles may be stored with their zeros: for all runs, where memory is not bounded.
  bool may_be_dense() const {
    return is_constant && most_kept() * TileNonzeros::bytes <= most_bytes_of_nonzero * a().nnz() &&
           statement_.resources().memory_limit() == Resources<Kokkos::Cuda>::unlimited;
  }
  /// With dense tiles; infinite where they are ruled out. Those that the L2 cache cannot keep are read from
  /// memory.
  double seconds_of_dense() const {
    if (!may_be_dense()) return std::numeric_limits<double>::infinity();
    constexpr double in_cache = 4e7, bytes_per_second = 3.6e12;
    const double bytes = static_cast<double>(most_kept()) * TileNonzeros::bytes;
    return std::max(best_tiles(TileForm::dense).seconds,
                    bytes > in_cache ? 3e-6 + bytes / bytes_per_second : 0);
  }
  /// Of either form, until it is decided.
  std::int64_t packed_bytes() const {
    const std::int64_t bytes = lay_out(nullptr).bytes;
    return is_packed_ || !is_constant ? bytes : bytes + most_bytes_of_nonzero * a().nnz();
  }

  void pack() {
    rows_.read(a());
    const auto matrix = rows_.view(a());
    if (is_packed_) {
      const Room room = lay_out(packed_.data());
      fill_tiles(space(), matrix, room.tiles, room.packing);
    } else {
      packed_ = make_array<char, Memory>("sporos::packed tiles", lay_out(nullptr).bytes);
      const Room room = lay_out(packed_.data());
      if (form_ == TileForm::dense)
        pack_dense_tiles(space(), matrix, room.tiles, room.packing, most_kept());
      else
        pack_tiles(space(), matrix, room.tiles, room.packing);
    }
    is_packed_ = true;
  }

  /// The tiles with which a product is expected to take least time.
  TileChoice best_tiles(TileForm form) const {
    static const auto clusters = clusters_of<Config<2>>(space(), kernel<2>);
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
                        space().cuda_device_prop().multiProcessorCount, clusters);
  }

  void multiply(Out* c) {
    if (!is_packed_ || !is_constant) pack();
    auto workspace = statement_.resources().scratch().template borrow<Workspace>();
    const auto dense = this->read_aligned_b(workspace->reserve(this->aligned_bytes()));
    const TileChoice tiles = best_tiles(form_);
    Product product{{m(), n(), inner(), c, statement_.accumulates(), epilogue_of(statement_)},
                    lay_out(packed_.data()).tiles,
                    rows_.view(a()),
                    dense.values,
                    dense.stride};
    const CUtensorMap map = tensor_map(dense.values, inner(), n(), dense.stride, Config<0>::stage_rows);
    with_tile_width(tiles.width, [&]<int Width>(std::integral_constant<int, Width>) {
      if constexpr (is_constant)
        if (form_ == TileForm::dense)
          return spmm_tiles<Config<Width, TileForm::dense>>(space(), product, map, tiles);
      spmm_tiles<Config<Width>>(space(), product, map, tiles);
    });
  }

  TileCounts kept_{};  ///< 0 where they were not counted
  TileForm form_ = TileForm::nonzeros;
  bool is_packed_ = false;
  Array<char, Memory> packed_;
};

template <class S>
Offer SpmmOnTensorCores::cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
  if (!Plan<S>::are_there(resources.space()))
    return Declined{"the GPU, or the code that was compiled for it, has no instructions of sm_90a"};
  Plan<S> plan(statement, resources);
  if (const auto why_not = plan.why_not(); !why_not.empty()) return Declined{why_not};
  if (use == Use::often) plan.measure();
  return Cost{plan.seconds(Use::once) + plan.seconds_of_packing() + 1e-4,
              plan.seconds(use) + (S::schedule::has_constant_operands ? 0 : plan.seconds_of_packing() / 3)};
}

}  // namespace sporos::gpu
