// SPDX-License-Identifier: Apache-2.0
/// @file select.hpp
/// Selects the candidate that runs a statement: the cheapest of those that accept it and keep to its memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../workspace/policy.hpp"
#include "../nest/work.hpp"
#include "../protocol/candidate.hpp"
#include "../protocol/parts.hpp"
#include "candidates.hpp"
#include "memory.hpp"
#include "ranks.hpp"

namespace sporos {

namespace detail {

/// The candidates of a list that match statements of type S.
template <class S, class... K>
constexpr auto matching(TypeList<K...>) {
  return (TypeList<>{} + ... + std::conditional_t<is_candidate<K, S>(), TypeList<K>, TypeList<>>{});
}

template <class K, class... Of>
constexpr bool is_in(TypeList<Of...>) {
  return (std::is_same_v<K, Of> || ...);
}

template <class K, class S>
inline constexpr bool replaces_nest =
    requires { requires K::replaces_nest; } || requires { requires K::template replaces_nest_for<S>; };
template <class S, class... K>
constexpr bool any_replaces_nest(TypeList<K...>) {
  return (replaces_nest<K, S> || ...);
}

template <class S>
constexpr auto candidates_of_statement() {
  using By = typename S::schedule::run_by;
  if constexpr (S::result_type::is_part) {
    return matching<S>(TypeList<IntoPart>{});  // which lets the others compute the values
  } else if constexpr (is_distributed_statement<S> && By::choice != option::Choice::one) {
    return matching<S>(typename AcrossRanks<S>::candidates{});
  } else if constexpr (By::choice == option::Choice::nest) {
    return matching<S>(NestCandidates{});
  } else if constexpr (By::choice == option::Choice::one) {
    return matching<S>(TypeList<typename By::candidate>{});
  } else {
    // A dependent name, so that the program's own candidates are looked up when a statement is compiled.
    using Own = typename OwnCandidates<std::conditional_t<true, Program, S>>::type;
    constexpr auto kernels = matching<S>(Own{} + KernelCandidates<typename S::space_type>{});
    if constexpr (any_replaces_nest<S>(kernels))
      return kernels;
    else
      return kernels + matching<S>(NestCandidates{});
  }
}

}  // namespace detail

/// The candidates that match statements of type S, as a TypeList.
template <class S>
using CandidatesOf = std::remove_const_t<decltype(detail::candidates_of_statement<S>())>;

/// Whether a candidate is the loop nest.
template <class K>
inline constexpr bool is_nest = detail::is_in<K>(NestCandidates{});

namespace detail {

/// What a candidate answers when it is asked for its cost.
template <class K, class S>
Offer offer_of(const S& statement, Use use = Use::once) {
  if constexpr (StatesCostOfUse<K, S>) {
    return K::cost(statement, statement.resources(), use);
  } else if constexpr (StatesCost<K, S>) {
    return K::cost(statement, statement.resources());
  } else {
    double seconds = expected_terms(statement) * K::seconds_of_term;
    if constexpr (requires { K::seconds_of_launch; }) seconds += K::seconds_of_launch;
    return Cost{seconds};
  }
}

/// Whether a candidate computes its own cost, and so may decline the statement.
template <class K, class S>
inline constexpr bool may_decline = StatesCostOfUse<K, S> || StatesCost<K, S>;

/// The seconds that a candidate expects to take; infinity, and the reason, if it declines.
template <class K, class S>
double seconds(const S& statement, Use use, std::string& why_not) {
  const Offer offer = offer_of<K>(statement, use);
  if (offer.takes()) return use == Use::once ? offer.cost().once : offer.cost().again;
  why_not += text(why_not.empty() ? "" : "; ", K::name, ": ", offer.reason());
  return std::numeric_limits<double>::infinity();
}

/// Calls f with the candidate at a given place in the list.
template <class R, class First, class... Rest, class F>
R call_at(std::ptrdiff_t place, const F& f) {
  if constexpr (sizeof...(Rest) > 0)
    if (place > 0) return call_at<R, Rest...>(place - 1, f);
  return f.template operator()<First>();
}

/// Whether a candidate's plan keeps to the memory that the statement's resources allow.
template <class K, class S>
bool fits(const S& statement) {
  const typename K::template Plan<S> plan(statement, statement.resources());
  if (bytes_to_plan(plan) > statement.resources().memory_limit()) return false;
  return most_allocated(plan.bytes(), !S::result_type::format::is_dense) <=
         statement.resources().memory_limit();
}

/// The place of the cheapest candidate; where memory is bounded, of the cheapest that keeps to the bound, if
/// one does.
/// @param seconds  that each expects; of those that were left out for their memory, infinite afterwards
template <class S, class... K>
std::ptrdiff_t cheapest(const S& statement, std::array<double, sizeof...(K)>& seconds) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto least = [&] { return std::min_element(seconds.begin(), seconds.end()) - seconds.begin(); };
  const std::ptrdiff_t first = least();
  // Candidates of several ranks answer alike on each: what fits one of them may not fit another.
  if constexpr (sizeof...(K) > 1 && !is_distributed_statement<S>) {
    if (statement.resources().memory_limit() == Resources<typename S::space_type>::unlimited) return first;
    for (std::ptrdiff_t at = first; seconds[static_cast<std::size_t>(at)] < infinity; at = least()) {
      if (call_at<bool, K...>(at, [&]<class One>() { return fits<One>(statement); })) return at;
      seconds[static_cast<std::size_t>(at)] = infinity;
    }
  }
  return first;
}

/// Refuses a statement that the candidate of .use<...>() does not match, and says why.
template <class S>
[[noreturn]] void refuse_by_type(const S& statement) {
  using K = typename S::schedule::run_by::candidate;
  constexpr std::string_view unfit = unfit_for_schedule<K, S>();
  const auto reason = unfit.empty() ? text("it computes ", K::takes) : std::string(unfit);
  throw ScheduleError(text(statement.str(), ": ", K::name, " does not take this statement: ", reason,
                           ". Leave .use<...>() out, or change the statement"));
}

}  // namespace detail

/// What a statement is expected to cost; infinite if no candidate accepts it.
template <class S>
Cost least_cost(const S& statement) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Cost least{infinity, infinity};
  [&]<class... K>(TypeList<K...>) {
    const auto look = [&](const Offer& offer) {
      if (!offer.takes()) return;
      least = {std::min(least.once, offer.cost().once), std::min(least.again, offer.cost().again)};
    };
    (look(detail::offer_of<K>(statement)), ...);
  }(CandidatesOf<S>{});
  return least;
}

namespace detail {

/// Throws ScheduleError if the settings of the workspace that the user has chosen make no sense.
template <class S>
void expect_valid_workspace(const S& statement) {
  if constexpr (!std::is_same_v<typename S::schedule::workspace_policy, AutomaticWorkspace>)
    expect_valid(statement.options().policy());
}

}  // namespace detail

/// What candidates answered when one of them was chosen.
struct Considered {
  /// A candidate that accepts the statement.
  struct Accepting {
    std::string_view name;
    double seconds;    ///< that it expects
    bool is_left_out;  ///< because it needs more memory than is allowed
  };
  std::vector<Accepting> accepting;
  std::string declined;  ///< why the others do not accept it, by their names
};

/// Calls `f.template operator()<K>()`, which returns an R, with the candidate that is expected to be fastest.
/// If only one matches, it is not asked for its cost unless it may decline the statement. Where memory is
/// bounded, candidates that need more are left out, unless all do.
/// @param considered  receives what the candidates answered, if they were asked; may be null
/// @throws ScheduleError if no candidate accepts the statement, with the reasons, or if the settings of its
/// workspace make no sense
template <class R, class S, class F>
R with_candidate(const S& statement, Use use, const F& f, Considered* considered) {
  constexpr bool forced = S::schedule::run_by::choice == option::Choice::one;
  detail::expect_valid_workspace(statement);
  return [&]<class... K>(TypeList<K...>) -> R {
    static_assert((CandidateFor<K, S> && ...),
                  "a candidate lacks a part of the protocol of kernels/protocol/candidate.hpp");
    static_assert(sizeof...(K) > 0 || forced || HostSpace<typename S::space_type>,
                  "no kernel of this device makes such a sparse result: move the operands and the result "
                  "to the host with move_to<Host>()");
    if constexpr (sizeof...(K) == 0) {
      if constexpr (forced) detail::refuse_by_type(statement);
    } else if constexpr (sizeof...(K) == 1 && !forced && !(detail::may_decline<K, S> && ...)) {
      return (f.template operator()<K>(), ...);
    } else {
      std::string why_not;
      const std::array seconds{detail::seconds<K>(statement, use, why_not)...};
      std::array fitting = seconds;
      const std::ptrdiff_t best = detail::cheapest<S, K...>(statement, fitting);
      if (seconds[static_cast<std::size_t>(best)] == std::numeric_limits<double>::infinity())
        throw ScheduleError(text(statement.str(), ": not taken by ", why_not));
      if (considered) {
        constexpr std::array names{std::string_view(K::name)...};
        for (std::size_t at = 0; at < names.size(); ++at)
          if (seconds[at] < std::numeric_limits<double>::infinity())
            considered->accepting.push_back({names[at], seconds[at], fitting[at] != seconds[at]});
        considered->declined = std::move(why_not);
      }
      return detail::call_at<R, K...>(best, f);
    }
  }(CandidatesOf<S>{});
}

/// The same where nobody asks for the answers.
template <class R, class S, class F>
R with_candidate(const S& statement, Use use, const F& f) {
  return with_candidate<R>(statement, use, f, nullptr);
}

}  // namespace sporos
