// SPDX-License-Identifier: Apache-2.0
/// @file form.hpp
/// Chooses the form of SpMV that suits this processor and a matrix.
///
/// If all rows have about the same number of nonzeros, the processor predicts the branches of short loops,
/// and plain loops are fastest. If the numbers vary, a misprediction costs more than a short row, and forms
/// without branches win: those with gather instructions or, where these are slow, with scalar loads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "../../../formats/near_rows.hpp"
#include "../../host/forms.hpp"
#include "../../host/regular_rows.hpp"
#include "../../host/sparse_rows.hpp"
#include "rows.hpp"

namespace sporos::detail {

inline constexpr std::array<NamedForm<SpmvForm>, 4> spmv_forms{{
    {SpmvForm::scalar, "scalar", true},
    {SpmvForm::products_first, "products-first", true},
#ifdef SPOROS_GATHERS_FOUR
    {SpmvForm::gather_four, "gather-four", true},
#else
    {SpmvForm::gather_four, "gather-four", false},
#endif
#ifdef SPOROS_GATHERS_EIGHT
    {SpmvForm::gather_eight, "gather-eight", true},
#else
    {SpmvForm::gather_eight, "gather-eight", false},
#endif
}};

/// The most rows whose lengths the processor may remember from one product to the next: it then predicts the
/// branches of short loops over them, however irregular they are.
inline constexpr std::int64_t most_remembered_rows = 18'000;

/// The fastest forms on this processor, measured at first use.
class SpmvForms {
 public:
  static SpmvForm for_regular_rows() {
    static const SpmvForm form =
        measured(gathers_slowly() ? scalar_first
                                  : Order{SpmvForm::gather_eight, SpmvForm::scalar, SpmvForm::gather_four},
                 1024, [](std::int64_t) { return 7; });
    return form;
  }
  static SpmvForm for_irregular_rows() {
    static const SpmvForm form = measured(gathers_slowly() ? scalar_first : by_width, 1024, irregular);
    return form;
  }
  /// The fastest form for more rows than most_remembered_rows.
  static SpmvForm for_many_irregular_rows() {
    static const SpmvForm form = gathers_slowly() && !gathers_far_fast()
                                     ? measured(products_first, most_remembered_rows + 1, random)
                                     : measured(by_width, most_remembered_rows + 1, random);
    return form;
  }
  /// The fastest form for more rows than that if most of them are short.
  static SpmvForm for_many_short_rows() {
    static const SpmvForm form =
        measured(gathers_slowly() ? products_first : eight_or_products, most_remembered_rows + 1, random);
    return form;
  }

 private:
  /// Some forms, of which the first is likely to be the fastest.
  template <std::size_t Count>
  using Forms = std::array<SpmvForm, Count>;
  using Order = Forms<3>;
  static constexpr Order by_width{SpmvForm::gather_eight, SpmvForm::gather_four, SpmvForm::scalar};
  static constexpr Order scalar_first{SpmvForm::scalar, SpmvForm::gather_eight, SpmvForm::gather_four};
  static constexpr Forms<4> products_first{SpmvForm::products_first, SpmvForm::gather_eight,
                                           SpmvForm::gather_four, SpmvForm::scalar};
  /// A processor with fast gathers gathers eight elements at a time; four are not worth it.
  static constexpr Forms<4> eight_or_products{SpmvForm::gather_eight, SpmvForm::products_first,
                                              SpmvForm::gather_four, SpmvForm::scalar};

  /// Numbers below 16 without a pattern: the high bits of a multiplicative sequence.
  static std::int64_t irregular(std::int64_t row) {
    return static_cast<std::int64_t>(static_cast<std::uint32_t>(row * 2654435761u) >> 28);
  }

  /// Numbers below 8 that cannot be predicted: bits of a hash of the row (Steele, Lea, Flood, "Fast
  /// Splittable Pseudorandom Number Generators", OOPSLA 2014, figure 14).
  static std::int64_t random(std::int64_t row) {
    auto bits = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::int64_t>(bits >> 61);
  }

  /// The fastest form, by measurement, for a matrix whose row r has length(r) nonzeros.
  template <std::size_t Count, class Length>
  static SpmvForm measured(const Forms<Count>& order, std::int64_t rows, const Length& length) {
    std::vector<std::int64_t> positions{0};
    std::vector<std::int32_t> coordinates;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t q = 0; q < length(row); ++q)
        coordinates.push_back(static_cast<std::int32_t>((row + 37 * q) % rows));
      positions.push_back(static_cast<std::int64_t>(coordinates.size()));
    }
    const auto elements = static_cast<std::size_t>(rows);
    const std::vector<double> values(coordinates.size(), 1.0), x(elements, 1.0);
    std::vector<double> y(elements);
    const SparseRows<double, std::int64_t, std::int32_t> a{rows, rows, positions.data(), coordinates.data(),
                                                           values.data()};
    const auto seconds = seconds_of_forms(spmv_forms, [&](SpmvForm form) {
      SpmvRows<double, std::int64_t, std::int32_t>::multiply(form, a, x.data(), y.data(), 0, rows, false);
    });
    const auto of = [&](SpmvForm form) { return seconds[static_cast<std::size_t>(form)]; };
    // Each form adds in its own order, so the choice must not depend on small differences, or the bits of a
    // result would change from run to run. Another form has to be much faster than the likely one to be
    // chosen.
    SpmvForm best = order[0];
    for (const SpmvForm other : order)
      if (of(other) * 1.5 < of(best)) best = other;
    return best;
  }
};

/// The widest form that was compiled.
constexpr SpmvForm widest_spmv_form() {
  SpmvForm out = SpmvForm::scalar;
  for (const auto& form : spmv_forms)
    if (form.is_compiled) out = form.form;
  return out;
}

/// Whether this program gathers eight elements at a time, on a processor that does so fast.
inline bool gathers_eight_fast() { return widest_spmv_form() == SpmvForm::gather_eight && !gathers_slowly(); }

/// The form for a matrix, unless SPOROS_SPMV_FORM names one. Small matrices get the scalar form: a program
/// that has no others measures nothing.
/// @param is_deterministic  whether all processes must choose the same form; then nothing is measured
/// @throws RangeError if the environment names a form or a distance of prefetching that is not there
template <class Matrix>
[[gnu::noinline]] SpmvForm spmv_form_for(const Matrix& a, bool is_deterministic) {
  constexpr std::int64_t fewest_nonzeros = 1024, long_row = 12;
  static const auto* const named = [] {
    static_cast<void>(spmv_prefetch());  // refuses a wrong name, which could not be done before main
    return form_from_environment("SPOROS_SPMV_FORM", spmv_forms);
  }();
  if (named) return named->form;
  if (a.nnz() < fewest_nonzeros) return SpmvForm::scalar;
  if (is_deterministic) return has_regular_rows(a) ? SpmvForm::scalar : widest_spmv_form();
  // If the matrix does not fit in the caches, and neither do the elements of the vector that neighbouring
  // rows read, what counts is how many loads are in flight: where gather instructions are slow, they may keep
  // more of them than scalar loads; where not, plain scalar loops keep the most.
  constexpr std::int64_t bytes = sizeof(*a.values) + sizeof(*a.coordinates);
  const auto is_far = [&] { return gathers_slowly() && a.nnz() * bytes >= far_bytes && !has_near_rows(a); };
  if (!gathers_far_fast() && is_far()) return SpmvForm::scalar;
  // Four elements are gathered at a time only if rows are not too short.
  constexpr SpmvForm widest = widest_spmv_form();
  constexpr std::int64_t row_of_fours = 8;
  const bool gathers = widest == SpmvForm::gather_eight ||
                       (widest == SpmvForm::gather_four && a.nnz() >= row_of_fours * a.rows);
  if (has_regular_rows(a)) {
    if (gathers && gathers_far_fast() && is_far()) return widest;
    return SpmvForms::for_regular_rows();
  }
  if (a.rows <= most_remembered_rows) return gathers ? SpmvForms::for_irregular_rows() : SpmvForm::scalar;
  return a.nnz() < long_row * a.rows ? SpmvForms::for_many_short_rows()
                                     : SpmvForms::for_many_irregular_rows();
}

#define SPOROS_SPMV_FORM_FOR(EXTERN, Value) \
  EXTERN template SpmvForm spmv_form_for(const SparseRows<Value, std::int64_t, std::int32_t>&, bool);
SPOROS_DECLARE_COMPILED(SPOROS_SPMV_FORM_FOR)

}  // namespace sporos::detail
