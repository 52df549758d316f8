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

template <class Compute, class TensorType, char... Names>
auto lower(const Access<TensorType, Names...>& access) {
  return Operand<Access<TensorType, Names...>, Compute>{access.tensor().view()};
}
template <class Compute, class T>
auto lower(const Literal<T>& literal) {
  return stream::Loaded<Compute>{static_cast<Compute>(literal.value)};
}
template <class Compute, class L, class R>
auto lower(const Product<L, R>& product) {
  auto left = lower<Compute>(product.left);
  auto right = lower<Compute>(product.right);
  return stream::Mul<decltype(left), decltype(right)>{left, right};
}
template <class Compute, class L, class R>
auto lower(const Sum<L, R>& sum) {
  auto left = lower<Compute>(sum.left);
  auto right = lower<Compute>(sum.right);
  return stream::Add<decltype(left), decltype(right)>{left, right};
}
template <class Compute, class L, class R>
auto lower(const Ratio<L, R>& ratio) {
  auto left = lower<Compute>(ratio.left);
  auto right = lower<Compute>(ratio.right);
  return stream::Mul<decltype(left), decltype(right), stream::Division>{left, right};
}
template <class Compute, class E>
auto lower(const Negation<E>& negation) {
  auto operand = lower<Compute>(negation.operand);
  return stream::Apply<decltype(operand), stream::Minus>{operand, {}};
}
template <class Compute, class E, class F>
auto lower(const Mapped<E, F>& mapped) {
  auto operand = lower<Compute>(mapped.operand);
  return stream::Apply<decltype(operand), F>{operand, mapped.function};
}

template <class Compute, class E, char... Names>
auto lower(const Reduction<E, Names...>& reduction) {
  auto operand = lower<Compute>(reduction.operand);
  return stream::Reduce<decltype(operand), Names...>{operand, {{extent_of(Names, reduction.operand)...}}};
}

// Declared ahead, because each calls the others.
template <class T>
SPOROS_INLINE auto begin(const stream::Loaded<T>& source);
template <class L, class R, class Operation>
SPOROS_INLINE auto begin(const stream::Mul<L, R, Operation>& source);
template <class L, class R>
SPOROS_INLINE auto begin(const stream::Add<L, R>& source);
template <class E, class F>
SPOROS_INLINE auto begin(const stream::Apply<E, F>& source);
template <class E, char... Names>
SPOROS_INLINE auto begin(const stream::Reduce<E, Names...>& source);

/// The expression with every operand above its first level, pointing into `source`.
template <class A, class Compute>
SPOROS_INLINE auto begin(const Operand<A, Compute>& source) {
  return stream::Leaf<A, Compute, 0>{&source.view, 0, 1};
}
template <class T>
SPOROS_INLINE auto begin(const stream::Loaded<T>& source) {
  return source;
}
template <class L, class R, class Operation>
SPOROS_INLINE auto begin(const stream::Mul<L, R, Operation>& source) {
  return stream::combine<Operation>(begin(source.left), begin(source.right));
}
template <class L, class R>
SPOROS_INLINE auto begin(const stream::Add<L, R>& source) {
  return stream::add(begin(source.left), begin(source.right));
}
template <class E, class F>
SPOROS_INLINE auto begin(const stream::Apply<E, F>& source) {
  return stream::apply(begin(source.operand), source.function);
}

template <class E, char... Names>
SPOROS_INLINE auto begin(const stream::Reduce<E, Names...>& source) {
  return source.over(begin(source.operand));
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
