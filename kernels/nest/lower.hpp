// SPDX-License-Identifier: Apache-2.0
/// @file lower.hpp
/// Turns an expression over tensors into one over views, the form that kernels carry.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "../../core/mask.hpp"
#include "../../core/number_type.hpp"
#include "../../core/operands.hpp"
#include "../../core/statement.hpp"
#include "loop_nest.hpp"
#include "stream/stream.hpp"

namespace sporos {

/// An operand before the nest starts: the view that its leaf will point to.
template <class A, class Compute>
struct Operand {
  using access = A;
  using compute = Compute;
  typename A::tensor_type::view_type view;
};

/// The extent of a variable of an expression.
template <class E>
std::int64_t extent_of(char variable, const E& e) {
  std::int64_t extent = 0;
  for_each_access(e, [&](const auto& access) {
    const int mode = access.names.find(variable);
    if (mode < access.names.size) extent = access.tensor().extent(mode);
  });
  return extent;
}

/// What a node does with its children inside the nest. A node of another library has an overload in its own
/// namespace, which returns one of the operations of stream/expression.hpp or one like them.
template <class L, class R>
stream::Multiplication operation_of(const Product<L, R>&) {
  return {};
}
template <class L, class R>
stream::Addition operation_of(const Sum<L, R>&) {
  return {};
}
template <class L, class R>
stream::Division operation_of(const Ratio<L, R>&) {
  return {};
}
template <class E>
stream::Function<stream::Minus> operation_of(const Negation<E>&) {
  return {};
}
template <class E, class F>
stream::Function<F> operation_of(const Mapped<E, F>& mapped) {
  return {mapped.function};
}
template <class L, class R, Presence Where, class F>
auto operation_of(const Operands<L, R, Where, F>&) {
  return stream::Beside<Where, detail::count_operands<L>(), detail::count_operands<R>()>{};
}
template <class Zeros, class E, bool Structural>
stream::Excluding<Structural> operation_of(const Complement<Zeros, E, Structural>&) {
  return {};
}
template <class E, char... Names>
stream::SumOver<Names...> operation_of(const Reduction<E, Names...>& reduction) {
  return {{extent_of(Names, reduction.operand)...}};
}

template <class E>
inline constexpr bool is_zero_node = false;
template <char... Names>
inline constexpr bool is_zero_node<ZeroAt<Names...>> = true;

template <class Compute, Expression E>
auto lower(const E& e);
/// A function whose values are of type Compute, of operands of type Inside.
template <class Compute, class Inside, class E>
auto lower_function(const E& e) {
  if constexpr (std::is_same_v<Inside, Compute>)
    return operation_of(e)(lower<Compute>(e.operand));
  else
    return operation_of(e).template giving<Compute>()(lower<Inside>(e.operand));
}

/// The expression over views: every access becomes an `Operand`, every scalar is `Loaded`.
template <class Compute, Expression E>
auto lower(const E& e) {
  if constexpr (AnyAccess<E>)
    return Operand<E, Compute>{e.tensor().view()};
  else if constexpr (AnyLiteral<E>)
    return stream::Loaded<Compute>{static_cast<Compute>(e.value)};
  else if constexpr (is_zero_node<E>)
    return stream::Zero<E, Compute>{};
  else if constexpr (E::gives_real && has_one_child<E>)
    return lower_function<Compute, detail::type_inside_t<Compute, E>>(e);
  else if constexpr (E::gives_real)
    return stream::combine<decltype(operation_of(e))>(lower<Compute>(e.left),
                                                      lower<detail::type_inside_t<Compute, E>>(e.right));
  else if constexpr (has_one_child<E>)
    return operation_of(e)(lower<Compute>(e.operand));
  else
    return stream::combine<decltype(operation_of(e))>(lower<Compute>(e.left), lower<Compute>(e.right));
}

/// The lowered expression with every operand above its first level, pointing into `source`.
template <class E>
SPOROS_INLINE auto start_of(const E& source) {
  if constexpr (has_one_child<E>)
    return source.operation(start_of(source.operand));
  else if constexpr (has_two_children<E>)
    return stream::combine<typename E::operation_type>(start_of(source.left), start_of(source.right));
  else if constexpr (stream::is_loaded<E> || stream::is_zero<E>)
    return source;
  else
    return stream::Leaf<typename E::access, typename E::compute, 0>{&source.view, 0, 1};
}

}  // namespace sporos
