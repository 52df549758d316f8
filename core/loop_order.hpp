// SPDX-License-Identifier: Apache-2.0
/// @file loop_order.hpp
/// The loop orders in which a statement can run, and the one that is chosen, all at compile time.
///
/// A level that is not full can be reached only through the levels above it, so its variable comes after
/// theirs. A full level prefers this order but can be located in any other. Among the orders that remain,
/// variables that a sparse operand iterates come first and the others run inside them; then the result's own
/// order decides. On a GPU, variables of the result that no operand iterates come right after the outermost
/// loop: neighbouring threads share their coordinates, and each thread sums over the inner loops in a
/// register.
#pragma once

#include <cstddef>
#include <utility>

#include "expression.hpp"
#include "format.hpp"
#include "index.hpp"
#include "loops.hpp"
#include "space.hpp"
#include "sum.hpp"

namespace sporos {

namespace detail {

constexpr bool same_names(const NameList& a, const NameList& b) {
  if (a.size != b.size) return false;
  for (int at = 0; at < b.size; ++at)
    if (!a.contains(b[at])) return false;
  return true;
}

template <class... Accesses>
constexpr NameList variables(TypeList<Accesses...>) {
  NameList out;
  [[maybe_unused]] const auto add = [&](const NameList& names) {
    for (int at = 0; at < names.size; ++at) out.push_new(names[at]);
  };
  (add(Accesses::names), ...);
  return out;
}

/// What operands require of the loop order: before[a][b] if variable a must be bound before b, prefers[a][b]
/// if it should be.
struct OrderRules {
  bool before[NameList::capacity][NameList::capacity] = {};
  bool prefers[NameList::capacity][NameList::capacity] = {};
  bool sparse[NameList::capacity] = {};
  bool last[NameList::capacity] = {};    ///< summed over inside the expression: bound after the others
  bool second[NameList::capacity] = {};  ///< bound right after the outermost loop
};

template <class A>
constexpr void add_operand_rules(OrderRules& rules, const NameList& variables) {
  constexpr NameList levels = A::level_names;
  for (int k = 0; k < levels.size; ++k) {
    if (levels[k] == no_variable) continue;
    const int below = variables.find(levels[k]);
    const bool full = A::format::properties[static_cast<std::size_t>(k)].full;
    for (int above = 0; above < k; ++above) {
      const int a = variables.find(levels[above]);
      if (a == below || levels[above] == no_variable) continue;
      (full ? rules.prefers : rules.before)[a][below] = true;
    }
    if (!full)
      for (int above = 0; above <= k; ++above)
        if (levels[above] != no_variable) rules.sparse[variables.find(levels[above])] = true;
  }
}

template <class... Operands>
constexpr OrderRules rules_of(TypeList<Operands...>, const NameList& variables) {
  OrderRules rules;
  (add_operand_rules<Operands>(rules, variables), ...);
  return rules;
}

/// A greedy topological order; it is shorter than `variables` if the operands contradict each other.
constexpr NameList order_by(const OrderRules& rules, const NameList& variables) {
  NameList out;
  while (out.size < variables.size) {
    int best = -1;
    int best_rank = 0;
    for (int v = 0; v < variables.size; ++v) {
      if (out.contains(variables[v])) continue;
      bool free = true;
      bool preferred = true;
      for (int u = 0; u < variables.size; ++u) {
        if (out.contains(variables[u])) continue;
        free = free && !rules.before[u][v];
        preferred = preferred && !rules.prefers[u][v];
      }
      if (!free) continue;
      const bool is_second = rules.second[v] && out.size > 0;
      const int rank =
          is_second ? -1 : (rules.last[v] ? 4 : 0) + (rules.sparse[v] ? 0 : 2) + (preferred ? 0 : 1);
      if (best < 0 || rank < best_rank) {
        best = v;
        best_rank = rank;
      }
    }
    if (best < 0) break;
    out.push(variables[best]);
  }
  return out;
}

/// Whether every operand that uses the variable stores it in full levels, so that none has to be traversed.
template <class... Operands>
constexpr bool is_full_in_all(char variable, TypeList<Operands...>) {
  [[maybe_unused]] const auto full_in = [&]<class A>(const A*) {
    for (int k = 0; k < A::level_names.size; ++k)
      if (A::level_names[k] == variable && !A::format::properties[static_cast<std::size_t>(k)].full)
        return false;
    return true;
  };
  return (full_in(static_cast<const Operands*>(nullptr)) && ...);
}

/// Whether an access lacks the variable, or has it only above its innermost level, so that elements along it
/// are not contiguous.
template <class A>
constexpr bool is_strided_in(char variable) {
  return A::level_names.size == 0 || A::level_names[A::level_names.size - 1] != variable;
}
template <class... Operands>
constexpr bool is_strided_in_all([[maybe_unused]] char variable, TypeList<Operands...>) {
  return (is_strided_in<Operands>(variable) && ...);
}

/// Whether an operand can be read when loops run in `order`.
template <class A>
constexpr bool readable(const NameList& order) {
  constexpr NameList levels = A::level_names;
  for (int k = 0; k < levels.size; ++k) {
    if (A::format::properties[static_cast<std::size_t>(k)].full || levels[k] == no_variable) continue;
    for (int above = 0; above < k; ++above)
      if (levels[above] != no_variable && order.find(levels[above]) > order.find(levels[k])) return false;
  }
  return true;
}

}  // namespace detail

/// The variables of a statement: the result's in level order, then the right side's in order of appearance.
template <class Result, class Right>
consteval NameList statement_variables() {
  NameList out;
  for (int at = 0; at < Result::level_names.size; ++at) out.push_new(Result::level_names[at]);
  const NameList right = detail::variables(accesses_of<Right>{});
  for (int at = 0; at < right.size; ++at) out.push_new(right[at]);
  return out;
}

namespace detail {

template <class Result, class Right>
consteval NameList derived_names() {
  const NameList variables = statement_variables<Result, Right>();
  OrderRules rules = rules_of(accesses_of<Right>{}, variables);
  const NameList summed = summed_names<Right>();
  for (int at = 0; at < summed.size; ++at) rules.last[variables.find(summed[at])] = true;
  constexpr bool on_host = HostSpace<typename Result::tensor_type::space_type>;
  for (int at = 0; at < Result::level_names.size; ++at) {
    const char name = Result::level_names[at];
    if (name == no_variable) continue;
    rules.second[variables.find(name)] =
        is_full_in_all(name, accesses_of<Right>{}) &&
        (!on_host || (Result::format::is_dense && is_strided_in<Result>(name) &&
                      is_strided_in_all(name, accesses_of<Right>{})));
  }
  const NameList order = order_by(rules, variables);
  return order.size == variables.size ? order : NameList{};
}

template <class Result, class Right, class Places>
struct DerivedOrder;
template <class Result, class Right, int... At>
struct DerivedOrder<Result, Right, std::integer_sequence<int, At...>> {
  using type = loops_over<derived_names<Result, Right>()[At]...>;
};

}  // namespace detail

/// The loop order chosen for a statement; empty if its operands contradict each other.
template <class Result, class Right>
using derived_order = typename detail::DerivedOrder<
    Result, Right, std::make_integer_sequence<int, detail::derived_names<Result, Right>().size>>::type;

}  // namespace sporos
