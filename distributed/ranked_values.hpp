// SPDX-License-Identifier: Apache-2.0
/// @file ranked_values.hpp
/// Values for or from every rank in one array, and the messages that carry them between the memories of
/// processes.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
    int rank;  ///< the rank at the other end
    Bounds places;
  };

  RankedValues() = default;
  /// @param counts  number of values for each rank
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
  /// The range of this rank's own values.
  const Bounds& own() const { return own_; }
  /// The ranges of the other ranks' values.
  const std::vector<Part>& messages() const { return messages_; }
  /// The number of values in all messages.
  std::int64_t message_values() const { return static_cast<std::int64_t>(values_.extent(0)) - own_.size(); }
  std::int64_t message_bytes() const { return message_values() * static_cast<std::int64_t>(sizeof(Value)); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(values_.extent(0) * sizeof(Value)); }

 private:
  Array<Value, memory_space> values_;
  Bounds own_;
  std::vector<Part> messages_;
};

/// packed[at] = values[positions[at]], in rows of `width` values.
template <class Value>
struct PackRows {
  const Value* values;
  const std::int64_t* positions;
  Value* packed;
  std::int64_t width;

  /// Packs row number `at`.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const { some(at, 0, 1); }
  /// Packs every `step`-th value of a row, from `first` on.
  KOKKOS_INLINE_FUNCTION void some(std::int64_t at, std::int64_t first, std::int64_t step) const {
    const Value* const from = values + positions[at] * width;
    Value* const to = packed + at * width;
    for (std::int64_t k = first; k < width; k += step) to[k] = from[k];
  }
};

/// The messages of an exchange between the memories of processes.
template <class Value, class Space>
class HostMessages {
  static_assert(HostSpace<Space>, "MPI sends from and receives into memory of the host here");

 public:
  HostMessages(const Communicator& ranks, const RankedValues<Value, Space>& sent,
               const RankedValues<Value, Space>& received)
      : sent_(sent), received_(received) {
    for (const auto& part : received.messages())
      ranks.prepare_receive(messages_, received.values().data() + part.places.begin, part.places.size(),
                            part.rank, owner(received));
    for (const auto& part : sent.messages())
      ranks.prepare_send(messages_, sent.values().data() + part.places.begin, part.places.size(), part.rank,
                         owner(sent));
  }

  /// Packs rows, sends them, and copies what this rank sends to itself.
  void start(const Space& space, const PackRows<Value>& pack, std::int64_t rows) {
    if (rows > 0)
      Kokkos::parallel_for("sporos::HostMessages pack",
                           Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, rows), pack);
    // Work that reads the values received last has also ended by then.
    space.fence("sporos::HostMessages pack");
    messages_.start();
    const Bounds &from = sent_.own(), &to = received_.own();
    if (from.size() > 0)
      std::memcpy(static_cast<void*>(received_.values().data() + to.begin),
                  sent_.values().data() + from.begin, static_cast<std::size_t>(from.size()) * sizeof(Value));
  }
  /// Waits for the values of the other ranks.
  void finish(const Space&) { messages_.wait(); }

  std::int64_t bytes() const { return 0; }

 private:
  static std::shared_ptr<const void> owner(const RankedValues<Value, Space>& values) {
    return std::make_shared<RankedValues<Value, Space>>(values);
  }

  RankedValues<Value, Space> sent_, received_;
  RepeatedMessages messages_;
};

}  // namespace sporos::detail
