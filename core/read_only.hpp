// SPDX-License-Identifier: Apache-2.0
/// @file read_only.hpp
/// Tensors that are only read: `Tensor<const double, CSR<>>`, the counterpart of Kokkos' View<const double*>.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "components.hpp"
#include "part.hpp"
#include "tensor.hpp"

namespace sporos {

namespace detail {

/// The tensor inside a read-only one, for code that does not write to it.
struct Readable {
  template <class Value, class F, class Space>
  static const Tensor<Value, F, Space>& of(const Tensor<const Value, F, Space>& t) {
    return t.tensor_;
  }
};
template <class T>
const auto& readable(const T& t) {
  return Readable::of(t);
}

/// The same access, but one that cannot be assigned to.
template <class T, char... Names>
auto read_only(const Access<T, Names...>& access) {
  return Access<const T, Names...>(access.tensor());
}
template <std::same_as<Refused> R>
R read_only(const R& refused) {
  return refused;
}

}  // namespace detail

/// A tensor whose values and levels are read and never written, as `wrap` makes of const arrays. It is an
/// operand like any other, at the same cost, and every function that reads a tensor takes it (`convert`,
/// `transpose`, `at`, `print`, `norm`, `rows`, …); assigning to it does not compile. `clone` gives a tensor
/// that can be written.
///
///     Tensor<const double, CSR<>> A = B;      // a handle to B that does not change it
///     y(i) = A(i, j) * x(j);
template <TensorValue Value, TensorFormat F, ExecutionSpace Space>
class Tensor<const Value, F, Space> {
  using Writable = Tensor<Value, F, Space>;

 public:
  using value_type = Value;
  using format_type = F;
  using space_type = Space;
  using memory_space = typename Writable::memory_space;
  using level_storage = typename Writable::level_storage;
  using view_type = typename Writable::view_type;
  static constexpr int order = F::order;

  /// Refers to the components of `tensor`; changes made through other handles are visible.
  Tensor(const Writable& tensor) : tensor_(tensor) {}  // NOLINT: implicit, as for Views and spans

  const Extents<order>& extents() const { return tensor_.extents(); }
  std::int64_t extent(int mode) const { return tensor_.extent(mode); }
  std::int64_t nnz() const { return tensor_.nnz(); }
  std::int64_t bytes() const { return tensor_.bytes(); }
  Array<const Value, memory_space> values() const { return tensor_.values(); }
  const void* identity() const { return tensor_.identity(); }
  template <class Other>
  bool shares_with(const Other& other) const {
    return identity() == other.identity();
  }

  /// A deep copy, which can be written.
  /// @throws MemoryError if the memory cannot be allocated
  Writable clone() const { return tensor_.clone(); }
  /// A deep copy in another space, which can be written.
  /// @throws MemoryError if the memory cannot be allocated
  template <ExecutionSpace Other>
  Tensor<Value, F, Other> copy_to() const {
    return tensor_.template copy_to<Other>();
  }
  /// The tensor in another space: the same components if both spaces share the memory, else a deep copy.
  template <ExecutionSpace Other>
  Tensor<const Value, F, Other> move_to() const {
    return tensor_.template move_to<Other>();
  }

  /// Index notation: `A(i, j)`.
  template <class... Args>
  auto operator()(const Args&... args) const {
    return detail::read_only(tensor_(args...));
  }

 private:
  friend struct detail::Readable;

  Writable tensor_;
};

/// A part of a tensor that is only read.
template <class T, unsigned Restricted>
class ReadOnlyPart {
 public:
  explicit ReadOnlyPart(Part<T, Restricted> part) : part_(std::move(part)) {}

  const Extents<T::order>& extents() const { return part_.extents(); }
  std::int64_t extent(int mode) const { return part_.extent(mode); }
  template <class... Args>
  auto operator()(const Args&... args) const {
    return detail::read_only(part_(args...));
  }

 private:
  Part<T, Restricted> part_;
};

template <ReadOnlyTensor T>
auto rows(const T& matrix, std::int64_t begin, std::int64_t end) {
  return ReadOnlyPart(rows(detail::readable(matrix), begin, end));
}
template <ReadOnlyTensor T>
auto columns(const T& matrix, std::int64_t begin, std::int64_t end) {
  return ReadOnlyPart(columns(detail::readable(matrix), begin, end));
}
template <ReadOnlyTensor T>
  requires(T::order == 1)
auto block(const T& tensor, Range range) {
  return ReadOnlyPart(block(detail::readable(tensor), range));
}
template <ReadOnlyTensor T>
  requires(T::order == 2)
auto block(const T& tensor, Range first, Range second) {
  return ReadOnlyPart(block(detail::readable(tensor), first, second));
}
template <ReadOnlyTensor T>
  requires(T::order == 3)
auto block(const T& tensor, Range first, Range second, Range third) {
  return ReadOnlyPart(block(detail::readable(tensor), first, second, third));
}
template <ReadOnlyTensor T>
  requires(T::order != 1)
auto block(const T& tensor, const std::array<Range, std::size_t{T::order}>& ranges) {
  return ReadOnlyPart(block(detail::readable(tensor), ranges));
}

template <ReadOnlyTensor T>
std::vector<Component> components(const T& t) {
  return components(detail::readable(t));
}
template <Role R, class E, ReadOnlyTensor T>
const E* component(const T& t, int number = 0) {
  return component<R, E>(detail::readable(t), number);
}

}  // namespace sporos
