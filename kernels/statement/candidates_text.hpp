// SPDX-License-Identifier: Apache-2.0
/// @file candidates_text.hpp
/// Says which candidates take a statement, and how long each expects to take.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

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

/// Which candidates accept the statement, and how long each expects to take: once, and, where that differs,
/// in the later runs of a plan, by which plans choose.
template <class S>
std::string candidates_text(const S& statement) {
  return [&]<class... K>(TypeList<K...>) {
    std::string out;
    if constexpr (sizeof...(K) > 1) {
      const auto line = [&]<class One>(std::type_identity<One>) {
        const Offer offer = detail::offer_of<One>(statement);
        out +=
            text("    ", One::name, ": ",
                 offer.takes() ? seconds_text(offer.cost().once) + " expected" : std::string(offer.reason()));
        if constexpr (StatesCostOfUse<One, S>)
          if (const Offer often = detail::offer_of<One>(statement, Use::often); often.takes())
            out += text(", ", seconds_text(often.cost().again), " in a plan");
        out += "\n";
      };
      out += "  candidates:\n";
      (line(std::type_identity<K>{}), ...);
    }
    return out;
  }(CandidatesOf<S>{});
}

}  // namespace sporos::detail
