// SPDX-License-Identifier: Apache-2.0
/// @file localise.hpp
/// Converts a statement on distributed tensors to the same statement on one rank's tensors, and finds which
/// of its variables can be divided among ranks.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/expression.hpp"
#include "../core/statement.hpp"
#include "../core/sum.hpp"
#include "../formats/walk.hpp"
#include "coordinate_arrays.hpp"
#include "numbering.hpp"
#include "tensor.hpp"

namespace sporos::detail {

/// The type of what one rank has of a tensor; a tensor that is not distributed is the same on all ranks.
template <class T>
struct LocalOf {
  using type = T;
  static const T& local(const T& tensor) { return tensor; }
  static Distribution<T::order> distribution(const T& tensor, const Communicator& ranks) {
    return {Unchecked{}, ranks, tensor.extents()};
  }
};
template <class T>
struct LocalOf<Distributed<T>> {
  using type = T;
  static const T& local(const Distributed<T>& tensor) { return tensor.local(); }
  static const Distribution<T::order>& distribution(const Distributed<T>& tensor, const Communicator&) {
    return tensor.distribution();
  }
};

template <class A>
decltype(auto) distribution_of(const A& access, const Communicator& ranks) {
  return LocalOf<typename A::tensor_type>::distribution(access.tensor(), ranks);
}

/// The same access, to another tensor.
template <class A, class To>
struct AccessTo;
template <class From, char... Names, class To>
struct AccessTo<Access<From, Names...>, To> {
  using type = Access<To, Names...>;
};
/// The access to a rank's local part of the tensor.
template <class A>
using local_access = typename AccessTo<A, typename LocalOf<typename A::tensor_type>::type>::type;

template <class E>
inline constexpr int count_accesses = accesses_of<E>::size;

/// The expression in which each access, counted from `At` on, is replaced by an access to a tensor of a
/// tuple.
template <int At, class E, class Locals>
auto localised(const E& e, const Locals& locals) {
  if constexpr (AnyAccess<E>)
    return local_access<E>(std::get<static_cast<std::size_t>(At)>(locals));
  else if constexpr (has_one_child<E>)
    return e.with(localised<At>(e.operand, locals));
  else if constexpr (has_two_children<E>)
    return e.with(localised<At>(e.left, locals),
                  localised<At + count_accesses<decltype(E::left)>>(e.right, locals));
  else
    return e;
}

/// The statement with a local result and local operands. Requests made of the distributed statement, such as
/// which candidate runs it and which ranks compute what, do not apply to the local one.
template <class S, class Result, class Locals>
auto local_statement(const S& statement, const Result& result, const Locals& locals, bool accumulates) {
  using Given = typename S::schedule;
  static_assert(std::tuple_size_v<typename Given::loops::operands> == 0,
                "statements on distributed tensors do not take loops over positions: leave pos(...) out");
  const auto right = localised<0>(statement.right(), locals);
  using Right = std::remove_const_t<decltype(right)>;
  using To = local_access<typename S::result_type>;
  const auto make = [&](const auto& options) {
    using Options = std::remove_cvref_t<decltype(options)>;
    return Statement<To, Right, typename S::order, Options>(To(result), right, options, accumulates,
                                                            statement.resources());
  };
  const auto without_owners = [&] {
    if constexpr (Given::owners::are_given)
      return statement.options().with(option::OnOwnersOf<void>{});
    else
      return statement.options();
  }();
  if constexpr (Given::run_by::choice == option::Choice::one)
    return make(without_owners.with(option::RunBy<option::Choice::any>{}));
  else
    return make(without_owners);
}

/// Whether a variable occurs in an expression.
template <class E>
constexpr bool has_variable(char variable) {
  return accesses_with<E>(variable) > 0;
}

/// Whether a sum over the variable can be split into sums over parts of its coordinates: if it occurs in
/// every term, and in no explicit sum inside a term.
template <class E>
constexpr bool is_sum_over(char variable) {
  if constexpr (is_reduction<E>) {
    return !E::names.contains(variable) && has_variable<E>(variable);
  } else if constexpr (!has_children<E>) {
    if constexpr (requires { E::names; })
      return E::names.contains(variable);
    else
      return false;
  } else {
    constexpr NameList summed = summed_names<E>();
    if (summed.contains(variable)) return false;
    return fold<E>([&]<class... C>(TypeList<C...>) {
      if constexpr (E::is_sum) {
        return (is_sum_over<C>(variable) && ...);
      } else if constexpr (E::factors == 0) {
        return has_variable<E>(variable);
      } else {
        [[maybe_unused]] int at = 0;
        return ((at++ < E::factors && is_sum_over<C>(variable)) || ...);
      }
    });
  }
}

/// Whether a part of a statement has the same results, bit by bit, as the whole: if nothing is added up.
/// Otherwise, the order in which terms are added depends on their positions, because of the threads among
/// which loops are shared by their work and the lanes of a vector.
template <class S>
constexpr bool adds_nothing() {
  for (int loop = 0; loop < S::order::size; ++loop)
    if (!S::result_type::names.contains(S::order::names[loop])) return false;
  return true;
}

/// Whether a rank may compute a statement for only some of the coordinates of a variable: those of the
/// result, or those of a sum whose parts are then added up.
template <class S>
constexpr bool may_divide(char variable) {
  if (S::schedule::is_deterministic && !adds_nothing<S>()) return false;
  if (S::result_type::names.contains(variable)) return true;
  return S::schedule::is_arithmetic && is_sum_over<typename S::right_type>(variable);
}

/// Whether the values of an access are present only at stored coordinates of a variable.
template <class A>
constexpr bool stores_coordinates_of(char variable) {
  return A::names.contains(variable) && !A::format::is_dense;
}

/// Whether an expression is present only at known coordinates of a variable, where known[at] says whether the
/// rank has what it needs of access number `At` + at.
template <int At, class E, class Known>
bool is_bounded(char variable, const Known& known) {
  if constexpr (AnyAccess<E>) {
    return stores_coordinates_of<E>(variable) && known[static_cast<std::size_t>(At)];
  } else if constexpr (is_reduction<E> || E::factors == 1) {
    return fold<E>([&]<class First, class... C>(TypeList<First, C...>) {
      return is_bounded<At, First>(variable, known);
    });
  } else if constexpr (has_two_children<E> && (E::is_sum || E::factors == 2)) {
    constexpr int next = At + count_accesses<decltype(E::left)>;
    const bool left = is_bounded<At, decltype(E::left)>(variable, known);
    const bool right = is_bounded<next, decltype(E::right)>(variable, known);
    return E::is_sum ? left && right : left || right;
  } else {
    return false;
  }
}

/// The union of two ascending lists of coordinates.
inline std::vector<std::int64_t> united(const std::vector<std::int64_t>& left,
                                        const std::vector<std::int64_t>& right) {
  std::vector<std::int64_t> out;
  out.reserve(left.size() + right.size());
  std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(out));
  return out;
}

/// The coordinates of one mode that a tensor stores, ascending.
template <class T>
std::vector<std::int64_t> stored_coordinates(const T& tensor, int mode) {
  using F = typename T::format_type;
  CoordinateSet found(tensor.extent(mode), tensor.nnz());
  if (has_coordinate_array<F>(mode)) {
    for_each_coordinate_array<F>(tensor.levels(), mode, [&](const auto& array) {
      const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
      for (std::size_t q = 0; q < here.extent(0); ++q) found.add(static_cast<std::int64_t>(here(q)));
    });
  } else {
    const auto here = tensor.template move_to<HostSpaceOf<typename T::space_type>>();
    Walk(here).visit(0, here.nnz(), [&](const auto& coordinate, const auto&) {
      found.add(coordinate[static_cast<std::size_t>(mode)]);
    });
  }
  return found.take();
}

/// The coordinates of a variable at which an expression can be present, ascending. Requires is_bounded.
/// @param known  as for is_bounded
template <int At, class E, class Known>
std::vector<std::int64_t> bounded_coordinates(const E& e, char variable, const Known& known) {
  if constexpr (AnyAccess<E>) {
    using T = typename E::tensor_type;
    return stored_coordinates(LocalOf<T>::local(e.tensor()), E::names.find(variable));
  } else if constexpr (has_one_child<E>) {
    return bounded_coordinates<At>(e.operand, variable, known);
  } else if constexpr (has_two_children<E>) {
    constexpr int next = At + count_accesses<decltype(E::left)>;
    const bool has_left = is_bounded<At, decltype(E::left)>(variable, known);
    const bool has_right = E::factors != 1 && is_bounded<next, decltype(E::right)>(variable, known);
    std::vector<std::int64_t> left, right, out;
    if (has_left) left = bounded_coordinates<At>(e.left, variable, known);
    if (has_right) right = bounded_coordinates<next>(e.right, variable, known);
    if (!has_right) return left;
    if (!has_left) return right;
    if (E::is_sum) return united(left, right);
    std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(out));
    return out;
  } else {
    return {};
  }
}

}  // namespace sporos::detail
