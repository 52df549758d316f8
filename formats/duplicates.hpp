// SPDX-License-Identifier: Apache-2.0
/// @file duplicates.hpp
/// What to do with entries at the same coordinate.
#pragma once

#include "../core/value.hpp"
#include "structure.hpp"

namespace sporos {

/// What `assemble` does with entries at the same coordinate.
enum class Duplicates {
  sum,    ///< adds the values, in the order of the entries; `or` for bool
  last,   ///< the last entry wins
  max,    ///< the largest value wins
  error,  ///< throws FormatError
  keep    ///< keeps all values, in the order of the entries: for formats that are not unique
};

/// `keep` where the format can store duplicates, else `sum`.
template <TensorFormat F>
inline constexpr Duplicates default_duplicates =
    detail::Structure<F>::keeps_duplicates ? Duplicates::keep : Duplicates::sum;

namespace detail {

/// Whether values can be compared: complex numbers cannot, and elements of a semiring need not have an order.
template <class Value>
inline constexpr bool has_order = !is_complex_v<Value> && !is_semiring_element_v<Value>;

/// Computes the value of a run of entries at the same coordinate.
template <class Value>
class Accumulator {
 public:
  using sum_type = accumulate_t<Value>;

  void start(Value value) { sum_ = static_cast<sum_type>(value); }
  void add(Value value, Duplicates duplicates) {
    const auto x = static_cast<sum_type>(value);
    if (duplicates == Duplicates::sum) {
      sum_ = plus(sum_, x);
    } else if (duplicates == Duplicates::last) {
      sum_ = x;
    } else if constexpr (has_order<Value>) {
      if (sum_ < x) sum_ = x;
    }
  }
  Value value() const { return static_cast<Value>(sum_); }

 private:
  sum_type sum_{};
};

}  // namespace detail
}  // namespace sporos
