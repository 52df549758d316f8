// SPDX-License-Identifier: Apache-2.0
/// @file read_only.hpp
/// Functions that read a tensor take read-only ones as well: conversions, lists of entries, lookups,
/// printing.
#pragma once

#include <ostream>
#include <type_traits>

#include "../core/read_only.hpp"
#include "at.hpp"
#include "convert.hpp"
#include "drop.hpp"
#include "entries_of.hpp"
#include "print.hpp"
#include "prune.hpp"
#include "transpose.hpp"
#include "validate.hpp"

namespace sporos {

template <TensorFormat To, TensorValue Value, TensorFormat From, ExecutionSpace Space>
auto convert(const Tensor<const Value, From, Space>& t, Duplicates duplicates = default_duplicates<To>) {
  return convert<To>(detail::readable(t), duplicates);
}
template <TensorFormat To, TensorValue NewValue, TensorValue Value, TensorFormat From, ExecutionSpace Space>
  requires(!std::is_same_v<NewValue, Value>)
auto convert(const Tensor<const Value, From, Space>& t, Duplicates duplicates = default_duplicates<To>) {
  return convert<To, NewValue>(detail::readable(t), duplicates);
}
template <ReadOnlyTensor T>
auto drop(const T& t, double tolerance = 0) {
  return drop(detail::readable(t), tolerance);
}
template <WindowedFormat F, ReadOnlyTensor T>
auto prune(const T& t, PruneOptions options = {}) {
  return prune<F>(detail::readable(t), options);
}
template <ReadOnlyTensor T>
auto entries(const T& t, Zeros zeros = default_zeros<typename T::format_type>) {
  return entries(detail::readable(t), zeros);
}
template <ReadOnlyTensor T>
auto at(const T& t, const Extents<T::order>& coordinate) {
  return at(detail::readable(t), coordinate);
}
template <ReadOnlyTensor T>
void validate(const T& t) {
  validate(detail::readable(t));
}
template <int... Modes, ReadOnlyTensor T>
auto permute(const T& t) {
  return permute<Modes...>(detail::readable(t));
}
template <ReadOnlyTensor T>
auto transpose(const T& t) {
  return transpose(detail::readable(t));
}
/// The result shares the memory, so it is read-only as well.
template <int... Modes, ReadOnlyTensor T>
auto relabel(const T& t) {
  const auto relabelled = relabel<Modes...>(detail::readable(t));
  using F = typename decltype(relabelled)::format_type;
  return Tensor<const typename T::value_type, F, typename T::space_type>(relabelled);
}
template <ReadOnlyTensor T>
void print(std::ostream& out, const T& t, const PrintOptions& options = {}) {
  print(out, detail::readable(t), options);
}
template <ReadOnlyTensor T>
std::ostream& operator<<(std::ostream& out, const T& t) {
  return out << detail::readable(t);
}

}  // namespace sporos
