// SPDX-License-Identifier: Apache-2.0
/// @file mttkrp.hpp
/// Matricised tensor times Khatri-Rao product on the GPU: M(i, r) = sum over the nonzeros T(i, k, l, …) of
/// T(i, k, l, …) B(k, r) C(l, r) …, for any mode i of a tensor in coordinate or compressed-fiber format.
///
/// A warp takes 32 neighbouring nonzeros at a time. Groups of lanes each take some of them, and each lane 16
/// bytes of the factors' rows. A group adds up in registers as long as its nonzeros lie in one row of M, and
/// adds to M when the row changes. If the tensor is sorted by mode i, that is rare; if not, each nonzero
/// costs one addition in the L2 cache, 16 bytes per lane. The work is balanced by nonzeros.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "../../../core/tensor.hpp"
#include "../../cuda/launch.hpp"
#include "../../cuda/warp.hpp"

namespace sporos::gpu {

/// Shape of the MTTKRP kernel: `Lanes` lanes per nonzero, `Count` values per lane.
template <int Lanes, int Count>
struct MttkrpConfig {
  static constexpr int threads = 256;
  static constexpr int lanes = Lanes;
  static constexpr int pack = Count;
  static constexpr int columns = Lanes * Count;           ///< columns of M per block
  static constexpr int steps = Lanes;                     ///< nonzeros per group, of the 32 of its warp
  static constexpr int together = steps < 4 ? steps : 4;  ///< nonzeros loaded before the first is used
  static constexpr int nonzeros = 256;                    ///< per warp
  static_assert((Lanes & (Lanes - 1)) == 0 && Lanes <= warp_size, "a warp divides into groups of 2^n lanes");
  static_assert(nonzeros % warp_size == 0, "a warp takes 32 nonzeros at a time");
};

namespace detail {

/// The coordinates of a tensor's nonzeros, for 32 neighbours at a time: read directly at levels whose
/// positions are those of the nonzeros, and found from the positions array at levels above.
template <class View, int K>
class LevelCoordinates {
 public:
  using F = typename View::format_type;
  using Level = typename F::template level<K>;
  static constexpr bool branchless = Level::properties.branchless;
  static constexpr bool root = K == 0;
  static_assert(root || !Level::properties.full, "a level below the first stores its coordinates");

  __device__ LevelCoordinates(const View& view, const std::int64_t* sizes)
      : view_(&view), above_(view, sizes), find_(positions(view), parents(sizes)) {}

  /// Calls take(level, coordinate) for the levels 0 to K above position q of level K.
  template <class Take>
  __device__ __forceinline__ void operator()(std::int64_t q, const Take& take) {
    if constexpr (Level::properties.full)
      take.template operator()<K>(q);
    else
      take.template operator()<K>(view_->template level<K>().coord_at(q));
    if constexpr (!root) {
      if constexpr (branchless)
        above_(q, take);
      else
        above_(find_(q), take);
    }
  }

 private:
  struct None {
    __device__ None(const View&, const std::int64_t*) {}
    __device__ None(const void*, std::int64_t) {}
  };
  template <int L>
  struct AboveOf {
    using type = LevelCoordinates<View, L - 1>;
  };
  template <int L>
    requires(L == 0)
  struct AboveOf<L> {
    using type = None;
  };
  template <bool Finds>
  struct FinderOf {
    using type = None;
  };
  template <bool Finds>
    requires Finds
  struct FinderOf<Finds> {
    using type = ParentFinder<typename Level::position_type>;
  };

  __device__ static auto positions(const View& view) {
    if constexpr (!root && !branchless)
      return view.template level<K>().positions;
    else
      return static_cast<const void*>(nullptr);
  }
  __device__ static std::int64_t parents(const std::int64_t* sizes) {
    return root ? 0 : sizes[K > 0 ? K - 1 : 0];
  }

  const View* view_;
  typename AboveOf<K>::type above_;
  typename FinderOf<!root && !branchless>::type find_;
};

}  // namespace detail

/// The arguments of a product: the tensor and, for each of its levels, the matrix whose rows its coordinates
/// select.
template <class View, class T>
struct MttkrpArguments {
  static constexpr int levels = View::format_type::levels;
  View tensor;
  std::int64_t sizes[levels];  ///< positions of each level
  std::int64_t columns;        ///< columns of the result and of each factor, all row-major
  const T* factors[levels];    ///< [extent, columns]; null for the result's level
  T* result;                   ///< [extent, columns]; the product is added to it
};

namespace detail {

template <class Config, int ResultLevel, class View, class T>
__global__ __launch_bounds__(Config::threads) void mttkrp_kernel(
    const __grid_constant__ MttkrpArguments<View, T> in) {
  constexpr int levels = MttkrpArguments<View, T>::levels;
  constexpr int pack = Config::pack;
  using Piece = Pack<T, pack>;
  const std::int64_t nonzeros = in.sizes[levels - 1];
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * Config::threads + threadIdx.x) / warp_size;
  const std::int64_t begin = warp * Config::nonzeros;
  if (begin >= nonzeros) return;
  const std::int64_t end = begin + Config::nonzeros < nonzeros ? begin + Config::nonzeros : nonzeros;
  const int group = lane_id() / Config::lanes * Config::lanes;
  const std::int64_t column =
      static_cast<std::int64_t>(blockIdx.y) * Config::columns + lane_id() % Config::lanes * pack;
  const bool inside = column < in.columns;

  LevelCoordinates<View, levels - 1> coordinates_of(in.tensor, in.sizes);
  std::int64_t row = -1;
  Piece sum{};  // [pack]
  const auto flush = [&] {
    if (row >= 0 && inside) atomic_add(in.result + row * in.columns + column, sum);
    sum = Piece{};
  };
  for (std::int64_t base = begin; base < end; base += warp_size) {
    const std::int64_t mine = base + lane_id();
    const std::int64_t q = mine < end ? mine : end - 1;
    const T value = mine < end ? in.tensor.values[q] : T{};  // [32 nonzeros]
    std::int64_t at[levels];                                 // [levels, 32 nonzeros]
    coordinates_of(q, [&]<int K>(std::int64_t coordinate) { at[K] = coordinate; });
#pragma unroll
    for (int first = 0; first < Config::steps; first += Config::together) {
      Piece product[Config::together];  // [together, pack]
      std::int64_t rows[Config::together];
#pragma unroll
      for (int step = 0; step < Config::together; ++step) {
        const int from = group + first + step;
        const T scale = shuffle(value, from);
#pragma unroll
        for (int p = 0; p < pack; ++p) product[step].at[p] = scale;
#pragma unroll
        for (int k = 0; k < levels; ++k) {
          const std::int64_t coordinate = shuffle(at[k], from);
          if (k == ResultLevel) {
            rows[step] = coordinate;
          } else if (inside) {
            const Piece piece =
                *reinterpret_cast<const Piece*>(in.factors[k] + coordinate * in.columns + column);
#pragma unroll
            for (int p = 0; p < pack; ++p) product[step].at[p] = times(product[step].at[p], piece.at[p]);
          }
        }
      }
#pragma unroll
      for (int step = 0; step < Config::together; ++step) {
        if (rows[step] != row) {
          flush();
          row = rows[step];
        }
#pragma unroll
        for (int p = 0; p < pack; ++p) sum.at[p] = plus(sum.at[p], product[step].at[p]);
      }
    }
  }
  flush();
}

}  // namespace detail

/// M += the tensor's nonzeros times rows of the factors, summed by the coordinates of level `ResultLevel`, in
/// the order of the stream of `space`. Sums are formed in T, in an order that varies from run to run.
///
/// Cost: one kernel. Each nonzero reads a row of each factor, from the L2 cache if they fit there, and adds
/// to M once if its neighbours lie in other rows of M.
template <int ResultLevel, class View, class T>
void mttkrp(const Kokkos::Cuda& space, const MttkrpArguments<View, T>& arguments) {
  constexpr int levels = MttkrpArguments<View, T>::levels;
  const std::int64_t nonzeros = arguments.sizes[levels - 1];
  if (nonzeros == 0 || arguments.columns == 0) return;
  const auto start = [&]<int Lanes, int Count>() {
    using Config = MttkrpConfig<Lanes, Count>;
    launch(space, "sporos::mttkrp", &detail::mttkrp_kernel<Config, ResultLevel, View, T>,
           Grid(ceil_div(ceil_div(nonzeros, Config::nonzeros) * warp_size, Config::threads),
                ceil_div(arguments.columns, Config::columns)),
           Config::threads, 0, arguments);
  };
  constexpr int wide = widest_pack<T>;
  bool packed = arguments.columns % wide == 0;
  const auto check = [&](const T* at) {
    packed = packed && reinterpret_cast<std::uintptr_t>(at) % sizeof(Pack<T, wide>) == 0;
  };
  check(arguments.result);
  for (const T* factor : arguments.factors) check(factor);
  if (!packed)
    start.template operator()<16, 1>();
  else if (arguments.columns <= 4 * wide)
    start.template operator()<4, wide>();
  else
    start.template operator()<8, wide>();
}

}  // namespace sporos::gpu
