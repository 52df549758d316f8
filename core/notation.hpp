// SPDX-License-Identifier: Apache-2.0
/// @file notation.hpp
/// Writes expressions as index notation.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "error.hpp"
#include "tensor.hpp"

namespace sporos {

/// How tightly the parts of a node's text hold together.
enum class Binding { sum, product, whole };

/// The text of a node.
struct Phrase {
  std::string text;
  Binding binding;

  /// The text as a part of another, in parentheses where it binds less than that takes.
  std::string within(Binding least) const { return binding < least ? "(" + text + ")" : text; }
};

/// Gives tensors letters in the order in which they come, the same tensor the same letter.
class TensorLetters {
 public:
  template <AnyTensor T>
  char of(const T& tensor) {
    const auto found = std::find(seen_.begin(), seen_.end(), tensor.identity());
    const auto at = found - seen_.begin();
    if (found == seen_.end()) seen_.push_back(tensor.identity());
    return static_cast<char>('A' + at);
  }

 private:
  std::vector<const void*> seen_;
};

/// Writes expressions as index notation, tensors as letters: "B(i, k) * C(k, j)". A node that has no notation
/// of its own is written as a function of its children: "f(B(i, k), C(k, j))".
class Notation {
 public:
  explicit Notation(TensorLetters& letters) : letters_(letters) {}

  template <class E>
  std::string of(const E& e) {
    if constexpr (requires { e.tensor(); }) {
      return text(letters_.of(e.tensor()), '(', E::names.str(), ')');
    } else if constexpr (requires { e.value; }) {
      if constexpr (std::is_arithmetic_v<decltype(e.value)>)
        return text(e.value);
      else
        return "scalar";
    } else {
      return e.children([&]<class... C>(const C&... child) {
        const Phrase phrases[] = {Phrase{of(child), C::binding}...};
        if constexpr (requires { E::notation(phrases); }) {
          return E::notation(phrases);
        } else {
          std::string arguments;
          for (const Phrase& phrase : phrases) arguments += (arguments.empty() ? "" : ", ") + phrase.text;
          return "f(" + arguments + ")";
        }
      });
    }
  }

 private:
  TensorLetters& letters_;
};

}  // namespace sporos
