// SPDX-License-Identifier: Apache-2.0
/// @file notation.hpp
/// Writes expressions as index notation.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "error.hpp"
#include "part.hpp"
#include "tensor.hpp"
#include "tree.hpp"

namespace sporos {

/// How tightly the parts of a text bind, loosest first.
enum class Binding { condition, sum, product, whole };

/// The text of a node, and how tightly it binds.
struct Phrase {
  std::string text;
  Binding binding = Binding::whole;

  /// The text as a part of another, in parentheses where it binds less tightly than `least`.
  std::string within(Binding least) const { return binding < least ? "(" + text + ")" : text; }
};

/// Gives each tensor a letter, in the order in which they are first seen.
class TensorLetters {
 public:
  template <class T>
    requires(AnyTensor<T> || is_part_v<T> || is_distributed_v<T>)
  char of(const T& tensor) {
    return of(tensor.identity());
  }
  /// @param identity  the tensor's identity()
  char of(const void* identity) {
    const auto found = std::find(seen_.begin(), seen_.end(), identity);
    const auto at = found - seen_.begin();
    if (found == seen_.end()) seen_.push_back(identity);
    return static_cast<char>('A' + at);
  }

 private:
  std::vector<const void*> seen_;
};

/// Writes expressions as index notation, with a letter for each tensor: "B(i, k) * C(k, j)". A node defines
/// its text by a function `notation` of its children's phrases; a node without one is written as a function
/// of its children: "f(B(i, k), C(k, j))".
class Notation {
 public:
  explicit Notation(TensorLetters& letters) : letters_(letters) {}

  template <class E>
  std::string of(const E& e) {
    return phrase(e).text;
  }

 private:
  template <class E>
  Phrase phrase(const E& e) {
    if constexpr (requires { e.tensor(); }) {
      return {text(letters_.of(e.tensor()), '(', detail::text_of_modes(e.tensor(), E::names), ')')};
    } else if constexpr (requires { e.value; }) {
      if constexpr (std::is_arithmetic_v<decltype(e.value)>)
        return {text(e.value)};
      else
        return {"scalar"};
    } else if constexpr (!has_children<E>) {
      return {E::notation()};
    } else {
      Phrase children[2];
      if constexpr (has_one_child<E>) {
        children[0] = phrase(e.operand);
      } else {
        children[0] = phrase(e.left);
        children[1] = phrase(e.right);
      }
      if constexpr (requires { E::notation(children); })
        return {E::notation(children), E::binding};
      else
        return {"f(" + children[0].text + (has_two_children<E> ? ", " + children[1].text : "") + ")"};
    }
  }

  TensorLetters& letters_;
};

}  // namespace sporos
