// SPDX-License-Identifier: Apache-2.0
/// @file candidates_text.hpp
/// Says which candidates take a statement, and how long each expects to take.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "../../core/value.hpp"
#include "../protocol/compute_type.hpp"
#include "select.hpp"

namespace sporos::detail {

/// A duration for people: "12.3 us".
inline std::string seconds_text(double seconds) {
  const auto with = [](double value, std::string_view unit) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3g ", value);
    return digits + std::string(unit);
  };
  if (seconds < 1e-6) return with(seconds * 1e9, "ns");
  if (seconds < 1e-3) return with(seconds * 1e6, "us");
  return seconds < 1 ? with(seconds * 1e3, "ms") : with(seconds, "s");
}

/// What is said of candidates that need more memory than is allowed.
inline constexpr std::string_view beyond_bound = ", with more memory than is allowed";

/// The type that a statement computes in, and the space.
template <class S>
std::string computing_text() {
  using Options = typename S::schedule;
  std::string out =
      text("  computes in ", value_name<compute_t<typename S::result_type, typename S::right_type>>());
  if constexpr (!Options::is_arithmetic) out += text(", ", Options::semiring::str());
  out += text(" on ", S::space_type::name());
  if constexpr (Options::is_deterministic) out += ", the same bits for any number of threads";
  return out + "\n";
}

/// Which candidates accept the statement, and how long each expects to take.
template <class S>
std::string candidates_text(const S& statement) {
  return [&]<class... K>(TypeList<K...>) {
    std::string out;
    if constexpr (sizeof...(K) > 1) {
      constexpr bool may_be_left_out = !is_distributed_statement<S>;
      const bool is_bounded =
          statement.resources().memory_limit() != Resources<typename S::space_type>::unlimited;
      const auto line = [&]<class One>(std::type_identity<One>) {
        const Offer offer = detail::offer_of<One>(statement);
        out += text("    ", One::name, ": ");
        if (!offer.takes()) {
          out += text(offer.reason(), "\n");
          return;
        }
        out += seconds_text(offer.cost().once) + " expected";
        if constexpr (may_be_left_out)
          if (is_bounded && !detail::fits<One>(statement)) out += beyond_bound;
        out += "\n";
      };
      out += "  candidates:\n";
      (line(std::type_identity<K>{}), ...);
    }
    return out;
  }(CandidatesOf<S>{});
}

/// The same of the candidates between which a plan has chosen, by what each expected of later runs.
inline std::string candidates_text(const Considered& considered) {
  std::string out;
  if (considered.accepting.empty()) return out;
  out += "  candidates, in a plan:\n";
  for (const auto& [name, seconds, is_left_out] : considered.accepting)
    out +=
        text("    ", name, ": ", seconds_text(seconds), " expected", is_left_out ? beyond_bound : "", "\n");
  if (!considered.declined.empty()) out += text("  not taken by ", considered.declined, "\n");
  return out;
}

}  // namespace sporos::detail
