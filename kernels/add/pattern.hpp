// SPDX-License-Identifier: Apache-2.0
/// @file pattern.hpp
/// The sum of two scaled sparse matrices as a pattern of statements.
#pragma once

#include <type_traits>

#include "../../core/statement.hpp"
#include "../protocol/factors.hpp"

namespace sporos {

namespace detail {

/// A term of a sum: an access and its scalar factor. `access` is void if the expression is not such a term.
template <class E>
struct ScaledAccess {
  using access = void;
};
template <class TensorType, char... Names>
struct ScaledAccess<Access<TensorType, Names...>> {
  using access = Access<TensorType, Names...>;
  static const access& of(const access& e) { return e; }
  template <class Compute>
  static Compute coefficient(const access&) {
    return Compute(1);
  }
};
template <class E>
  requires(!std::is_void_v<typename ScaledAccess<E>::access>)
struct ScaledAccess<Negation<E>> {
  using access = typename ScaledAccess<E>::access;
  static const access& of(const Negation<E>& e) { return ScaledAccess<E>::of(e.operand); }
  template <class Compute>
  static Compute coefficient(const Negation<E>& e) {
    return -ScaledAccess<E>::template coefficient<Compute>(e.operand);
  }
};
template <class E, class T>
  requires(!std::is_void_v<typename ScaledAccess<E>::access>)
struct ScaledAccess<Product<E, Literal<T>>> {
  using access = typename ScaledAccess<E>::access;
  static const access& of(const Product<E, Literal<T>>& e) { return ScaledAccess<E>::of(e.left); }
  template <class Compute>
  static Compute coefficient(const Product<E, Literal<T>>& e) {
    return ScaledAccess<E>::template coefficient<Compute>(e.left) * static_cast<Compute>(e.right.value);
  }
};
template <class T, class E>
  requires(!std::is_void_v<typename ScaledAccess<E>::access>)
struct ScaledAccess<Product<Literal<T>, E>> {
  using access = typename ScaledAccess<E>::access;
  static const access& of(const Product<Literal<T>, E>& e) { return ScaledAccess<E>::of(e.right); }
  template <class Compute>
  static Compute coefficient(const Product<Literal<T>, E>& e) {
    return static_cast<Compute>(e.left.value) * ScaledAccess<E>::template coefficient<Compute>(e.right);
  }
};

}  // namespace detail

/// A(i, j) = ± b * B(i, j) ± c * C(i, j) with optional scalars b and c, all sparse and stored by rows.
template <class Operands>
class AddPattern {
 private:
  template <class Result, class L, class R>
  static constexpr bool is_sum(const Sum<L, R>*) {
    return is_term<Result, L>() && is_term<Result, R>();
  }
  template <class Result>
  static constexpr bool is_sum(const void*) {
    return false;
  }
  template <class Result, class E>
  static constexpr bool is_term() {
    using B = typename detail::ScaledAccess<E>::access;
    if constexpr (std::is_void_v<B>)
      return false;
    else if constexpr (Operands::template is_csr<Result> && Operands::template is_csr<B>)
      return binds<Result, B>("ij", "ij");
    else
      return false;
  }

  template <class E>
  static const auto& term(const E& e) {
    return detail::ScaledAccess<E>::of(e);
  }
  template <class Compute, class E>
  static Compute coefficient(const E& e) {
    return detail::ScaledAccess<E>::template coefficient<Compute>(e);
  }

 public:
  template <class S>
  static constexpr bool matches = [] {
    if constexpr (Operands::template admits<S>())
      return is_sum<typename S::result_type>(static_cast<const typename S::right_type*>(nullptr));
    else
      return false;
  }();

  template <class S>
  static const auto& left(const S& statement) {
    return term(statement.right().left);
  }
  template <class S>
  static const auto& right(const S& statement) {
    return term(statement.right().right);
  }
  /// The scalar b with its sign.
  template <class Compute, class S>
  static Compute left_coefficient(const S& statement) {
    return coefficient<Compute>(statement.right().left);
  }
  template <class Compute, class S>
  static Compute right_coefficient(const S& statement) {
    return coefficient<Compute>(statement.right().right);
  }
};

}  // namespace sporos
