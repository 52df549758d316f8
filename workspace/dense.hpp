// SPDX-License-Identifier: Apache-2.0
/// @file dense.hpp
/// The dense workspace of order 1: an array over one variable's extent that gathers scattered results.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string_view>
#include <type_traits>

#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "../core/memory_use.hpp"
#include "../core/pool.hpp"
#include "../core/value.hpp"
#include "dense_box.hpp"
#include "policy.hpp"

namespace sporos {

struct DensePolicy;

/// The most bytes of a dense array over an extent. Each thread has one.
inline constexpr std::int64_t most_dense_bytes = std::int64_t{1} << 30;

/// Whether a dense array over an extent is worth its memory.
inline constexpr bool fits_dense(std::int64_t extent, std::size_t element) {
  return extent <= most_dense_bytes / static_cast<std::int64_t>(element);
}

/// Gathers values by coordinate, in any order, and hands them out in ascending order.
///
/// A bitmap records which coordinates have been written, and a second one which words of the first. Handing
/// out the values costs O(coordinates written + extent / 4096), sorts nothing, and leaves the workspace empty
/// for the next use. (Its use is described in Kjolstad, Ahrens, Kamil, Amarasinghe, *Tensor Algebra
/// Compilation with Workspaces*, CGO 2019.)
template <class T>
class DenseWorkspace {
 public:
  static constexpr bool in_order = true, sums_in_order = true;

  /// @throws MemoryError if an array over the extent cannot be allocated
  DenseWorkspace(const DensePolicy&, const Extents<1>& extents) try
      : values_(size_for(extents[0])),
        written_(static_cast<std::size_t>((extents[0] + 63) / 64)),
        touched_(static_cast<std::size_t>((extents[0] + 4095) / 4096)) {
  } catch (const std::exception&) {
    throw MemoryError(text("a dense workspace over ", extents[0], " coordinates of ", sizeof(T),
                           " bytes each cannot be allocated: choose another with "
                           ".workspace(sorted_workspace)"));
  }

  /// values[c] += value
  void add(const Extents<1>& c, const T& value) {
    const auto at = static_cast<std::size_t>(c[0]);
    values_[at].sum = plus(values_[at].sum, value);
    written_[at >> 6] |= std::uint64_t{1} << (at & 63);
    touched_[at >> 12] |= std::uint64_t{1} << ((at >> 6) & 63);
  }

  /// Calls take(coordinate, value) for each coordinate written, ascending, and empties the workspace.
  template <class Take>
  void drain(const Take& take) {
    for (std::size_t group = 0; group < touched_.size(); ++group) {
      for (std::uint64_t words = touched_[group]; words; words &= words - 1) {
        const std::size_t word = group * 64 + static_cast<std::size_t>(std::countr_zero(words));
        for (std::uint64_t bits = written_[word]; bits; bits &= bits - 1) {
          const std::size_t at = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
          take(Extents<1>{static_cast<std::int64_t>(at)}, values_[at].sum);
          values_[at].sum = T{};
        }
        written_[word] = 0;
      }
      touched_[group] = 0;
    }
  }

  /// Bytes of a workspace over `extents`, regardless of how often values are added.
  static std::int64_t most_bytes(const DensePolicy&, const Extents<1>& extents, std::int64_t /*adds*/) {
    const std::int64_t extent = extents[0];
    return extent * static_cast<std::int64_t>(sizeof(T)) + ((extent + 63) / 64 + (extent + 4095) / 4096) * 8;
  }

 private:
  /// Refuses sizes beyond the machine's memory: the system may grant them and then end the process on first
  /// touch.
  static std::size_t size_for(std::int64_t extent) {
    if (extent > Pool::machine_bytes() / static_cast<std::int64_t>(sizeof(T))) throw std::bad_alloc();
    return static_cast<std::size_t>(extent);
  }
  struct Cell {  // a struct, to avoid std::vector<bool>
    T sum{};
  };
  detail::CountedVector<Cell> values_;
  detail::CountedVector<std::uint64_t> written_;
  detail::CountedVector<std::uint64_t> touched_;
};

/// Gathers in an array over the extents of the variables.
struct DensePolicy {
  static constexpr std::string_view name = "dense workspace";
  static constexpr bool takes(int) { return true; }
  template <class T, int Order>
  using workspace = std::conditional_t<Order == 1, DenseWorkspace<T>, DenseBox<T, Order>>;
  template <class T, std::size_t Order>
  static constexpr bool is_dense_over(const std::array<std::int64_t, Order>&) {
    return true;
  }
};

inline constexpr DensePolicy dense_workspace{};

}  // namespace sporos
