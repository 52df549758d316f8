// SPDX-License-Identifier: Apache-2.0
/// @file domain.hpp
/// Says in letters what a loop runs through: "(B and C)" if it intersects two sparse operands, "(B and not
/// M)" if it leaves out what another one stores.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../../core/expression.hpp"

namespace sporos::detail {

/// What a loop runs through: letters of the operands that are walked, intersected ("and") or merged ("or");
/// `everything` for the whole extent; `absent` if the variable does not occur in the expression.
struct Domain {
  static constexpr std::string_view everything = "";
  static constexpr std::string_view absent = "-";

  char variable;
  bool reduced;  ///< a reduction runs over each term of a sum separately: terms without the variable drop out
  TensorLetters& letters;

  template <Expression E>
  std::string of(const E& e) {
    if constexpr (AnyAccess<E>) {
      if (!E::names.contains(variable)) return std::string(absent);
      for (int k = 0; k < E::level_names.size; ++k)
        if (E::level_names[k] == variable && !E::format::properties[static_cast<std::size_t>(k)].full)
          return std::string(1, letters.of(e.tensor()));
      return std::string(everything);
    } else if constexpr (!has_children<E> && requires { E::names; }) {
      return std::string(E::names.contains(variable) ? everything : absent);
    } else if constexpr (has_one_child<E>) {
      return of(e.operand);
    } else if constexpr (has_two_children<E>) {
      const std::string left = of(e.left);
      const std::string right = of(e.right);
      if constexpr (detail::drops_values<E>) return excluding(e.right, right);
      switch (presence_of<E>()) {
        case Presence::all:
          return both(left, right);
        case Presence::any:
          return either(left, right);
        case Presence::first:
          return guided(left, right);
        case Presence::second:
          return guided(right, left);
      }
      return std::string(absent);
    } else {
      return std::string(absent);
    }
  }

 private:
  static std::string both(const std::string& left, const std::string& right) {
    if (left == absent || (left == everything && right != absent)) return right;
    if (left.starts_with("not ") && right != everything && right != absent) return both(right, left);
    if (right == absent || right == everything) return left;
    return "(" + left + " and " + right + ")";
  }
  /// A complement leaves coordinates out once the last level of its operand is reached.
  template <class E>
  std::string excluding(const E&, const std::string& walked) const {
    if constexpr (AnyAccess<E>)
      if (walked != absent && walked != everything && E::level_names[E::level_names.size - 1] == variable)
        return "not " + walked;
    return std::string(walked == absent ? absent : everything);
  }
  static std::string guided(const std::string& guide, const std::string& other) {
    return guide == absent && other != absent ? std::string(everything) : guide;
  }
  std::string either(const std::string& left, const std::string& right) const {
    if (reduced && left == absent) return right;
    if (reduced && right == absent) return left;
    if (left == absent || right == absent || left == everything || right == everything)
      return std::string(everything);
    return "(" + left + " or " + right + ")";
  }
};

}  // namespace sporos::detail
