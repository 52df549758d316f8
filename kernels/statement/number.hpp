// SPDX-License-Identifier: Apache-2.0
/// @file number.hpp
/// Expressions that are numbers: `double s = sum(x(i) * y(i))`, and the norm of a tensor or an expression.
///
/// An expression whose index variables are all summed over has one value. Each sum in it is computed by a
/// statement with a result of order 0, which any candidate may run, in the space of its first tensor; the
/// host waits for the sum and fetches it. Operations between the sums, as in `sum(x(i)) / sum(y(i))`, are
/// computed on the host.
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../core/number_type.hpp"
#include "../../core/statement.hpp"
#include "../../formats/named.hpp"
#include "../nest/lower.hpp"
#include "run.hpp"

namespace sporos {

namespace detail {

/// The space of the first tensor.
template <class First, class... Rest>
typename First::tensor_type::space_type space_of_first(TypeList<First, Rest...>);

/// The value of an expression without variables that is one sum, or one tensor of order 0, computed by a
/// statement.
template <class Value, class E>
Value value_by_statement(const E& expression) {
  using Space = decltype(space_of_first(accesses_of<E>{}));
  const Tensor<Value, Scalar, Space> result;
  run(assign(result(), expression));
  Value out{};
  Kokkos::deep_copy(Kokkos::View<Value, Kokkos::HostSpace>(&out), Kokkos::subview(result.values(), 0));
  return out;
}

/// An expression without variables, with each sum in it and each tensor of order 0 replaced by its value.
template <class Value, class E>
auto with_numbers(const E& e) {
  if constexpr (AnyLiteral<E>)
    return e;
  else if constexpr (is_zero_node<E>)
    return Literal<Value>(Value{});
  else if constexpr (is_reduction<E> || !has_children<E> || drops_values<E>)
    return Literal<Value>(value_by_statement<Value>(e));
  else if constexpr (has_one_child<E> && E::gives_real)
    return e.with(with_numbers<type_inside_t<Value, E>>(e.operand));
  else if constexpr (has_one_child<E>)
    return e.with(with_numbers<Value>(e.operand));
  else
    return e.with(with_numbers<Value>(e.left), with_numbers<Value>(e.right));
}

/// |x|^2
struct SquaredMagnitude : NamedFunction {
  static constexpr std::string_view name() { return "squared magnitude"; }
  static constexpr std::string_view functor() { return "SquaredMagnitude{}"; }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(const T& x) const {
    if constexpr (is_complex_v<T>)
      return x.real() * x.real() + x.imag() * x.imag();
    else
      return x * x;
  }
};

/// The type in which a norm of values of type T is computed: integers are squared in double.
template <class T>
using normed_t = std::conditional_t<std::is_integral_v<T>, double, accumulate_t<T>>;

/// Whether every variable of an expression occurs in all terms of its sums.
template <class E>
constexpr bool is_whole_in_all() {
  constexpr NameList names = free_variables<E>();
  for (int at = 0; at < names.size; ++at)
    if (!in_whole_sums<E>(names[at])) return false;
  return true;
}

/// A type that has extents and is accessed by index variables.
template <class T>
concept Accessible = AnyTensor<T> || ReadOnlyTensor<T> || is_part_v<T> || is_distributed_v<T>;

/// A tensor, accessed with a variable for each of its modes.
template <class T>
auto at_all_modes(const T& tensor) {
  return [&]<int... Mode>(std::integer_sequence<int, Mode...>) {
    return tensor(Index<static_cast<char>('a' + Mode)>{}...);
  }(std::make_integer_sequence<int, T::order>{});
}

}  // namespace detail

/// The value of an expression whose index variables are all summed over. The expression converts to it by
/// itself where a number is expected; call this where nothing says so, as in `auto s = value(sum(x(i)))`.
///
///     auto s = value(sum(x(i) * y(i)))               double, for tensors of double
///     auto t = value<double>(sum(f(i) * g(i)))       computed in double, for tensors of float
///
/// @tparam T  the type of the value, in which it is computed if that is wider than the operands' types; by
///            default the operands' common type, 64 bits wide for integers, float for 16-bit floats
/// @throws whatever running a statement throws: run.hpp
/// Cost: that of a statement for each sum, for which the host waits.
template <class T = void, Expression E>
auto value(const E& expression) {
  static_assert(E::is_number,
                "an index variable of this expression is not summed: write value(sum(...)) for the sum over "
                "all of them");
  if constexpr (is_refused<E>() || !E::is_number) {
    return 0.0;
  } else {
    using Value =
        typename std::conditional_t<std::is_void_v<T>, detail::NumberType<E>, std::type_identity<T>>::type;
    // Sums are separate statements, so they may have the same variables.
    using Compute = accumulate_t<Value>;
    return static_cast<Value>(lower<Compute>(detail::with_numbers<Compute>(expression)).value);
  }
}

/// The Frobenius norm of an expression: the root of the sum of the squares of its elements' magnitudes, over
/// all its index variables. Sums inside it must be written out, as in norm(b(i) - sum(j, A(i, j) * x(j))).
///
/// It is computed as the formula says, in the type of the values or, for integers, in double: squares that
/// overflow make it infinite, and those that underflow are lost.
/// @throws whatever running a statement throws: run.hpp
template <Expression E>
auto norm(const E& expression) {
  constexpr bool is_whole = detail::is_whole_in_all<E>();
  static_assert(is_whole,
                "an index variable stands in some terms only of the expression whose norm is taken: write "
                "sums inside it out, as in norm(b(i) - sum(j, A(i, j) * x(j)))");
  if constexpr (!is_whole || is_refused<E>()) {
    return 0.0;
  } else {
    using Value = detail::normed_t<typename detail::NumberType<E>::type>;
    const auto squares = value<Value>(sum(Mapped(expression, detail::SquaredMagnitude{})));
    if constexpr (is_complex_v<Value>)
      return std::sqrt(squares.real());
    else
      return std::sqrt(squares);
  }
}
/// The Frobenius norm of a tensor, or a part of one, of any format and in any space: see above.
template <detail::Accessible T>
auto norm(const T& tensor) {
  return norm(detail::at_all_modes(tensor));
}

/// The sum of the values of a tensor, or a part of one, of any format and in any space: a number, like
/// `double s = sum(A(i, j))`.
template <detail::Accessible T>
auto sum(const T& tensor) {
  return sum(detail::at_all_modes(tensor));
}

}  // namespace sporos
