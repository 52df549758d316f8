// SPDX-License-Identifier: Apache-2.0
/// @file variable_numbering.hpp
/// How a rank numbers the coordinates of a statement's variables, in the tensors on which it computes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/level.hpp"
#include "../core/statement.hpp"
#include "agree.hpp"
#include "communicator.hpp"
#include "coordinate_arrays.hpp"
#include "localise.hpp"
#include "numbering.hpp"
#include "row_fetch.hpp"
#include "work_division.hpp"

namespace sporos::detail {

/// The numbers of a statement's variables on a rank.
struct NumberedVariables {
  Numberings numberings;
  Numberings needed;  ///< lists of the coordinates whose values matter, if known
  NameList listed;    ///< variables numbered by lists
};

/// Numbers the variables of a statement whose work is divided: those that divide it by the rank's part, those
/// of operands that come from other ranks by a list of the coordinates that the rank needs, if operands that
/// it has bound them, and others as they are.
template <class S>
class VariableNumbering {
 public:
  VariableNumbering(const S& statement, const WorkDivision<S>& work, const Communicator& ranks)
      : statement_(statement), work_(work), ranks_(ranks) {}

  /// @param is_sent  whether what the rank computes goes to other ranks
  /// Collective.
  NumberedVariables find(bool is_sent) const {
    NumberedVariables out;
    const auto whole = [&](const auto& access) {
      using A = std::remove_cvref_t<decltype(access)>;
      for (int mode = 0; mode < A::names.size; ++mode)
        out.numberings[A::names[mode]] = Numbering::whole(access.tensor().extent(mode));
    };
    whole(statement_.result());
    for_each_access(statement_.right(), whole);
    for (const Division& one : work_.divisions())
      out.numberings[one.variable] = Numbering::part(one, ranks_.rank());
    if (ranks_.size() == 1) return out;

    // Variables of tensors that are not in place are listed if bounded by operands that are.
    std::array<bool, most_operands> known{};
    std::size_t at = 0;
    NameList wanted;
    for_each_access(statement_.right(), [&](const auto& access) {
      using A = std::remove_cvref_t<decltype(access)>;
      known[at] = work_.is_in_place(access);
      if (!known[at++])
        for (int mode = 0; mode < A::names.size; ++mode) wanted.push_new(A::names[mode]);
    });
    if (is_sent)
      for (int mode = 0; mode < Result::names.size; ++mode) wanted.push_new(Result::names[mode]);
    if (wanted.size == 0) return out;
    jointly(ranks_, [&] {
      for (int name = 0; name < wanted.size; ++name) {
        const char variable = wanted[name];
        if (!is_bounded<0, Right>(variable, known)) continue;
        const Numbering all = out.numberings[variable];
        auto coordinates = bounded_coordinates<0>(statement_.right(), variable, known);
        if (!all.is_whole() || !WorkDivision<S>::may_list(variable, is_sent) ||
            !may_renumber_dealt(variable)) {
          if (!work_.is_divided()) continue;
          for (std::int64_t& c : coordinates) c = all.global(c);
          out.needed[variable] = Numbering::list(std::move(coordinates), all.extent());
          continue;
        }
        out.listed.push_new(variable);
        add_stored(variable, known, coordinates);
        add_own_rows(variable, coordinates);
        out.needed[variable] = out.numberings[variable] =
            Numbering::list(std::move(coordinates), all.extent());
      }
      agree(ranks_, "the plan of a statement");
    });
    return out;
  }

 private:
  using Result = typename S::result_type;
  using Right = typename S::right_type;

  /// Whether the nonzeros that are dealt out store the coordinates of a variable in arrays. If they do not,
  /// they keep their coordinates: fetched under other ones, those of other ranks would come with them.
  bool may_renumber_dealt(char variable) const {
    bool may = true;
    const auto look = [&](const auto& access) {
      using A = std::remove_cvref_t<decltype(access)>;
      if (!work_.is_dealt(access)) return;
      for (int mode = 0; mode < A::names.size; ++mode)
        if (A::names[mode] == variable) may = may && has_coordinate_array<typename A::format>(mode);
    };
    look(statement_.result());
    for_each_access(statement_.right(), look);
    return may;
  }

  /// Adds the coordinates of operands that are in place: each of them needs a number, whether or not the
  /// other factors have it.
  template <class Known>
  void add_stored(char variable, const Known& known, std::vector<std::int64_t>& coordinates) const {
    std::size_t at = 0;
    for_each_access(statement_.right(), [&](const auto& access) {
      using A = std::remove_cvref_t<decltype(access)>;
      if (!known[at++]) return;
      for (int mode = 0; mode < A::names.size; ++mode)
        if (A::names[mode] == variable && has_coordinate_array<typename A::format>(mode))
          coordinates =
              united(coordinates,
                     stored_coordinates(LocalOf<typename A::tensor_type>::local(access.tensor()), mode));
    });
  }

  /// Adds the rank's own rows of operands of which whole rows are fetched: they are placed between those of
  /// other ranks.
  void add_own_rows(char variable, std::vector<std::int64_t>& coordinates) const {
    for_each_access(statement_.right(), [&](const auto& access) {
      using A = std::remove_cvref_t<decltype(access)>;
      if constexpr (stores_rows<typename A::format>) {
        const Partition& partition = distribution_of(access, ranks_).partition(0);
        if (A::names[0] != variable || work_.is_in_place(access) || !partition.is_contiguous() ||
            partition.parts() != ranks_.size())
          return;
        const Bounds own = partition.range(ranks_.rank());
        std::vector<std::int64_t> all;
        all.reserve(coordinates.size() + static_cast<std::size_t>(own.size()));
        const auto before = std::lower_bound(coordinates.begin(), coordinates.end(), own.begin);
        all.assign(coordinates.begin(), before);
        for (std::int64_t row = own.begin; row < own.end; ++row) all.push_back(row);
        all.insert(all.end(), std::lower_bound(before, coordinates.end(), own.end), coordinates.end());
        coordinates = std::move(all);
      }
    });
  }

  const S& statement_;
  const WorkDivision<S>& work_;
  const Communicator& ranks_;
};

}  // namespace sporos::detail
