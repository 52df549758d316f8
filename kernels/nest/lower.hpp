// SPDX-License-Identifier: Apache-2.0
/// @file lower.hpp
/// From an expression over tensors to one over views, the form that kernels carry; and the extents of its
/// loops.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "../../core/statement.hpp"
#include "loop_nest.hpp"
#include "stream/stream.hpp"

namespace sporos {

/// An operand before the nest starts: the view that its leaves point to.
template <class A, class Compute>
struct Operand {
  using access = A;
  using compute = Compute;
  typename A::tensor_type::view_type view;
};

/// How far a variable of an expression runs.
template <class E>
std::int64_t extent_of(char variable, const E& e) {
  std::int64_t extent = 0;
  for_each_access(e, [&](const auto& access) {
    const int mode = access.names.find(variable);
    if (mode < access.names.size) extent = access.tensor().extent(mode);
  });
  return extent;
}

/// What a node does with its children inside the nest. A node of your own needs an overload in its own
/// namespace: one of the operations of stream/expression.hpp, or one like them.
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
template <class E, char... Names>
stream::SumOver<Names...> operation_of(const Reduction<E, Names...>& reduction) {
  return {{extent_of(Names, reduction.operand)...}};
}

/// The expression over views, in which every operand is an `Operand` and every scalar is `Loaded`.
template <class Compute, Expression E>
auto lower(const E& e) {
  if constexpr (AnyAccess<E>)
    return Operand<E, Compute>{e.tensor().view()};
  else if constexpr (AnyLiteral<E>)
    return stream::Loaded<Compute>{static_cast<Compute>(e.value)};
  else
    return e.children([&](const auto&... child) { return operation_of(e)(lower<Compute>(child)...); });
}

/// The lowered expression with every operand above its first level, pointing into `source`.
template <class E>
SPOROS_INLINE auto begin(const E& source) {
  if constexpr (has_children<E>)
    return source.children([&](const auto&... child)
                               SPOROS_INLINE_LAMBDA { return source.with(begin(child)...); });
  else if constexpr (stream::is_loaded<E>)
    return source;
  else
    return stream::Leaf<typename E::access, typename E::compute, 0>{&source.view, 0, 1};
}

/// The extent of each loop of a statement, outermost first.
/// @throws ShapeError where a variable stands at modes of different extents
template <class Result, class Right, class Order, class How>
NestBounds<Order::names.size> bounds_of(const Statement<Result, Right, Order, How>& statement) {
  NestBounds<Order::names.size> out{};
  std::string known_by[NameList::capacity];
  TensorLetters letters;
  const auto take = [&](const auto& access) {
    using A = std::remove_cvref_t<decltype(access)>;
    for (int mode = 0; mode < A::names.size; ++mode) {
      const int loop = Order::names.find(A::names[mode]);
      const std::int64_t extent = access.tensor().extent(mode);
      const std::string what = text("index ", A::names[mode], ": mode ", mode, " of ",
                                    letters.of(access.tensor()), '(', A::names.str(), ')');
      if (known_by[loop].empty()) {
        known_by[loop] = what;
        out.extent[loop] = extent;
      } else if (out.extent[loop] != extent) {
        throw ShapeError(text(statement.str(), ": ", known_by[loop], " has extent ", out.extent[loop],
                              ", but ", what, " has extent ", extent,
                              "; an index variable runs over one extent only"));
      }
    }
  };
  take(statement.result());
  for_each_access(statement.right(), take);
  out.outermost = {0, Order::names.size > 0 ? out.extent[0] : 1};
  return out;
}

}  // namespace sporos
