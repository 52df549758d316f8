// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// Candidate: a way of running a statement, and the protocol that all of them follow.
///
/// A candidate is a type K with
///
///     K::name                      its name when a statement is explained
///     K::takes                     what it computes; told to the user when .use<K>() asks for it in a
///                                  statement that it does not match
///     K::deterministic             whether its results are bitwise the same in whatever order threads run
///     K::matches<S>                whether it computes statements of type S: formats, variables, values,
///                                  space
///     K::cost(statement, resources)
///                                  the seconds that it expects to take, or Declined with the reason; looks
///                                  at sizes only and computes nothing
///                                  or K::cost(statement, resources, use), which may look at patterns too
///                                  if a plan is made of the statement; or, for a candidate that declines
///                                  nothing,
///     K::seconds_of_term           the seconds for each term that is added up, approximately, and
///     K::seconds_of_launch         the seconds that it takes however small the operands are; 0 if absent
///     K::Plan<S>                   what it does for one statement:
///
///         Plan(statement, resources)   checks the statement, which outlives the plan
///         run()                        computes the result's pattern and values
///         bytes()                      an upper bound on what run() allocates: estimate.hpp
///         explain(out)                 prints lines that say what it will do, each indented by two blanks
///
/// and, if it is worth running again with other values,
///
///         prepare()                    before the first run(): analysis that several runs share, operands
///                                      converted or packed
///         refill()                     computes values in the pattern that run() has made
///         held_bytes()                 the bytes that it keeps from one run to the next
///
/// and, if bytes() allocates arrays to find its bound,
///
///         bytes_to_plan()              an upper bound on these arrays, found without any; they are among
///                                      the bytes() of run()
///
/// and optionally
///
///     K::any_schedule              it reads S::schedule itself; without this, it is not offered statements
///                                  with semirings, workspaces that the user has chosen, loops that are cut
///                                  into strips, or parts of tensors as operands
///     K::replaces_nest, or K::replaces_nest_for<S>
///                                  it accepts every statement that it matches and is faster than the loop
///                                  nest, which is then not compiled for these statements
///
///     K::less_memory               how to run a statement in less memory: the end of MemoryError's message
///
/// The protocol is modelled on the inspect, compute and fill steps of the SparseBLAS reference
/// implementation. How to add a candidate: candidates.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

#include "../../core/statement.hpp"

namespace sporos {

/// The time that a candidate expects to take, in seconds.
struct Cost {
  double once = 0;      ///< for a statement that is run once
  double again = once;  ///< for each further run of the same plan
};

/// Which of the two times of a Cost counts.
enum class Use {
  once,  ///< the statement is run
  often  ///< a plan is made of it
};

/// Why a candidate does not accept a statement that matches by type.
struct Declined {
  std::string_view reason;
};

/// A candidate's answer when it is asked for its cost.
class Offer {
 public:
  Offer(Cost cost) : cost_(cost) {}                  // NOLINT: implicit, so that either can be returned
  Offer(Declined declined) : declined_(declined) {}  // NOLINT

  bool takes() const { return cost_.has_value(); }
  const Cost& cost() const { return *cost_; }
  std::string_view reason() const { return declined_.reason; }

 private:
  std::optional<Cost> cost_;
  Declined declined_{};
};

/// An upper bound on the bytes that a run of a statement allocates.
struct Bytes {
  std::int64_t values = 0;     ///< number of values that the result will store, including padding
  std::int64_t result = 0;     ///< bytes of the result's arrays; those of a dense result exist already
  std::int64_t workspace = 0;  ///< bytes of everything else, for all threads together, at the peak
  std::int64_t messages = 0;   ///< number of messages that this rank sends; 0 if not distributed
  std::int64_t sent = 0;       ///< bytes of these messages
};

/// Whether K::Plan<S> follows the protocol above.
template <class P, class S>
concept CandidatePlan = std::constructible_from<P, const S&, const Resources<typename S::space_type>&> &&
                        requires(P plan, const P known, std::ostream& out) {
                          plan.run();
                          { known.bytes() } -> std::same_as<Bytes>;
                          known.explain(out);
                        };

/// Whether K computes its cost itself, instead of stating the seconds of a term.
template <class K, class S>
concept StatesCost = requires(const S& statement, const Resources<typename S::space_type>& resources) {
  { K::cost(statement, resources) } -> std::convertible_to<Offer>;
};

/// Whether the cost also depends on whether the statement is run once or often.
template <class K, class S>
concept StatesCostOfUse =
    requires(const S& statement, const Resources<typename S::space_type>& resources, Use use) {
      { K::cost(statement, resources, use) } -> std::convertible_to<Offer>;
    };

/// Whether K follows the protocol above for statements of type S, which it matches.
template <class K, class S>
concept CandidateFor = requires {
  { K::name } -> std::convertible_to<std::string_view>;
  { K::takes } -> std::convertible_to<std::string_view>;
  { K::deterministic } -> std::convertible_to<bool>;
  { K::template matches<S> } -> std::convertible_to<bool>;
  typename K::template Plan<S>;
} && (StatesCost<K, S> || StatesCostOfUse<K, S> || requires {
                         { K::seconds_of_term } -> std::convertible_to<double>;
                       });

namespace detail {

/// Why a candidate cannot run a statement the way its schedule asks for, or read its operands; empty if it
/// can. The end of a sentence about the candidate.
template <class K, class S>
constexpr std::string_view unfit_for_schedule() {
  using Options = typename S::schedule;
  if constexpr (!requires { requires K::any_schedule; }) {
    if constexpr (has_parts(accesses_of<typename S::right_type>{})) return "it reads no parts of tensors";
    if constexpr (!Options::is_arithmetic) return "it computes with + and *, not over a semiring";
    if constexpr (!Options::loops::are_plain)
      return "it has loops of its own, which split, fuse, pos and parallelize do not change";
    if constexpr (!std::is_same_v<typename Options::workspace_policy, AutomaticWorkspace>)
      return "it has no use for the workspace given with .workspace(...)";
  }
  if constexpr (!K::deterministic && Options::is_deterministic)
    return "its results depend on the order in which threads run, and .deterministic() excludes that";
  return {};
}

template <class K, class S>
constexpr bool is_candidate() {
  if constexpr (!unfit_for_schedule<K, S>().empty())
    return false;
  else
    return K::template matches<S>;
}

}  // namespace detail

}  // namespace sporos
