// SPDX-License-Identifier: Apache-2.0
/// @file schedule.hpp
/// Schedule: how a statement is run, apart from the order of its loops: a set of named options, as a type.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "loop_schedule.hpp"
#include "loops.hpp"
#include "semiring.hpp"
#include "tree.hpp"

namespace sporos {

/// The options of a schedule. Each is a type with a `name`, a tag that identifies the option;
/// `Schedule::get<name>` is the option that was given, or the default.
/// `concerns_parts` says whether what it asks of a statement it also asks of the statements that compute
/// parts of this one, as the product that a function is applied to (kernels/protocol/demands.hpp).
namespace option {

/// The operations that + and * stand for.
template <class Ring>
struct Over {
  using name = Over<void>;
  static constexpr bool concerns_parts = false;
  using type = Ring;
};

/// The workspace that gathers a scattered sparse result: a WorkspacePolicy (workspace/policy.hpp) with its
/// settings.
template <class Policy>
struct GatheredIn {
  using name = GatheredIn<void>;
  static constexpr bool concerns_parts = false;
  using type = Policy;
  [[no_unique_address]] Policy policy{};
};

/// Which candidates may run the statement: any of them, the loop nest alone, or one.
enum class Choice { any, nest, one };
template <Choice Which, class Candidate = void>
struct RunBy {
  using name = RunBy<Choice::any>;
  static constexpr bool concerns_parts = false;
  using candidate = Candidate;
  static constexpr Choice choice = Which;
};

/// Whether the result must be bitwise the same for any number of threads.
template <bool Is>
struct Deterministic {
  using name = Deterministic<false>;
  static constexpr bool concerns_parts = true;
  static constexpr bool value = Is;
};

/// Whether the values of operands stay the same from one run of a plan to the next.
template <bool Are>
struct ConstantOperands {
  using name = ConstantOperands<false>;
  static constexpr bool concerns_parts = true;
  static constexpr bool value = Are;
};

/// Whether floats may be multiplied with the precision of tf32.
template <bool Is>
struct AllowTf32 {
  using name = AllowTf32<false>;
  static constexpr bool concerns_parts = true;
  static constexpr bool value = Is;
};

/// Whether the values of dense operands are finite.
template <bool Are>
struct FiniteOperands {
  using name = FiniteOperands<false>;
  static constexpr bool concerns_parts = true;
  static constexpr bool value = Are;
};

/// Which ranks compute which part of a statement on distributed tensors: those that own the coordinates of a
/// tensor, given as an access to it. With `void`, the statement decides by itself.
template <class A>
struct OnOwnersOf {
  using name = OnOwnersOf<void>;
  static constexpr bool concerns_parts = false;
  static constexpr bool are_given = true;
  A access;
};
template <>
struct OnOwnersOf<void> {
  using name = OnOwnersOf<void>;
  static constexpr bool concerns_parts = false;
  static constexpr bool are_given = false;
};

/// Loops over the statement's variables, none of them split, fused or over positions.
struct PlainLoops {
  using name = PlainLoops;
  static constexpr bool concerns_parts = false;
  using operands = std::tuple<>;
  static constexpr bool are_plain = true;
  static constexpr bool share_strips = false;
  static constexpr StrippedLoops stripped{};
};
/// A LoopRelation as a type.
template <LoopRelation::Kind Kind, char From, char Second, char Made, char Inner, int Operand>
struct Related {
  static constexpr LoopRelation value{Kind, From, Second, Made, Inner, Operand};
};
/// Loops that are split, fused, or run over positions: a LoopSchedule as a type. It consists of types and
/// characters, because nvcc does not accept values of class type in the name of a kernel.
/// @tparam Current    the loops, as a LoopOrder
/// @tparam Relations  `TypeList<Related<…>…>`
/// @tparam Parallel   the loop that threads share, or ' '
/// @tparam Operands   the accesses whose positions are counted
template <class Current, class Relations, char Parallel, class... Operands>
struct ScheduledLoops;
template <class Current, class... Relations, char Parallel, class... Operands>
struct ScheduledLoops<Current, TypeList<Relations...>, Parallel, Operands...> {
  using name = PlainLoops;
  static constexpr bool concerns_parts = false;
  using operands = std::tuple<const Operands*...>;
  static constexpr bool are_plain = false;
  static constexpr LoopSchedule value{
      Current::names, {Relations::value...}, static_cast<int>(sizeof...(Relations)), Parallel};
  static constexpr StrippedLoops stripped = value.lowered().without_idle();
  static constexpr bool share_strips = value.shares_strips();

  /// For each relation that is a split, the number of coordinates or positions in a strip.
  std::array<std::int64_t, LoopSchedule::capacity> sizes{};
};

}  // namespace option

/// Lets the engine choose the workspace.
struct AutomaticWorkspace {};
inline constexpr AutomaticWorkspace automatic_workspace{};

namespace detail {

/// Whether a type is meant as a policy of workspaces: workspace/policy.hpp says what it has to have.
template <class Policy>
concept NamesWorkspace = std::is_same_v<Policy, AutomaticWorkspace> || requires {
  Policy::name;
  Policy::takes(1);
};

template <LoopSchedule Value, class... Operands>
auto scheduled_loops() {
  return []<int... Loop, int... At>(std::integer_sequence<int, Loop...>, std::integer_sequence<int, At...>) {
    return option::ScheduledLoops<
        loops_over<Value.current[Loop]...>,
        TypeList<option::Related<Value.relations[At].kind, Value.relations[At].from,
                                 Value.relations[At].second, Value.relations[At].made,
                                 Value.relations[At].inner, Value.relations[At].operand>...>,
        Value.parallel, Operands...>{};
  }(std::make_integer_sequence<int, Value.current.size>{}, std::make_integer_sequence<int, Value.count>{});
}

template <class Name, class Default, class... Options>
struct OptionOf {
  using type = Default;
};
template <class Name, class Default, class First, class... Rest>
struct OptionOf<Name, Default, First, Rest...>
    : std::conditional_t<std::is_same_v<typename First::name, Name>, std::type_identity<First>,
                         OptionOf<Name, Default, Rest...>> {};

/// A schedule with those of some options that concern parts of a computation.
template <class Schedule>
Schedule with_those_for_parts(const Schedule& to) {
  return to;
}
template <class Schedule, class First, class... Rest>
auto with_those_for_parts(const Schedule& to, const First& first, const Rest&... rest) {
  if constexpr (First::concerns_parts)
    return with_those_for_parts(to.with(first), rest...);
  else
    return with_those_for_parts(to, rest...);
}

}  // namespace detail

/// The option for a LoopSchedule, without sizes.
template <LoopSchedule Value, class... Operands>
using ScheduledLoopsOf = decltype(detail::scheduled_loops<Value, Operands...>());

/// The options set by the members of Statement.
template <class... Options>
struct Schedule : Options... {
  /// The option with the given name, or the default if it was not set.
  template <class Name, class Default>
  using get = typename detail::OptionOf<Name, Default, Options...>::type;

  using semiring = typename get<option::Over<void>, option::Over<Arithmetic>>::type;
  static constexpr bool is_arithmetic = std::is_same_v<semiring, Arithmetic>;

  using workspace = get<option::GatheredIn<void>, option::GatheredIn<AutomaticWorkspace>>;
  using workspace_policy = typename workspace::type;

  using loops = get<option::PlainLoops, option::PlainLoops>;

  using run_by = get<option::RunBy<option::Choice::any>, option::RunBy<option::Choice::any>>;

  static constexpr bool is_deterministic =
      get<option::Deterministic<false>, option::Deterministic<false>>::value;

  static constexpr bool has_constant_operands =
      get<option::ConstantOperands<false>, option::ConstantOperands<false>>::value;

  static constexpr bool allows_tf32 = get<option::AllowTf32<false>, option::AllowTf32<false>>::value;

  static constexpr bool has_finite_operands =
      get<option::FiniteOperands<false>, option::FiniteOperands<false>>::value;

  using owners = get<option::OnOwnersOf<void>, option::OnOwnersOf<void>>;

  /// The access whose owners compute, where one is given.
  const auto& access_of_owners() const { return static_cast<const owners&>(*this).access; }

  /// The workspace policy with its settings.
  workspace_policy policy() const {
    if constexpr (std::is_base_of_v<workspace, Schedule>)
      return static_cast<const workspace&>(*this).policy;
    else
      return {};
  }

  /// The loops with the sizes of their strips.
  loops scheduled_loops() const {
    if constexpr (std::is_base_of_v<loops, Schedule>)
      return static_cast<const loops&>(*this);
    else
      return {};
  }

  /// The same schedule with one more option, which replaces an option of the same name.
  template <class Option>
  auto with(const Option& option) const {
    if constexpr ((std::is_same_v<typename Options::name, typename Option::name> || ...))
      return Schedule<std::conditional_t<std::is_same_v<typename Options::name, typename Option::name>,
                                         Option, Options>...>{
          pick(option, static_cast<const Options&>(*this))...};
    else
      return Schedule<Options..., Option>{static_cast<const Options&>(*this)..., option};
  }

  /// The schedule of a part of the computation, with those options of this one that concern it as well.
  template <class OfPart>
  auto passed_on_to(const OfPart& part) const {
    return detail::with_those_for_parts(part, static_cast<const Options&>(*this)...);
  }

 private:
  template <class Option, class Mine>
  static auto pick(const Option& option, const Mine& mine) {
    if constexpr (std::is_same_v<typename Mine::name, typename Option::name>)
      return option;
    else
      return mine;
  }
};

}  // namespace sporos
