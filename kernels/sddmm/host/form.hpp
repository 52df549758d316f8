// SPDX-License-Identifier: Apache-2.0
/// @file form.hpp
/// How wide the vectors are in which SDDMM multiplies.
///
/// The lanes of eight sums have to be added up for eight dot products, which takes longer the more lanes
/// there are. Where a dot product is short, that is most of the work, and vectors of half the width of the
/// registers are faster.
#pragma once

#include <array>
#include <cstdint>

#include "../../host/forms.hpp"
#include "../../host/packet.hpp"

namespace sporos::detail {

enum class SddmmForm {
  full,  ///< vectors of the width of the registers
  half   ///< of half that width
};

/// Whether vectors of half the width are worth having: only where registers have 64 bytes.
inline constexpr bool has_half_vectors = vector_bytes == 64;

inline constexpr std::array<NamedForm<SddmmForm>, 2> sddmm_forms{{
    {SddmmForm::full, "full", true},
    {SddmmForm::half, "half", has_half_vectors},
}};

/// The form for dot products of rows of so many bytes: the one that SPOROS_SDDMM_FORM names, if it names one.
/// The choice is the same on all processors, since the forms add in different orders.
inline SddmmForm sddmm_form_for(std::int64_t row_bytes) {
  constexpr std::int64_t long_row = 128;  // two vectors: adding up their lanes takes no longer from here on
  static const auto* const named = form_from_environment("SPOROS_SDDMM_FORM", sddmm_forms);
  if (named) return named->form;
  return has_half_vectors && row_bytes <= long_row ? SddmmForm::half : SddmmForm::full;
}

}  // namespace sporos::detail
