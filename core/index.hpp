// SPDX-License-Identifier: Apache-2.0
/// @file index.hpp
/// Index variables, named at compile time, and the lists of them that loop orders are.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace sporos {

/// An index variable of index notation: `Index<'i'> i;`. Two with the same letter are the same variable.
template <char Name>
struct Index {
  static constexpr char name = Name;
};

/// A compile-time list of index variables, outermost loop first.
template <char... Names>
struct Indices {
  static constexpr int size = static_cast<int>(sizeof...(Names));
  static constexpr std::array<char, sizeof...(Names)> names{Names...};

  static constexpr bool contains(char name) { return ((Names == name) || ...); }

  /// Where `name` stands in the list; its size where it does not.
  static constexpr int find(char name) {
    for (int at = 0; at < size; ++at)
      if (names[static_cast<std::size_t>(at)] == name) return at;
    return size;
  }

  /// "i, k, j"
  static std::string str() {
    std::string out;
    ((out += out.empty() ? std::string(1, Names) : std::string(", ") + Names), ...);
    return out;
  }
};

/// Ready-made variables: `using namespace sporos::indices;` brings i, j, k, l, m, n, p, q, r, s.
namespace indices {
inline constexpr Index<'i'> i{};
inline constexpr Index<'j'> j{};
inline constexpr Index<'k'> k{};
inline constexpr Index<'l'> l{};
inline constexpr Index<'m'> m{};
inline constexpr Index<'n'> n{};
inline constexpr Index<'p'> p{};
inline constexpr Index<'q'> q{};
inline constexpr Index<'r'> r{};
inline constexpr Index<'s'> s{};
}  // namespace indices

}  // namespace sporos
