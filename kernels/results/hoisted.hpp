// SPDX-License-Identifier: Apache-2.0
/// @file hoisted.hpp
/// The nest's candidate for sparse results that scatter over several variables inside loops over the others:
/// a workspace gathers the block of each coordinate of these loops, which is then appended.
///
/// The loops over the result's outermost levels, as far as they come first and in order, stay outside:
///
///     A(i, j, l) = B(i, k, j) * C(k, l)       for i                 both orders begin with i
///                                               for k, j, l           insert (j, l) into the workspace
///                                               for j, l              append to A what it holds, empty it
///
/// (common iteration hoisting: Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces*,
/// PLDI 2024, section 6.2). The workspace of a thread serves all of its coordinates, one after another, so it
/// allocates only what its largest block needs, and threads share nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "../../formats/print.hpp"
#include "../../workspace/adaptive_box.hpp"
#include "../../workspace/policy.hpp"
#include "../nest/nest_run.hpp"
#include "append_plan.hpp"
#include "block_policy.hpp"
#include "known_places.hpp"
#include "sampled_work.hpp"

namespace sporos {

/// The loop nest with a sparse result that is gathered block by block.
struct HoistedNest : detail::AppendsInChunks {
  static constexpr std::string_view name = "loop nest, hoisted";
  static constexpr std::string_view takes =
      "sparse results in host memory, in levels without blocks, that scatter over several variables, of "
      "which "
      "the outermost loops visit the others in order";
  static constexpr bool deterministic = true;
  static constexpr std::string_view less_memory =
      "bind more of the result's outer variables in the outermost loops with .reorder(...), or compute it in "
      "parts";
  static constexpr bool any_schedule = true;

  /// The policy of the workspace unless the user chooses one.
  using DefaultPolicy = AdaptiveBoxPolicy;
  template <class S>
  using policy_for = detail::chosen_policy<S, DefaultPolicy>;

  /// Whether the workspace hands out what it has gathered in order.
  template <class S>
  static constexpr bool in_order() {
    using Nest = detail::NestOf<S>;
    using Policy = policy_for<S>;
    constexpr int gathered = Nest::Format::levels - Nest::classification.prefix;
    if constexpr (detail::takes_order<Policy, gathered>())
      return Policy::template workspace<typename Nest::Compute, gathered>::in_order;
    else
      return false;
  }
  template <class S>
  static constexpr bool is_hoisted() {
    if constexpr (HostSpace<typename S::space_type> && detail::NestOf<S>::classification.hoists)
      return in_order<S>();
    else
      return false;
  }
  template <class S>
  static constexpr bool matches = is_hoisted<S>();

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>&) {
    constexpr double seconds_of_near_term = 6e-9, seconds_of_far_term = 15e-9, seconds_of_listed_term = 18e-9,
                     seconds_of_cell = 0.07e-9, seconds_of_block = 50e-9;
    constexpr std::int64_t near_bytes = std::int64_t{2} << 20;  // a core's own caches
    using Nest = detail::NestOf<S>;
    constexpr int gathered = Nest::Format::levels - Nest::classification.prefix;
    using Box = DenseBox<typename Nest::Compute, gathered>;
    const auto of_levels = Nest::Format::level_extents(statement.result().tensor().extents());
    Extents<gathered> extents{};
    std::copy_n(of_levels.end() - gathered, gathered, extents.begin());
    const detail::ExpectedWork work = detail::sampled_work(statement);
    using Policy = policy_for<S>;
    const bool is_dense =
        detail::is_dense_over<typename Nest::Compute>(detail::block_policy<Policy>(statement, work), extents);
    double of_blocks = work.blocks * seconds_of_block;
    if constexpr (requires { Policy::seconds_of_drain; }) of_blocks += work.blocks * Policy::seconds_of_drain;
    if (!is_dense) return Cost{work.terms * seconds_of_listed_term + of_blocks};
    const bool is_near = Box::most_bytes(dense_workspace, extents, 0) <= near_bytes;
    return Cost{work.terms * (is_near ? seconds_of_near_term : seconds_of_far_term) + of_blocks +
                work.blocks * static_cast<double>(cells_of(extents)) * seconds_of_cell};
  }

  template <class S>
  static constexpr std::string_view role_at(int depth) {
    return depth < detail::NestOf<S>::classification.prefix ? "appended" : "gathered";
  }

  template <class S>
  class Plan;
};

template <class S>
class HoistedNest::Plan : detail::AppendPlan<S, policy_for<S>> {
  using Base = detail::AppendPlan<S, policy_for<S>>;
  using Nest = detail::NestOf<S>;

 public:
  using Base::Base, Base::run, Base::bytes, Base::enough_limit;

  void refill() {
    this->read_operands();
    if (!places_.refill(this->nest())) run();
  }
  std::int64_t held_bytes() const { return places_.bytes(); }

  void explain(std::ostream& out) const {
    using Computed = typename Nest::Compute;
    using Policy = policy_for<S>;
    constexpr auto names = S::result_type::level_names;
    constexpr int prefix = Nest::classification.prefix, gathered = names.size - prefix;
    using Workspace = typename Policy::template workspace<Computed, gathered>;
    const auto& policy = this->policy();
    const auto extents = this->gathered_extents();
    NameList outside, inside;
    for (int level = 0; level < names.size; ++level) (level < prefix ? outside : inside).push(names[level]);
    out << text("  result: scattered over several variables inside the ", prefix == 1 ? "loop" : "loops",
                " over ", outside.str(), ", ", detail::name_over<Computed>(policy, extents), " of order ",
                gathered, " over (", inside.str(), "), ",
                bytes_text(Workspace::most_bytes(policy, extents, this->most_values().gathered)),
                " a thread, ", detail::insertion_text<S>(), "\n");
  }

 private:
  detail::KnownPlaces<S> places_;
};

}  // namespace sporos
