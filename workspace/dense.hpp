// SPDX-License-Identifier: Apache-2.0
/// @file dense.hpp
/// The dense workspace of order 1: an array over one variable's extent that gathers scattered results.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <vector>

#include "../core/error.hpp"
#include "../core/inline.hpp"
#include "../core/pool.hpp"
#include "../core/value.hpp"

namespace sporos {

/// Gathers values by coordinate, in any order, and hands them out in ascending order.
///
/// A bitmap remembers which coordinates were written, and a second one which words of the first: handing out
/// costs O(coordinates written + extent / 4096), sorts nothing, and leaves the workspace empty for the next
/// use. (Kjolstad, Ahrens, Kamil, Amarasinghe, *Tensor Algebra Compilation with Workspaces*, CGO 2019, gives
/// the use of it.)
template <class T>
class DenseWorkspace {
 public:
  /// @throws MemoryError where an array over the extent is not to be had
  explicit DenseWorkspace(std::int64_t extent) try
      : values_(size_for(extent)),
        written_(static_cast<std::size_t>((extent + 63) / 64)),
        touched_(static_cast<std::size_t>((extent + 4095) / 4096)) {
  } catch (const std::exception&) {
    throw MemoryError(text("a dense workspace over ", extent, " coordinates of ", sizeof(T),
                           " bytes each cannot be allocated: choose a loop order with .reorder(...) that "
                           "appends the result, or that scatters it over several variables"));
  }

  /// values[c] += value
  void add(std::int64_t c, const T& value) {
    const auto at = static_cast<std::size_t>(c);
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
          take(static_cast<std::int64_t>(at), values_[at].sum);
          values_[at].sum = T{};
        }
        written_[word] = 0;
      }
      touched_[group] = 0;
    }
  }

  std::int64_t bytes() const { return bytes_over(static_cast<std::int64_t>(values_.size())); }
  /// Bytes of a workspace over `extent` coordinates.
  static std::int64_t bytes_over(std::int64_t extent) {
    return extent * static_cast<std::int64_t>(sizeof(T)) + ((extent + 63) / 64 + (extent + 4095) / 4096) * 8;
  }

 private:
  /// The system would hand out more memory than there is, and end the process when it is touched.
  static std::size_t size_for(std::int64_t extent) {
    if (extent > Pool::machine_bytes() / static_cast<std::int64_t>(sizeof(T))) throw std::bad_alloc();
    return static_cast<std::size_t>(extent);
  }
  struct Cell {  // keeps std::vector<bool> away
    T sum{};
  };
  std::vector<Cell> values_;
  std::vector<std::uint64_t> written_;
  std::vector<std::uint64_t> touched_;
};

}  // namespace sporos
