// SPDX-License-Identifier: Apache-2.0
/// @file ranked_values.hpp
/// Values for or from every rank in one array, and the messages that take them from the memory of one process
/// to that of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../core/array.hpp"
#include "../core/level.hpp"
#include "../core/space.hpp"
#include "communicator.hpp"

namespace sporos::detail {

/// Values for or from all ranks, those of rank 0 first.
///
///     a b c | d e | f g h      of ranks 0, 1 and 2; on rank 1, d and e stay here
template <class Value, class Space>
class RankedValues {
 public:
  using memory_space = typename Space::memory_space;

  /// The values of one message.
  struct Part {
    int rank;  ///< the other one
    Bounds places;
  };

  RankedValues() = default;
  /// @param counts  values of each rank
  RankedValues(const Communicator& ranks, const std::vector<std::int64_t>& counts) {
    std::int64_t at = 0;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      const Bounds places{at, at + counts[static_cast<std::size_t>(rank)]};
      if (rank == ranks.rank())
        own_ = places;
      else if (places.size() > 0)
        messages_.push_back({rank, places});
      at = places.end;
    }
    values_ = make_array<Value, memory_space>("sporos::RankedValues", at);
  }

  const Array<Value, memory_space>& values() const { return values_; }
  /// The places of this rank's own values.
  const Bounds& own() const { return own_; }
  /// Those of the other ranks.
  const std::vector<Part>& messages() const { return messages_; }
  /// The number of values of all messages.
  std::int64_t message_values() const { return static_cast<std::int64_t>(values_.extent(0)) - own_.size(); }
  std::int64_t message_bytes() const { return message_values() * static_cast<std::int64_t>(sizeof(Value)); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(values_.extent(0) * sizeof(Value)); }

 private:
  Array<Value, memory_space> values_;
  Bounds own_;
  std::vector<Part> messages_;
};

/// The messages of an exchange between the memories of processes.
template <class Value, class Space>
class HostMessages {
  static_assert(HostSpace<Space>, "MPI sends from and receives into memory of the host here");

 public:
  HostMessages(const Communicator& ranks, const RankedValues<Value, Space>& sent,
               const RankedValues<Value, Space>& received) {
    for (const auto& part : received.messages())
      ranks.prepare_receive(messages_, received.values().data() + part.places.begin, part.places.size(),
                            part.rank, owner(received));
    for (const auto& part : sent.messages())
      ranks.prepare_send(messages_, sent.values().data() + part.places.begin, part.places.size(), part.rank,
                         owner(sent));
  }

  /// Sends what `space` has packed.
  void start(const Space& space) {
    // What reads the values that were received last has ended as well.
    space.fence("sporos::HostMessages packed");
    messages_.start();
  }
  /// Waits for the values of the others.
  void finish(const Space&) { messages_.wait(); }

  std::int64_t bytes() const { return 0; }

 private:
  static std::shared_ptr<const void> owner(const RankedValues<Value, Space>& values) {
    return std::make_shared<RankedValues<Value, Space>>(values);
  }

  RepeatedMessages messages_;
};

}  // namespace sporos::detail
