// SPDX-License-Identifier: Apache-2.0
/// @file form.hpp
/// Whether rows are computed by instructions that gather and scatter.
#pragma once

#include <array>
#include <cstdint>

#include "../../host/forms.hpp"
#include "few_in_lanes.hpp"

namespace sporos::detail {

enum class SpgemmForm : std::uint8_t {
  sorted,  ///< rows of few products are loaded one by one, and sorted in scalar registers (few.hpp)
  lanes    ///< they are gathered into the lanes of a vector (few_in_lanes.hpp), and sums of plain rows are
           ///< taken from the accumulator eight at a time (plain.hpp)
};

inline constexpr std::array<NamedForm<SpgemmForm>, 2> spgemm_forms{{
    {SpgemmForm::sorted, "sorted", true},
#ifdef SPOROS_SPGEMM_FEW_IN_LANES
    {SpgemmForm::lanes, "lanes", true},
#else
    {SpgemmForm::lanes, "lanes", false},
#endif
}};

/// The form for this processor, unless SPOROS_SPGEMM_FORM names one. Lanes pay off only if gathers are fast.
inline SpgemmForm spgemm_form() {
  static const auto* const named = form_from_environment("SPOROS_SPGEMM_FORM", spgemm_forms);
  if (named) return named->form;
  return gathers_slowly() || !spgemm_forms[1].is_compiled ? SpgemmForm::sorted : SpgemmForm::lanes;
}

}  // namespace sporos::detail
