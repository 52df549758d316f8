// SPDX-License-Identifier: Apache-2.0
/// @file form.hpp
/// Whether SpMM prefetches rows of the dense factor, how far ahead, and whether it writes around the caches.
///
/// The forms compute the same sums, bit by bit.
#pragma once

#include <array>
#include <cstdint>

#include "../../../formats/near_rows.hpp"
#include "../../host/forms.hpp"

namespace sporos::detail {

struct SpmmForm {
  int ahead = 0;      ///< how many nonzeros ahead rows of B are prefetched; 0 for none
  bool past = false;  ///< whether C is written around the caches

  friend bool operator==(const SpmmForm&, const SpmmForm&) = default;
};

inline constexpr std::array<NamedForm<SpmmForm>, 6> spmm_forms{{
    {{0, false}, "near", true},
    {{4, false}, "ahead-4", true},
    {{8, false}, "ahead-8", true},
    {{0, true}, "near-past", true},
    {{4, true}, "ahead-4-past", true},
    {{8, true}, "ahead-8-past", true},
}};

/// Bytes of the dense factor that fit in a core's private caches, and in all of its caches.
inline constexpr std::int64_t most_near_factor = std::int64_t{2} << 20;
inline constexpr std::int64_t most_cached_factor = std::int64_t{8} << 20;
/// Bytes of a result that fit in the caches.
inline constexpr std::int64_t most_kept_result = std::int64_t{16} << 20;

/// The form for a product, unless SPOROS_SPMM_FORM names one.
/// @param row_bytes  bytes of a row of B, and of a row of C
template <class Matrix>
SpmmForm spmm_form_for(const Matrix& a, std::int64_t row_bytes) {
  constexpr std::int64_t long_row = 512, medium_row = 256;  // of B: eight and four cache lines
  static const auto* const named = form_from_environment("SPOROS_SPMM_FORM", spmm_forms);
  if (named) return named->form;
  const std::int64_t bytes_of_b = a.columns * row_bytes;
  SpmmForm form{0, a.rows * row_bytes > most_kept_result};
  if (row_bytes >= long_row && bytes_of_b > most_near_factor)
    form.ahead = 4;
  else if (is_made_by_amd() && row_bytes >= medium_row && bytes_of_b > most_cached_factor &&
           !has_near_rows(a))
    form.ahead = 8;  // processors of Intel prefetch so few lines early enough by themselves
  return form;
}

}  // namespace sporos::detail
