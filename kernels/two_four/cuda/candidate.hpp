// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a 2:4 sparse and a dense matrix by the matrix instructions of Hopper, as a candidate for
/// statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "../../cuda/once_per_device.hpp"
#include "../../cuda/sm_90a.hpp"
#include "../../protocol/candidate.hpp"
#include "plan_of_product.hpp"
#include "tensor_cores.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j) or A(j, k) * B(k, i), with A in TwoFour, B dense by rows or columns, C dense
/// and row-major; or an epilogue of such a product (kernels/epilogue/epilogue.hpp), also for batches,
/// C(b, i, j) = f(B(b, i, k) * A(j, k)). Runs on sparse tensor cores (tensor_cores.hpp). On a GPU whose
/// compute capability is not 9.0, or in a program compiled for sm_90 instead of sm_90a, TwoFourByWarps
/// computes it (warps_candidate.hpp).
///
/// Operands are read in place if k is a multiple of 128 and rows of B are a multiple of 16 bytes long;
/// otherwise they are copied first (plan_of_product.hpp).
///
/// Where a window stores a place without an entry, it holds a zero that is multiplied by some element of B:
/// if that is infinite or NaN, the result becomes NaN.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct TwoFourOnTensorCores : TwoFourOnGpu {
  static constexpr std::string_view name = "2:4 product on sparse tensor cores";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j) or A(j, k) * B(k, i), or an epilogue of C(b, i, j) = B(b, i, k) * "
      "A(j, k), A in TwoFour, B dense, C dense and row-major, half or bfloat16 in A and B, in the memory of "
      "a GPU of compute capability 9.0";

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources);

  template <class S>
  class Plan;
};

template <class S>
class TwoFourOnTensorCores::Plan : public PlanOfTwoFour<TwoFourOnTensorCores::Plan<S>, S> {
  using Base = PlanOfTwoFour<TwoFourOnTensorCores::Plan<S>, S>;
  using typename Base::Product, typename Base::T;
  template <int Tile>
  using Config =
      TwoFourConfig<T, two_four_tiles[Tile].columns, Base::b_is_by_rows, two_four_tiles[Tile].groups>;
  template <int Tile>
  static constexpr auto kernel = &detail::two_four_kernel<Config<Tile>, Base::c_is_by_rows, Product>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : Base(statement) {}

  /// Whether this device and the compiled code have sparse tensor cores fed by a copy engine.
  static bool are_there(const Kokkos::Cuda& space) {
    const bool are_compiled = once_per_device(space, [] { return has_wgmma(kernel<2>); });
    return runs_sm_90a(space.cuda_device_prop().major, are_compiled);
  }

  /// The seconds that a product is expected to take.
  double seconds() const { return choice().seconds; }

  // What PlanOfTwoFour asks for.

  static constexpr std::int64_t stage_k = Config<0>::stage_k;

  void explain_tiles(std::ostream& out) const {
    const TwoFourChoice chosen = choice();
    const TwoFourTile& tile = two_four_tiles[static_cast<std::size_t>(chosen.tile)];
    out << "  result: located, tiles of " << tile.rows() << " x " << tile.columns
        << " by sparse matrix instructions";
    if (chosen.blocks > 1)
      out << ", " << chosen.blocks << " thread blocks "
          << (chosen.shares == ClusterShares::tile ? "each" : "read the dense operand together");
  }

  void start(const Product& product, const TwoFourOperands<T>& operands) const {
    const TwoFourChoice chosen = choice();
    with_two_four_tile(chosen.tile, [&]<int Tile>(std::integral_constant<int, Tile>) {
      two_four_product<Config<Tile>, Base::c_is_by_rows>(this->space(), product, operands, chosen);
    });
  }

 private:
  TwoFourChoice choice() const {
    const auto clusters =
        once_per_device(this->space(), [&] { return clusters_of<Config<2>>(this->space(), kernel<2>); });
    return choose_two_four(this->m(), this->n(), this->stages(),
                           this->space().cuda_device_prop().multiProcessorCount, clusters);
  }
};

template <class S>
Offer TwoFourOnTensorCores::cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
  if (!Plan<S>::are_there(resources.space())) return Declined{no_sm_90a};
  const Plan<S> plan(statement, resources);
  if (plan.largest_extent() > most_extent)
    return Declined{"the copy engine counts rows and columns in 32 bits"};
  return Cost{plan.seconds()};
}

}  // namespace sporos::gpu
