// SPDX-License-Identifier: Apache-2.0
/// @file factors.hpp
/// A right side that is a product of accesses and nothing else, as specialised kernels look for it.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/statement.hpp"

namespace sporos::detail {

template <class A>
inline constexpr bool is_access = false;
template <class TensorType, char... Names>
inline constexpr bool is_access<Access<TensorType, Names...>> = true;

/// The accesses of an expression that is a product of accesses and nothing else, from the left; void where it
/// is something else.
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

/// Calls visit(std::integral_constant<int, place>, access) for every access.
template <class E, class Visit>
void for_each_factor(const E& e, const Visit& visit) {
  const auto walk = [&]<int First>(const auto& self, const auto& node, std::integral_constant<int, First>) {
    using Node = std::remove_cvref_t<decltype(node)>;
    if constexpr (is_access<Node>) {
      visit(std::integral_constant<int, First>{}, node);
    } else {
      constexpr int left = ListOf<accesses_of<std::remove_cvref_t<decltype(node.left)>>>::size;
      self(self, node.left, std::integral_constant<int, First>{});
      self(self, node.right, std::integral_constant<int, First + left>{});
    }
  };
  walk(walk, e, std::integral_constant<int, 0>{});
}

/// Access number K of a product.
template <int K, class E>
const auto& factor(const E& e) {
  using Factor = typename ListOf<factors_of<E>>::template at<K>;
  const Factor* found = nullptr;
  for_each_factor(e, [&](auto place, const auto& access) {
    if constexpr (decltype(place)::value == K) found = &access;
  });
  return *found;
}

/// Where in a product of accesses those stand that a kernel takes as its first, its second and so on:
/// Kernel::fits<Result, First, Second, ...>() says whether it takes them. -1 where it takes them in no order.
template <class Kernel, class S, int Count>
constexpr std::array<int, static_cast<std::size_t>(Count)> places_of_factors() {
  static_assert(Count == 2 || Count == 3);
  using Factors = ListOf<factors_of<typename S::right_type>>;
  std::array<int, static_cast<std::size_t>(Count)> out{};
  out.fill(-1);
  if constexpr (Factors::size == Count) {
    const auto look = [&]<int... K>(std::integer_sequence<int, K...>) {
      if (Kernel::template fits<typename S::result_type, typename Factors::template at<K>...>()) out = {K...};
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
  return out;
}

/// Whether an access of the right side reads the values that the result stands in.
template <class S>
bool reads_result(const S& statement) {
  bool found = false;
  const void* const mine = statement.result().tensor().values().data();
  for_each_access(statement.right(), [&](const auto& access) {
    found = found || static_cast<const void*>(access.tensor().values().data()) == mine;
  });
  return found;
}

}  // namespace sporos::detail
