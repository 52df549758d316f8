// SPDX-License-Identifier: Apache-2.0
/// @file columns.hpp
/// Some columns of a row, kept in registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../../../core/inline.hpp"
#include "../../host/packet.hpp"
#include "../../host/unrolled.hpp"

namespace sporos::detail {

/// W adjacent numbers, in as many vectors as they need, each of which stays in a register.
template <class T, int W>
class Columns {
  static constexpr int lanes = std::min(W, vector_bytes / static_cast<int>(sizeof(T)));
  static constexpr int count = W / lanes;
  static_assert(W % lanes == 0, "columns fill whole vectors");
  using Lanes = Packet<T, lanes>;

 public:
  // Not a default member initialiser: nvcc does not support constants that are arrays of vectors.
  SPOROS_HOST_INLINE static Columns zero() {
    Columns out;
    unrolled<count>([&] SPOROS_INLINE_LAMBDA(auto at) { out.parts_[at.value] = Lanes::zero(); });
    return out;
  }
  SPOROS_HOST_INLINE static Columns of(const T* row) {
    Columns out;
    unrolled<count>([&] SPOROS_INLINE_LAMBDA(auto at) { out.parts_[at.value] = part_of<at.value>(row); });
    return out;
  }
  /// this += row * b, with `row` an array of W numbers.
  SPOROS_HOST_INLINE void add_product(const T* row, T b) {
    unrolled<count>(
        [&] SPOROS_INLINE_LAMBDA(auto at) { parts_[at.value].add_product(part_of<at.value>(row), b); });
  }
  /// this += a * row.
  SPOROS_HOST_INLINE void add_product(const Columns& a, const T* row) {
    unrolled<count>([&] SPOROS_INLINE_LAMBDA(auto at) {
      add_product(parts_[at.value], a.parts_[at.value], part_of<at.value>(row));
    });
  }
  /// to += this.
  SPOROS_HOST_INLINE void add_to(T* to) const { add_times_to(to, T{1}); }
  /// to += this * b.
  SPOROS_HOST_INLINE void add_times_to(T* to, T b) const {
    unrolled<count>([&] SPOROS_INLINE_LAMBDA(auto at) {
      Lanes sum = part_of<at.value>(to);
      sum.add_product(parts_[at.value], b);
      std::memcpy(to + at.value * lanes, &sum.v, sizeof sum.v);
    });
  }
  /// to += this * b, column by column.
  SPOROS_HOST_INLINE void add_times_to(T* to, const Columns& b) const {
    unrolled<count>([&] SPOROS_INLINE_LAMBDA(auto at) {
      Lanes sum = part_of<at.value>(to);
      add_product(sum, parts_[at.value], b.parts_[at.value]);
      std::memcpy(to + at.value * lanes, &sum.v, sizeof sum.v);
    });
  }

 private:
  template <int At>
  SPOROS_HOST_INLINE static Lanes part_of(const T* row) {
    Lanes part;
    std::memcpy(&part.v, row + At * lanes, sizeof part.v);
    return part;
  }
  SPOROS_HOST_INLINE static void add_product(Lanes& sum, const Lanes& a, const Lanes& b) {
    if constexpr (lanes == 1)
      sum.add_product(a, b.v);
    else
      sum.add_product(a, b);
  }
  Lanes parts_[std::size_t{count}];
};

/// The number of columns for which a sum over fibers is kept in registers, as vectors of the greatest width.
template <class T>
inline constexpr int most_columns = 8 * vector_bytes / static_cast<int>(sizeof(T));
/// The number of columns in a cache line.
template <class T>
inline constexpr int columns_of_line = 64 / static_cast<int>(sizeof(T));

}  // namespace sporos::detail
