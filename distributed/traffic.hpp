// SPDX-License-Identifier: Apache-2.0
/// @file traffic.hpp
/// Traffic: what each rank computes and sends in one run of a statement.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "../formats/print.hpp"
#include "communicator.hpp"

namespace sporos {

/// One rank's share of a run.
struct RankTraffic {
  std::int64_t work = 0;      ///< stored values of its operands that it visits, in the numbering of its part
  std::int64_t messages = 0;  ///< number of messages that it sends
  std::int64_t sent = 0;      ///< bytes
  std::int64_t received = 0;  ///< bytes
};

/// What each rank computes and sends in one run of a statement, known before it runs.
struct Traffic {
  std::vector<RankTraffic> ranks;

  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const RankTraffic& rank : ranks) sum += rank.sent;
    return sum;
  }
  /// The work of the rank with the most, divided by the average.
  double imbalance() const {
    std::int64_t most = 0, sum = 0;
    for (const RankTraffic& rank : ranks) {
      most = std::max(most, rank.work);
      sum += rank.work;
    }
    return sum == 0
               ? 1
               : static_cast<double>(most) * static_cast<double>(ranks.size()) / static_cast<double>(sum);
  }

  /// Prints a line for each rank (for some, if there are many ranks), and the imbalance.
  void print(std::ostream& out) const {
    constexpr std::size_t shown = 16;
    for (std::size_t rank = 0; rank < std::min(shown, ranks.size()); ++rank) {
      const RankTraffic& one = ranks[rank];
      out << "    rank " << rank << ": " << one.work << (one.work == 1 ? " value" : " values") << ", sends "
          << one.messages << (one.messages == 1 ? " message" : " messages") << " of " << bytes_text(one.sent)
          << " in all, receives " << bytes_text(one.received) << "\n";
    }
    if (ranks.size() > shown) out << "    and " << ranks.size() - shown << " more ranks\n";
    out << "    in all " << bytes_text(bytes()) << "; the busiest rank has "
        << static_cast<double>(static_cast<std::int64_t>(imbalance() * 100 + 0.5)) / 100
        << " times the average work\n";
  }
};

}  // namespace sporos
