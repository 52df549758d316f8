// SPDX-License-Identifier: Apache-2.0
/// @file form.hpp
/// Whether MTTKRP prefetches the rows that belong to the coordinates of the innermost level.
///
/// The forms compute the same sums, bit by bit.
#pragma once

#include <array>
#include <cstdint>

#include "../../host/forms.hpp"

namespace sporos::detail {

struct MttkrpForm {
  int ahead = 0;  ///< how many nonzeros ahead rows are prefetched; 0 for none

  friend bool operator==(const MttkrpForm&, const MttkrpForm&) = default;
};

inline constexpr std::array<NamedForm<MttkrpForm>, 2> mttkrp_forms{{
    {{0}, "near", true},
    {{8}, "ahead-8", true},
}};

/// The form for matrices with rows of `row_bytes` bytes, unless SPOROS_MTTKRP_FORM names one.
/// @param rows  number of rows of the matrix that the innermost level selects rows of, a factor or the result
inline MttkrpForm mttkrp_form_for(std::int64_t rows, std::int64_t row_bytes) {
  constexpr std::int64_t long_row = 512;  // eight cache lines
  constexpr std::int64_t most_near = std::int64_t{4}
                                     << 20;  // bytes of a matrix that is mostly in near caches
  constexpr std::int64_t surely_far = std::int64_t{32} << 20;  // bytes of a matrix of which most rows are far
  static const auto* const named = form_from_environment("SPOROS_MTTKRP_FORM", mttkrp_forms);
  if (named) return named->form;
  return {rows * row_bytes > (row_bytes >= long_row ? most_near : surely_far) ? 8 : 0};
}

}  // namespace sporos::detail
