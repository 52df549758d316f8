// SPDX-License-Identifier: Apache-2.0
/// @file value_exchange.hpp
/// Values that other ranks need, sent whenever they have changed: packed, sent, received.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/level.hpp"
#include "../core/space.hpp"
#include "communicator.hpp"
#include "cuda/messages.hpp"
#include "ranked_values.hpp"

namespace sporos::detail {

/// Part [begin, end) of an array; it keeps the array alive.
template <class T, class MemorySpace>
Array<T, MemorySpace> part_of_array(const Array<T, MemorySpace>& array, std::int64_t begin,
                                    std::int64_t end) {
  return Kokkos::subview(array, std::pair<std::size_t, std::size_t>(static_cast<std::size_t>(begin),
                                                                    static_cast<std::size_t>(end)));
}

/// The type that carries the messages of an exchange in the memory of a space.
template <class Value, class Space>
struct MessagesOf {
  using type = HostMessages<Value, Space>;
};
#ifdef KOKKOS_ENABLE_CUDA
template <class Value>
struct MessagesOf<Value, Kokkos::Cuda> {
  using type = DeviceMessages<Value>;
};
#endif

/// An exchange of rows of values between ranks that is the same each time.
///
///     values of this rank   packed for rank 0, 1, …         received from rank 0, 1, …
///     a b c d e f g         b c | f | a g          →→→      h i | j | k
///
/// Values are packed in the memory of `Space`. HostMessages (ranked_values.hpp) or DeviceMessages
/// (cuda/messages.hpp) carry them from there to the other ranks.
template <TensorValue Value, ExecutionSpace Space>
class ValueExchange {
 public:
  using memory_space = typename Space::memory_space;

  ValueExchange() = default;

  /// @param width      number of values per row
  /// @param positions  the rows that are sent, those to rank 0 first
  /// @param sends      how many rows go to each rank
  /// @param receives   how many come from each rank. A rank sends to itself what it receives from itself, or
  ///                   nothing: then room is left for its own rows, which the caller fills
  ValueExchange(const Communicator& ranks, std::int64_t width, const std::vector<std::int64_t>& positions,
                const std::vector<std::int64_t>& sends, const std::vector<std::int64_t>& receives)
      : width_(width), packed_(ranks, values_of(sends)), received_(ranks, values_of(receives)) {
    positions_ =
        make_array<std::int64_t, memory_space>("sporos::ValueExchange positions", std::ssize(positions));
    Kokkos::deep_copy(positions_, HostArray<const std::int64_t>(positions.data(), positions.size()));
    messages_ = std::make_unique<Messages>(ranks, packed_, received_);
  }

  /// Packs values and sends them, after all that `space` has been given so far. finish() must follow: other
  /// ranks wait for them.
  void start(const Space& space, const Array<Value, memory_space>& values) {
    if (messages_)
      messages_->start(space, {values.data(), positions_.data(), packed_.values().data(), width_},
                       static_cast<std::int64_t>(positions_.extent(0)));
  }

  /// Waits for the values of the other ranks, or makes `space` wait for them.
  void finish(const Space& space) {
    if (messages_) messages_->finish(space);
  }

  /// The rows that have arrived, those from rank 0 first.
  const Array<Value, memory_space>& received() const { return received_.values(); }

  /// The range, in values, of the rows among them that come from this rank.
  const Bounds& own() const { return received_.own(); }

  /// The number of messages to other ranks, and the bytes of all of them.
  std::int64_t messages() const { return std::ssize(packed_.messages()); }
  std::int64_t bytes_sent() const { return packed_.message_bytes(); }
  std::int64_t bytes_received() const { return received_.message_bytes(); }
  /// The bytes of the buffers.
  std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(positions_.extent(0)) * 8 + packed_.bytes() + received_.bytes() +
           (messages_ ? messages_->bytes() : 0);
  }

  /// Says how values of GPUs travel.
  void explain(std::ostream& out) const {
    if constexpr (requires { messages_->transport(); })
      if (messages_) out << "  transport between GPUs: " << to_string(messages_->transport()) << "\n";
  }

 private:
  using Messages = typename MessagesOf<Value, Space>::type;

  std::vector<std::int64_t> values_of(const std::vector<std::int64_t>& rows) const {
    std::vector<std::int64_t> out(rows);
    for (std::int64_t& count : out) count *= width_;
    return out;
  }

  std::int64_t width_ = 1;
  Array<std::int64_t, memory_space> positions_;
  RankedValues<Value, Space> packed_, received_;
  std::unique_ptr<Messages> messages_;
};

}  // namespace sporos::detail
