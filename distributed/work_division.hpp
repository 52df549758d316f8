// SPDX-License-Identifier: Apache-2.0
/// @file work_division.hpp
/// Who computes what in a statement on distributed tensors: which variables are divided among the ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/statement.hpp"
#include "../core/value.hpp"
#include "../formats/format_name.hpp"
#include "../kernels/nest/bounds.hpp"
#include "agree.hpp"
#include "communicator.hpp"
#include "localise.hpp"
#include "numbering.hpp"
#include "operand.hpp"
#include "tensor.hpp"

namespace sporos {

namespace detail {

/// The ranks of the first distributed tensor in a statement.
template <class S>
const Communicator& ranks_of(const S& statement) {
  const Communicator* found = nullptr;
  const auto look = [&](const auto& access) {
    if constexpr (AnyDistributed<typename std::remove_cvref_t<decltype(access)>::tensor_type>)
      if (!found) found = &access.tensor().ranks();
  };
  look(statement.result());
  for_each_access(statement.right(), look);
  return *found;
}

/// The modes of a tensor that are divided among ranks, with their variables.
template <class A>
std::vector<Division> divisions_of(const A& access, const Communicator& ranks) {
  std::vector<Division> out;
  const auto& distribution = distribution_of(access, ranks);
  for (int mode = 0; mode < A::names.size; ++mode)
    if (distribution.partition(mode).parts() > 1)
      out.push_back({A::names[mode], distribution.partition(mode), distribution.stride(mode)});
  return out;
}

/// The nonzeros of tensors with one fine-grained distribution, accessed by the same variables.
struct DealtNonzeros {
  std::string variables;
  std::uint64_t distribution = 0;  ///< hash of its signature

  bool operator==(const DealtNonzeros&) const = default;
};

/// Those of a tensor, if they are dealt out one by one.
template <class A>
std::optional<DealtNonzeros> dealt_nonzeros_of(const A& access, const Communicator& ranks) {
  const auto& distribution = distribution_of(access, ranks);
  if (!distribution.is_fine_grained()) return {};
  return DealtNonzeros{A::names.str(), distribution.signature().hash()};
}

inline constexpr std::string_view is_divided_otherwise =
    "other ranks are to compute than the owners of the result";

/// Whether the owners of the result may compute it; they may, unless the statement names other owners.
template <class S>
bool owners_of_result_compute(const S& statement) {
  if constexpr (S::schedule::owners::are_given) {
    const auto same = [](const Division& a, const Division& b) { return a.variable == b.variable && a == b; };
    const Communicator& ranks = ranks_of(statement);
    if (dealt_nonzeros_of(statement.options().access_of_owners(), ranks)) return false;
    const auto given = divisions_of(statement.options().access_of_owners(), ranks);
    const auto of_result = divisions_of(statement.result(), ranks);
    return std::is_permutation(given.begin(), given.end(), of_result.begin(), of_result.end(), same);
  } else {
    return true;
  }
}

/// A number that differs for different statements, types of tensors, extents and distributions.
template <class S>
Signature signature_of(const S& statement, const std::string& written) {
  Signature out(written);
  const auto mix = [&](const auto& access) {
    using T = typename std::remove_cvref_t<decltype(access)>::tensor_type;
    out.mix(value_name<typename T::value_type>()).mix(format_name<typename T::format_type>());
    for (const std::int64_t extent : access.tensor().extents()) out.mix(static_cast<std::uint64_t>(extent));
    if constexpr (AnyDistributed<T>) out.mix(access.tensor().distribution().signature().hash());
  };
  mix(statement.result());
  for_each_access(statement.right(), mix);
  if constexpr (S::schedule::owners::are_given) {
    const auto& access = statement.options().access_of_owners();
    out.mix(access.names.str()).mix(access.tensor().distribution().signature().hash());
  }
  if constexpr (S::schedule::is_deterministic) out.mix("deterministic");
  if constexpr (!S::schedule::is_arithmetic) out.mix(S::schedule::semiring::str());
  return out;
}

/// Checks that the ranks can run a statement together, and agrees that all plan the same one.
/// @return a signature on which the ranks agree when they run this plan, and that no other plan shares
/// @throws ShapeError if extents do not match; CommError if tensors have different communicators, or ranks
/// have different statements
template <class S>
Signature agree_on(const S& statement, const std::string& written) {
  const Communicator& ranks = ranks_of(statement);
  return jointly(ranks, [&] {
    bounds_of(statement);
    const auto check = [&](const auto& access) {
      using T = typename std::remove_cvref_t<decltype(access)>::tensor_type;
      if constexpr (AnyDistributed<T>)
        if (!(access.tensor().ranks() == ranks))
          throw CommError(text(written,
                               ": its tensors are distributed over two communicators: make one, and give "
                               "copies of it to all of them"));
    };
    check(statement.result());
    for_each_access(statement.right(), check);
    if constexpr (S::schedule::owners::are_given) check(statement.options().access_of_owners());
    const Signature planned = signature_of(statement, written);
    agree(ranks, planned, written);
    return Signature("run ").mix(planned.hash()).mix(static_cast<std::uint64_t>(ranks.next_number()));
  });
}

inline constexpr std::size_t most_operands = 8;  // the limit of kernels/statement/checks.hpp

/// For is_bounded: the rank has what it needs of all operands.
inline constexpr std::array<bool, most_operands> all_known{true, true, true, true, true, true, true, true};

/// What is divided among the ranks: the coordinates of variables, or nonzeros. If neither is, every rank does
/// all the work.
struct Shares {
  std::vector<Division> divisions;
  std::optional<DealtNonzeros> nonzeros;

  bool is_divided() const { return nonzeros || !divisions.empty(); }
};

/// The variables of a statement whose coordinates are divided among the ranks, each of which computes the
/// terms of its own coordinates. They are the variables that divide one of the tensors, which stays where it
/// is: the tensor for which the fewest values are expected to move.
///
/// If the nonzeros of an operand are dealt out one by one, and each term of the statement has it as a factor,
/// each rank computes the terms of its nonzeros, and the ranks' results are added: the operand was dealt out
/// so that this work is shared equally.
template <class S>
class WorkDivision {
 public:
  using Result = typename S::result_type;
  using Right = typename S::right_type;

  /// Collective, for a statement on which the ranks have agreed: adds up the numbers of values of its
  /// tensors.
  WorkDivision(const S& statement, const Communicator& ranks) : statement_(statement), ranks_(ranks) {
    choose();
  }

  const std::vector<Division>& divisions() const { return shares_.divisions; }
  /// Whether each rank computes only a part of the statement.
  bool is_divided() const { return shares_.is_divided(); }
  /// The nonzeros whose terms each rank computes, if they are what is divided.
  const std::optional<DealtNonzeros>& nonzeros() const { return shares_.nonzeros; }

  /// Whether several ranks may compute terms of the same value of the result.
  bool sums() const { return sums_over(shares_); }

  /// Whether a rank stores exactly what it needs of a tensor, apart from lists of coordinates.
  template <class A>
  bool is_in_place(const A& access) const {
    return is_in_place(access, shares_);
  }
  /// Whether an access is to the nonzeros that are divided.
  template <class A>
  bool is_dealt(const A& access) const {
    return shares_.nonzeros && dealt_nonzeros_of(access, ranks_) == shares_.nonzeros;
  }

  /// Whether a rank may number a variable by the coordinates that it needs: those of a sum, those that the
  /// result stores in an array of coordinates, and those of a dense result that is sent to its owners.
  static constexpr bool may_list(char variable, bool result_is_sent = false) {
    if (S::schedule::is_deterministic && !adds_nothing<S>()) return false;  // the whole statement, unchanged
    const bool may_send = Result::format::is_dense && S::schedule::is_arithmetic && can_renumber(variable);
    for (int mode = 0; mode < Result::names.size; ++mode)
      if (Result::names[mode] == variable && !has_coordinate_array<typename Result::format>(mode) &&
          !(may_send && result_is_sent))
        return false;
    return is_bounded<0, Right>(variable, all_known);
  }

  /// Whether a rank sends of its result only those coordinates of a variable at which it has terms.
  static constexpr bool sends_touched(char variable) {
    return Result::format::is_dense && S::schedule::is_arithmetic &&
           is_bounded<0, Right>(variable, all_known);
  }

 private:
  /// Whether the sparse operands store the coordinates of a variable in arrays, which can be renumbered.
  static constexpr bool can_renumber(char variable) {
    return []<class... A>([[maybe_unused]] char name, TypeList<A...>) {
      [[maybe_unused]] const auto can = [name]<class One>(std::type_identity<One>) {
        for (int mode = 0; mode < One::names.size; ++mode)
          if (One::names[mode] == name && !One::format::is_dense &&
              !has_coordinate_array<typename One::format>(mode))
            return false;
        return true;
      };
      return (can(std::type_identity<A>{}) && ...);
    }(variable, accesses_of<Right>{});
  }

  /// Whether a rank stores exactly what it needs of a tensor if work is divided like this, apart from lists.
  template <class A>
  bool is_in_place(const A& access, const Shares& shares) const {
    const auto& distribution = distribution_of(access, ranks_);
    if (distribution.is_fine_grained()) return dealt_nonzeros_of(access, ranks_) == shares.nonzeros;
    const auto& divisions = shares.divisions;
    for (int mode = 0; mode < A::names.size; ++mode) {
      const auto found = std::find_if(divisions.begin(), divisions.end(),
                                      [&](const auto& one) { return one.variable == A::names[mode]; });
      const Partition& partition = distribution.partition(mode);
      if (found == divisions.end() ? partition.parts() > 1
                                   : !(*found == Division{' ', partition, distribution.stride(mode)}))
        return false;
    }
    return true;
  }

  /// The shares in which a tensor stays where it is.
  template <class A>
  Shares shares_of(const A& access) const {
    return {divisions_of(access, ranks_), dealt_nonzeros_of(access, ranks_)};
  }

  /// Chooses what is divided: nonzeros of an operand that are dealt out, or else the variables of the tensor
  /// for which the fewest values are expected to move. To find it, one number for each tensor is summed over
  /// the ranks.
  void choose() {
    if constexpr (S::schedule::owners::are_given) {
      take_given();
      return;
    }
    if (ranks_.size() == 1) return;
    const auto take_if_all_stays = [&](const auto& access) {
      const Shares shares = shares_of(access);
      if (shares_.is_divided() || !shares.is_divided() || !may_divide(shares)) return;
      bool all = is_in_place(statement_.result(), shares);
      for_each_access(statement_.right(), [&](const auto& one) { all = all && is_in_place(one, shares); });
      if (all) shares_ = shares;
    };
    take_if_all_stays(statement_.result());
    for_each_access(statement_.right(), take_if_all_stays);
    if (shares_.is_divided()) return;

    for_each_access(statement_.right(), [&](const auto& access) {
      const Shares shares = shares_of(access);
      if (!shares_.is_divided() && shares.nonzeros && may_divide(shares)) shares_ = shares;
    });
    if (shares_.is_divided()) return;

    std::vector<std::int64_t> counts;
    const auto count = [&](const auto& access) {
      const auto& distribution = distribution_of(access, ranks_);
      const bool counts_here = !distribution.is_replicated() || ranks_.rank() == 0;
      counts.push_back(counts_here ? access.tensor().nnz() : 0);
    };
    count(statement_.result());
    for_each_access(statement_.right(), count);
    ranks_.sum(counts.data(), std::ssize(counts));

    double least = cost_of({}, counts);
    const auto consider = [&](const auto& access) {
      const Shares shares{divisions_of(access, ranks_), {}};
      if (!shares.is_divided() || !may_divide(shares)) return;
      if (const double cost = cost_of(shares, counts); cost < least) {
        least = cost;
        shares_ = shares;
      }
    };
    consider(statement_.result());
    for_each_access(statement_.right(), consider);
  }

  /// Takes the variables, or the nonzeros, of the tensor whose owners compute.
  void take_given() {
    const auto& access = statement_.options().access_of_owners();
    using A = std::remove_cvref_t<decltype(access)>;
    const auto expect_extent = [&](const auto& other) {
      using B = std::remove_cvref_t<decltype(other)>;
      for (int mode = 0; mode < A::names.size; ++mode)
        if (const int at = B::names.find(A::names[mode]); B::names.contains(A::names[mode]))
          if (const std::int64_t given = access.tensor().extent(mode); given != other.tensor().extent(at))
            throw ShapeError(text(statement_.str(), ": ", A::names[mode], " has the extent ",
                                  other.tensor().extent(at), ", and ", given,
                                  " in the tensor whose owners compute"));
    };
    expect_extent(statement_.result());
    for_each_access(statement_.right(), expect_extent);
    shares_ = shares_of(access);
    if (may_divide(shares_)) return;
    if (shares_.nonzeros)
      throw ScheduleError(
          text(statement_.str(), ": the owners of nonzeros at ", A::names.str(),
               " cannot compute their terms: a tensor with that distribution and these variables is a factor "
               "of every term, and what is not a variable of the result is summed over in every term, in no "
               "deterministic sum"));
    throw ScheduleError(
        text(statement_.str(), ": the owners of a tensor with the variables ", A::names.str(),
             " cannot compute parts of it: variables that are divided are different ones, and each is one "
             "of the result or summed over in every term, in no deterministic sum"));
  }

  bool may_divide(const Shares& shares) const {
    constexpr auto may = [] {
      std::array<bool, 128> out{};
      for (std::size_t c = 0; c < out.size(); ++c) out[c] = detail::may_divide<S>(static_cast<char>(c));
      return out;
    }();
    const auto may_be_divided = [&](char variable) {
      return may[static_cast<unsigned char>(variable) % may.size()];
    };
    if (shares.nonzeros) return may_divide_nonzeros(*shares.nonzeros, may_be_divided);
    const auto& divisions = shares.divisions;
    for (std::size_t at = 0; at < divisions.size(); ++at) {
      if (!may_be_divided(divisions[at].variable)) return false;
      for (std::size_t other = 0; other < at; ++other)
        if (divisions[other].variable == divisions[at].variable) return false;
    }
    return true;
  }

  /// Whether the statement is a sum of terms of single nonzeros: each term has one of them as a factor, and
  /// sums over their variables are those of the whole term.
  template <class May>
  bool may_divide_nonzeros(const DealtNonzeros& nonzeros, const May& may_be_divided) const {
    if constexpr (!S::schedule::is_arithmetic) {
      return false;
    } else {
      std::array<bool, most_operands> is_one_of_them{};
      char variable = ' ';
      bool may = true;
      std::size_t at = 0;
      for_each_access(statement_.right(), [&](const auto& access) {
        using A = std::remove_cvref_t<decltype(access)>;
        const std::size_t here = at++;
        if (dealt_nonzeros_of(access, ranks_) != nonzeros) return;
        is_one_of_them[here] = true;
        variable = A::names[0];
        for (int mode = 0; mode < A::names.size; ++mode) may = may && may_be_divided(A::names[mode]);
      });
      return may && variable != ' ' && is_bounded<0, Right>(variable, is_one_of_them);
    }
  }

  bool sums_over(const Shares& shares) const {
    if (shares.nonzeros) return dealt_nonzeros_of(statement_.result(), ranks_) != shares.nonzeros;
    return std::any_of(shares.divisions.begin(), shares.divisions.end(),
                       [](const auto& one) { return !Result::names.contains(one.variable); });
  }

  /// The number of values that all ranks together are expected to receive if variables are divided like this.
  /// @param counts  the values of the result and of each operand
  double cost_of(const Shares& shares, const std::vector<std::int64_t>& counts) const {
    const double others = ranks_.size() - 1;
    double cost = 0;
    // Work that every rank does in full is as bad as sending all operands to all ranks.
    if (shares.divisions.empty()) {
      for (const std::int64_t count : counts) cost += static_cast<double>(count) * others;
      return cost;
    }
    std::array<bool, most_operands> stays{};
    std::array<double, most_operands> held{};  // values of which operand a rank has to compute with
    std::size_t at = 0;
    for_each_access(statement_.right(), [&](const auto& access) {
      using A = std::remove_cvref_t<decltype(access)>;
      bool is_divided = false;
      for (const Division& one : shares.divisions) is_divided = is_divided || A::names.contains(one.variable);
      stays[at] = is_in_place(access, shares);
      const bool is_whole = distribution_of(access, ranks_).is_replicated() || !(stays[at] || is_divided);
      held[at] = static_cast<double>(counts[at + 1]) / (is_whole ? 1 : ranks_.size());
      ++at;
    });
    if (!is_in_place(statement_.result(), shares) || sums_over(shares)) {
      // A sparse result has no values yet, or has those of other operands: it is taken to have as many as
      // they.
      auto values = static_cast<double>(
          Result::format::is_dense ? counts[0] : *std::max_element(counts.begin(), counts.end()));
      const bool is_everywhere = distribution_of(statement_.result(), ranks_).is_replicated();
      for (int mode = 0; !is_everywhere && mode < Result::names.size; ++mode) {
        const char variable = Result::names[mode];
        const bool only_touched = may_list(variable, true) || sends_touched(variable);
        values *= needed_share(variable, statement_.result().tensor().extent(mode), shares, held,
                               only_touched ? all_known : std::array<bool, most_operands>{});
      }
      cost += values * others;
    }
    at = 0;
    for_each_access(statement_.right(), [&](const auto& access) {
      using A = std::remove_cvref_t<decltype(access)>;
      auto values = static_cast<double>(counts[at + 1]);
      if (stays[at++] || distribution_of(access, ranks_).is_replicated()) return;
      for (int mode = 0; mode < A::names.size; ++mode)
        values *= needed_share(A::names[mode], access.tensor().extent(mode), shares, held, stays);
      cost += values * others;
    });
    return cost;
  }

  /// The share of a variable's coordinates that a rank is expected to need: its part, if the variable is
  /// divided, and of it those at which the operands that it knows have nonzeros. As many coordinates as
  /// nonzeros are taken to have nonzeros at half of them.
  /// @param held  the number of values that a rank has of each operand when it computes
  double needed_share(char variable, std::int64_t extent, const Shares& shares,
                      const std::array<double, most_operands>& held,
                      const std::array<bool, most_operands>& known) const {
    double share = 1;
    for (const Division& one : shares.divisions)
      if (one.variable == variable) share = 1.0 / one.partition.parts();
    if (!is_bounded<0, Right>(variable, known)) return share;
    double nonzeros = 0;  // of the operand that has most of them
    std::size_t at = 0;
    for_each_access(statement_.right(), [&](const auto& access) {
      const std::size_t here = at++;
      if (known[here] && stores_coordinates_of<std::remove_cvref_t<decltype(access)>>(variable))
        nonzeros = std::max(nonzeros, held[here]);
    });
    const double coordinates = static_cast<double>(extent) * share;
    return nonzeros > 0 ? share * nonzeros / (nonzeros + coordinates) : 0;
  }

  const S& statement_;
  Communicator ranks_;
  Shares shares_;
};

}  // namespace detail

}  // namespace sporos
