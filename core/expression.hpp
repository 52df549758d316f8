// SPDX-License-Identifier: Apache-2.0
/// @file expression.hpp
/// Index notation as expression types: access, +, -, *, scalars.
///
/// Expression templates usually dangle: a node that refers to its operands outlives the temporaries among
/// them. Nodes here own what they hold, tensors as handles (shared pointers) and scalars by value, so an
/// expression may be kept, copied and run later.
///
/// A node's definition holds the answers to most questions about it: its children (tree.hpp), `with`, which
/// makes the same node of other children, how it is written (notation.hpp), and the constants of
/// `ExpressionBase` that differ for it. To run, it also names its operation (kernels/nest/lower.hpp).
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "expression_base.hpp"
#include "index.hpp"
#include "notation.hpp"
#include "presence.hpp"
#include "refused.hpp"
#include "scale.hpp"
#include "tensor.hpp"
#include "tree.hpp"
#include "value.hpp"

namespace sporos {

namespace detail {
/// Stands for a function of E whose values are real numbers.
template <class E>
struct RealOf;
/// Whether the values of a function are real numbers, also of complex arguments.
template <class F>
inline constexpr bool has_real_values = requires { requires F::gives_real; };

template <class... Children>
struct NumberType;
template <class E, char... Names>
constexpr bool leaves_no_variable();
template <class E>
constexpr bool is_present_everywhere();
}  // namespace detail

/// The base of a node of type E that is not a number, because an index variable is left in it.
template <class E, bool IsNumber, class... Children>
struct Node : ExpressionBase {
  /// Does not compile: the message says how to get a number.
  template <class T>
    requires(std::is_arithmetic_v<T> || is_complex_v<T>)
  operator T() const {
    static_assert(detail::never<T>,
                  "an expression is a number only where all its index variables are summed: write sum(...) "
                  "around it, as in double s = sum(x(i) * y(i)), or assign it to a tensor");
    return T();
  }
};
/// The base of a node whose index variables are all summed over. It converts to its value wherever a number
/// is expected, and is computed anew each time: `double s = sum(x(i) * y(i))` (kernels/statement/number.hpp).
template <class E, class... Children>
struct Node<E, true, Children...> : ExpressionBase {
  static constexpr bool is_number = true;

  operator typename detail::NumberType<Children...>::type() const {
    return value(static_cast<const E&>(*this));
  }
};

template <class T>
auto as_expression(const T& operand);

/// A node of index notation.
template <class E>
concept Expression = std::is_base_of_v<ExpressionBase, std::remove_cvref_t<E>>;

template <class T>
concept ScalarValue = TensorValue<std::remove_cvref_t<T>>;

namespace detail {

/// Whether an access can be assigned to; if it cannot, this does not compile.
template <class A>
constexpr bool expect_writable() {
  constexpr bool has_pattern_of_its_own = !A::is_part || A::format::is_dense;
  static_assert(!A::is_read_only,
                "this tensor is read only, Tensor<const ...>, as wrap makes of const arrays: assign to "
                "another tensor, or to A.clone()");
  static_assert(has_pattern_of_its_own,
                "a part of a sparse tensor is not written to: its pattern is made as a whole. Write a dense "
                "tensor, or compute the whole result by one statement");
  return !A::is_read_only && has_pattern_of_its_own;
}

}  // namespace detail

/// `B(i, k)`: the values of a tensor at index variables, one for each mode. Assigning to it runs a statement.
/// @tparam TensorType  const if the tensor is only read
template <class TensorType, char... Names>
class Access : public Node<Access<TensorType, Names...>, ((Names == no_variable) && ...), TensorType> {
 public:
  using tensor_type = std::remove_const_t<TensorType>;
  using format = typename TensorType::format_type;
  using value_type = typename TensorType::value_type;

  /// The variable of each mode.
  static constexpr NameList names = NameList::of(Names...);
  /// The variable of each level, outermost first; the variable of a blocked mode occurs twice.
  static constexpr NameList level_names = [] {
    NameList out;
    for (int mode : format::mode_of_level) out.push(names[mode]);
    return out;
  }();

  static constexpr bool is_read_only = std::is_const_v<TensorType>;
  /// Whether the access is to a part of a tensor: to some of its coordinates, or to its diagonal.
  static constexpr bool is_part = [] {
    for (int at = 0; at < names.size; ++at)
      if (names.find(names[at]) < at && format::is_dense) return true;
    return is_part_v<tensor_type>;
  }();

  explicit Access(TensorType t) : tensor_(std::move(t)) {}
  Access(const Access&) = default;

  const tensor_type& tensor() const { return tensor_; }

  /// Runs `*this = expression` with the default schedule. Like every statement, it writes to the tensor that
  /// the access refers to, so it works on a `const` handle as well.
  ///
  /// Assigning to a part of a dense tensor, such as its diagonal, leaves the rest of the tensor as it is.
  /// @throws ShapeError if an index variable would run over two extents, or if a coordinate is outside its
  /// extent
  template <class E>
    requires Expression<E> || ScalarValue<E>
  const Access& operator=(const E& expression) const {
    if constexpr (!detail::expect_writable<Access>())
      return *this;
    else
      run(assign(*this, expression));
    return *this;
  }
  const Access& operator=(const Access& other) const { return operator= <Access>(other); }
  /// Does not compile: the message says how to get values that depend on coordinates.
  template <char Name>
  const Access& operator=(Index<Name>) const {
    static_assert(
        detail::never<Access, Index<Name>>,
        "an index variable has no value: values that depend on coordinates are written into values() by a "
        "loop, or assembled from entries");
    return *this;
  }

  /// Does not compile: the message says that modes have names on both sides.
  template <class T>
    requires(AnyTensor<T> || ReadOnlyTensor<T> || is_part_v<T> || is_distributed_v<T>)
  const Access& operator=(const T&) const {
    static_assert(detail::never<T>,
                  "the right side needs its index variables as well, which say how the modes meet: A(i, j) = "
                  "B(i, j)");
    return *this;
  }

  /// Runs `*this = *this + expression`; a dense result is added to in place.
  template <class E>
    requires Expression<E> || ScalarValue<E>
  const Access& operator+=(const E& expression) const {
    if constexpr (!detail::expect_writable<Access>())
      return *this;
    else if constexpr (format::is_dense)
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

  /// Multiplies the stored values by a number; what is not stored stays zero.
  template <ScalarValue T>
  const Access& operator*=(const T& factor) const {
    if constexpr (!detail::expect_writable<Access>())
      return *this;
    else if constexpr (is_part)
      *this = *this * factor;
    else
      detail::scale<detail::Scaling::multiply>(tensor_, as_expression(factor).value);
    return *this;
  }
  /// Divides the stored values by a number; what is not stored stays zero.
  /// @throws ExpressionError if integers are divided by 0
  template <ScalarValue T>
  const Access& operator/=(const T& divisor) const {
    if constexpr (!detail::expect_writable<Access>())
      return *this;
    else if constexpr (is_part)
      *this = *this / divisor;
    else
      detail::scale<detail::Scaling::divide>(tensor_, as_expression(divisor).value);
    return *this;
  }
  /// Runs `*this = *this * expression`. The expression must have a value wherever the result stores one, so
  /// that the result keeps its pattern.
  template <Expression E>
  const Access& operator*=(const E& factor) const {
    if constexpr (E::is_number) {
      *this *= value(factor);
    } else {
      constexpr bool keeps_pattern = format::is_dense || detail::is_present_everywhere<E>();
      static_assert(
          keeps_pattern,
          "a sparse factor removes coordinates from a sparse result: write A(i, j) = A(i, j) * B(i, "
          "j) where that is meant");
      if constexpr (keeps_pattern) *this = *this * factor;
    }
    return *this;
  }
  /// Runs `*this = *this / expression`.
  template <Expression E>
  const Access& operator/=(const E& divisor) const {
    if constexpr (E::is_number)
      *this /= value(divisor);
    else
      *this = *this / divisor;
    return *this;
  }

 private:
  TensorType tensor_;
};

/// A scalar factor or term.
template <class T>
struct Literal : ExpressionBase {
  static constexpr bool is_number = true;
  using value_type = T;
  T value;

  explicit Literal(T v) : value(v) {}
};

/// L * R: present where both sides are.
template <class L, class R>
struct Product : Node<Product<L, R>, L::is_number && R::is_number, L, R> {
  static constexpr int factors = 2;
  static constexpr Binding binding = Binding::product;

  L left;
  R right;

  Product(L l, R r) : left(std::move(l)), right(std::move(r)) {}
  template <class A, class B>
  static Product<A, B> with(const A& l, const B& r) {
    return {l, r};
  }
  static std::string notation(const Phrase* of) {
    return of[0].within(Binding::product) + " * " + of[1].within(Binding::product);
  }
};

/// L + R: present where either side is.
template <class L, class R>
struct Sum : Node<Sum<L, R>, L::is_number && R::is_number, L, R> {
  static constexpr bool is_sum = true;
  static constexpr Binding binding = Binding::sum;

  L left;
  R right;

  Sum(L l, R r) : left(std::move(l)), right(std::move(r)) {}
  template <class A, class B>
  static Sum<A, B> with(const A& l, const B& r) {
    return {l, r};
  }
  static std::string notation(const Phrase* of) {
    const std::string left = of[0].within(Binding::sum), right = of[1].within(Binding::sum);
    return left + (right.starts_with('-') ? " - " + right.substr(1) : " + " + right);
  }
};

/// -E
template <class E>
struct Negation : Node<Negation<E>, E::is_number, E> {
  static constexpr int factors = 1;
  static constexpr Binding binding = Binding::product;

  E operand;

  explicit Negation(E e) : operand(std::move(e)) {}
  template <class A>
  static auto with(const A& e) {
    return Negation<A>(e);
  }
  static std::string notation(const Phrase* of) { return "-" + of[0].within(Binding::product); }
};

/// L / R: present where L is; R is a dense tensor or a scalar.
template <class L, class R>
struct Ratio : Node<Ratio<L, R>, L::is_number && R::is_number, L, R> {
  static constexpr int factors = 1;
  static constexpr Binding binding = Binding::product;

  L left;
  R right;

  Ratio(L l, R r) : left(std::move(l)), right(std::move(r)) {}
  template <class A, class B>
  static Ratio<A, B> with(const A& l, const B& r) {
    return {l, r};
  }
  static std::string notation(const Phrase* of) {
    return of[0].within(Binding::product) + " / " + of[1].within(Binding::whole);
  }
};

namespace detail {
template <class E>
inline constexpr bool is_ratio = false;
template <class L, class R>
inline constexpr bool is_ratio<Ratio<L, R>> = true;
}  // namespace detail

/// 0, or the zero of a semiring, at every coordinate of the variables `Names`.
template <char... Names>
struct ZeroAt : ExpressionBase {
  static constexpr bool is_number = sizeof...(Names) == 0;
  static constexpr NameList names = NameList::of(Names...);

  static std::string notation() { return "0"; }
};

/// f(E), present where E is. If f is a function of several values, E is an Operands node; see `map`.
template <class E, class F>
struct Mapped
    : Node<Mapped<E, F>, E::is_number, std::conditional_t<detail::has_real_values<F>, detail::RealOf<E>, E>> {
  static constexpr bool gives_real = detail::has_real_values<F>;

  E operand;
  F function;

  Mapped(E e, F f) : operand(std::move(e)), function(std::move(f)) {}
  template <class A>
  Mapped<A, F> with(const A& e) const {
    return {e, function};
  }
  static constexpr Binding binding = [] {
    if constexpr (requires { F::infix; })
      return F::infix ? Binding::condition : Binding::whole;
    else
      return Binding::whole;
  }();
  static std::string notation(const Phrase* of) {
    if constexpr (requires { F::infix; })
      return F::infix ? of[0].text : std::string(F::name()) + "(" + of[0].text + ")";
    else
      return "map(f, " + of[0].text + ")";
  }
};

/// The sum of E over all coordinates of index variables that occur nowhere else: sum(k, B(i, k) * C(k, j)).
template <class E, char... Names>
struct Reduction : Node<Reduction<E, Names...>, detail::leaves_no_variable<E, Names...>(), E> {
  static constexpr NameList names = NameList::of(Names...);

  E operand;

  explicit Reduction(E e) : operand(std::move(e)) {}
  template <class A>
  static auto with(const A& e) {
    return Reduction<A, Names...>(e);
  }
  static std::string notation(const Phrase* of) { return "sum(" + names.str() + ", " + of[0].text + ")"; }
};

/// An operand of index notation as a node: an expression stays as it is, a scalar becomes a literal
/// (std::complex as Kokkos::complex).
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

template <Expression E>
E operator+(const E& operand) {
  return operand;
}

template <class L, class R>
  requires ExpressionOperands<L, R>
auto operator-(const L& left, const R& right) {
  // Names the type, since deducing Negation's argument from a negation would copy it instead of negating it.
  using Negated = Negation<decltype(as_expression(right))>;
  return Sum(as_expression(left), Negated(as_expression(right)));
}

template <Expression E>
auto operator-(const E& operand) {
  return Negation<E>(operand);
}

// Next to complex numbers, these are preferred to Kokkos' operators, which take anything beside them.
template <Expression L, class R>
auto operator*(const L& left, const Kokkos::complex<R>& right) {
  return Product(as_expression(left), as_expression(right));
}
template <class L, Expression R>
auto operator*(const Kokkos::complex<L>& left, const R& right) {
  return Product(as_expression(left), as_expression(right));
}
template <Expression L, class R>
auto operator/(const L& left, const Kokkos::complex<R>& right) {
  return Ratio(as_expression(left), as_expression(right));
}
template <class L, Expression R>
auto operator/(const Kokkos::complex<L>& left, const R& right) {
  return Ratio(as_expression(left), as_expression(right));
}
template <Expression L, class R>
auto operator+(const L& left, const Kokkos::complex<R>& right) {
  return Sum(as_expression(left), as_expression(right));
}
template <class L, Expression R>
auto operator+(const Kokkos::complex<L>& left, const R& right) {
  return Sum(as_expression(left), as_expression(right));
}
template <Expression L, class R>
auto operator-(const L& left, const Kokkos::complex<R>& right) {
  return Sum(as_expression(left), as_expression(-right));
}
template <class L, Expression R>
auto operator-(const Kokkos::complex<L>& left, const R& right) {
  return Sum(as_expression(left), Negation<R>(right));
}

/// Does not compile: the message says how to add to a number.
template <class T, Expression E>
  requires((std::is_arithmetic_v<T> || is_complex_v<T>) && !E::is_number)
T& operator+=(T& number, const E& expression) {
  [[maybe_unused]] const T value = expression;  // is refused
  return number;
}
template <class T, Expression E>
  requires((std::is_arithmetic_v<T> || is_complex_v<T>) && !E::is_number)
T& operator-=(T& number, const E& expression) {
  [[maybe_unused]] const T value = expression;
  return number;
}

/// An access to any tensor, with any variables.
template <class E>
concept AnyAccess = requires { typename E::tensor_type; };
/// A scalar of any type.
template <class E>
concept AnyLiteral = requires(const E& e) { e.value; };

/// Calls visit(access) for every access of an expression, from the left.
template <Expression E, class Visitor>
void for_each_access(const E& e, Visitor&& visit) {
  if constexpr (AnyAccess<E>) {
    visit(e);
  } else if constexpr (has_one_child<E>) {
    for_each_access(e.operand, visit);
  } else if constexpr (has_two_children<E>) {
    for_each_access(e.left, visit);
    for_each_access(e.right, visit);
  }
}

namespace detail {

template <class E>
constexpr auto accesses() {
  if constexpr (AnyAccess<E>)
    return TypeList<E>{};
  else
    return fold<E>([]<class... C>(TypeList<C...>) { return (TypeList<>{} + ... + accesses<C>()); });
}
template <class E>
constexpr auto scalars() {
  if constexpr (AnyLiteral<E>)
    return TypeList<typename E::value_type>{};
  else
    return fold<E>([]<class... C>(TypeList<C...>) { return (TypeList<>{} + ... + scalars<C>()); });
}

/// The variables that an expression is indexed by: those of its tensors, except those that it sums over
/// itself.
template <class E>
constexpr NameList free_variables() {
  NameList out;
  if constexpr (AnyAccess<E>) {
    for (int at = 0; at < E::names.size; ++at) out.push_new(E::names[at]);
  } else {
    const NameList all = fold<E>([]<class... C>(TypeList<C...>) {
      NameList names;
      [[maybe_unused]] const auto add = [&](const NameList& more) {
        for (int at = 0; at < more.size; ++at) names.push_new(more[at]);
      };
      (add(free_variables<C>()), ...);
      return names;
    });
    for (int at = 0; at < all.size; ++at) {
      if constexpr (requires { E::names; })
        if (E::names.contains(all[at])) continue;
      out.push(all[at]);
    }
  }
  return out;
}

/// Whether E has no free variables other than `Names`, over which it is summed.
template <class E, char... Names>
constexpr bool leaves_no_variable() {
  constexpr NameList free = free_variables<E>();
  for (int at = 0; at < free.size; ++at)
    if (((free[at] != Names) && ...)) return false;
  return true;
}

}  // namespace detail

/// The accesses of an expression type, from the left.
template <class E>
using accesses_of = decltype(detail::accesses<E>());
/// The types of an expression's scalar literals, from the left.
template <class E>
using scalars_of = decltype(detail::scalars<E>());

}  // namespace sporos
