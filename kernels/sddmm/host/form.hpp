// SPDX-License-Identifier: Apache-2.0
/// @file form.hpp
/// The width of the vectors in which SDDMM multiplies.
///
/// For eight dot products, the lanes of eight sums have to be added up, which takes longer the more lanes
/// there are. For short dot products this is most of the work, and vectors half as wide as the registers are
/// faster.
#pragma once

#include <array>
#include <cstdint>

#include "../../host/forms.hpp"
#include "../../host/packet.hpp"

namespace sporos::detail {

enum class SddmmForm {
  full,  ///< vectors as wide as the registers
  half   ///< vectors half as wide
};

/// Whether vectors of half the width are compiled: only if registers have 64 bytes.
inline constexpr bool has_half_vectors = vector_bytes == 64;

inline constexpr std::array<NamedForm<SddmmForm>, 2> sddmm_forms{{
    {SddmmForm::full, "full", true},
    {SddmmForm::half, "half", has_half_vectors},
}};

/// The form for dot products of rows of `row_bytes` bytes, unless SPOROS_SDDMM_FORM names one. The choice is
/// the same on all processors, since the forms add in different orders.
inline SddmmForm sddmm_form_for(std::int64_t row_bytes) {
  constexpr std::int64_t long_row = 128;  // two vectors; adding up their lanes no longer dominates
  static const auto* const named = form_from_environment("SPOROS_SDDMM_FORM", sddmm_forms);
  if (named) return named->form;
  return has_half_vectors && row_bytes <= long_row ? SddmmForm::half : SddmmForm::full;
}

}  // namespace sporos::detail
