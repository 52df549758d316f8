// SPDX-License-Identifier: Apache-2.0
/// @file warps_candidate.hpp
/// The product of a 2:4 sparse and a dense matrix by the matrix instructions of single warps, as a candidate
/// for statements.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "../../protocol/candidate.hpp"
#include "plan_of_product.hpp"
#include "warp_products.hpp"

namespace sporos::gpu {

/// What TwoFourOnTensorCores computes (candidate.hpp), on any GPU of compute capability 8.0 or more, in a
/// program compiled for any of them: by instructions that each warp issues for itself (warp_products.hpp).
/// Where both can run a statement, TwoFourOnTensorCores is faster.
///
/// Operands are read in place if k is a multiple of 64 and rows of B are a multiple of 16 bytes long;
/// otherwise they are copied first (plan_of_product.hpp).
///
/// Where a window stores a place without an entry, it holds a zero that is multiplied by some element of B:
/// if that is infinite or NaN, the result becomes NaN.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct TwoFourByWarps : TwoFourOnGpu {
  static constexpr std::string_view name = "2:4 product on sparse tensor cores, by single warps";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j) or A(j, k) * B(k, i), or an epilogue of C(b, i, j) = B(b, i, k) * "
      "A(j, k), A in TwoFour, B dense, C dense and row-major, half or bfloat16 in A and B, in the memory of "
      "a GPU of compute capability 8.0 or more";

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources);

  template <class S>
  class Plan;
};

template <class S>
class TwoFourByWarps::Plan : public PlanOfTwoFour<TwoFourByWarps::Plan<S>, S> {
  using Base = PlanOfTwoFour<TwoFourByWarps::Plan<S>, S>;
  using typename Base::Product, typename Base::T;
  template <int Tile>
  using Config = TwoFourWarpConfig<T, Tile, Base::b_is_by_rows>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : Base(statement) {}

  /// The seconds that a product is expected to take.
  double seconds() const { return choice().seconds; }

  // What PlanOfTwoFour asks for.

  static constexpr std::int64_t stage_k = two_four_warp_stage_k;

  void explain_tiles(std::ostream& out) const {
    const TwoFourWarpTile& tile = choice().size();
    out << "  result: located, tiles of " << tile.rows << " x " << tile.columns
        << " by sparse matrix instructions of single warps";
  }

  void start(const Product& product, const TwoFourOperands<T>& operands) const {
    const TwoFourWarpChoice chosen = choice();
    const auto multiply = [&]<int Tile>(std::integral_constant<int, Tile>) {
      two_four_product_by_warps<Config<Tile>, Base::c_is_by_rows>(this->space(), product, operands, chosen);
    };
    static_assert(two_four_warp_tiles.size() == 2);
    chosen.tile == 0 ? multiply(std::integral_constant<int, 0>{})
                     : multiply(std::integral_constant<int, 1>{});
  }

 private:
  TwoFourWarpChoice choice() const {
    return choose_two_four_by_warps(this->m(), this->n(), this->stages(),
                                    this->space().cuda_device_prop().multiProcessorCount);
  }
};

template <class S>
Offer TwoFourByWarps::cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
  if (resources.space().cuda_device_prop().major < 8) return Declined{"the GPU has no instructions of sm_80"};
  const Plan<S> plan(statement, resources);
  if (plan.largest_extent() > most_extent) return Declined{"rows and columns are counted in 32 bits"};
  return Cost{plan.seconds()};
}

}  // namespace sporos::gpu
