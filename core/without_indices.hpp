// SPDX-License-Identifier: Apache-2.0
/// @file without_indices.hpp
/// Arithmetic, <, <=, >, >=, min, max and abs of tensors without index variables, which do not say what to
/// compute: compile-time errors that tell what to write.
#pragma once

#include "expression.hpp"
#include "tensor.hpp"

namespace sporos {

namespace detail {

template <class T>
concept TensorWithoutIndices = AnyTensor<T> || ReadOnlyTensor<T> || is_part_v<T> || is_distributed_v<T>;

/// Operands, at least one of which is a tensor without index variables.
template <class L, class R>
concept LacksIndices =
    (TensorWithoutIndices<L> && (TensorWithoutIndices<R> || Expression<R> || ScalarValue<R>)) ||
    (TensorWithoutIndices<R> && (Expression<L> || ScalarValue<L>));

template <class... Operands>
Refused refuse_without_indices() {
  static_assert(never<Operands...>,
                "a tensor is computed with in index notation, which says how modes meet: sum(A(i, j) * A(i, "
                "j)) is a number, C(i, j) = A(i, k) * B(k, j) a product of matrices, A(i, j) *= 2.0 scales "
                "it");
  return {};
}

}  // namespace detail

template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator*(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator/(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator+(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator-(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <detail::TensorWithoutIndices T>
Refused operator-(const T&) {
  return detail::refuse_without_indices<T>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator*=(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator/=(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator+=(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator-=(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}

template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator<(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator<=(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator>(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused operator>=(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused min(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
template <class L, class R>
  requires detail::LacksIndices<L, R>
Refused max(const L&, const R&) {
  return detail::refuse_without_indices<L, R>();
}
// For tensors of one type, these are preferred to Kokkos' functions of the same names, which
// argument-dependent lookup finds as well.
template <detail::TensorWithoutIndices T>
Refused min(const T&, const T&) {
  return detail::refuse_without_indices<T>();
}
template <detail::TensorWithoutIndices T>
Refused max(const T&, const T&) {
  return detail::refuse_without_indices<T>();
}
template <detail::TensorWithoutIndices T>
Refused abs(const T&) {
  return detail::refuse_without_indices<T>();
}

}  // namespace sporos
