// SPDX-License-Identifier: Apache-2.0
/// @file index.hpp
/// Index variables, named at compile time, and ordered lists of them.
#pragma once

#include <string>

namespace sporos {

/// An index variable of index notation: `Index<'i'> i;`. Two variables with the same letter are the same.
template <char Name>
struct Index {
  static constexpr char name = Name;
};

/// Takes the place of a variable where a mode is accessed at a single coordinate: A(i, 3).
inline constexpr char no_variable = '#';

/// An ordered list of index variables as a compile-time value: a loop order, the variables of an access.
struct NameList {
  static constexpr int capacity = 16;
  // Unused places hold blanks, because compilers print the list as a string and some stop at a NUL.
  char names[capacity] = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '};
  int size = 0;

  constexpr NameList() = default;
  template <class... Chars>
  static constexpr NameList of(Chars... chars) {
    NameList out;
    (out.push(chars), ...);
    return out;
  }

  constexpr char operator[](int at) const { return names[at]; }
  constexpr void push(char name) { names[size++] = name; }
  constexpr void push(const NameList& others) {
    for (int at = 0; at < others.size; ++at) push(others[at]);
  }
  constexpr void push_new(char name) {
    if (name != no_variable && !contains(name)) push(name);
  }
  constexpr bool contains(char name) const { return find(name) < size; }
  /// The place of `name` in the list, or `size` if it is not there.
  constexpr int find(char name) const {
    int at = 0;
    while (at < size && names[at] != name) ++at;
    return at;
  }
  constexpr bool operator==(const NameList&) const = default;

  /// "i, k, j"
  std::string str() const {
    std::string out;
    for (int at = 0; at < size; ++at) {
      if (at) out += ", ";
      out += names[at];
    }
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
