// SPDX-License-Identifier: Apache-2.0
/// @file factors.hpp
/// Right sides that are products of accesses and nothing else: their factors, and the role that each factor
/// has in a pattern (`kernels/<operation>/pattern.hpp`).
///
/// A pattern is a formula, written once for the host and for GPUs. It says which variables the factors bind,
/// and which factors are sparse and which are dense. Which formats count as sparse or dense depends on the
/// kernel and is given by the template argument `Operands`, a struct of constants over accesses:
///
///     Operands::admits<S>()          whether the kernel considers statements of type S at all
///     Operands::is_csr<A>            a sparse matrix stored by rows
///     Operands::is_dense_vector<A>   and so on, as the pattern requires
///
/// A pattern says whether a statement `matches`, and gives access to its factors by name.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/statement.hpp"

namespace sporos {

/// The accesses of an expression that is a product of accesses and nothing else, from left to right;
/// otherwise void.
template <class E>
struct Factors {
  using type = void;
};
template <class TensorType, char... Names>
struct Factors<Access<TensorType, Names...>> {
  using type = TypeList<Access<TensorType, Names...>>;
};
template <class L, class R>
  requires(!std::is_void_v<typename Factors<L>::type> && !std::is_void_v<typename Factors<R>::type>)
struct Factors<Product<L, R>> {
  using type = accesses_of<Product<L, R>>;
};
template <class E>
using factors_of = typename Factors<E>::type;

template <class List>
struct ListOf {
  static constexpr int size = 0;
};
template <class... Accesses>
struct ListOf<TypeList<Accesses...>> {
  static constexpr int size = static_cast<int>(sizeof...(Accesses));
  template <int K>
  using at = std::tuple_element_t<static_cast<std::size_t>(K), std::tuple<Accesses...>>;
};

/// The factors of a statement's right side in their order; none if it is not a product of accesses.
template <class S>
using factor_list = ListOf<factors_of<typename S::right_type>>;

/// Calls visit(std::integral_constant<int, place>, access) for every access.
template <class E, class Visit>
void for_each_factor(const E& e, const Visit& visit) {
  const auto walk = [&]<int First>(const auto& self, const auto& node, std::integral_constant<int, First>) {
    using Node = std::remove_cvref_t<decltype(node)>;
    if constexpr (AnyAccess<Node>) {
      visit(std::integral_constant<int, First>{}, node);
    } else {
      constexpr int left = ListOf<accesses_of<std::remove_cvref_t<decltype(node.left)>>>::size;
      self(self, node.left, std::integral_constant<int, First>{});
      self(self, node.right, std::integral_constant<int, First + left>{});
    }
  };
  walk(walk, e, std::integral_constant<int, 0>{});
}

/// The K-th access of a product.
template <int K, class E>
const auto& factor(const E& e) {
  using Factor = typename ListOf<factors_of<E>>::template at<K>;
  const Factor* found = nullptr;
  for_each_factor(e, [&](auto place, const auto& access) {
    if constexpr (decltype(place)::value == K) found = &access;
  });
  return *found;
}

/// Whether accesses bind variables as in a formula, given as one string per access: `binds<Y, A, X>("i",
/// "ij", "j")` holds for y(i) = A(i, j) * x(j), whatever the names of the variables. Different letters stand
/// for different variables.
template <class... Accesses, class... Strings>
constexpr bool binds(const Strings&... formula) {
  static_assert(sizeof...(Accesses) == sizeof...(Strings), "a formula has one string per access");
  NameList letters;    // letters of the formula
  NameList variables;  // the variables that they stand for
  const auto agrees = [&](const NameList& names, std::string_view access) {
    if (names.size != static_cast<int>(access.size())) return false;
    for (int at = 0; at < names.size; ++at) {
      const char letter = access[static_cast<std::size_t>(at)];
      if (letters.find(letter) != variables.find(names[at])) return false;
      letters.push_new(letter);
      variables.push_new(names[at]);
    }
    return true;
  };
  return (agrees(Accesses::names, formula) && ...);
}

/// The places, in a product, of the factors of a pattern, in the pattern's own order: Pattern::fits<Result,
/// First, Second, ...>() says whether it accepts accesses as its first factor, its second and so on. All are
/// -1 if there are more or fewer factors, if Operands::admits<S>(), which is asked next, is false, or if the
/// pattern accepts the accesses in no order.
/// @tparam Factors  the product's factors
template <class Pattern, class Operands, class S, int Count, class Factors = factor_list<S>>
constexpr std::array<int, static_cast<std::size_t>(Count)> places_of_factors() {
  static_assert(Count == 2 || Count == 3);
  std::array<int, static_cast<std::size_t>(Count)> out{};
  out.fill(-1);
  if constexpr (Factors::size == Count) {
    if constexpr (Operands::template admits<S>()) {
      const auto look = [&]<int... K>(std::integer_sequence<int, K...>) {
        if (Pattern::template fits<typename S::result_type, typename Factors::template at<K>...>())
          out = {K...};
      };
      if constexpr (Count == 2) {
        look(std::integer_sequence<int, 0, 1>{});
        look(std::integer_sequence<int, 1, 0>{});
      } else {
        look(std::integer_sequence<int, 0, 1, 2>{});
        look(std::integer_sequence<int, 0, 2, 1>{});
        look(std::integer_sequence<int, 1, 0, 2>{});
        look(std::integer_sequence<int, 1, 2, 0>{});
        look(std::integer_sequence<int, 2, 0, 1>{});
        look(std::integer_sequence<int, 2, 1, 0>{});
      }
    }
  }
  return out;
}

}  // namespace sporos
