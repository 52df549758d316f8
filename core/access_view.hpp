// SPDX-License-Identifier: Apache-2.0
/// @file access_view.hpp
/// AccessView: a tensor of a statement and its index variables, type-erased, for functions that are compiled
/// once rather than for each statement.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "expression.hpp"

namespace sporos::detail {

/// A range of memory as addresses, since pointers into different arrays cannot be compared.
struct MemoryRange {
  std::uintptr_t begin = 0, end = 0;

  template <class ArrayType>
  static MemoryRange of(const ArrayType& array) {
    const auto first = reinterpret_cast<std::uintptr_t>(array.data());
    return {first, first + array.extent(0) * sizeof(*array.data())};
  }
  bool overlaps(const MemoryRange& other) const { return begin < other.end && other.begin < end; }
};

/// Whether an array of a tensor (its values, or one of a level) overlaps a range of memory.
template <class T>
bool has_array_in(const T& tensor, const MemoryRange& range) {
  bool found = range.overlaps(MemoryRange::of(tensor.values()));
  tensor.for_each_level([&](auto, const auto& level) {
    level.for_each_array([&](Role, const char*, const auto& array) {
      found = found || range.overlaps(MemoryRange::of(array));
    });
  });
  return found;
}

/// An access of a statement. Refers to its tensor, which must outlive it.
class AccessView {
 public:
  AccessView() = default;
  template <AnyAccess A>
  explicit AccessView(const A& access)
      : tensor_(&access.tensor()),
        identity_(access.tensor().identity()),
        nnz_(access.tensor().nnz()),
        names_(&A::names),
        of_type_(&functions_of<typename A::tensor_type>) {}

  /// Identifies the tensor: the same for all accesses of one tensor.
  const void* identity() const { return identity_; }
  /// The variable of each mode.
  const NameList& names() const { return *names_; }
  std::int64_t extent(int mode) const { return of_type_->extent(tensor_, mode); }
  std::int64_t nnz() const { return nnz_; }
  /// Bytes of all arrays of the tensor.
  std::int64_t bytes() const { return of_type_->bytes(tensor_); }
  /// The text of the modes: "i, 3"
  std::string modes() const { return of_type_->modes(tensor_, *names_); }
  /// Whether an array of the tensor overlaps a range of memory.
  bool has_array_in(const MemoryRange& range) const { return of_type_->has_array_in(tensor_, range); }

 private:
  /// The functions that depend on the type of the tensor.
  struct Functions {
    std::int64_t (*extent)(const void* tensor, int mode);
    std::int64_t (*bytes)(const void* tensor);
    std::string (*modes)(const void* tensor, const NameList& names);
    bool (*has_array_in)(const void* tensor, const MemoryRange& range);
  };
  template <class T>
  struct Of {
    static std::int64_t extent(const void* tensor, int mode) {
      return static_cast<const T*>(tensor)->extent(mode);
    }
    static std::int64_t bytes(const void* tensor) { return static_cast<const T*>(tensor)->bytes(); }
    static std::string modes(const void* tensor, const NameList& names) {
      return text_of_modes(*static_cast<const T*>(tensor), names);
    }
    static bool has_array_in(const void* tensor, const MemoryRange& range) {
      if constexpr (is_distributed_v<T>)
        return detail::has_array_in(static_cast<const T*>(tensor)->local(), range);
      else
        return detail::has_array_in(*static_cast<const T*>(tensor), range);
    }
  };
  template <class T>
  static constexpr Functions functions_of{&Of<T>::extent, &Of<T>::bytes, &Of<T>::modes, &Of<T>::has_array_in};

  const void* tensor_ = nullptr;
  const void* identity_ = nullptr;
  std::int64_t nnz_ = 0;
  const NameList* names_ = nullptr;
  const Functions* of_type_ = nullptr;
};

/// The bytes of a statement's operands, each tensor counted once.
inline std::int64_t operand_bytes(std::span<const AccessView> operands) {
  std::int64_t sum = 0;
  for (auto operand = operands.begin(); operand != operands.end(); ++operand) {
    const auto is_this = [&](const AccessView& other) { return other.identity() == operand->identity(); };
    if (std::none_of(operands.begin(), operand, is_this)) sum += operand->bytes();
  }
  return sum;
}

/// Whether any of the tensors is a part of one.
template <class... Accesses>
constexpr bool has_parts(TypeList<Accesses...>) {
  return (is_part_v<typename Accesses::tensor_type> || ...);
}

template <class... Accesses>
constexpr std::size_t count_of(TypeList<Accesses...>) {
  return sizeof...(Accesses);
}

/// Writes the accesses of an expression to `out`, from the left.
/// @return the end of what is written
template <Expression E>
AccessView* write_accesses(const E& e, AccessView* out) {
  if constexpr (AnyAccess<E>) {
    *out = AccessView(e);
    return out + 1;
  } else if constexpr (has_one_child<E>) {
    return write_accesses(e.operand, out);
  } else if constexpr (has_two_children<E>) {
    return write_accesses(e.right, write_accesses(e.left, out));
  } else {
    return out;
  }
}

/// The accesses of an expression, from the left.
template <Expression E>
auto views_of(const E& e) {
  std::array<AccessView, count_of(accesses_of<E>{})> out;
  write_accesses(e, out.data());
  return out;
}

}  // namespace sporos::detail
