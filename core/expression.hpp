// SPDX-License-Identifier: Apache-2.0
/// @file expression.hpp
/// Index notation as expression types: access, +, -, *, scalars.
///
/// Expression templates are usually trouble: temporaries dangle, `auto` keeps references alive too short. Not
/// here: a node holds tensors as handles (a shared pointer) and scalars by value, so an expression may be
/// kept, copied and run later.
#pragma once

#include <algorithm>
#include <complex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "index.hpp"
#include "tensor.hpp"
#include "value.hpp"

namespace sporos {

struct ExpressionBase {};

template <class T>
auto as_expression(const T& operand);

/// A node of index notation.
template <class E>
concept Expression = std::is_base_of_v<ExpressionBase, std::remove_cvref_t<E>>;

template <class T>
concept ScalarValue = TensorValue<std::remove_cvref_t<T>>;

/// `B(i, k)`: the value of a tensor at index variables, one a mode. Assigning to it runs a statement.
template <class TensorType, char... Names>
class Access : public ExpressionBase {
 public:
  using tensor_type = TensorType;
  using format = typename TensorType::format_type;
  using value_type = typename TensorType::value_type;

  /// The variable of each mode.
  static constexpr NameList names = NameList::of(Names...);
  /// The variable of each level, outermost first: a blocked mode stands twice.
  static constexpr NameList level_names = [] {
    NameList out;
    for (int mode : format::mode_of_level) out.push(names[mode]);
    return out;
  }();

  explicit Access(TensorType t) : tensor_(std::move(t)) {}
  Access(const Access&) = default;

  const TensorType& tensor() const { return tensor_; }

  /// Runs `*this = expression` with the default schedule. Like every statement it writes the tensor that the
  /// access refers to, so it works on a `const` handle.
  /// @throws ShapeError where an index variable would run over two extents
  template <class E>
    requires Expression<E> || ScalarValue<E>
  const Access& operator=(const E& expression) const {
    run(assign(*this, expression));
    return *this;
  }
  const Access& operator=(const Access& other) const {
    run(assign(*this, other));
    return *this;
  }

  /// Runs `*this = *this + expression`; a dense result is added to in place.
  template <class E>
    requires Expression<E> || ScalarValue<E>
  const Access& operator+=(const E& expression) const {
    if constexpr (format::is_dense)
      run(assign(*this, expression).accumulate());
    else
      run(assign(*this, *this + expression));
    return *this;
  }
  /// Runs `*this = *this - expression`; a dense result is subtracted from in place.
  template <class E>
    requires Expression<E> || ScalarValue<E>
  const Access& operator-=(const E& expression) const {
    return *this += -as_expression(expression);
  }

 private:
  TensorType tensor_;
};

/// A scalar factor or term.
template <class T>
struct Literal : ExpressionBase {
  using value_type = T;
  T value;

  explicit Literal(T v) : value(v) {}
};

/// L * R: present where both sides are.
template <class L, class R>
struct Product : ExpressionBase {
  L left;
  R right;

  Product(L l, R r) : left(std::move(l)), right(std::move(r)) {}
};

/// L + R: present where either side is.
template <class L, class R>
struct Sum : ExpressionBase {
  using is_sum = void;
  L left;
  R right;

  Sum(L l, R r) : left(std::move(l)), right(std::move(r)) {}
};

/// -E
template <class E>
struct Negation : ExpressionBase {
  E operand;

  explicit Negation(E e) : operand(std::move(e)) {}
};

/// L / R: present where L is; R is a dense tensor or a scalar.
template <class L, class R>
struct Ratio : ExpressionBase {
  L left;
  R right;

  Ratio(L l, R r) : left(std::move(l)), right(std::move(r)) {}
};

/// f(E), present where E is: f keeps zero at zero.
template <class E, class F>
struct Mapped : ExpressionBase {
  E operand;
  F function;

  Mapped(E e, F f) : operand(std::move(e)), function(std::move(f)) {}
};

/// The sum of E over all coordinates of index variables, which stand nowhere else: sum(k, B(i, k) * C(k, j)).
template <class E, char... Names>
struct Reduction : ExpressionBase {
  static constexpr NameList names = NameList::of(Names...);
  E operand;

  explicit Reduction(E e) : operand(std::move(e)) {}
};

/// An operand of index notation as a node: expressions as they are, scalars as literals (std::complex as
/// Kokkos').
template <class T>
auto as_expression(const T& operand) {
  if constexpr (Expression<T>)
    return operand;
  else if constexpr (is_complex_v<T>)
    return Literal<Kokkos::complex<typename T::value_type>>(operand);
  else
    return Literal<T>(operand);
}

template <class L, class R>
concept ExpressionOperands =
    (Expression<L> && (Expression<R> || ScalarValue<R>)) || (ScalarValue<L> && Expression<R>);

template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator*(const L& left, const R& right) {
  return Product(as_expression(left), as_expression(right));
}

template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator/(const L& left, const R& right) {
  return Ratio(as_expression(left), as_expression(right));
}

template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator+(const L& left, const R& right) {
  return Sum(as_expression(left), as_expression(right));
}

template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator-(const L& left, const R& right) {
  // Named types: a negation deduced from a negation would be a copy of it.
  using Negated = Negation<decltype(as_expression(right))>;
  return Sum(as_expression(left), Negated(as_expression(right)));
}

template <Expression E>
auto operator-(const E& operand) {
  return Negation<E>(operand);
}

/// f applied to every stored value: `map(function, A(i, j))`. What is not stored stays absent, so f has to
/// keep zero at zero; on a device f is a functor with device code.
template <class F, Expression E>
auto map(F function, const E& operand) {
  return Mapped(operand, std::move(function));
}

/// Calls visit(access) for every access of an expression, from the left.
template <class TensorType, char... Names, class Visitor>
void for_each_access(const Access<TensorType, Names...>& access, Visitor&& visit) {
  visit(access);
}
template <class T, class Visitor>
void for_each_access(const Literal<T>&, Visitor&&) {}
template <class L, class R, class Visitor>
void for_each_access(const Product<L, R>& product, Visitor&& visit) {
  for_each_access(product.left, visit);
  for_each_access(product.right, visit);
}
template <class L, class R, class Visitor>
void for_each_access(const Sum<L, R>& sum, Visitor&& visit) {
  for_each_access(sum.left, visit);
  for_each_access(sum.right, visit);
}
template <class L, class R, class Visitor>
void for_each_access(const Ratio<L, R>& ratio, Visitor&& visit) {
  for_each_access(ratio.left, visit);
  for_each_access(ratio.right, visit);
}
template <class E, class Visitor>
void for_each_access(const Negation<E>& negation, Visitor&& visit) {
  for_each_access(negation.operand, visit);
}
template <class E, class F, class Visitor>
void for_each_access(const Mapped<E, F>& mapped, Visitor&& visit) {
  for_each_access(mapped.operand, visit);
}

template <class E, char... Names, class Visitor>
void for_each_access(const Reduction<E, Names...>& reduction, Visitor&& visit) {
  for_each_access(reduction.operand, visit);
}

/// A compile-time list of types.
template <class... Types>
struct TypeList {
  static constexpr int size = static_cast<int>(sizeof...(Types));
};

namespace detail {

template <class... A, class... B>
TypeList<A..., B...> operator+(TypeList<A...>, TypeList<B...>);

template <class E>
struct AccessesOf;
template <class TensorType, char... Names>
struct AccessesOf<Access<TensorType, Names...>> {
  using type = TypeList<Access<TensorType, Names...>>;
  using scalars = TypeList<>;
};
template <class T>
struct AccessesOf<Literal<T>> {
  using type = TypeList<>;
  using scalars = TypeList<T>;
};
template <class L, class R>
struct AccessesOf<Product<L, R>> {
  using type = decltype(typename AccessesOf<L>::type{} + typename AccessesOf<R>::type{});
  using scalars = decltype(typename AccessesOf<L>::scalars{} + typename AccessesOf<R>::scalars{});
};
template <class L, class R>
struct AccessesOf<Sum<L, R>> : AccessesOf<Product<L, R>> {};
template <class L, class R>
struct AccessesOf<Ratio<L, R>> : AccessesOf<Product<L, R>> {};
template <class E>
struct AccessesOf<Negation<E>> : AccessesOf<E> {};
template <class E, class F>
struct AccessesOf<Mapped<E, F>> : AccessesOf<E> {};
template <class E, char... Names>
struct AccessesOf<Reduction<E, Names...>> : AccessesOf<E> {};

}  // namespace detail

/// The accesses of an expression type, from the left.
template <class E>
using accesses_of = typename detail::AccessesOf<E>::type;
/// The types of an expression's scalar literals, from the left.
template <class E>
using scalars_of = typename detail::AccessesOf<E>::scalars;

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

/// Writes expressions as index notation, tensors as letters: "B(i, k) * C(k, j)".
class Notation {
 public:
  explicit Notation(TensorLetters& letters) : letters_(letters) {}

  template <class TensorType, char... Names>
  std::string of(const Access<TensorType, Names...>& access) {
    return text(letters_.of(access.tensor()), '(', Access<TensorType, Names...>::names.str(), ')');
  }
  template <class T>
  std::string of(const Literal<T>& literal) {
    if constexpr (std::is_arithmetic_v<T>)
      return text(literal.value);
    else
      return "scalar";
  }
  template <class L, class R>
  std::string of(const Product<L, R>& product) {
    const std::string left = factor(product.left);
    return left + " * " + factor(product.right);
  }
  template <class L, class R>
  std::string of(const Ratio<L, R>& ratio) {
    const std::string left = factor(ratio.left);
    const std::string right = factor(ratio.right);
    return left + " / " +
           (right.find(" * ") != right.npos || right.find(" / ") != right.npos ? "(" + right + ")" : right);
  }
  template <class L, class R>
  std::string of(const Sum<L, R>& sum) {
    const std::string left = of(sum.left);
    const std::string right = of(sum.right);
    return right.starts_with('-') ? left + " - " + right.substr(1) : left + " + " + right;
  }
  template <class E>
  std::string of(const Negation<E>& negation) {
    return "-" + factor(negation.operand);
  }
  template <class E, class F>
  std::string of(const Mapped<E, F>& mapped) {
    return "map(f, " + of(mapped.operand) + ")";
  }
  template <class E, char... Names>
  std::string of(const Reduction<E, Names...>& reduction) {
    return "sum(" + reduction.names.str() + ", " + of(reduction.operand) + ")";
  }

 private:
  template <class E>
  std::string factor(const E& e) {
    constexpr bool is_sum = requires { typename E::is_sum; };
    return is_sum ? "(" + of(e) + ")" : of(e);
  }

  TensorLetters& letters_;
};

}  // namespace sporos
