// SPDX-License-Identifier: Apache-2.0
/// @file packed_plan.hpp
/// Plans of products that convert the sparse operand to a form of their own: tiles (tiles_candidate.hpp),
/// tiles of split floats (split_tiles_candidate.hpp) or windows of rows (windows_candidate.hpp) for tensor
/// cores, padded rows (padded_rows_candidate.hpp) for CUDA cores. This is what they have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "../../cuda/sm_90a.hpp"
#include "../../protocol/candidate.hpp"
#include "plan_of_product.hpp"

namespace sporos::gpu {

/// The base of such a plan. A is packed by prepare() or the first run; each run packs its values again,
/// unless the statement says `.with_constant_operands()`.
///
/// @tparam Derived  the plan, which besides the protocol (kernels/protocol/candidate.hpp) has:
///
///     Sum                     the type of sums
///     counted                 what of A's pattern decides how it is packed
///     is_counted()            whether that is counted
///     take(counts)            takes it from what has been counted
///     choose()                optional: decides how a plan packs A, once that is counted
///     packed_bytes()          bytes of the packed A and of the memory needed to pack it
///     most_packed_bytes()     optional: an upper bound of these before that is decided
///     packing_bytes()         optional: bytes of the stream's workspace that packing needs
///     pack(matrix)            packs A into packed()
///     fill(matrix)            packs its values again
///     multiply(c, dense)      starts the kernel
template <class Derived, class Pattern, class S>
class PackedPlanOfSpmm : protected PlanOfSpmm<Pattern, S> {
  using Operands = PlanOfSpmm<Pattern, S>;

 protected:
  using Operands::a, Operands::result, Operands::m, Operands::statement_, Operands::rows_;
  using typename Operands::Out, typename Operands::Rows;
  static constexpr bool is_constant = S::schedule::has_constant_operands;
  /// The most bytes per nonzero that a packed A may take if the candidate was not asked for by name.
  static constexpr std::int64_t most_bytes_of_nonzero = 128;

  PackedPlanOfSpmm(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : Operands(statement, resources) {}

 public:
  using Operands::seconds_of_copy;

  /// Counts what packing A takes, if that needs no copy of it.
  void measure() {
    if (!this->has_rows() || !derived().is_counted()) return;
    derived().take(this->count_pattern(Derived::counted));
    is_measured_ = true;
  }
  void prepare() {
    if (Rows::is_copied && this->has_terms()) rows_.read(a());
    measure();
    derived().choose();
    if (!this->has_terms()) return;
    pack();
    room_.prepare(statement_.resources().scratch(), this->aligned_bytes());
  }
  void run() {
    this->template compute<typename Derived::Sum>([&](Out* c) {
      if (!is_packed_ || !is_constant)
        pack();
      else if (!Rows::is_copied)
        rows_.read(a());  // whose arrays may be others
      room_.with(statement_.resources().scratch(), this->aligned_bytes(),
                 [&](char* memory) { derived().multiply(c, this->read_aligned_b(memory)); });
    });
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) + Rows::most_bytes(a()) +
                derived().most_packed_bytes() +
                with_room_to_grow(std::max({this->most_aligned_bytes(), derived().packing_bytes(),
                                            std::int64_t{sizeof(PatternCounts)}}))};
  }
  std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(packed_.extent(0)) + rows_.held_bytes();
  }

 protected:
  bool is_measured() const { return is_measured_; }
  bool is_packed() const { return is_packed_; }
  char* packed() const { return packed_.data(); }
  void choose() {}
  std::int64_t most_packed_bytes() const { return derived().packed_bytes(); }
  std::int64_t packing_bytes() const { return 0; }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }
  const Derived& derived() const { return static_cast<const Derived&>(*this); }

  void pack() {
    rows_.read(a());
    const auto matrix = rows_.view(a());
    if (is_packed_) return derived().fill(matrix);
    packed_ = make_array<char, Memory>("sporos::packed matrix", derived().packed_bytes());
    derived().pack(matrix);
    is_packed_ = true;
  }

  bool is_measured_ = false, is_packed_ = false;
  RoomOfPlan room_;  ///< for copies of B
  Array<char, Memory> packed_;
};

/// The cost of a statement with such a plan. For a plan that is kept, A is measured.
template <class K, class S>
Offer cost_of_packed_spmm(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
  using Plan = typename K::template Plan<S>;
  if (!Plan::are_there(resources.space())) return Declined{no_sm_90a};
  Plan plan(statement, resources);
  if (const std::string_view why_not = plan.why_not(); !why_not.empty()) return Declined{why_not};
  if (use == Use::often) plan.measure();
  constexpr double of_memory = 1e-4;  // seconds to allocate what is packed
  // Packing only the values again, in each run, is counted as a third of packing A.
  return Cost{
      plan.seconds(Use::once) + plan.seconds_of_packing() + plan.seconds_of_copy(Use::once) + of_memory,
      plan.seconds(use) + plan.seconds_of_copy(Use::often) +
          (S::schedule::has_constant_operands ? 0 : plan.seconds_of_packing() / 3)};
}

}  // namespace sporos::gpu
