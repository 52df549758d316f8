// SPDX-License-Identifier: Apache-2.0
/// @file form.hpp
/// How rows of some products are computed: by instructions that gather and scatter, or by scalar ones.
#pragma once

#include <array>
#include <cstdint>

#include "../../host/forms.hpp"
#include "few_in_lanes.hpp"

namespace sporos::detail {

enum class SpgemmForm : std::uint8_t {
  sorted,    ///< rows of few products are loaded one by one, and sorted in scalar registers (few.hpp)
  plain,     ///< the same, and rows of more products are plain (plain.hpp): a mispredicted choice costs more
             ///< than what a better strategy saves. They take sums with columns only if they are regular and
             ///< all marks are in one group
  in_a_row,  ///< the same, and plain rows always take their sums after all columns
  lanes      ///< rows of few products are gathered into the lanes of a vector (few_in_lanes.hpp), and sums of
             ///< plain rows of irregular lengths are taken from the accumulator eight at a time (plain.hpp)
};

inline constexpr std::array<NamedForm<SpgemmForm>, 4> spgemm_forms{{
    {SpgemmForm::sorted, "sorted", true},
    {SpgemmForm::plain, "plain", true},
    {SpgemmForm::in_a_row, "in-a-row", true},
#ifdef SPOROS_SPGEMM_FEW_IN_LANES
    {SpgemmForm::lanes, "lanes", true},
#else
    {SpgemmForm::lanes, "lanes", false},
#endif
}};

/// The form for this processor, unless SPOROS_SPGEMM_FORM names one. Lanes pay off only if gathers are fast;
/// where they are not, on AMD's processors, more plain rows do, which cost Intel's up to a quarter, and
/// before Zen 5 all sums in a row.
inline SpgemmForm spgemm_form() {
  static const auto* const named = form_from_environment("SPOROS_SPGEMM_FORM", spgemm_forms);
  if (named) return named->form;
  if (gathers_slowly()) return is_zen_5_or_later() ? SpgemmForm::plain : SpgemmForm::in_a_row;
  return spgemm_forms.back().is_compiled ? SpgemmForm::lanes : SpgemmForm::sorted;
}

}  // namespace sporos::detail
