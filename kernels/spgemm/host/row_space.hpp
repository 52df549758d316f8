// SPDX-License-Identifier: Apache-2.0
/// @file row_space.hpp
/// The arrays in which a worker computes rows of the product.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../host/packet.hpp"
#include "diagonals.hpp"
#include "marks.hpp"
#include "plain.hpp"
#include "row_strategy.hpp"

namespace sporos::detail {

/// The arrays in which a worker computes rows. Those over the columns of B are kept zero from row to row as
/// far as they have been used, and are not touched beyond that.
template <class Acc>
struct RowSpace {
  std::byte* sums;  // [columns of B] numbers, or [widest_alike_window] packets of up to most_alike_lanes
  Marks marks;      // [columns of B]
  std::uint64_t* mark_groups = nullptr;  // [columns of B / 4096]: a bit for each word of marks.bits
  DiagonalSpace<Acc> diagonals{};        ///< empty if no rows shift
  std::int64_t clean_sums = 0;           ///< bytes of `sums` that are zero between rows
  std::int64_t clean_marks = 0;          ///< columns whose marks are clear between rows
  std::int64_t sums_bytes = 0;           ///< capacity
  std::int64_t marks_columns = 0;        ///< capacity, a multiple of marks_step
  std::int64_t mark_bytes = 0;           ///< capacity of marks.bytes

  static constexpr std::int64_t marks_step = 4096;  ///< columns of 64 words, each of 64 marks

  /// Makes sure that `window` packets of Sum are zero and that many marks are clear.
  template <class Sum>
  Sum* open(std::int64_t window) {
    open_marks(window);
    const std::int64_t bytes = window * static_cast<std::int64_t>(sizeof(Sum));
    if (bytes > clean_sums) {
      const std::int64_t more = std::min(std::max(bytes, 2 * clean_sums), sums_bytes);
      std::fill(sums + clean_sums, sums + more, std::byte{0});
      clean_sums = more;
    }
    return reinterpret_cast<Sum*>(sums);
  }
  void open_marks(std::int64_t window) {
    if (window <= clean_marks) return;
    const std::int64_t more = std::min(whole_steps(std::max(window, 2 * clean_marks)), marks_columns);
    std::fill(marks.bytes + std::min(clean_marks, mark_bytes), marks.bytes + std::min(more, mark_bytes),
              std::uint8_t{0});
    std::fill(marks.bits + clean_marks / 64, marks.bits + more / 64, std::uint64_t{0});
    std::fill(mark_groups + clean_marks / marks_step, mark_groups + more / marks_step, std::uint64_t{0});
    std::fill(marks.words + clean_marks / 64, marks.words + more / 64, std::uint8_t{0});
    clean_marks = more;
  }

  /// The marks in the form that multiply_plainly takes.
  PlainMarks plain_marks() const { return {marks.bits, mark_groups, clean_marks / marks_step}; }

  static std::int64_t whole_steps(std::int64_t columns) {
    return (columns + marks_step - 1) / marks_step * marks_step;
  }
};

/// Cuts arrays, each aligned to a cache line, from one block; without a block, only adds up their bytes.
class Carver {
 public:
  explicit Carver(std::byte* block) : block_(block) {}
  template <class T>
  T* take(std::int64_t count) {
    constexpr std::int64_t line = 64;
    std::byte* const at = block_ ? block_ + bytes_ : nullptr;
    bytes_ += (count * static_cast<std::int64_t>(sizeof(T)) + line - 1) / line * line;
    return reinterpret_cast<T*>(at);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* block_;
  std::int64_t bytes_ = 0;
};

/// The arrays of a worker, for products with `columns` columns; those of a DiagonalProduct, which are large,
/// only if needed. The sums come last, since the smallest part of them is touched.
template <class Acc>
RowSpace<Acc> carve_row_space(Carver& carver, std::int64_t columns, bool with_diagonals) {
  using Limits = DiagonalLimits;
  using Diagonals = DiagonalSpace<Acc>;
  using Real = real_part_t<Acc>;
  RowSpace<Acc> space;
  space.marks_columns = RowSpace<Acc>::whole_steps(columns + 64);
  space.mark_bytes = (columns + 63) / 64 * 64;
  space.marks.bytes = carver.take<std::uint8_t>(space.mark_bytes);
  space.marks.bits = carver.take<std::uint64_t>(space.marks_columns / 64);
  space.marks.words = carver.take<std::uint8_t>(space.marks_columns / 64);
  space.mark_groups = carver.take<std::uint64_t>(space.marks_columns / RowSpace<Acc>::marks_step);
  if (with_diagonals) {
    auto& diagonals = space.diagonals;
    diagonals.columns = carver.take<std::int32_t>(Limits::products + order_slack);
    diagonals.b_columns = carver.take<std::int32_t>(Limits::products);
    diagonals.begin = carver.take<std::uint32_t>(Limits::products + 1);
    diagonals.a_at = carver.take<std::uint32_t>(Limits::products);
    diagonals.b_at = carver.take<std::uint32_t>(Limits::products);
    diagonals.slot = carver.take<std::uint32_t>(std::min(columns, Limits::window));
    diagonals.a_values = carver.take<Real>(Diagonals::planes * Diagonals::a_plane);
    diagonals.b_values = carver.take<Real>(Diagonals::planes * Diagonals::b_plane);
    diagonals.sums = carver.take<Real>(Diagonals::planes * Diagonals::sums_plane);
  }
  using Widest = Packet<Acc, most_alike_lanes>;
  space.sums_bytes =
      std::max(columns * static_cast<std::int64_t>(sizeof(Acc)),
               std::min(columns, widest_alike_window) * static_cast<std::int64_t>(sizeof(Widest)));
  space.sums = carver.take<std::byte>(space.sums_bytes);
  return space;
}

}  // namespace sporos::detail
