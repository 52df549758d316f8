// SPDX-License-Identifier: Apache-2.0
/// @file value_exchange.hpp
/// Values that other ranks need, sent whenever they have changed: packed, sent, received.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/space.hpp"
#include "communicator.hpp"

namespace sporos::detail {

/// packed[at] = values[positions[at]], in rows of `width` values.
template <class Value>
struct PackRows {
  const Value* values;
  const std::int64_t* positions;
  Value* packed;
  std::int64_t width;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    const Value* const from = values + positions[at] * width;
    Value* const to = packed + at * width;
    for (std::int64_t k = 0; k < width; ++k) to[k] = from[k];
  }
};

/// The exchange of rows of values between ranks, in the same way each time.
///
///     values of this rank   packed for rank 0, 1, …         received from rank 0, 1, …
///     a b c d e f g         b c | f | a g          →→→      h i | j | k
///
/// Packed in the memory of `Space`; messages leave from there if the host can read it, else from a copy of
/// it.
template <TensorValue Value, ExecutionSpace Space>
class ValueExchange {
 public:
  using memory_space = typename Space::memory_space;

  ValueExchange() = default;

  /// @param width      the number of values of a row
  /// @param positions  the rows that are sent, those to rank 0 first
  /// @param sends      how many of them to each rank
  /// @param receives   how many come from each rank. A rank sends to itself what it receives from itself, or
  ///                   nothing: then room is left for its own rows, which the caller fills
  ValueExchange(const Communicator& ranks, std::int64_t width, const std::vector<std::int64_t>& positions,
                const std::vector<std::int64_t>& sends, const std::vector<std::int64_t>& receives)
      : width_(width) {
    std::int64_t received = 0;
    for (const std::int64_t count : receives) received += count;
    positions_ =
        make_array<std::int64_t, memory_space>("sporos::ValueExchange positions", std::ssize(positions));
    Kokkos::deep_copy(positions_, HostArray<const std::int64_t>(positions.data(), positions.size()));
    packed_ = make_array<Value, memory_space>("sporos::ValueExchange packed", std::ssize(positions) * width);
    received_ = make_array<Value, memory_space>("sporos::ValueExchange received", received * width);
    if constexpr (is_staged) {
      staged_packed_ = make_array<Value>("sporos::ValueExchange packed", std::ssize(positions) * width);
      staged_received_ = make_array<Value>("sporos::ValueExchange received", received * width);
    } else {
      staged_packed_ = packed_;
      staged_received_ = received_;
    }
    messages_ = std::make_unique<RepeatedMessages>();
    prepare(ranks, sends, receives);
  }

  /// Packs values and sends them.
  void start(const Space& space, const Array<Value, memory_space>& values) {
    if (!messages_) return;
    const auto count = static_cast<std::int64_t>(positions_.extent(0));
    if (count > 0) {
      const PackRows<Value> pack{values.data(), positions_.data(), packed_.data(), width_};
      Kokkos::parallel_for("sporos::ValueExchange pack",
                           Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count),
                           pack);
      if constexpr (is_staged) Kokkos::deep_copy(space, staged_packed_, packed_);
      space.fence("sporos::ValueExchange pack");
    }
    messages_->start();
  }

  /// Waits for the values of the others.
  void finish(const Space& space) {
    if (!messages_) return;
    if (own_rows_ > 0)
      std::memcpy(static_cast<void*>(staged_received_.data() + own_received_ * width_),
                  staged_packed_.data() + own_sent_ * width_,
                  static_cast<std::size_t>(own_rows_ * width_) * sizeof(Value));
    messages_->wait();
    if constexpr (is_staged) {
      Kokkos::deep_copy(space, received_, staged_received_);
      space.fence("sporos::ValueExchange received");
    }
  }

  /// The rows that have come, those from rank 0 first.
  const Array<Value, memory_space>& received() const { return received_; }

  /// The place in them, in values, of the rows that come from this rank.
  std::int64_t own_begin() const { return own_received_ * width_; }

  /// Messages to other ranks, and the bytes of all of them.
  std::int64_t messages() const { return message_count_; }
  std::int64_t bytes_sent() const { return bytes_sent_; }
  std::int64_t bytes_received() const { return bytes_received_; }
  /// Bytes of the buffers.
  std::int64_t held_bytes() const {
    const auto values = static_cast<std::int64_t>(packed_.extent(0) + received_.extent(0));
    return static_cast<std::int64_t>(positions_.extent(0)) * 8 +
           values * static_cast<std::int64_t>(sizeof(Value)) * (is_staged ? 2 : 1);
  }

 private:
  static constexpr bool is_staged = !HostSpace<Space>;

  void prepare(const Communicator& ranks, const std::vector<std::int64_t>& sends,
               const std::vector<std::int64_t>& receives) {
    const auto keep = [](const HostArray<Value>& array) { return std::make_shared<HostArray<Value>>(array); };
    constexpr auto size = static_cast<std::int64_t>(sizeof(Value));
    std::int64_t at = 0;
    for (int from = 0; from < ranks.size(); ++from) {
      const std::int64_t count = receives[static_cast<std::size_t>(from)];
      if (from == ranks.rank()) {
        own_received_ = at;
      } else if (count > 0) {
        ranks.prepare_receive(*messages_, staged_received_.data() + at * width_, count * width_, from,
                              keep(staged_received_));
        bytes_received_ += count * width_ * size;
      }
      at += count;
    }
    at = 0;
    for (int to = 0; to < ranks.size(); ++to) {
      const std::int64_t count = sends[static_cast<std::size_t>(to)];
      if (to == ranks.rank()) {
        own_sent_ = at;
        own_rows_ = count;
      } else if (count > 0) {
        ranks.prepare_send(*messages_, staged_packed_.data() + at * width_, count * width_, to,
                           keep(staged_packed_));
        bytes_sent_ += count * width_ * size;
        ++message_count_;
      }
      at += count;
    }
  }

  std::int64_t width_ = 1;
  Array<std::int64_t, memory_space> positions_;
  Array<Value, memory_space> packed_, received_;
  HostArray<Value> staged_packed_, staged_received_;
  std::unique_ptr<RepeatedMessages> messages_;
  std::int64_t own_rows_ = 0, own_sent_ = 0, own_received_ = 0;
  std::int64_t message_count_ = 0, bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace sporos::detail
