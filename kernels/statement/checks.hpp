// SPDX-License-Identifier: Apache-2.0
/// @file checks.hpp
/// Compile-time errors, as sentences, for statements that cannot be run: which operand cannot be read in a
/// loop order, or what is wrong with the result, and what to do about it.
#pragma once

#include <type_traits>
#include <utility>

#include "../../core/expression.hpp"
#include "../../core/loop_order.hpp"
#include "../../core/sum.hpp"
#include "../protocol/compute_type.hpp"
#include "select.hpp"

namespace sporos {

namespace detail {

/// The sentences are literals, so there is one for each place that an operand may have.
#define SPOROS_FOR_EACH_PLACE(SENTENCE) \
  SENTENCE(0, "first")                  \
  SENTENCE(1, "second")                 \
  SENTENCE(2, "third")                  \
  SENTENCE(3, "fourth")                 \
  SENTENCE(4, "fifth")                  \
  SENTENCE(5, "sixth")                  \
  SENTENCE(6, "seventh")                \
  SENTENCE(7, "eighth")

/// The compiler prints the operand's format and the loop order with the sentence, as the template arguments
/// `Operand` and `Order`.
template <int Place, class Operand, class Order>
consteval void require_readable() {
  constexpr bool holds = readable<Operand>(Order::names);
#define SPOROS_SENTENCE(NUMBER, WORD)                                                                     \
  static_assert(                                                                                          \
      Place != NUMBER || holds,                                                                           \
      "the " WORD                                                                                         \
      " operand of the right side cannot be read in this loop order: a compressed or singleton level is " \
      "reached only through the levels above it. Give an order that binds its levels from the outermost " \
      "in, with .reorder(...), or convert the operand to a format that stores its modes in the loops' "   \
      "order, e.g. convert<CSC<>>(operand) where it is CSR");
  SPOROS_FOR_EACH_PLACE(SPOROS_SENTENCE)
#undef SPOROS_SENTENCE
}

template <class Order, class... Operands>
consteval void require_all_readable(TypeList<Operands...>) {
  static_assert(sizeof...(Operands) <= 8, "a statement has at most eight operands");
  [&]<int... Place>(std::integer_sequence<int, Place...>) {
    (require_readable<Place, Operands, Order>(), ...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Operands))>{});
}

/// The first operand, from the left, that requires a loop order contradicting the operands before it; -1 if
/// there is none.
template <class... Operands>
constexpr int first_contradiction(TypeList<Operands...> operands) {
  const NameList names = variables(operands);
  OrderRules rules;
  int place = 0;
  int found = -1;
  ((add_operand_rules<Operands>(rules, names),
    found = found < 0 && order_by(rules, names).size < names.size ? place : found, ++place),
   ...);
  return found;
}

template <int Place>
consteval void require_some_order() {
#define SPOROS_SENTENCE(NUMBER, WORD)                                                                     \
  static_assert(                                                                                          \
      Place != NUMBER,                                                                                    \
      "no loop order reads all operands: the " WORD                                                       \
      " operand of the right side stores its modes in an order that contradicts the operands before it. " \
      "Convert it to a format with the other order of modes, e.g. convert<CSC<>>(operand) where it is "   \
      "CSR, or CSF<n, ModeOrder<...>>. (With += and -=, a sparse result is read as the first operand)");
  SPOROS_FOR_EACH_PLACE(SPOROS_SENTENCE)
#undef SPOROS_SENTENCE
}

/// Whether the variables of sums inside the expression come after all others, or the sums are formed first.
template <class S>
consteval bool sums_are_readable() {
  constexpr bool come_last = [] {
    constexpr NameList summed = summed_names<typename S::right_type>();
    for (int at = 0; at < S::order::names.size - summed.size; ++at)
      if (summed.contains(S::order::names[at])) return false;
    return true;
  }();
  if constexpr (come_last)
    return true;
  else
    return is_in<SumsFirst>(CandidatesOf<S>{});
}

/// The first operand, from the left, that stores a variable of an inner sum above another variable, so that
/// the loop over it cannot be the innermost one; -1 if there is none.
template <class S>
consteval int operand_with_summed_variable_above() {
  constexpr NameList summed = summed_names<typename S::right_type>();
  int place = 0, found = -1;
  const auto look = [&]<class A>(TypeList<A>) {
    bool seen = false;
    for (int level = 0; level < A::level_names.size; ++level) {
      const bool is_summed = summed.contains(A::level_names[level]);
      if (seen && !is_summed && !A::format::properties[static_cast<std::size_t>(level)].full && found < 0)
        found = place;
      seen = seen || is_summed;
    }
    ++place;
  };
  [&]<class... A>(TypeList<A...>) { (look(TypeList<A>{}), ...); }(accesses_of<typename S::right_type>{});
  return found;
}

/// Refuses sums inside functions, divisors and products of sums that do not run inside all other loops.
template <class S>
consteval void require_sums_last() {
  constexpr bool last = sums_are_readable<S>();
  constexpr int place = last ? -1 : operand_with_summed_variable_above<S>();
  constexpr bool in_relu = applies<Rectifier, typename S::right_type>();
  constexpr bool in_gelu = !in_relu && applies<GaussianErrorLinearUnit, typename S::right_type>();
  static_assert(last || place >= 0,
                "the sums inside a function, a divisor or a product of sums run inside all other loops: give "
                "an order with their variables last, .reorder(...)");
#define SPOROS_SENTENCE_ABOUT(NUMBER, WORD, HOLDS, WHAT)                                                  \
  static_assert(last || place != NUMBER || !(HOLDS),                                                      \
                WHAT " run inside all other loops, but the " WORD                                         \
                     " operand of the right side stores their variable above another one: convert it to " \
                     "the other order of modes, convert<CSC<>>(operand) where it is CSR and "             \
                     "convert<CSR<>>(operand) where it is CSC, or compute the sums into a tensor by a "   \
                     "statement of their own");
#define SPOROS_SENTENCE(NUMBER, WORD)                                              \
  SPOROS_SENTENCE_ABOUT(NUMBER, WORD, in_relu, "the sums that relu is applied to") \
  SPOROS_SENTENCE_ABOUT(NUMBER, WORD, in_gelu, "the sums that gelu is applied to") \
  SPOROS_SENTENCE_ABOUT(NUMBER, WORD, !in_relu && !in_gelu,                        \
                        "the sums inside a function, a divisor or a product of sums")
  SPOROS_FOR_EACH_PLACE(SPOROS_SENTENCE)
#undef SPOROS_SENTENCE
#undef SPOROS_SENTENCE_ABOUT
}

#undef SPOROS_FOR_EACH_PLACE

/// What stands around a part of an expression.
struct Around {
  bool integers = false;      ///< whether the statement computes in integers, whose division is not linear
  bool function = false;      ///< whether a function, or something else that is not linear, does
  NameList summed;            ///< the variables of explicit sums inside that function
  int linear_from = 1 << 20;  ///< among the operands of a function: the first in which it is linear
};

/// Whether an operand may store a coordinate at several places that are no neighbours, some variables aside.
template <class A>
constexpr bool repeats_apart(const NameList& besides) {
  for (int level = 0; level < A::level_names.size; ++level) {
    const LevelProperties properties = A::format::properties[static_cast<std::size_t>(level)];
    if (!properties.ordered && !properties.unique && !besides.contains(A::level_names[level])) return true;
  }
  return false;
}

/// Whether a function would be applied to the entries that an operand stores for a coordinate one by one,
/// where it is meant to be applied to their sum.
template <class E>
constexpr bool takes_entries_for_sums(Around around) {
  if constexpr (AnyAccess<E>) {
    return around.function && repeats_apart<E>(around.summed);
  } else {
    if constexpr (is_reduction<E>) around.summed.push(E::names);
    if constexpr (requires { decltype(E::function)::linear_from; })
      around.linear_from = decltype(E::function)::linear_from;
    else if constexpr (!is_operands<E>)
      around.linear_from = Around{}.linear_from;
    return fold<E>([&]<class... C>(TypeList<C...>) {
      [[maybe_unused]] int at = 0;
      [[maybe_unused]] const auto takes = [&]<class Child>(TypeList<Child>) {
        Around child = around;
        if constexpr (is_operands<E>) child.linear_from -= at;
        constexpr int operands = count_operands<Child>();
        const bool is_ratio = sizeof...(C) == 2 && E::factors == 1;
        const bool is_linear = E::is_sum || is_reduction<E> || is_operands<Child> ||
                               (at < E::factors && !(is_ratio && around.integers)) ||
                               (is_operands<E> && child.linear_from <= 0);
        at += operands;
        if (!is_linear) {
          child.function = true;
          child.summed = {};
        }
        return takes_entries_for_sums<Child>(child);
      };
      return (takes(TypeList<C>{}) || ...);
    });
  }
}

/// Whether functions in a statement are applied to what its operands are at a coordinate.
template <class S>
consteval bool applies_functions_to_sums() {
  using Right = typename S::right_type;
  constexpr bool repeats = []<class... A>(TypeList<A...>) {
    return (repeats_apart<A>({}) || ...);
  }(accesses_of<Right>{});
  constexpr Around around = [] {
    Around out;
    out.integers = std::is_integral_v<compute_t<typename S::result_type, Right>>;
    return out;
  }();
  if constexpr (!repeats || is_refused<Right>())
    return true;
  else if constexpr (!takes_entries_for_sums<Right>(around))
    return true;
  else
    return is_in<SumsFirst>(CandidatesOf<S>{});  // whose functions take whole sums
}

}  // namespace detail

/// Whether there is a loop order in which all operands of a statement can be read, its functions can be
/// applied to what they are, and no part of it has been refused.
template <class S>
inline constexpr bool is_readable =
    detail::first_contradiction(accesses_of<typename S::right_type>{}) < 0 &&
    !is_refused<typename S::right_type>() && detail::applies_functions_to_sums<S>();

namespace detail {

template <class S>
consteval bool reads_all_operands() {
  return []<class... A>(TypeList<A...>) {
    return (readable<A>(S::order::names) && ...);
  }(accesses_of<typename S::right_type>{});
}

template <class S>
consteval void require_readable_operands() {
  using Right = typename S::right_type;
  static_assert(
      applies_functions_to_sums<S>(),
      "a function, a comparison, a mask or a division of integers takes an operand of which a level is "
      "neither ordered nor unique: the entries of a coordinate stand apart, and it would be applied to each, "
      "not to their sum. Convert the operand, which adds them up: convert<CSR<>>(operand)");
  if constexpr (first_contradiction(accesses_of<Right>{}) < 0 && reads_all_operands<S>())
    require_sums_last<S>();
  constexpr int contradiction = first_contradiction(accesses_of<Right>{});
  if constexpr (contradiction >= 0)
    require_some_order<contradiction>();
  else
    require_all_readable<typename S::order>(accesses_of<Right>{});
}

/// Whether an expression has a value at every coordinate only because numbers are terms of its sums, and not
/// because of what stands next to them.
template <class E>
constexpr bool is_filled_by_numbers() {
  if constexpr (E::is_number || is_reduction<E> || !is_present_everywhere<E>())
    return false;
  else
    return fold<E>([]<class... C>(TypeList<C...>) {
      if constexpr (E::is_sum)
        return ((!is_present_everywhere<C>() || C::is_number || is_filled_by_numbers<C>()) && ...);
      else
        return (is_filled_by_numbers<C>() || ...);
    });
}

template <class Result>
consteval bool has_each_variable_once() {
  for (int at = 0; at < Result::names.size; ++at)
    for (int other = 0; other < at; ++other)
      if (Result::names[at] == Result::names[other]) return false;
  return true;
}

/// Whether the values of a statement's result can hold what it computes.
template <class S>
inline constexpr bool result_holds_values =
    !is_complex_v<std::conditional_t<S::schedule::is_arithmetic,
                                     compute_t<typename S::result_type, typename S::right_type>,
                                     widest_t<typename S::result_type, typename S::right_type>>> ||
    is_complex_v<typename S::result_type::value_type>;

/// Whether a divisor has a value at every coordinate. Explicit sums do: they are formed first, and are zero
/// where nothing is stored.
template <class E>
constexpr bool is_divisor() {
  if constexpr (AnyAccess<E>) {
    for (const LevelProperties& level : E::format::properties)
      if (!level.full) return false;
    return true;
  } else if constexpr (is_reduction<E> || !has_children<E>) {
    return true;
  } else {
    return fold<E>([]<class... C>(TypeList<C...>) {
      const bool of[] = {is_divisor<C>()..., true};
      return sizeof...(C) == 1 ? of[0] : is_present(presence_of<E>(), of[0], of[1]);
    });
  }
}
/// Whether no part of an expression divides by what is stored at some coordinates only.
template <class E>
constexpr bool divides_by_divisors() {
  if constexpr (is_ratio<E>)
    if (!is_divisor<decltype(E::right)>()) return false;
  return fold<E>([]<class... C>(TypeList<C...>) { return (divides_by_divisors<C>() && ... && true); });
}

/// Whether the workspace that the user has chosen gathers over as many variables as the result scatters over.
template <class S>
consteval bool workspace_takes_result() {
  using Policy = typename S::schedule::workspace_policy;
  if constexpr (std::is_same_v<Policy, AutomaticWorkspace> || S::result_type::format::is_dense ||
                is_distributed_statement<S>)
    return true;
  else if constexpr (NestOf<S>::classification.kind == ResultKind::listed)
    return takes_order<Policy, S::result_type::format::levels>();
  else
    return true;
}

template <class S>
consteval void require_valid_result() {
  using Result = typename S::result_type;
  using Right = typename S::right_type;
  static_assert(Result::format::is_dense || !is_filled_by_numbers<Right>(),
                "a number that is added has a value at every coordinate, which a sparse result would store: "
                "add it where a tensor stores a value, A(i, j) + 1.0 * pattern(A(i, j)), or make the result "
                "dense; map(everywhere(f), A(i, j)) stores every coordinate where that is meant");
  static_assert(result_holds_values<S>,
                "the right side is complex and the result is real: make the result a tensor of "
                "Kokkos::complex, or take real(...), imag(...) or abs(...) of the right side");
  if constexpr (is_readable<S> && reads_all_operands<S>())
    static_assert(workspace_takes_result<S>(),
                  "this workspace gathers a result that scatters over its innermost variable only: bind the "
                  "result's other variables in the outermost loops with .reorder(...), or leave "
                  ".workspace(...) out");
  static_assert(divides_by_divisors<Right>(),
                "a sparse operand cannot divide: where it stores nothing it is zero. Divide by dense tensors "
                "and scalars");
  constexpr bool is_written_once = Result::is_part || has_each_variable_once<Result>();
  static_assert(
      is_written_once,
      "an index variable stands twice in the result: only a dense tensor takes values on its diagonal, by =, "
      "+= and -=");
  [&]<class... Accesses>(TypeList<Accesses...> operands) {
    static_assert(!is_distributed_statement<S> || !has_parts(operands),
                  "a part of a tensor stands next to a distributed tensor: compute it into a tensor first");
    static_assert(
        (std::is_same_v<typename Accesses::tensor_type::memory_space,
                        typename Result::tensor_type::memory_space> &&
         ...),
        "an operand lives in other memory than the result: move it there with operand.move_to<Space>()");
  }(accesses_of<Right>{});
}

}  // namespace detail

/// Whether statements of type S can be run: there is a loop order in which their operands can be read, and
/// the result can hold what the right side computes. Nothing more is compiled where they cannot, so that the
/// sentence that says why is the compiler's only error.
template <class S>
inline constexpr bool can_run = [] {
  if constexpr (is_readable<S> && detail::reads_all_operands<S>() && detail::sums_are_readable<S>())
    return detail::result_holds_values<S> && detail::divides_by_divisors<typename S::right_type>() &&
           detail::workspace_takes_result<S>() &&
           (S::result_type::is_part || detail::has_each_variable_once<typename S::result_type>());
  else
    return false;
}();

/// Compiles if statements of type S can be run: every operand can be read in the loop order, and the result
/// can hold what the right side computes.
template <class S>
consteval void require_valid() {
  detail::require_readable_operands<S>();
  detail::require_valid_result<S>();
}

}  // namespace sporos
