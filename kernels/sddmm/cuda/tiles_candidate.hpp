// SPDX-License-Identifier: Apache-2.0
/// @file tiles_candidate.hpp
/// Dot products at the nonzeros of a sparse matrix by tiles on tensor cores, as a candidate for statements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "../../cuda/once_per_device.hpp"
#include "../../cuda/sm_90a.hpp"
#include "packed_plan.hpp"
#include "tiles.hpp"

namespace sporos::gpu {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), with A and B in CSR, CSC or COO, and C and D dense, of half or
/// bfloat16, and stored along either mode, batches of such products of matrices in CSR, A(b, i, j) =
/// B(b, i, j) * C(b, i, k) * D(b, j, k), and epilogues that keep zeros (kernels/epilogue/epilogue.hpp), by
/// tiles.hpp. Sums are formed in float and multiplied by B's values in float before they are rounded. A gets
/// the pattern of B, and shares B's arrays if they are reference counted.
///
/// Returns before the GPU has finished, as SddmmByWarps does.
struct SddmmByTiles {
  static constexpr std::string_view name = "SDDMM by tiles on tensor cores";
  static constexpr std::string_view takes =
      "A(i, j) = B(i, j) * C(i, k) * D(j, k), or an epilogue of it that keeps zeros, A and B in the same "
      "CSR, CSC, COO or batches of CSR, of half, bfloat16 or float, C and D dense, of half or "
      "bfloat16, in the memory of a GPU of compute capability 9.0";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches = is_narrow_sampled_product<S>();

  /// For a plan that is kept, the tiles with nonzeros are counted.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
    using Product = SampledProduct<S>;
    using Config = SddmmTileConfig<typename Product::T, 128>;
    const bool are_compiled = once_per_device(resources.space(), [] {
      return has_wgmma(
          &detail::sddmm_tiles_kernel<Config, typename Product::Value, typename Product::Epilogue>);
    });
    if (!runs_sm_90a(resources.space().cuda_device_prop().major, are_compiled)) return Declined{no_sm_90a};
    return cost_of_packed<SddmmByTiles>(statement, resources, use);
  }

  template <class S>
  using Plan = SddmmPackedPlan<SddmmByTiles, S>;

  // What SddmmPackedPlan asks for.

  using Counts = SampledTileCounts;

  static Counts most(const SampledSizes& in) {
    const auto of = [&](int size) {
      return static_cast<std::int32_t>(
          std::min({grid(in, size).tiles(), in.nonzeros, std::int64_t{1} << 30}));
    };
    return {of(64), of(128)};
  }
  template <class A>
  static Counts count(const Kokkos::Cuda& space, const A& a, Counts* to) {
    return count_sampled_tiles(space, a, to);
  }
  static std::string_view why_not(const SampledSizes& in) {
    const TileGrid of_64 = grid(in, 64);
    if (of_64.column_tiles > most_sampled_column_tiles || of_64.tiles() > std::int64_t{1} << 30)
      return "the sparse operand has too many columns";
    if (of_64.tiles() > 4096 && in.nonzeros < 4 * of_64.tiles())
      return "the sparse operand has too few nonzeros";
    return {};
  }

  static double seconds(const SampledSizes& in, const Counts& counts) {
    return std::min(seconds_of(in, counts, 64), seconds_of(in, counts, 128));
  }
  static double seconds_of_packing(const SampledSizes& in) {
    return 6e-5 + 3e-11 * static_cast<double>(in.nonzeros) +
           3e-9 * static_cast<double>(most(in).of(size_of(in, most(in))));
  }
  static std::int64_t kept_bytes(const SampledSizes& in, const Counts& counts) {
    Layout layout;
    lay_out(layout, in, counts);
    return layout.bytes();
  }
  static std::int64_t packing_bytes(const Kokkos::Cuda& space, const SampledSizes& in, const Counts& counts) {
    Layout layout;
    room(space, layout, in, counts);
    return layout.bytes();
  }
  template <class A>
  static void pack(const Kokkos::Cuda& space, const SampledSizes& in, const Counts& counts, const A& a,
                   Layout& layout, char* kept) {
    const SampledTileRoom in_room = room(space, layout, in, counts);
    Layout of_kept(kept);
    const SampledTileOutput to = lay_out(of_kept, in, counts);
    with_size(in, counts, [&]<int Size>(std::integral_constant<int, Size>) {
      find_sampled_tiles<Size>(space, a, counts.of(Size), in_room, to);
    });
  }
  template <class T, class Value, class E>
  static void multiply(const Kokkos::Cuda& space, const SampledSizes& in, const Counts& counts, char* kept,
                       const SampledFactors<T>& factors, const Value* scale, const E& epilogue,
                       Value* result) {
    Layout of_kept(kept);
    const SampledTiles tiles = lay_out(of_kept, in, counts).view();
    with_size(in, counts, [&]<int Size>(std::integral_constant<int, Size>) {
      using Config = SddmmTileConfig<T, Size>;
      const SddmmMaps maps{operand_map<typename Config::C>(factors.c, in.rows, in.inner, factors.stride),
                           operand_map<typename Config::D>(factors.d, in.columns, in.inner, factors.stride)};
      sddmm_tiles<Config>(space, in.inner, tiles, counts.of(Size), scale, maps, epilogue, result);
    });
  }
  static void explain(std::ostream& out, const SampledSizes& in, const Counts& counts) {
    const int size = size_of(in, counts);
    out << "tiles of " << size << " x " << size;
    if (counts.of(size) > 0)
      out << ", of which at most " << counts.of(size) << " of " << grid(in, size).tiles()
          << " have nonzeros, " << in.nonzeros / counts.of(size) << " each";
  }

 private:
  static TileGrid grid(const SampledSizes& in, int size) { return TileGrid::of(in.rows, in.columns, size); }
  static int size_of(const SampledSizes& in, const Counts& counts) {
    return seconds_of(in, counts, 64) < seconds_of(in, counts, 128) ? 64 : 128;
  }
  template <class F>
  static void with_size(const SampledSizes& in, const Counts& counts, const F& f) {
    size_of(in, counts) == 64 ? f(std::integral_constant<int, 64>{}) : f(std::integral_constant<int, 128>{});
  }

  /// Fitted on an H200, within 6 %: a tile takes as long as its steps of 64 summed columns, or as the L2
  /// cache takes to deliver its rows of C and D. The first `at_a_time` tiles run together and take as long as
  /// one.
  static double seconds_of(const SampledSizes& in, const Counts& counts, int size) {
    const bool is_small = size == 64;
    const auto steps = static_cast<double>(ceil_div(in.inner, 64));
    const double bytes = 2.0 * size * 2.0 * static_cast<double>(in.inner);
    const double of_tile = is_small ? std::max(2.7e-9 + 0.7e-9 * steps, bytes / 10.6e12)
                                    : std::max(7.2e-9 + 2e-9 * steps, bytes / 7.6e12);
    const double at_a_time = is_small ? 150 : 50;
    return 3.2e-6 + 0.3e-6 * steps +
           std::max(0.0, static_cast<double>(counts.of(size)) - at_a_time) * of_tile +
           static_cast<double>(in.nonzeros) * 2.3e-12;
  }

  static SampledTileOutput lay_out(Layout& layout, const SampledSizes& in, const Counts& counts) {
    const int size = size_of(in, counts);
    return SampledTileOutput::lay_out(layout, in.nonzeros, counts.of(size), size);
  }
  static SampledTileRoom room(const Kokkos::Cuda& space, Layout& layout, const SampledSizes& in,
                              const Counts& counts) {
    const int size = size_of(in, counts);
    return SampledTileRoom::lay_out(space, layout, grid(in, size), counts.of(size), size);
  }
};

}  // namespace sporos::gpu
