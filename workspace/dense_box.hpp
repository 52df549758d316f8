// SPDX-License-Identifier: Apache-2.0
/// @file dense_box.hpp
/// The dense workspace over several variables: an array over the product of their extents.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>

#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "../core/inline.hpp"
#include "../core/pool.hpp"
#include "../core/value.hpp"
#include "policy.hpp"

namespace sporos {

struct DensePolicy;

/// Gathers values by the coordinates of several variables, in any order, and hands them out in the order of
/// the coordinates.
///
///     values  [extents]  the sum for each coordinate that was added to; the others are not initialised
///     marks   [extents]  1 for each coordinate that was added to, one byte each: storing a byte waits for
///                        nothing, whereas setting a bit would wait for the previous bit in its word
///
/// The pages of the values exist from the start, on large pages if there are several. A value is read
/// before it is written: for a new page that is read, the system would map a page of zeros, and take it away
/// again, from all processors that run the program, when it is written.
template <class T, int Order>
class DenseBox {
 public:
  static constexpr bool in_order = true, sums_in_order = true;
  /// How many marks may be read past the last one.
  static constexpr std::int64_t slack = 64;

  /// Where values are added. It is small and copied while a chunk is computed, so that it stays in registers.
  struct Cursor {
    T* values;
    std::uint8_t* marks;
    Extents<Order> extents;

    SPOROS_HOST_INLINE std::int64_t place(const Extents<Order>& at) const {
      std::int64_t place = 0;
      for (std::size_t k = 0; k < at.size(); ++k) place = place * extents[k] + at[k];
      return place;
    }
    SPOROS_HOST_INLINE void add(const Extents<Order>& at, const T& value) const { add(place(at), value); }
    SPOROS_HOST_INLINE void add(std::int64_t place, const T& value) const {
      values[place] = plus(value_if(marks[place], values[place]), value);
      marks[place] = 1;
    }
  };

  /// @throws MemoryError if an array over the extents cannot be allocated
  DenseBox(const DensePolicy&, const Extents<Order>& extents)
      : extents_(extents),
        size_(size_for(extents)),
        cells_(pool().array<std::byte>("sporos::dense workspace", size_ * bytes_of_cell + slack)) {
    std::fill_n(marks(), size_ + slack, std::uint8_t{0});
  }

  Cursor cursor() const { return {values(), marks(), extents_}; }
  std::int64_t size() const { return size_; }

  /// values[at] += value
  void add(const Extents<Order>& at, const T& value) { cursor().add(at, value); }

  /// Calls take(coordinate, value) for each coordinate written, ascending, and empties the workspace.
  template <class Take>
  void drain(const Take& take) {
    const T* const values = this->values();
    std::uint8_t* const marks = this->marks();
    Extents<Order> at{};
    std::int64_t row_begin = 0, row_end = 0;  // the row of the last coordinate that was handed out
    const std::int64_t columns = extents_.back();
    for (std::int64_t block = 0; block < size_; block += cells_of_block) {
      std::uint64_t bits = marked(marks + block);
      if (bits == 0) continue;
      std::memset(marks + block, 0, cells_of_block);
      for (; bits; bits &= bits - 1) {
        const std::int64_t place = block + std::countr_zero(bits);
        if (place >= row_end) {
          std::int64_t rest = place / columns;
          row_begin = rest * columns;
          row_end = row_begin + columns;
          for (std::size_t k = at.size() - 1; k-- > 0; rest /= extents_[k]) at[k] = rest % extents_[k];
        }
        at.back() = place - row_begin;
        take(at, values[place]);
      }
    }
  }

  /// Bytes of a workspace over `extents`, regardless of how often values are added.
  static std::int64_t most_bytes(const DensePolicy&, const Extents<Order>& extents, std::int64_t /*adds*/) {
    return saturated_product(cells_of(extents) + slack, bytes_of_cell);
  }

  /// Whether an array over the extents is worth its memory: up to a GiB.
  static bool fits(const Extents<Order>& extents) {
    return cells_of(extents) <= (std::int64_t{1} << 30) / bytes_of_cell;
  }

 private:
  /// `value` if it is marked, otherwise 0; for numbers without a branch, which could not be predicted.
  static SPOROS_HOST_INLINE T value_if(std::uint8_t mark, const T& value) {
    if constexpr (std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      Bits bits;
      std::memcpy(&bits, &value, sizeof(T));
      return std::bit_cast<T>(bits & (Bits{0} - Bits{mark}));
    } else {
      return mark ? value : T{};
    }
  }

  T* values() const { return reinterpret_cast<T*>(cells_.data()); }
  std::uint8_t* marks() const {
    return reinterpret_cast<std::uint8_t*>(cells_.data()) + size_ * static_cast<std::int64_t>(sizeof(T));
  }

  static constexpr std::int64_t bytes_of_cell = sizeof(T) + 1;
  /// The number of cells that are skipped at once if nothing was added to them.
  static constexpr std::int64_t cells_of_block = slack;
  /// A bit for each of the next 64 marks.
  static SPOROS_HOST_INLINE std::uint64_t marked(const std::uint8_t* marks) {
    constexpr std::size_t bytes = sizeof(std::uint64_t);
    std::uint64_t words[cells_of_block / bytes], any = 0;
    std::memcpy(words, marks, sizeof words);
    for (const std::uint64_t word : words) any |= word;
    if (any == 0) return 0;
    std::uint64_t bits = 0;
    // The lowest bits of eight bytes, next to each other: no two products of a bit have the same place.
    for (std::size_t n = 0; n < std::size(words); ++n)
      bits |= (words[n] * 0x0102040810204080u >> 56) << (bytes * n);
    return bits;
  }

  /// Refuses sizes beyond the machine's memory: the system may grant them and then end the process on first
  /// touch.
  static std::int64_t size_for(const Extents<Order>& extents) {
    const std::int64_t size = cells_of(extents);
    if (size > Pool::machine_bytes() / bytes_of_cell)
      throw MemoryError(text("a dense workspace over ",
                             size == std::int64_t{1} << 62 ? "2^62 or more" : std::to_string(size),
                             " coordinates of ", bytes_of_cell,
                             " bytes each cannot be allocated: choose another with "
                             ".workspace(coordinate_workspace)"));
    return size;
  }

  Extents<Order> extents_;
  std::int64_t size_;
  /// The values, then the marks: a single array, so that none is left over, and has to be freed inside a
  /// loop, where another cannot be allocated.
  HostArray<std::byte> cells_;
};

}  // namespace sporos
